"""Power loss at the operations of a crawl: recovery, invariants, and the crawl to its end."""

import asyncio
import random
from pathlib import Path
from typing import NamedTuple

import pytest

from nacre.core.states import ExitStatus
from tests.fault.facts import Facts, check, check_same
from tests.fault.jobs import settings
from tests.fault.simulation import VARIANTS, Machine, simulated
from tests.fault.site import Site
from tests.store.simulated import World

CRAWLS = 1
SAMPLES = 60
RESUMED = 6


class Loss(NamedTuple):
    """The world after a power loss, and what had been acknowledged by then."""

    world: World
    acknowledged: frozenset[str]
    where: str


class Losses:
    """Takes the world after some of the operations, with each variant in turn."""

    def __init__(self, machine: Machine, share: float, luck: random.Random) -> None:
        self._machine = machine
        self._share = share
        self._luck = luck
        self.operations = 0
        self.taken: list[Loss] = []

    def __call__(self, operation: str) -> None:
        self.operations += 1
        for mode in VARIANTS:
            if self._luck.random() < self._share:
                after = self._machine.world.crash(self._luck, mode)
                where = f"{mode} after operation {self.operations}, {operation}"
                self.taken.append(Loss(after, frozenset(self._machine.acknowledged), where))


async def crawl(machine: Machine, site: Site, losses: Losses | None = None) -> Facts:
    """The crawl undisturbed; what it left."""
    machine.world.after = losses
    assert await machine.run(settings(site.url())) is ExitStatus.FINISHED
    machine.world.after = None
    return examine(machine, machine.world, site, "end")


def examine(machine: Machine, world: World, site: Site, name: str) -> Facts:
    folder = machine.root.with_name(f"files-{name}")
    return machine.facts(world, settings(site.url()), folder)


def check_loss(machine: Machine, site: Site, loss: Loss, number: int) -> None:
    found = examine(machine, loss.world.crash(random.Random(0), "keep"), site, f"loss-{number}")
    try:
        check(found)
        assert loss.acknowledged <= found.outcomes.keys()
    except AssertionError as error:
        error.add_note(loss.where)
        raise


async def resume(machine: Machine, site: Site, loss: Loss, calm: Facts, number: int) -> None:
    """Go on in the world after a loss, to the end."""
    machine.world = loss.world
    site.asked.clear()
    assert await machine.run(settings(site.url())) is ExitStatus.FINISHED, loss.where
    found = examine(machine, machine.world, site, f"resumed-{number}")
    check_same(found, calm)
    again = [url for url in loss.acknowledged if site.asked[url.removeprefix(site.url("")[:-1])]]
    assert not again, (loss.where, again)


async def lose_power(folder: Path, seed: int, share: float, resumed: int) -> int:
    """One crawl with power losses; how many were looked at."""
    luck, site = random.Random(seed), Site()
    with simulated(folder / "job") as machine:
        losses = Losses(machine, share, luck)
        async with site.serving():
            calm = await crawl(machine, site, losses)
            check(calm)
            for number, loss in enumerate(losses.taken):
                check_loss(machine, site, loss, number)
            for number, loss in enumerate(luck.sample(losses.taken, resumed)):
                await resume(machine, site, loss, calm, number)
    return len(losses.taken)


@pytest.mark.parametrize("seed", range(CRAWLS))
def test_nothing_is_lost_wherever_the_power_fails(tmp_path: Path, seed: int):
    share = SAMPLES / (4 * 150)
    assert asyncio.run(lose_power(tmp_path, seed, share, RESUMED)) > SAMPLES / 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(10))
def test_every_operation(tmp_path: Path, seed: int):
    assert asyncio.run(lose_power(tmp_path, seed, 1.0, 40)) > 500
