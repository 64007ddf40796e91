"""Policies that know the world: B2, O1 and O2. They bound what any other can reach."""

from collections.abc import Iterable

from nacre.planner.change_rate.value import captured
from nacre_simweb.baselines.book import Book
from nacre_simweb.calendar import DAY
from nacre_simweb.oracle import Oracle
from nacre_simweb.policy import VisitOutcome

_LISTS = 3.0
"""A list is worth that many pages."""


class Proportional(Book):
    """B2: as often as a page truly changes; all the budget, longest overdue first."""

    name = "proportional"

    def __init__(self, oracle: Oracle) -> None:
        super().__init__()
        self._oracle = oracle
        self._step = -1.0
        self._todo: list[str] = []

    def due(self, now: float, room: int) -> list[str]:
        """By time since the last visit, in units of the page's own changes."""
        if now != self._step:
            self._step = now
            worth = {url: self.worth(url, now) for url in self.last}
            self._todo = sorted((url for url in worth if worth[url] > 0), key=worth.__getitem__)
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]

    def worth(self, url: str, now: float) -> float:
        """Rank of a visit now; 0 for one that is worth nothing."""
        return self._oracle.rate(url, now) * (now - self.last[url])


class RateOracle(Proportional):
    """O1: knows every rate and the structure, but no event: the greedy crawl value with theta 1."""

    name = "oracle"

    def worth(self, url: str, now: float) -> float:
        """Return the versions that a visit is worth (2.4)."""
        oracle = self._oracle
        value = captured(oracle.rate(url, now) * (now - self.last[url]) / DAY)
        return _LISTS * value if oracle.is_list(url) else value


class Clairvoyant(Book):
    """O2: knows every event; visits exactly what changed, came or went since its last visit."""

    name = "clairvoyant"

    def __init__(self, oracle: Oracle) -> None:
        super().__init__()
        self._oracle = oracle
        self._states: dict[str, tuple[str, int]] = {}
        self._step = -1.0
        self._todo: list[str] = []

    def due(self, now: float, room: int) -> list[str]:
        """Return the pages that differ."""
        if now != self._step:
            self._step = now
            urls = dict.fromkeys([*self._oracle.living(now), *self._states])
            changed = [url for url in urls if self._differs(url, now)]
            changed.sort(key=lambda url: url in self._states)  # new URLs go first
            self._todo = [url for url in reversed(changed) if not self._oracle.is_list(url)]
            self._seen.update(self._todo)
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]

    def _differs(self, url: str, now: float) -> bool:
        return self._oracle.state(url, now) != self._states.get(url, ("error", -1))

    def add(self, urls: Iterable[str]) -> None:
        """Links are of interest in the first step only: later it knows where things are."""
        if self._step < 0:
            super().add(urls)

    def visited(self, outcome: VisitOutcome, elapsed: float, *, changed: bool, first: bool) -> None:
        """Record the state of the URL."""
        self._states[outcome.url] = self._oracle.state(outcome.url, outcome.time)
