"""The writer on the real store: what is on disk in the end is whole."""

import asyncio
from tempfile import TemporaryFile

from msgspec.structs import replace

from nacre.archive.check import Checker
from nacre.archive.index import sort_index
from nacre.archive.record import CaptureFacts, capture_records
from nacre.archive.settings import WarcSettings
from nacre.archive.warc_writer import WarcWriter, pack_to_file
from nacre.store.commit import GroupCommit
from nacre.store.disk import RealDisk
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.archive.captures import counting_ids, make_capture
from tests.archive.files import ORIGIN, CountingNumbers, TestClock, small_crawl
from tests.store.writing import SystemClock


def write_job(job: str) -> None:
    store = Store.open(f"{job}/state/store", memory=12_000_000)
    recover(store, RealDisk(), job, StartOptions(archives=("runs/1/archive",)))
    commit = GroupCommit(store, RealDisk(), job, SystemClock(), sort_index)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(commit.run())
            numbers = CountingNumbers()
            origin = replace(ORIGIN, run="runs/1")
            settings = WarcSettings(max_file_size=2000)
            writer = WarcWriter(settings, origin, commit, TestClock(), numbers)
            large = WarcWriter(
                settings, replace(origin, series="large"), commit, TestClock(), numbers
            )
            for records in small_crawl():
                writer.write(records)
                commit.visit_done()
            await commit.flush()
            head = b"HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n"
            capture = make_capture(head, bytes(5_000_000), url="http://example.test/large")
            records = capture_records(capture, CaptureFacts(), counting_ids(1 << 32))
            members = [pack_to_file(record, large.level, TemporaryFile()) for record in records]  # noqa: SIM115 - the store closes them
            large.write(records, members)
            commit.visit_done()
            writer.rotate()
            large.rotate()
            commit.finish()

    asyncio.run(main())
    commit.close()
    store.close()


def test_every_file_is_closed_and_sound(tmp_path):
    write_job(str(tmp_path))
    folder = tmp_path / "runs/1/archive"
    assert not list(folder.glob("*.open"))
    warcs = sorted(folder.glob("*.warc.gz"))
    assert len(warcs) == 4
    checker = Checker()
    for warc in warcs:
        checker.file(warc, warc.with_name(warc.name.replace(".warc.gz", ".cdxj")))
    assert checker.finish() == []
    assert checker.summary.records["response"] == 4
    assert "large" in warcs[-1].name
