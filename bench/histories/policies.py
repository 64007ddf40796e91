"""Policies that are computed on the states of a site, without a crawler (pure).

`full` visits every known page. `nutch` is AdaptiveFetchSchedule of Nutch 1.x with its defaults: an
interval grows by 0.4 after a visit without a change, and shrinks by 0.2 after one with a change.
`oracle` knows the mean rate of each page in all steps, and visits in the order of the chance of a
change. `past` does the same with the rates of the steps that are over, of all pages, visited or
not: no crawler knows more. A page that is new is known when a page that is visited links to it, and
is visited at once.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp
from typing import Literal, NamedTuple

from bench.histories.states import PageState, States, seen_at

PolicyName = Literal["full", "nutch", "past", "oracle"]
_SHORTEST, _LONGEST = 1 / 1440, 365.0
"""Bounds of Nutch's intervals, days."""
_UNCHANGED, _CHANGED = 1.4, 0.8


@dataclass
class KnownPage:
    """A page that a policy knows; times are days."""

    last: float
    interval: float
    due: float

    def visited(self, now: float, *, changed: bool) -> None:
        """Change the interval after a visit."""
        factor = _CHANGED if changed else _UNCHANGED
        self.interval = max(_SHORTEST, min(_LONGEST, self.interval * factor))
        self.last, self.due = now, now + self.interval


class PolicyResult(NamedTuple):
    """What a policy holds after each step, and its requests."""

    held: list[dict[str, PageState | None]]
    requests: int


def change_rates(states: Sequence[States]) -> dict[str, float]:
    """Changes of each page in a step, on average."""
    steps = len(states) - 1
    return {path: count / steps for path, count in count_changes(states).items()}


def count_changes(states: Sequence[States]) -> dict[str, int]:
    """Count the changes of each page that is in any of the states."""
    return {
        path: sum(
            seen_at(old, path, "text") != seen_at(new, path, "text")
            for old, new in pairwise(states)
        )
        for path in set().union(*states)
    }


def past_rates(states: Sequence[States]) -> dict[str, float]:
    """Estimate the changes of each page in a step from all states so far.

    A page leans on the mean of the site, which weighs as much as one step. All states are read at
    each call, so that a run is quadratic in its steps; rendered sites have 10 to 20 of them.
    """
    counts = count_changes(states)
    steps_of = {path: sum(path in state for state in states[:-1]) for path in counts}
    mean = (sum(counts.values()) + 1) / (sum(steps_of.values()) + len(states[0]) + 1)
    return {path: (count + mean) / (steps_of[path] + 1) for path, count in counts.items()}


def budget_of(percent: float, pages: int) -> int:
    """Requests in a step; 0 for no limit."""
    return ceil(pages * percent / 100)


class OfflinePolicy:
    """A policy on the states of a site.

    Args:
        states: The pages at each step, from 0, which is held.
        name: The policy.
        budget: Requests in a step; 0 for no limit.
        days: Days in a step.
    """

    def __init__(
        self, states: Sequence[States], name: PolicyName, budget: int, days: float
    ) -> None:
        self._states = states
        self._name = name
        self._budget = budget
        self._days = days
        self._rates = change_rates(states) if name == "oracle" else {}
        self._known = {path: KnownPage(0.0, float(days), float(days)) for path in sorted(states[0])}

    def run(self) -> PolicyResult:
        """Visit pages in all steps."""
        states_held, requests = [dict(self._states[0])], 0
        for step in range(1, len(self._states)):
            have = dict(states_held[-1])
            requests += self._step(step, have)
            states_held.append(have)
        return PolicyResult(states_held, requests)

    def _step(self, step: int, have: dict[str, PageState | None]) -> int:
        """One step; the number of its requests."""
        now, visited = step * self._days, set[str]()
        if self._name == "past":
            self._rates = past_rates(self._states[:step])
        waiting = deque(self._order(now))
        while waiting and (not self._budget or len(visited) < self._budget):
            path = waiting.popleft()
            if path not in visited:
                visited.add(path)
                waiting.extendleft(self._visit(path, step, have, visited))
        return len(visited)

    def _visit(
        self, path: str, step: int, have: dict[str, PageState | None], visited: set[str]
    ) -> list[str]:
        """Visit a page; the links that are new."""
        pages, now = self._states[step], step * self._days
        page = self._known.setdefault(path, KnownPage(0.0, float(self._days), 0.0))
        changed = seen_at(have, path, "text") != seen_at(pages, path, "text")
        page.visited(now, changed=changed)
        state = have[path] = pages.get(path)
        links: Iterable[str] = state.links if state is not None else ()
        return [p for p in links if p not in self._known and p in pages and p not in visited]

    def _order(self, now: float) -> list[str]:
        pages = self._known
        orders: dict[PolicyName, Callable[[], list[str]]] = {
            "full": lambda: list(pages),
            "nutch": lambda: sorted(
                (path for path, page in pages.items() if page.due <= now),
                key=lambda path: pages[path].due,
            ),
            "past": lambda: self._likely(now),
            "oracle": lambda: self._likely(now),
        }
        return orders[self._name]()

    def _likely(self, now: float) -> list[str]:
        """Pages that ever change, in the order of their chances; the start page first."""
        return sorted(
            (path for path in self._known if self._rates.get(path) or path == "/"),
            key=lambda path: (path != "/", -self._chance(path, now)),
        )

    def _chance(self, path: str, now: float) -> float:
        """Chance of a change since the last visit."""
        steps = (now - self._known[path].last) / self._days
        return 1 - exp(-self._rates.get(path, 0.0) * steps)
