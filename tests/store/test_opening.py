"""Opening for work, failing, and opening again.

The reserve, waiting for it, and the ballast.
"""

import asyncio

import pytest

from nacre.errors import StorageError
from nacre.store.disk import RealDisk, failure
from nacre.store.files import FileKind
from nacre.store.opening import (
    BALLAST,
    LOOK,
    MARGIN,
    STORE,
    Ballast,
    open_for_work,
    shortage,
    space_to_reserve,
    wait_for_space,
)
from nacre.store.recovery import StartOptions
from nacre.store.seam import OperationError
from tests.store.running import MEMORY
from tests.store.simulated import World
from tests.store.workload import StepClock
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

    job = opened(tmp_path, disk, StartOptions())
    assert job.recovered.epoch == 1
    with pytest.raises(ExceptionGroup):
        asyncio.run(visit(job, "first"))
    suspects = job.close()
    assert [path.endswith(broken) for path in suspects] == [True]

    disk.broken = ""
    keys: list[bytes] = []
    for round_number in range(2):
        job = opened(tmp_path, disk, StartOptions(suspects=suspects))
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
    job = opened(tmp_path, RealDisk(), StartOptions())
    assert (tmp_path / BALLAST).stat().st_size == job.store.engine.size_limit
    assert (tmp_path / STORE).is_dir()
    with pytest.raises(StorageError, match="the job is running in process"):
        opened(tmp_path, RealDisk(), StartOptions())
    job.close()


def test_a_refused_start_gives_the_lock_back(tmp_path):
    job = opened(tmp_path, RealDisk(), StartOptions())
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
        opened(tmp_path, RealDisk(), StartOptions())
    job = opened(tmp_path, RealDisk(), StartOptions(accept_loss=True))
    assert [lost.path for lost in job.recovered.lost] == ["logs/crawl.log"]
    job.close()


PATH = "/job/state/ballast"


def test_the_reserve_covers_buffers_twice_one_group_and_a_margin():
    assert space_to_reserve(32_000_000, 5_000_000) == 64_000_000 + 5_000_000 + MARGIN


def test_a_shortage_names_each_place():
    disk = World().disk
    disk.space = 10_000_000
    assert shortage(disk, ["/a", "/b"], 10_000_000) == ""
    assert shortage(disk, ["/a", "/b"], 20_000_000) == (
        "/a: 10 MB free, 20 MB needed; /b: 10 MB free, 20 MB needed"
    )


def test_waiting_ends_when_space_is_there_or_time_is_up():
    disk, clock = World().disk, StepClock()
    told: list[str] = []
    disk.space = 5

    class Freeing(StepClock):
        async def sleep(self, seconds):
            await super().sleep(seconds)
            disk.space += 5

    async def wait(clock, limit):
        return await wait_for_space(disk, ["/a"], 20, clock, limit, told.append)

    assert asyncio.run(wait(clock, 3 * LOOK)) is False
    assert clock.time >= 3 * LOOK
    assert len(told) == 1
    assert asyncio.run(wait(Freeing(), None)) is True
    assert disk.space == 20


def test_ballast_is_kept_while_there_is_room_and_freed_when_there_is_none():
    world = World()
    world.disk.space = 149
    ballast = Ballast(world.disk, PATH, 50)
    assert not ballast.keep("/job", 100)
    world.disk.space = 150
    assert ballast.keep("/job", 100)
    assert ballast.keep("/job", 100)
    assert world.disk.space == 100
    assert not ballast.free("/job", 100)
    world.disk.space = 99
    assert ballast.free("/job", 100)
    assert not ballast.free("/job", 100)
    assert world.disk.size(PATH) is None


def test_what_is_finished_keeps_no_ballast_and_a_disk_that_refuses_harms_nobody(monkeypatch):
    world = World()
    world.disk.space = 1000
    ballast = Ballast(world.disk, PATH, 50)
    assert ballast.keep("/job", 100)

    def refuse(path: str) -> None:
        raise failure("unlink", path, OSError(5, "Input/output error"))

    with monkeypatch.context() as patch:
        patch.setattr(world.disk, "unlink", refuse)
        ballast.drop()
    assert world.disk.size(PATH) == 50
    ballast.drop()
    ballast.drop()
    assert world.disk.size(PATH) is None


def test_a_wait_can_be_given_up():
    disk, clock = World().disk, StepClock()
    disk.space = 5
    waits = wait_for_space(disk, ["/a"], 20, clock, None, print, gives_up=lambda: clock.time > LOOK)
    assert asyncio.run(waits) is False
    assert clock.time <= 3 * LOOK
