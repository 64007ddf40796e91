"""The runs that goals are figures of, those of one world and seed in one place.

What a world is made of and what its pages look like is the same for every policy, and made once.
"""

from collections.abc import Callable
from typing import NamedTuple

from nacre.core.pagerow import PageView
from nacre.planner.settings import RecrawlSettings
from nacre_simweb.baselines.table import make_policy
from nacre_simweb.calendar import DAY
from nacre_simweb.decision import Decisions, Looks
from nacre_simweb.driver import DriverSteps, drive
from nacre_simweb.estimates import BARE, estimates
from nacre_simweb.everything import Everything
from nacre_simweb.experiment import ExperimentPlan, make_world
from nacre_simweb.goals import Spec
from nacre_simweb.lean import lean
from nacre_simweb.ours import Nacre
from nacre_simweb.policy import Policy
from nacre_simweb.recall import CountedWindow
from nacre_simweb.score import Score, claims_of, score
from nacre_simweb.state import rules, state
from nacre_simweb.verdicts import verdicts
from nacre_simweb.world import World

_LONG_FLOOR = 400 * DAY

OURS: dict[str, Callable[[dict[str, PageView]], Nacre]] = {
    "nacre": lambda views: Nacre(views=views),
    "nacre-nohints": lambda views: Nacre(hints=False, views=views),
    "nacre-400d": lambda views: Nacre(settings=RecrawlSettings(floor=_LONG_FLOOR), views=views),
    "nacre-all": lambda views: Everything(views=views),
}
"""Nacre's planner in the ways that goals need: `400d` with a floor of 400 days, which is that of
the headline; `all` fetches everything at every step and only judges it."""


class RunSetting(NamedTuple):
    """The settings that runs of a goal have in common."""

    world: str
    hints: str
    scale: float
    long: float


class _Stage(NamedTuple):
    """A world with its cached looks."""

    world: World
    looks: Looks
    views: dict[str, PageView]


def place(spec: Spec) -> RunSetting:
    """Return the setting of a run: those of one setting share their world."""
    return RunSetting(spec.world, spec.hints, spec.scale, spec.days if spec.days > 100 else 0.0)


class Runs:
    """Runs of one seed, each made once.

    Args:
        seed: The seed.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._scores: dict[Spec, Score] = {}
        self._stages: dict[RunSetting, _Stage] = {}

    def __call__(self, spec: Spec) -> Score:
        """Return the scores of a run."""
        run_score = self._scores.get(spec)
        if run_score is None:
            run_score = self._scores[spec] = self._run(spec)
        return run_score

    def know(self, spec: Spec, scores: Score) -> None:
        """Take over a run that was made before."""
        self._scores[spec] = scores

    def _stage(self, spec: Spec, plan: ExperimentPlan) -> _Stage:
        stage = self._stages.get(place(spec))
        if stage is None:
            stage = self._stages[place(spec)] = _Stage(make_world(plan, spec.scale), {}, {})
        return stage

    def _run(self, spec: Spec) -> Score:
        if spec.world == BARE:
            return {"model": estimates(self._seed)}
        plan = ExperimentPlan(spec.world, spec.hints, self._seed, spec.days, spec.every * DAY)
        steps = self._steps(spec, plan)
        stage = self._stage(spec, plan)
        policy = _policy(spec.policy, stage)
        decisions = Decisions(stage.world, stage.looks)
        driver = drive(stage.world, policy, decisions, steps)
        window = CountedWindow([time for time in steps.times if time >= spec.warm * DAY])
        run_score = score(stage.world, decisions.archive, window, claims_of(policy, driver))
        if isinstance(policy, Nacre):
            archive = decisions.archive
            run_score["verdicts"] = verdicts(stage.world, archive, policy.findings, policy.pairs)
            run_score["state"] = {**state(archive, policy.known), "rules": rules(stage.world)}
            run_score["lean"] = lean(stage.world, archive, policy.findings, window)
        return run_score

    def _steps(self, spec: Spec, plan: ExperimentPlan) -> DriverSteps:
        share = None if spec.spend else plan.share(spec.budget)
        steps = DriverSteps(plan.every, spec.days, share, self._seed, spec.free)
        if not spec.spend:
            return steps
        spent = self(spec._replace(policy=spec.spend, spend=""))["cost"]["requests"] or 0.0
        counted = sum(time > spec.warm * DAY for time in steps.times)
        return steps._replace(requests=round(spent / max(counted, 1)))


def _policy(name: str, stage: _Stage) -> Policy:
    ours = OURS.get(name)
    return ours(stage.views) if ours else make_policy(name, stage.world)
