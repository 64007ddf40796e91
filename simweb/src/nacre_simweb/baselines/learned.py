"""B8: LambdaLearnAndCrawl: maximum likelihood of the rate, harmonic staleness as the objective.

Source: Kolobov et al., "Staying up to date with online content changes using reinforcement learning
for scheduling", 2019, from the published formulas.
"""

import math
from typing import NamedTuple

from nacre_simweb.baselines.book import Book
from nacre_simweb.calendar import DAY
from nacre_simweb.policy import VisitOutcome

_IMAGINARY = 0.5
"""One changed and one unchanged interval of so many days keep the estimate finite."""
_STEPS = 50


class ObservedIntervals(NamedTuple):
    """Intervals observed, days.

    Attributes:
        changed: Each interval after which the page had changed.
        unchanged: Sum of the others.
    """

    changed: tuple[float, ...] = ()
    unchanged: float = 0.0


def likeliest_rate(evidence: ObservedIntervals) -> float:
    """The rate, changes a day, that makes the evidence likeliest, with the imaginary visits."""
    changed = (*evidence.changed, _IMAGINARY)
    unchanged = evidence.unchanged + _IMAGINARY
    low, high = 1e-7, 1e4
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        slope = sum(days / math.expm1(min(middle * days, 700.0)) for days in changed)
        low, high = (middle, high) if slope > unchanged else (low, middle)
    return math.sqrt(low * high)


def harmonic_frequency(rate: float, price: float) -> float:
    """Visits a day at a price for harmonic staleness; never zero."""
    return (-rate + math.sqrt(rate * rate + 4 * rate / price)) / 2


class Lambda(Book):
    """LambdaLearnAndCrawl."""

    name = "lambdacrawl"

    def __init__(self) -> None:
        super().__init__()
        self._evidence: dict[str, ObservedIntervals] = {}
        self._rates: dict[str, float] = {}
        self._often: dict[str, float] = {}
        self._step = -1.0
        self._todo: list[str] = []
        self._unknown = likeliest_rate(ObservedIntervals())

    def rates(self) -> dict[str, float]:
        """See `WithRates`."""
        return dict(self._rates)

    def due(self, now: float, room: int) -> list[str]:
        """Those that are due by their frequencies, longest overdue first."""
        if now != self._step:
            self._step = now
            self._plan(room)
            turns = {url: (now - last) / DAY * self._often[url] for url, last in self.last.items()}
            self._todo = sorted((u for u, turn in turns.items() if turn > 0), key=turns.__getitem__)
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]

    def _plan(self, room: int) -> None:
        """Frequencies that spend the budget of a step."""
        budget = min(room, len(self.last)) / self.task.every * DAY
        rates = [self._rates.get(url, self._unknown) for url in self.last]
        low, high = 1e-9, 1e9
        for _ in range(_STEPS):
            price = math.sqrt(low * high)
            spent = math.fsum(harmonic_frequency(rate, price) for rate in rates)
            low, high = (price, high) if spent > budget else (low, price)
        self._often = {
            url: harmonic_frequency(rate, high) for url, rate in zip(self.last, rates, strict=True)
        }

    def visited(self, outcome: VisitOutcome, elapsed: float, *, changed: bool, first: bool) -> None:
        """Note the interval."""
        if first or outcome.status not in {200, 304}:
            return
        url, days = outcome.url, elapsed / DAY
        before = self._evidence.get(url, ObservedIntervals())
        if changed:
            after = before._replace(changed=(*before.changed, days))
        else:
            after = before._replace(unchanged=before.unchanged + days)
        self._evidence[url] = after
        self._rates[url] = likeliest_rate(after)
