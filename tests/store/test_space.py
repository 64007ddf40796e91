"""The reserve, waiting for it, and the ballast."""

import asyncio

from nacre.store.disk import failure
from nacre.store.space import LOOK, MARGIN, Ballast, reserve, shortage, wait_for_space
from tests.store.simulated import World
from tests.store.workload import StepClock

PATH = "/job/state/ballast"


def test_the_reserve_covers_buffers_twice_one_group_and_a_margin():
    assert reserve(32_000_000, 5_000_000) == 64_000_000 + 5_000_000 + MARGIN


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
