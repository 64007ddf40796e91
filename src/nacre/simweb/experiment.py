"""An experiment: policies by budgets on one world, scored; the same seed gives the same bytes."""

import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from nacre.simweb.archetypes import HintName, archetype
from nacre.simweb.baselines.table import make_policy
from nacre.simweb.calendar import DAY
from nacre.simweb.decision import Decisions, Looks
from nacre.simweb.driver import Driver, Steps, drive
from nacre.simweb.kept import Archive
from nacre.simweb.policy import Policy
from nacre.simweb.recall import Window
from nacre.simweb.score import Score, claims_of, score
from nacre.simweb.simulated import crawl_served, crawl_simulated
from nacre.simweb.world import World

Mode = Literal["decision", "crawler", "http"]

UNLIMITED = frozenset({"full", "digest"})
"""Policies that know no budget: they run once."""


class Plan(NamedTuple):
    """What is to be run.

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


def make_world(plan: Plan, scale: float = 1.0) -> World:
    """The world of a plan; its history reaches to the end of it.

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


def run_trials(plan: Plan, directory: Path) -> Iterator[Trial]:
    """Run all of a plan; jobs of the real crawler go under `directory`.

    Raises:
        ConfigError: There is no such world or policy.
    """
    world = make_world(plan)
    for name in plan.policies:
        make_policy(name, world)  # a wrong name is told before anything runs
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
    plan: Plan, world: World, name: str, budget: float | None, jobs: Path, looks: Looks
) -> Score:
    steps = Steps(plan.every, plan.days, plan.share(budget), plan.seed)
    policy = make_policy(name, world)
    archive, driver = _archive(
        plan, world, policy, steps, jobs / f"{name}-{budget or 'all'}", looks
    )
    return score(world, archive, Window(steps.times), claims_of(policy, driver))


def _archive(
    plan: Plan, world: World, policy: Policy, steps: Steps, job: Path, looks: Looks
) -> tuple[Archive, Driver]:
    if plan.mode == "crawler":
        return crawl_simulated(world, policy, steps, job)
    if plan.mode == "http":
        return crawl_served(world, policy, steps, job)
    decisions = Decisions(world, looks)
    return decisions.archive, drive(world, policy, decisions, steps)
