"""Power loss and kills while pages that a browser ran are stored: all of a page, or nothing."""

import asyncio
import random
from pathlib import Path

import pytest

from nacre.assembly import parts
from nacre.core.states import ExitStatus
from nacre.engine import visits
from tests.fault.facts import Facts, check_originals, path_of
from tests.fault.pages import PATHS, AppRenderer, app_site, check_pages, page_settings
from tests.fault.simulation import Machine, simulated
from tests.fault.site import Site
from tests.fault.test_power_loss import Loss, Losses
from tests.store.simulated import World

SHARE, RESUMED = 0.06, 5


def examine(machine: Machine, world: World, site: Site, name: str) -> Facts:
    """Recover a world; its pages are whole, and so is all else."""
    folder = machine.root.with_name(f"files-{name}")
    found = machine.facts(world, page_settings(site.url()), folder)
    assert not found.damage, "\n".join(found.damage)
    check_originals(found)
    pages = {"/", *PATHS}
    files = {name for name, _ in found.records}
    warcs = [path for path in folder.rglob("archive/*.warc.gz") if path.name in files]
    check_pages(warcs, {path_of(url) for url in found.outcomes} & pages)
    for url, outcome in found.outcomes.items():
        assert outcome.status in {1, 200, 404}, url
        if path_of(url) in pages:
            assert found.logged[url] == [200], url
    return found


async def resume(machine: Machine, site: Site, loss: Loss, calm: Facts, number: int) -> None:
    machine.world = loss.world
    assert await machine.run(page_settings(site.url())) is ExitStatus.FINISHED, loss.where
    found = examine(machine, machine.world, site, f"resumed-{number}")
    assert not found.waiting
    assert found.captures.keys() == calm.captures.keys()
    assert found.payloads == calm.payloads


async def lose_power(folder: Path, seed: int, share: float, resumed: int) -> int:
    luck, site = random.Random(seed), Site(app_site())
    with simulated(folder / "job") as machine:
        losses = Losses(machine, share, luck)
        async with site.serving():
            machine.world.after = losses
            assert await machine.run(page_settings(site.url())) is ExitStatus.FINISHED
            machine.world.after = None
            calm = examine(machine, machine.world, site, "end")
            assert {path_of(url) for url in calm.captures} >= {"/", *PATHS}
            for number, loss in enumerate(losses.taken):
                after = loss.world.crash(random.Random(0), "keep")
                try:
                    examine(machine, after, site, f"loss-{number}")
                except AssertionError as error:
                    error.add_note(loss.where)
                    raise
            for number, loss in enumerate(luck.sample(losses.taken, resumed)):
                await resume(machine, site, loss, calm, number)
    return len(losses.taken)


def test_of_a_page_all_or_nothing_is_there_wherever_the_power_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(parts, "open_renderer", lambda *_: AppRenderer())
    # Others have a turn behind each request of a page: the group may not be sealed meanwhile.
    monkeypatch.setattr(visits, "_SLICE", 0.0)
    assert asyncio.run(lose_power(tmp_path, 1, SHARE, RESUMED)) > 10
