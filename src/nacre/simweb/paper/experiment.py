"""The whole experiment: three crawls, the paper's own design beside them, and what they found."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.simweb.baselines.table import make_policy
from nacre.simweb.calendar import DAY
from nacre.simweb.decision import Decisions
from nacre.simweb.driver import Steps, drive
from nacre.simweb.experiment import Plan, make_world
from nacre.simweb.kept import Archive
from nacre.simweb.paper.bound import Bound, find_bound
from nacre.simweb.paper.crawls import crawl_thrice
from nacre.simweb.paper.figures import Figures, Necessary, figures, necessary
from nacre.simweb.paper.missed import Missed, missed
from nacre.simweb.recall import Window
from nacre.simweb.truth import Truth
from nacre.simweb.world import World


class Comparison(NamedTuple):
    """The result.

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

    plan: Plan
    keep: str
    full1: Figures
    full2: Figures
    incremental: Figures
    paper: Figures
    least: Necessary
    bound: Bound
    missed: list[Missed]
    problems: list[str]


def compare(plan: Plan, keep: str, out: Path, world: World | None = None) -> Comparison:
    """Run the experiment.

    Args:
        plan: The world, its seed and hints; `days` is the time between the crawls.
        keep: `strict`, `lean` or `delta`.
        out: Where the jobs and the log go.
        world: The world, where it is not one of those with a name.
    """
    world = world or make_world(plan)
    after = plan.days * DAY
    window = Window([0.0, after])
    crawled = crawl_thrice(world, after, keep, out)
    tracks = list(Truth(world).tracks.values())
    lists = sum(
        row.kind in {"list", "home"} and row.status == 200 and row.time == after
        for row in crawled.truth.rows
    )
    return Comparison(
        plan,
        keep,
        figures("full 1", world, crawled.first, Window([-1.0, 0.0]), scored=False),
        figures("full 2", world, crawled.truth, window),
        figures("incremental", world, crawled.both, window),
        figures("the paper's design", world, _paper(world, window.steps), window),
        necessary(world, tracks, crawled.truth, after),
        find_bound(world, tracks, lists, after),
        missed(tracks, crawled.both, after),
        [*crawled.both.problems, *crawled.truth.problems],
    )


def _paper(world: World, steps: Sequence[float]) -> Archive:
    """By decisions alone: a test holds them against the same policy over HTTP."""
    decisions = Decisions(world)
    length = steps[-1] - steps[0]
    drive(world, make_policy("nlc", world), decisions, Steps(length, length / DAY))
    return decisions.archive
