"""The goals of incremental crawling, each measured on worlds and seeds that nothing was tuned on.

Source: reference/incremental.md 3.5. A goal is a figure of several runs of one seed, so that
policies are compared in the same world; over the seeds there is a mean with its bootstrapped
interval.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Literal, NamedTuple

from nacre.history.recrawl_settings import RecrawlSettings
from nacre.simweb.archetypes import HintName
from nacre.simweb.baselines.table import make_policy
from nacre.simweb.calendar import DAY
from nacre.simweb.decision import Decisions
from nacre.simweb.draw import Draw
from nacre.simweb.driver import Steps, drive
from nacre.simweb.experiment import Plan, make_world
from nacre.simweb.ours import Nacre
from nacre.simweb.policy import Policy
from nacre.simweb.recall import Window
from nacre.simweb.score import Claims, Score, score
from nacre.simweb.state import rules, state
from nacre.simweb.verdicts import verdicts
from nacre.simweb.world import World

_DRAWS = 2000
_LONG_FLOOR = 400 * DAY
"""Floor of the headline; the default is a row of its own."""


class Spec(NamedTuple):
    """A run, but for its seed.

    Attributes:
        world: Name of the world.
        policy: Name of a policy; `nacre-400d` is `nacre` with a floor of 400 days.
        hints: What the world tells.
        days: Length, days.
        every: Days between steps.
        budget: Per cent of the site a step, or a day where steps are shorter; None: no limit.
        warm: Days that are not counted.
        spend: A budget to match in place of `budget`: what this policy spent, spread evenly.
        free: Days before the first step that has a budget: time to learn the site.
    """

    world: str
    policy: str
    hints: HintName = "none"
    days: float = 42.0
    every: float = 7.0
    budget: float | None = None
    warm: float = 0.0
    spend: str = ""
    free: float = 0.0


Scores = Callable[[Spec], Score]
"""Gives the scores of a run of the seed at hand; each is run once."""


class Goal(NamedTuple):
    """What is to be reached.

    Attributes:
        name: As in the reference, `G1`.
        what: What is measured, where.
        target: The figure.
        better: The figure is to be at least, or at most, so great.
        measure: Finds it for one seed; None where a world gives nothing to measure.
    """

    name: str
    what: str
    target: float
    better: Literal["least", "most"]
    measure: Callable[[Scores], float | None]


class Result(NamedTuple):
    """A goal as it was measured.

    Attributes:
        goal: The goal.
        values: By seed.
        mean: Their mean; None where there is none.
        low: Lower end of its 95 % interval.
        high: Upper end.
    """

    goal: Goal
    values: tuple[float, ...]
    mean: float | None
    low: float | None
    high: float | None

    @property
    def reached(self) -> bool:
        """The mean is what it should be."""
        if self.mean is None:
            return False
        above = self.mean >= self.goal.target
        return above if self.goal.better == "least" else self.mean <= self.goal.target


class Runs:
    """Runs of one seed, each made once.

    Args:
        seed: The seed.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._scores: dict[Spec, Score] = {}

    def __call__(self, spec: Spec) -> Score:
        """The scores of a run."""
        found = self._scores.get(spec)
        if found is None:
            found = self._scores[spec] = self._run(spec)
        return found

    def _run(self, spec: Spec) -> Score:
        plan = Plan(spec.world, spec.hints, self._seed, spec.days, spec.every * DAY)
        steps = self._steps(spec, plan)
        world = make_world(plan)
        policy = _policy(spec.policy, world)
        decisions = Decisions(world)
        driver = drive(world, policy, decisions, steps)
        rates = getattr(policy, "rates", None)
        claims = Claims(rates() if rates else None, driver.forecasts)
        window = Window([time for time in steps.times if time >= spec.warm * DAY])
        found = score(world, decisions.archive, window, claims)
        if isinstance(policy, Nacre):
            found["verdicts"] = verdicts(decisions.archive, policy.findings)
            found["state"] = {**state(decisions.archive, policy.known), "rules": rules(world)}
        return found

    def _steps(self, spec: Spec, plan: Plan) -> Steps:
        share = None if spec.spend else plan.share(spec.budget)
        steps = Steps(plan.every, spec.days, share, self._seed, spec.free)
        if not spec.spend:
            return steps
        spent = self(spec._replace(policy=spec.spend, spend=""))["cost"]["requests"] or 0.0
        counted = sum(time > spec.warm * DAY for time in steps.times)
        return steps._replace(requests=round(spent / max(counted, 1)))


def _policy(name: str, world: World) -> Policy:
    if name == "nacre-400d":
        return Nacre(settings=RecrawlSettings(floor=_LONG_FLOOR))
    return make_policy(name, world)


def figure(group: str, name: str, spec: Spec) -> Callable[[Scores], float | None]:
    """A measure of one run."""
    return partial(_figure, group, name, spec)


def _figure(group: str, name: str, spec: Spec, scores: Scores) -> float | None:
    return scores(spec)[group][name]


def ratio(group: str, name: str, one: Spec, other: Spec) -> Callable[[Scores], float | None]:
    """A measure of one run over that of another in the same world."""
    return partial(_ratio, group, name, one, other)


def _ratio(group: str, name: str, one: Spec, other: Spec, scores: Scores) -> float | None:
    above, below = scores(one)[group][name], scores(other)[group][name]
    return above / below if above is not None and below else None


def lead(group: str, name: str, one: Spec, other: Spec) -> Callable[[Scores], float | None]:
    """A measure of one run less that of another in the same world, in points."""
    return partial(_lead, group, name, one, other)


def _lead(group: str, name: str, one: Spec, other: Spec, scores: Scores) -> float | None:
    left, right = scores(one)[group][name], scores(other)[group][name]
    return None if left is None or right is None else 100.0 * (left - right)


def measured(goals: Sequence[Goal], seeds: Sequence[int]) -> Iterator[Result]:
    """Measure goals over seeds, one goal after the other."""
    runs = {seed: Runs(seed) for seed in seeds}
    for goal in goals:
        found = [value for seed in seeds if (value := goal.measure(runs[seed])) is not None]
        yield Result(goal, tuple(found), *interval(found))


def interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Mean and the 95 % interval of a bootstrap over seeds; the same values give the same one."""
    if not values:
        return None, None, None
    draw = Draw(0).at("bootstrap")
    size = len(values)
    means = sorted(
        fmean(values[int(draw.uniform(number * size + at) * size)] for at in range(size))
        for number in range(_DRAWS)
    )
    return fmean(values), means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1]
