"""A full crawl, an incremental one and another full one: the real crawler, over real HTTP.

The world stands still during each crawl (epochs). Full 1 and the incremental crawl are runs of one
job, as `nacre crawl` and `nacre recrawl` make them; full 2 is a separate job, which knows nothing
of the others.
"""

import asyncio
import time
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError, JobError
from nacre.job.job import Job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.runs.runs import INCREMENTAL, plan_run
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre_simweb.calendar import START
from nacre_simweb.captures import read_archive
from nacre_simweb.crawling import CarelessDisk, job_settings
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.ours import Nacre
from nacre_simweb.serve import Hands, serving
from nacre_simweb.servelog import Row, write_log
from nacre_simweb.world import World

JOB, TRUTH, LOG = "job", "full2", "server.log"


class WorldClock(SystemClock):
    """The time of a served world, going on at the machine's pace since it was set."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._since = time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch, of the simulation."""
        return START + self._hands.now() + time.monotonic() - self._since

    def set(self, seconds: float) -> None:
        """Take the world and this clock to a time of the world, seconds."""
        self._hands.set(seconds)
        self._since = time.monotonic()


class Thrice(NamedTuple):
    """The archives of the three crawls.

    Attributes:
        first: Full 1 alone.
        both: Full 1 and the incremental crawl.
        truth: Full 1 and full 2, as if it had been the second visit.
        after: Time between the crawls, seconds.
    """

    first: KeptCaptures
    both: KeptCaptures
    truth: KeptCaptures
    after: float


def crawl_thrice(world: World, after: float, keep: str, out: Path) -> Thrice:
    """Crawl a world at time 0, and twice at a later time: incrementally, and in full.

    Args:
        world: The world.
        after: The later time, seconds.
        keep: What the incremental crawl stores: `strict`, `lean` or `delta`.
        out: Where the jobs `job` and `full2` and the server's log go.

    Raises:
        ConfigError: A job is there already.
        JobError: A crawl did not come to its end.
    """
    for name in (JOB, TRUTH):
        if (out / name).exists():
            raise ConfigError(f"{out / name} is there already: choose another --out")
        (out / name).mkdir(parents=True)
    rows, marks = asyncio.run(_crawls(world, after, keep, out))
    write_log(out / LOG, rows)
    early, late = rows[: marks[0]], rows[marks[0] : marks[1]]
    both_runs = read_archive(out / JOB, early + late)
    second = read_archive(out / TRUTH, rows[marks[1] :])
    firsts = [capture for capture in both_runs.kept if capture.row.time == 0.0]
    return Thrice(
        KeptCaptures(early, firsts, both_runs.problems),
        both_runs,
        KeptCaptures(early + second.rows, firsts + second.kept, second.problems, second.warc_bytes),
        after,
    )


async def _crawls(
    world: World, after: float, keep: str, out: Path
) -> tuple[list[Row], tuple[int, int]]:
    """Return the log, and how long it was after full 1 and after the incremental crawl."""
    hands = Hands()
    clock = WorldClock(hands)
    async with serving(world, hands) as (server, port):
        settings, rows = _settings(world, port), server.answers.rows
        await _crawl(out / JOB, settings, clock)
        first = len(rows)
        clock.set(after)
        with Store.open(str(Layout(out / JOB).store)) as store:
            plan_run(store, Layout(out / JOB), clock.now(), mode=INCREMENTAL, keep=keep)
        await _crawl(out / JOB, settings, clock)
        second = len(rows)
        await _crawl(out / TRUTH, settings, clock)
        return rows, (first, second)


def _settings(world: World, port: int) -> JobSettings:
    """Return the settings of the simulated web's jobs, with other seeds and another scope."""
    settings = job_settings(world, Nacre(), served=True, delay=0.0)
    seeds = tuple(f"{url.removesuffix('/')}:{port}/" for url in world.starts)
    return settings.model_copy(update={"seeds": seeds, "scope": rules_for(ScopeKind.HOST)})


async def _crawl(root: Path, settings: JobSettings, clock: WorldClock) -> None:
    ending = await Job(root, settings, clock=clock, disk=CarelessDisk()).run()
    if ending != "FINISHED":
        raise JobError(f"the crawl in {root} ended as {ending}; see {root / 'latest/logs'}")
