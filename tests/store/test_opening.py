"""Opening for work, failing, and opening again."""

import asyncio

import pytest

from nacre.errors import StorageError
from nacre.store.disk import RealDisk
from nacre.store.files import FileKind
from nacre.store.opening import BALLAST, STORE, open_for_work
from nacre.store.recovery import Start
from nacre.store.seam import OperationError
from tests.store.running import MEMORY
from tests.store.writing import SystemClock


class Failing(RealDisk):
    """A disk whose fdatasync fails once it is told to."""

    broken = ""

    def fdatasync(self, handle):
        if self.broken and self._paths[handle].endswith(self.broken):
            raise OperationError("fdatasync", self._paths[handle], 5, "Input/output error", "")
        super().fdatasync(handle)


def opened(job, disk, start):
    return open_for_work(str(job), disk, SystemClock(), memory=MEMORY, start=start)


@pytest.mark.parametrize("broken", [".warc.gz.open", "crawl.log"])
def test_a_failed_sync_ends_it_and_opening_again_goes_on(tmp_path, broken):
    disk = Failing()

    async def visit(job, name):
        warc = job.commit.create_file(FileKind.WARC, f"archive/{name}.warc.gz.open")
        log = job.commit.log("logs/crawl.log")
        async with asyncio.TaskGroup() as group:
            group.create_task(job.commit.run())
            for n in range(3):
                job.commit.append(warc, b"record")
                job.commit.line(log, b"%s %d\n" % (name.encode(), n))
                job.store.put("urls", b"%s %d" % (name.encode(), n), b"")
                await job.commit.flush()
                if name == "first" and n == 1:
                    disk.broken = broken
            job.commit.finish()

    job = opened(tmp_path, disk, Start())
    assert job.recovered.epoch == 1
    with pytest.raises(ExceptionGroup):
        asyncio.run(visit(job, "first"))
    suspects = job.close()
    assert [path.endswith(broken) for path in suspects] == [True]

    disk.broken = ""
    keys: list[bytes] = []
    for round_number in range(2):
        job = opened(tmp_path, disk, Start(suspects=suspects))
        assert job.recovered.epoch == 2 + round_number
        if round_number == 0:
            asyncio.run(visit(job, "second"))
        keys = [key for key, _ in job.store.scan("urls", b"")]
        assert job.close() == frozenset()
        suspects = frozenset()
    assert (tmp_path / "logs/crawl.log").read_bytes() == b"".join(key + b"\n" for key in keys)
    first = (tmp_path / "archive/first.warc.gz").read_bytes()
    assert first == b"record" * sum(key.startswith(b"first") for key in keys)
    assert len(keys) in (5, 6)


def test_the_ballast_is_kept_and_only_one_may_work(tmp_path):
    job = opened(tmp_path, RealDisk(), Start())
    assert (tmp_path / BALLAST).stat().st_size == job.store.engine.size_limit
    assert (tmp_path / STORE).is_dir()
    with pytest.raises(StorageError, match="the job is running in process"):
        opened(tmp_path, RealDisk(), Start())
    job.close()


def test_a_refused_start_gives_the_lock_back(tmp_path):
    job = opened(tmp_path, RealDisk(), Start())
    log = job.commit.log("logs/crawl.log")

    async def work():
        async with asyncio.TaskGroup() as group:
            group.create_task(job.commit.run())
            job.commit.line(log, b"line\n")
            job.commit.finish()

    asyncio.run(work())
    job.close()
    (tmp_path / "logs/crawl.log").unlink()
    with pytest.raises(StorageError, match="missing"):
        opened(tmp_path, RealDisk(), Start())
    job = opened(tmp_path, RealDisk(), Start(accept_loss=True))
    assert [lost.path for lost in job.recovered.lost] == ["logs/crawl.log"]
    job.close()
