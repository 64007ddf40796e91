"""An experiment: policies by budgets on one world, scored; the same seed gives the same bytes."""

import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from nacre_simweb.archetypes import HintName, archetype
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions, Looks
from nacre_simweb.driver import Driver, DriverSteps, drive
from nacre_simweb.kept import KeptCaptures
from nacre_simweb.policy import Policy
from nacre_simweb.recall import CountedWindow
from nacre_simweb.score import Score, claims_of, score
from nacre_simweb.simulated import crawl_served, crawl_simulated
from nacre_simweb.world import World

Mode = Literal["decision", "crawler", "http"]

UNLIMITED = frozenset({"full", "digest"})
"""Policies that know no budget: they run once."""


class ExperimentPlan(NamedTuple):
    """The plan of an experiment: world, policies, budgets.

    Attributes:
        world: Name of the world.
        hints: `none`, `honest` or `lying`.
        seed: Seed of the world.
        days: Length, days.
        every: Time between steps, seconds.
        policies: Names of policies.
        budgets: Per cent of the site a step, or a day where steps are shorter; none: no limit.
        bytes_scale: Embeds are shrunk by this.
        mode: `decision`; `crawler`: the real one, in this process; `http`: over sockets.
    """

    world: str
    hints: HintName = "none"
    seed: int = 0
    days: float = 90.0
    every: float = 7 * DAY
    policies: Sequence[str] = ("full", "heritrix", "nlc", "oracle")
    budgets: Sequence[float] = ()
    bytes_scale: float = 0.01
    mode: Mode = "decision"

    def share(self, budget: float | None) -> float | None:
        """Requests of pages a step, as a share of the site."""
        return None if budget is None else budget / 100 * min(self.every / DAY, 1.0)


class Trial(NamedTuple):
    """One policy under one budget.

    Attributes:
        policy: Its name.
        budget: Per cent; None for no limit.
        scores: What it reached.
        usage: Wall and processor time, and memory: of this run on this machine.
    """

    policy: str
    budget: float | None
    scores: Score
    usage: dict[str, float]


def make_world(plan: ExperimentPlan, scale: float = 1.0) -> World:
    """Return the world of a plan; its history reaches to the end of it.

    Args:
        plan: The plan.
        scale: Pages and births, as a share of those that the world has.
    """
    parameters = archetype(plan.world, plan.hints)
    shape, births = parameters.shape, parameters.births
    update = {
        "bytes_scale": plan.bytes_scale,
        "days": max(parameters.days, plan.days + 1),
        "shape": shape.model_copy(update={"pages": round(shape.pages * scale)}),
        "births": births.model_copy(update={"per_day": births.per_day * scale}),
    }
    return World(parameters.model_copy(update=update), plan.seed)


def run_trials(plan: ExperimentPlan, directory: Path) -> Iterator[Trial]:
    """Run all of a plan; jobs of the real crawler go under `directory`.

    Raises:
        ConfigError: There is no such world or policy.
    """
    world = make_world(plan)
    for name in plan.policies:
        make_policy(name, world)  # a wrong name is reported before anything runs
    looks: Looks = {}
    for name in plan.policies:
        budgets = [None] if name in UNLIMITED or not plan.budgets else plan.budgets
        for budget in budgets:
            began, used = time.perf_counter(), time.process_time()
            scores = _trial(plan, world, name, budget, directory / "jobs", looks)
            usage = {
                "wall_s": time.perf_counter() - began,
                "cpu_s": time.process_time() - used,
                "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
            yield Trial(name, budget, scores, usage)


def _trial(
    plan: ExperimentPlan, world: World, name: str, budget: float | None, jobs: Path, looks: Looks
) -> Score:
    steps = DriverSteps(plan.every, plan.days, plan.share(budget), plan.seed)
    policy = make_policy(name, world)
    archive, driver = _archive(
        plan, world, policy, steps, jobs / f"{name}-{budget or 'all'}", looks
    )
    return score(world, archive, CountedWindow(steps.times), claims_of(policy, driver))


def _archive(
    plan: ExperimentPlan, world: World, policy: Policy, steps: DriverSteps, job: Path, looks: Looks
) -> tuple[KeptCaptures, Driver]:
    if plan.mode == "crawler":
        return crawl_simulated(world, policy, steps, job)
    if plan.mode == "http":
        return crawl_served(world, policy, steps, job)
    decisions = Decisions(world, looks)
    return decisions.archive, drive(world, policy, decisions, steps)
