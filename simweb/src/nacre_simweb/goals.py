"""The goals of incremental crawling, each measured on worlds and seeds that nothing was tuned on.

See docs/simulated-goals.md. A goal is a figure of several runs of one seed, so that policies are
compared in the same world; over the seeds there is a mean with its bootstrapped interval.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import Literal, NamedTuple

from nacre_simweb.archetypes import HintName
from nacre_simweb.draw import Draw
from nacre_simweb.score import Score

_DRAWS = 2000


class Spec(NamedTuple):
    """A run, but for its seed.

    Attributes:
        world: Name of the world.
        policy: Name of a policy, or of one of `goalruns.OURS`.
        hints: What the world tells.
        days: Length, days.
        every: Days between steps.
        budget: Per cent of the site a step, or a day where steps are shorter; None: no limit.
        warm: Days that are not counted.
        spend: A budget to match in place of `budget`: what this policy spent, spread evenly.
        free: Days before the first step that has a budget: time to learn the site.
        scale: Its pages and births, as a share of those that the world has.
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
    scale: float = 1.0


Scores = Callable[[Spec], Score]
"""Gives the scores of a run of the seed at hand; each is run once."""


class Goal(NamedTuple):
    """A goal: a figure, and the value to be reached.

    Attributes:
        name: As in docs/simulated-goals.md, `G1`.
        what: The measure and its world.
        target: The figure; None for a bound or a comparison.
        better: Whether the figure must be at least, or at most, the target.
        measure: Finds it for one seed; None if a world gives nothing to measure.
        apart: A figure of this machine: measured once, when nothing else runs.
    """

    name: str
    what: str
    target: float | None
    better: Literal["least", "most"]
    measure: Callable[[Scores], float | None]
    apart: bool = False


class GoalResult(NamedTuple):
    """A goal as it was measured.

    Attributes:
        goal: The goal.
        values: By seed.
        mean: Their mean; None if there are no values.
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
        """Whether the mean reaches the target; False without a target."""
        if self.mean is None or self.goal.target is None:
            return False
        above = self.mean >= self.goal.target
        return above if self.goal.better == "least" else self.mean <= self.goal.target


def figure(group: str, name: str, spec: Spec) -> Callable[[Scores], float | None]:
    """Return a measure of one run."""
    return partial(_figure, group, name, spec)


def _figure(group: str, name: str, spec: Spec, scores: Scores) -> float | None:
    return scores(spec)[group].get(name)


def ratio(group: str, name: str, spec: Spec, base: Spec) -> Callable[[Scores], float | None]:
    """Return a measure of one run over that of another in the same world."""
    return partial(_ratio, group, name, spec, base)


def _ratio(group: str, name: str, spec: Spec, base: Spec, scores: Scores) -> float | None:
    above, below = scores(spec)[group][name], scores(base)[group][name]
    return above / below if above is not None and below else None


def lead(group: str, name: str, spec: Spec, base: Spec) -> Callable[[Scores], float | None]:
    """Return a measure of one run less that of another in the same world, in points."""
    return partial(_lead, group, name, spec, base)


def _lead(group: str, name: str, spec: Spec, base: Spec, scores: Scores) -> float | None:
    value, base_value = scores(spec)[group][name], scores(base)[group][name]
    return None if value is None or base_value is None else 100.0 * (value - base_value)


def needs(goal: Goal) -> list[Spec]:
    """The runs that a goal is a figure of, each once, in the order in which they must be made."""
    specs: dict[Spec, None] = {}

    def note(spec: Spec) -> Score:
        for needed in (spec._replace(policy=spec.spend, spend=""), spec) if spec.spend else (spec,):
            specs[needed] = None
        return defaultdict(lambda: defaultdict(lambda: None))

    if not goal.apart:
        goal.measure(note)
    return list(specs)


def shrunk(goal: Goal, scale: float) -> Goal:
    """Return the goal in worlds of fewer pages: to rehearse a measurement, not to quote."""

    def measure(scores: Scores) -> float | None:
        return goal.measure(lambda spec: scores(spec._replace(scale=spec.scale * scale)))

    return goal._replace(measure=measure)


def result(goal: Goal, scores: Sequence[Scores]) -> GoalResult:
    """Return a goal over seeds, by the runs of each."""
    chosen = scores[:1] if goal.apart else scores
    values = [value for run_scores in chosen if (value := goal.measure(run_scores)) is not None]
    return GoalResult(goal, tuple(values), *interval(values))


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
