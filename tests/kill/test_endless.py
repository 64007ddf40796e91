"""Killed amid content and amid endless places: the pages still come first, and the run ends.

What is fetched of endless places differs a little between undisturbed runs, so that content, its
order, budget, end and message are compared, not every URL (docs/performance.md).
"""

import os
import re
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from bench.traps import needed
from bench.worlds.calendar import Calendar
from bench.worlds.shop import Shop
from bench.worlds.world import Served, World, curve_of, served
from nacre.frontier.queues import QueueRow
from nacre.store.store import Store
from tests.kill.outcome import Outcome, outcome

pytestmark = pytest.mark.kill

CHECKOUT = Path(__file__).parents[2]
BUDGET = 150
STEP = 90
"""New URLs from one kill to the next: well below the budget, so that a kill falls within it; and
more than the two commit groups of 200 ms that a kill may take hold with the delay below."""
DELAY = "5ms"
ROUND = 10
MOST = 60


class Crawl(NamedTuple):
    """A crawl that came to its end.

    Attributes:
        asked: Paths in the order in which they were asked for, each once.
        repeated: Requests for what had been asked for before.
        said: What the last process said of its end.
        rest: URLs of endless places that are left, as it said.
        spent: URLs of endless places that were handed out.
        outcome: What it stored.
    """

    asked: list[str]
    repeated: int
    said: str
    rest: int
    spent: int
    outcome: Outcome


def begin(*args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def first(site: Served, job: Path) -> subprocess.Popen[str]:
    settings = ("--set", f"politeness.delay={DELAY}", "--set", f"traps.budget={BUDGET}")
    return begin("crawl", site.url, "--out", job, *settings)


def spent(job: Path) -> int:
    """URLs of endless places that were handed out, as far as it is durable."""
    read = msgspec.msgpack.Decoder(QueueRow).decode
    with Store.open(str(job / "state/store"), read_only=True) as store:
        return sum(read(value).trapped for _, value in store.scan("hosts", b"q", b"r"))


def ended(process: subprocess.Popen[str], site: Served, job: Path) -> Crawl:
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 0, said
    left = re.search(r"([\d,]+) URLs of endless places are left; `\S+ run \S+ --traps`", said)
    assert left is not None, said
    asked = list(dict.fromkeys(site.log))
    return Crawl(
        asked,
        len(site.log) - len(asked),
        said.partition("\n")[0],
        int(left[1].replace(",", "")),
        spent(job),
        outcome(job),
    )


def killed_often(site: Served, job: Path) -> tuple[Crawl, list[int]]:
    """Kill it after every so many new URLs, until it ends; and what was spent at each kill."""
    found: list[int] = []
    process = first(site, job)
    while True:
        wanted = len(set(site.log)) + STEP
        while len(set(site.log)) < wanted and process.poll() is None:
            time.sleep(0.005)
        if process.poll() is not None:
            return ended(process, site, job), found
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        found.append(spent(job))
        assert len(found) < MOST, "it does not come to an end"
        process = begin("run", job)


def pages(crawl: Crawl, world: World) -> set[str]:
    """Distinct pages that it stored."""
    paths = (url.split("/", 3)[3] for url in crawl.outcome.captures if url.count("/") >= 3)
    return {world.page(f"/{path}") for path in paths} & world.truth


@pytest.mark.timeout(580)
@pytest.mark.parametrize(
    "world",
    [pytest.param(Calendar(events=60), marks=pytest.mark.slow), Shop(products=60)],
    ids=["calendar", "shop"],
)
def test_a_crawl_that_is_killed_fetches_content_first_and_ends(
    world: World, tmp_path: Path
) -> None:
    with served(world) as site:
        calm = ended(first(site, tmp_path / "calm"), site, tmp_path / "calm")
    with served(world) as site:
        killed, at_kills = killed_often(site, tmp_path / "killed")
    took = [needed(curve_of(world, one.asked), len(world.truth)) for one in (calm, killed)]
    sys.stdout.write(
        f"{len(calm.asked)} URLs undisturbed, {len(killed.asked)} with {len(at_kills)} kills, "
        f"{killed.repeated} repeated; 95 % after {took}; budget at the kills: {at_kills}\n"
    )
    assert killed.said == calm.said
    assert "Finished: everything in scope was tried" in killed.said
    assert pages(killed, world) == pages(calm, world) == world.truth
    assert killed.outcome.damage == []
    assert set(killed.outcome.finished.values()) == {1}
    assert set(killed.outcome.captures.values()) == {1}
    assert took[0] is not None
    assert took[1] is not None
    assert took[1] <= took[0] + ROUND
    assert killed.repeated <= STEP * len(at_kills)
    assert killed.spent == calm.spent == BUDGET
    assert killed.rest > 0
    assert all(before <= after for before, after in pairwise(at_kills))
    assert any(0 < one < BUDGET for one in at_kills)
