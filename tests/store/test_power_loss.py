"""Power loss at every operation of a crawl, and again at every operation of the recovery."""

import asyncio
import random

import pytest

from nacre.errors import StorageError
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.simulated import World
from tests.store.workload import ROOT, Crawl, check

VARIANTS = [("drop", 0), ("keep", 0), ("subset", 1), ("subset", 2), ("torn", 3), ("torn", 4)]


def start(world):
    """Recover as a new process would; what was moved away is safe then."""
    found = recover(Store(world.engine), world.disk, ROOT, StartOptions(archives=("archive",)))
    later = world.crash(random.Random(0), "drop")
    for path in found.moved:
        assert later.disk.content(path) == world.disk.content(path)
    return found


@pytest.mark.parametrize("per_group", [1, 3, 4])
def test_nothing_is_lost_or_torn_wherever_the_power_fails(per_group):
    world, acknowledged, checked = World(), [0], []
    start(world)

    def lose_power(_):
        for mode, seed in VARIANTS:
            after = world.crash(random.Random(seed * 1000 + len(world.log)), mode)
            start(after)
            checked.append(check(after, acknowledged[-1]))

    world.after = lose_power
    asyncio.run(Crawl(world, acknowledged).run(17, per_group))
    world.after = None
    assert max(checked) == 17
    assert len(checked) > 6 * 80
    start(world)
    assert check(world, 17) == 17
    assert {"create", "pwrite", "fdatasync", "fsync_dir", "rename", "batch", "flush_wal"} <= set(
        world.log
    )


def test_a_recovery_that_is_cut_off_is_done_again():
    world, acknowledged, checked = World(), [0], []
    start(world)
    first: list[World] = []

    def keep(_):
        first.append(world.crash(random.Random(len(first)), "torn"))

    world.after = keep
    asyncio.run(Crawl(world, acknowledged).run(13))
    for crashed in first[::3]:

        def again(_, crashed=crashed):
            for mode, seed in VARIANTS[1:4]:
                after = crashed.crash(random.Random(seed * 1000 + len(crashed.log)), mode)
                start(after)
                checked.append(check(after, 0))

        crashed.after = again
        start(crashed)
        crashed.after = None
        count = check(crashed, 0)
        assert checked[-1] == count
    assert len(checked) > 500


class PowerLossError(StorageError):
    """Ends a crawl in the middle."""


@pytest.mark.parametrize("seed", range(8))
def test_a_crawl_goes_on_after_each_of_many_power_losses(seed):
    world, rng, acknowledged, losses = World(), random.Random(seed), [0], 0
    for _ in range(60):
        start(world)
        if check(world, acknowledged[-1]) == 40:
            break
        left = [rng.randint(1, 60)]

        def count(_, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise PowerLossError

        world.after = count
        try:
            asyncio.run(Crawl(world, acknowledged).run(40))
        except* StorageError:
            losses += 1
        world = world.crash(rng, rng.choice(["drop", "keep", "subset", "torn"]))
    assert check(world, acknowledged[-1]) == 40
    assert losses > 3
