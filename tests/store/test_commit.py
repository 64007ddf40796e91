"""Group commit on a running loop: sealing, waiting, large groups, ending files."""

import asyncio
import random
from typing import cast

import pytest

from nacre.core.capture import BytesBody
from nacre.errors import StorageError
from nacre.store.commit import AGE, PENDING, SYNC, GroupCommit, sort_lines
from nacre.store.file_table import get_row
from nacre.store.files import TAIL_LIMIT, FileKind, FileState
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.simulated import World
from tests.store.workload import ROOT, Inline, StepClock
from tests.virtual_loop import LoopClock, VirtualLoop, run_virtually


class Job:
    """A group commit over a simulated world; `async with` runs and ends it."""

    def __init__(self, clock=None):
        self.world = World()
        self.store = Store(self.world.engine)
        recover(self.store, self.world.disk, ROOT, StartOptions(archives=("archive",)))
        self.commit = GroupCommit(self.store, self.world.disk, ROOT, clock or StepClock())
        self.commit._thread.shutdown()
        self.commit._thread = Inline()
        self.tasks = asyncio.TaskGroup()

    async def __aenter__(self):
        await self.tasks.__aenter__()
        self.tasks.create_task(self.commit.run())
        return self

    async def __aexit__(self, *exc):
        self.commit.finish()
        await self.tasks.__aexit__(*exc)


def row_of(job, number):
    row = get_row(job.store, number)
    assert row is not None
    return row


def test_offsets_follow_each_other_before_anything_is_written():
    async def main():
        async with Job() as job:
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            assert [job.commit.append(warc, b"abc"), job.commit.append(warc, b"de")] == [0, 3]
            assert job.commit.size(warc) == 5
            await job.commit.flush()
            assert job.commit.append(warc, b"f") == 5
            assert job.world.disk.content(f"{ROOT}/archive/a.warc.gz.open") == b"abcde"
        assert job.world.disk.content(f"{ROOT}/archive/a.warc.gz.open") == b"abcdef"
        assert row_of(job, warc).size == 6

    asyncio.run(main())


def test_nothing_durable_before_the_batch_and_no_ack_before_the_log():
    async def main():
        async with Job() as job:
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            log = job.commit.log("logs/crawl.log")
            await job.commit.flush()
            job.world.log.clear()
            job.commit.append(warc, b"abc")
            job.commit.line(log, b"line\n")
            job.commit.visit_done()
            assert job.commit.committed == 0
            await job.commit.flush()
            assert job.commit.committed == 1
            assert job.world.log[:5] == ["pwrite", "fdatasync", "batch", "flush_wal", "pwrite"]

    asyncio.run(main())


def test_a_full_group_is_sealed_without_being_asked():
    async def main():
        async with Job() as job:
            for _ in range(256):
                job.store.put("urls", b"key", b"value")
                job.commit.visit_done()
            await job.commit.durable()
            assert (job.commit.committed, job.commit.groups) == (256, 1)

    asyncio.run(main())


def test_an_empty_group_wakes_nothing_and_a_row_is_durable_in_time():
    async def main():
        loop = cast("VirtualLoop", asyncio.get_running_loop())
        async with Job() as job:
            log = job.commit.log("logs/crawl.log")
            await job.commit.flush()
            for add in (
                lambda: job.store.put("meta", b"k", b"v"),
                lambda: job.store.put_all("meta", {b"k": b"v"}),
                lambda: job.store.delete("meta", b"k"),
                lambda: job.commit.line(log, b"line\n"),
                job.commit.visit_done,
            ):
                await asyncio.sleep(3.0)
                jumps, groups = loop.jumps, job.commit.groups
                await asyncio.sleep(100.0 / 3)
                assert (loop.jumps, job.commit.groups) == (jumps + 1, groups)
                add()
                await asyncio.sleep(AGE + 0.001)
                assert job.commit.groups > groups

    run_virtually(main())


def test_lines_are_synced_in_time_though_nothing_else_comes():
    async def main():
        async with Job(LoopClock()) as job:
            log = job.commit.log("logs/crawl.log")
            await job.commit.flush()
            await asyncio.sleep(3.0)
            for _ in range(2):
                job.commit.line(log, b"line\n")
                await asyncio.sleep(AGE + 0.001)
            assert list(job.store.scan("journal", b"")) != []
            await asyncio.sleep(SYNC + AGE)
            assert list(job.store.scan("journal", b"")) == []

    run_virtually(main())


def test_much_that_waits_pauses_the_hand_out():
    async def main():
        async with Job() as job:
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            assert not job.commit.saturated
            job.commit.append(warc, bytes(PENDING))
            assert job.commit.saturated
            await job.commit.flush()
            assert not job.commit.saturated
            assert job.commit.largest >= PENDING

    asyncio.run(main())


def test_who_waits_for_room_is_called_once_there_is_some():
    async def main():
        async with Job() as job:
            called = []
            job.commit.when_room(lambda: called.append(job.commit.saturated))
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            job.commit.append(warc, b"x" * (PENDING - 1_000_000))
            await job.commit.flush()
            assert called == []
            job.commit.append(warc, b"x" * PENDING)
            await job.commit.flush()
            assert called == [False]

    asyncio.run(main())


def test_a_group_too_large_for_a_tail_is_announced_first():
    class Body(BytesBody):
        closed = False

        def close(self):
            self.closed = True

    async def main():
        async with Job() as job:
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            await job.commit.flush()
            job.world.log.clear()
            body = Body(bytes(TAIL_LIMIT + 1))
            rows = []
            job.world.after = lambda name: rows.append((name, row_of(job, warc).tail))
            assert job.commit.append(warc, b"head") == 0
            assert job.commit.append(warc, body) == 4
            await job.commit.flush()
            job.world.after = None
            assert job.world.log[:3] == ["batch", "flush_wal", "pwrite"]
            assert job.world.engine.get("meta", b"file:" + bytes(7) + b"\1")
            assert body.closed
            assert job.world.disk.size(f"{ROOT}/archive/a.warc.gz.open") == TAIL_LIMIT + 5
            assert row_of(job, warc).tail == 0

    asyncio.run(main())


def test_a_crash_within_a_large_group_is_no_sign_of_an_older_store():
    async def main():
        job = Job()
        images = []
        job.world.after = lambda name: images.append(job.world.crash(random.Random(0), "keep"))
        async with job:
            warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
            job.commit.append(warc, bytes(TAIL_LIMIT + 1))
        assert len(images) > 3
        for image in images:
            recover(Store(image.engine), image.disk, ROOT, StartOptions(archives=("archive",)))

    asyncio.run(main())


def test_an_index_is_sorted_and_a_log_renamed_when_they_end():
    async def main():
        async with Job() as job:
            index = job.commit.create_file(FileKind.INDEX, "archive/a.cdxj.open")
            log = job.commit.log("logs/crawl.log")
            for line in (b"b\n", b"a\n", b"c\n"):
                job.commit.line(index, line)
                job.commit.line(log, line)
            await job.commit.flush()
            job.commit.line(index, b"0\n")
            job.commit.close_file(index)
            job.commit.close_file(log, "logs/crawl.log.1")
            with pytest.raises(KeyError):
                job.commit.line(index, b"late\n")
        disk = job.world.disk
        assert sorted(disk.names) == [f"{ROOT}/archive/a.cdxj", f"{ROOT}/logs/crawl.log.1"]
        assert disk.content(f"{ROOT}/archive/a.cdxj") == b"0\na\nb\nc\n"
        assert disk.content(f"{ROOT}/logs/crawl.log.1") == b"b\na\nc\n"
        assert {row_of(job, n).state for n in (index, log)} == {FileState.CLOSED}
        assert list(job.store.scan("journal", b"")) == []

    asyncio.run(main())


def test_counters_are_written_at_each_seal():
    async def main():
        async with Job() as job:
            seals: list[int] = []
            job.commit.on_seal(lambda: job.store.set_counter("seals", len(seals)))
            job.commit.on_seal(lambda: seals.append(1))
            for _ in range(3):
                job.store.put("urls", b"key", b"value")
                await job.commit.flush()
            assert job.store.engine.get("meta", b"counter:seals") == b"2"

    asyncio.run(main())


def test_a_stalled_batch_is_tried_again():
    async def main():
        async with Job() as job:
            engine, tries = job.world.engine, []
            write = engine.write

            def stalled(rows):
                tries.append(1)
                return False if len(tries) < 4 else write(rows)

            engine.write = stalled
            job.store.put("urls", b"key", b"value")
            await job.commit.flush()
            assert len(tries) == 4
            assert engine.get("urls", b"key") == b"value"

    asyncio.run(main())


def test_after_a_failure_nothing_is_accepted():
    async def main():
        job = Job()
        job.world.fault = lambda operation, path: 5 if operation == "flush_wal" else 0
        job.store.put("urls", b"key", b"value")
        with pytest.raises(StorageError, match="flush_wal failed: errno 5"):
            await job.commit.run()
        with pytest.raises(StorageError, match="flush_wal failed: errno 5"):
            job.commit.visit_done()
        with pytest.raises(StorageError, match="flush_wal failed: errno 5"):
            await job.commit.durable()
        assert job.commit.committed == 0

    asyncio.run(main())


def test_waiting_after_the_end_is_refused():
    async def main():
        async with Job() as job:
            pass
        with pytest.raises(StorageError, match="the job has finished"):
            await job.commit.durable()

    asyncio.run(main())


def test_index_lines_sort_bytewise():
    assert sort_lines(b"b 2\na\nb 1\n") == b"a\nb 1\nb 2\n"


class Closable(BytesBody):
    closed = False

    def close(self):
        self.closed = True


def test_bodies_that_are_never_written_are_given_back():
    job, body = Job(), Closable(b"body")
    warc = job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open")
    job.commit.append(warc, b"head")
    job.commit.append(warc, body)
    job.commit.close()
    assert body.closed


def test_half_of_what_belongs_together_is_never_committed():
    """A WARC was made and its index could not be: the open group must not become durable."""

    async def half(job: Job) -> None:
        async with job:
            assert job.commit.create_file(FileKind.WARC, "archive/a.warc.gz.open") == 1
            job.world.fault = lambda operation, _: 28 if operation == "create" else 0
            with pytest.raises(StorageError):
                job.commit.create_file(FileKind.INDEX, "archive/a.cdxj.open")
            job.world.fault = None
            await asyncio.sleep(0)  # the others have a turn before all of it ends

    job = Job()
    with pytest.raises(ExceptionGroup) as ended:
        asyncio.run(half(job))
    assert ended.group_contains(StorageError)
    assert get_row(Store(job.world.engine), 1) is None
