"""Runs a policy over a world, step by step, with any fetcher."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from nacre_simweb.calendar import DAY
from nacre_simweb.policy import Policy, Task, VisitOutcome, WantedVisit
from nacre_simweb.world import World

_UNLIMITED = 1 << 40
_WAVES = 10_000


class Fetcher(Protocol):
    """Visits URLs: the real crawler, or the decision-only mode."""

    async def step(self, time: float) -> None:
        """The world is at the next step's time, seconds."""
        ...

    async def visit(self, visits: Sequence[WantedVisit], policy: Policy) -> list[VisitOutcome]:
        """Visit each URL once."""
        ...


class Forecast(NamedTuple):
    """The forecast of a policy for a visit."""

    url: str
    time: float
    chance: float


class DriverSteps(NamedTuple):
    """The times of the steps of an experiment.

    Attributes:
        every: Time between steps, seconds.
        days: Length, days.
        share: Requests of pages a step, as a share of the pages of the site; None for no limit.
        seed: For policies that draw lots.
        free: Days before the first step that has a budget: time to learn the site.
        requests: Requests of pages a step, in place of `share`; None for none.
    """

    every: float
    days: float
    share: float | None = None
    seed: int = 0
    free: float = 0.0
    requests: int | None = None

    @property
    def times(self) -> list[float]:
        """Times of the steps, from 0."""
        return [number * self.every for number in range(int(self.days * DAY / self.every) + 1)]


class Driver:
    """One policy over one world.

    Args:
        world: The world.
        policy: The policy.
        fetcher: Who visits.
        steps: What there is to do.

    Attributes:
        forecasts: What the policy expected, for the scorer.
    """

    def __init__(self, world: World, policy: Policy, fetcher: Fetcher, steps: DriverSteps) -> None:
        self._world = world
        self._policy = policy
        self._fetcher = fetcher
        self._steps = steps
        self._embeds: set[str] = set()
        self._fresh: set[str] = set()
        self._pages: set[str] = set()
        self.forecasts: list[Forecast] = []

    async def run(self) -> None:
        """Do all steps."""
        world, steps = self._world, self._steps
        task = Task(world.starts, world.epoch(0), steps.every, steps.days, steps.share, steps.seed)
        self._policy.begin(task)
        room = _UNLIMITED
        for number, time in enumerate(steps.times):
            await self._fetcher.step(time)
            self._fresh = set()
            await self._step(time, room if time > steps.free * DAY else _UNLIMITED)
            if not number:
                room = self._room()

    def _room(self) -> int:
        """Requests of pages in each step after the first."""
        share = self._steps.share
        if self._steps.requests is not None:
            return self._steps.requests
        return _UNLIMITED if share is None else max(round(share * len(self._pages)), 1)

    async def _step(self, time: float, room: int) -> None:
        now = self._world.epoch(time)
        for _ in range(_WAVES):
            visits = self._policy.choose(now, room)[:room]
            if not visits or room <= 0:
                return
            room -= len(visits)
            self._note(visits, time)
            outcomes = await self._fetcher.visit(visits, self._policy)
            self._pages.update(result.url for result in outcomes if _is_page(result))
            for outcome in outcomes:
                self._policy.learn(outcome)
            await self._visit_embeds(outcomes)

    def _note(self, visits: Sequence[WantedVisit], time: float) -> None:
        self.forecasts += (
            Forecast(visit.url, time, visit.chance) for visit in visits if visit.chance is not None
        )

    async def _visit_embeds(self, outcomes: Sequence[VisitOutcome]) -> None:
        """Embeds of the pages that were visited, as the policy wants them; under no budget."""
        visited = self._fresh if self._policy.embeds == "all" else self._embeds
        embeds: list[WantedVisit] = []
        for outcome in outcomes:
            for link in outcome.links:
                if link.hop == "E" and link.url not in visited:
                    visited.add(link.url)
                    embeds.append(WantedVisit(link.url))
        if embeds:
            for outcome in await self._fetcher.visit(embeds, self._policy):
                self._policy.learn(outcome)


def _is_page(outcome: VisitOutcome) -> bool:
    """Budgets are shares of the site; who reads robots.txt and sitemaps gets no larger ones."""
    hint = "xml" in outcome.mime or outcome.mime.startswith("text/plain")
    return outcome.status == 200 and not hint


def drive(world: World, policy: Policy, fetcher: Fetcher, steps: DriverSteps) -> Driver:
    """Run a policy whose fetcher needs no separate event loop."""
    driver = Driver(world, policy, fetcher, steps)
    asyncio.run(driver.run())
    return driver
