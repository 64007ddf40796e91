"""The whole experiment: three crawls, the paper's own design, and their results."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.experiment import ExperimentPlan, make_world
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.paper.bound import RecallBound, find_bound
from nacre_simweb.paper.crawls import crawl_thrice
from nacre_simweb.paper.figures import CrawlFigures, Necessary, figures, necessary
from nacre_simweb.paper.missed import Missed, missed
from nacre_simweb.recall import CountedWindow
from nacre_simweb.truth import Truth
from nacre_simweb.world import World


class CrawlComparison(NamedTuple):
    """The result of the experiment: its three crawls side by side.

    Attributes:
        plan: What was run.
        keep: What the incremental crawl stored.
        full1: Full crawl at the beginning.
        full2: Full crawl at the end.
        incremental: `nacre recrawl` at the end.
        paper: The paper's own design at the end.
        least: What had to be fetched.
        bound: What the rates alone allow.
        missed: What the incremental crawl did not find.
        problems: What is wrong with the WARCs.
    """

    plan: ExperimentPlan
    keep: str
    full1: CrawlFigures
    full2: CrawlFigures
    incremental: CrawlFigures
    paper: CrawlFigures
    least: Necessary
    bound: RecallBound
    missed: list[Missed]
    problems: list[str]


def compare(
    plan: ExperimentPlan, keep: str, out: Path, world: World | None = None
) -> CrawlComparison:
    """Run the experiment.

    Args:
        plan: The world, its seed and hints; `days` is the time between the crawls.
        keep: `strict`, `lean` or `delta`.
        out: Where the jobs and the log go.
        world: The world; None: the named world of the plan.
    """
    world = world or make_world(plan)
    after = plan.days * DAY
    window = CountedWindow([0.0, after])
    crawled = crawl_thrice(world, after, keep, out)
    tracks = list(Truth(world).tracks.values())
    lists = sum(
        row.kind in {"list", "home"} and row.status == 200 and row.time == after
        for row in crawled.truth.rows
    )
    return CrawlComparison(
        plan,
        keep,
        figures("full 1", world, crawled.first, CountedWindow([-1.0, 0.0]), scored=False),
        figures("full 2", world, crawled.truth, window),
        figures("incremental", world, crawled.both, window),
        figures("the paper's design", world, _paper(world, window.steps), window),
        necessary(world, tracks, crawled.truth, after),
        find_bound(world, tracks, lists, after),
        missed(tracks, crawled.both, after),
        [*crawled.both.problems, *crawled.truth.problems],
    )


def _paper(world: World, steps: Sequence[float]) -> KeptCaptures:
    """By decisions alone: a test holds them against the same policy over HTTP."""
    decisions = Decisions(world)
    length = steps[-1] - steps[0]
    drive(world, make_policy("nlc", world), decisions, DriverSteps(length, length / DAY))
    return decisions.archive
