"""Forecasts checked against outcomes, site by site (pure).

The forecasts of the rates of pages are compared with the results of visits, in classes of similar
chances. A class whose forecasts were twice the outcome is corrected by that factor. Neighbouring
classes count as well, so that a class without visits is corrected too.

The Brier score is the mean square of the difference between a forecast and its outcome. If ours is
worse than that of a simple schedule, the simple schedule forecasts: it takes the interval that
Nutch's AdaptiveFetchSchedule would have for the page. Sources: Brier, "Verification of forecasts
expressed in terms of probability", 1950; Nutch's AdaptiveFetchSchedule (0.4, 0.2).
"""

import math
from operator import mul

import msgspec

from nacre.core.pagerow import PageRow
from nacre.planner.tuning import guess

CLASSES = 14
"""Classes of chances: each twice the one before, from 1/8192 on. Part of the format of the rows."""
_PRIOR = guess(
    "calibration.prior", 2.0, "Number of changes that were forecast correctly, added to each class."
)
_NEAR = guess(
    "calibration.near", 0.25, "Weight of a class in the correction of its neighbour.", most=1.0
)
_WEIGHTS = tuple(
    tuple(_NEAR ** abs(other - at) for other in range(CLASSES)) for at in range(CLASSES)
)
"""Weights of all classes in the correction of each."""
_FORGET = guess(
    "calibration.forget",
    1_000.0,
    "Number of forecasts of a site after which the sums of squares are halved.",
)
_REMEMBERED = guess(
    "calibration.remembered",
    100.0,
    "Number of expected changes of a class of chances after which its counts are halved.",
)
_TRIED = 200.0
"""Forecasts from which two ways of forecasting are compared: a difference of .01 in a Brier score
of .05 is then beyond chance."""
_LONGER, _SHORTER = 1.4, 0.8
"""Nutch's factors of an interval after a visit without and with a change."""
_SHORTEST, _LONGEST = 1.0, 365.0
"""Bounds of these intervals, days."""


class CalibrationRow(msgspec.Struct, array_like=True):
    """Forecasts of the pages of a site and their outcomes; kept in the store.

    Attributes:
        expected: Changes that the rates of pages promised, by class of their chances.
        seen: Changes that there were.
        forecasts: Forecasts whose squares are counted.
        squares: Sum of the squares of ours.
        simple: The same of the simple schedule.
        changes: Changes that there were.
    """

    expected: list[float] = []
    seen: list[float] = []
    forecasts: float = 0.0
    squares: float = 0.0
    simple: float = 0.0
    changes: float = 0.0

    def learn(self, own: float, *, changed: float) -> None:
        """Compare what a page's rate promised with the outcome.

        Args:
            own: Chance of a change by the page's rate, not corrected.
            changed: Probability that it had changed by that rate, and not in an event.
        """
        if not self.expected:
            self.expected, self.seen = [0.0] * CLASSES, [0.0] * CLASSES
        at = class_of(own)
        if self.expected[at] >= _REMEMBERED:
            self.expected[at], self.seen[at] = self.expected[at] / 2.0, self.seen[at] / 2.0
        self.expected[at] += own
        self.seen[at] += changed

    def score(self, ours: float, simple: float, *, changed: bool) -> None:
        """Compare two forecasts of a visit with the outcome."""
        if self.forecasts >= _FORGET:
            self._halve()
        self.forecasts += 1.0
        self.squares += (ours - changed) ** 2
        self.simple += (simple - changed) ** 2
        self.changes += changed

    def _halve(self) -> None:
        self.forecasts, self.squares = self.forecasts / 2.0, self.squares / 2.0
        self.simple, self.changes = self.simple / 2.0, self.changes / 2.0

    def corrected(self, own: float) -> float:
        """The chance that a page's rate promises, corrected by the outcomes of like chances."""
        if not self.expected or own <= 0.0:
            return own
        weights = _WEIGHTS[class_of(own)]
        promised = _PRIOR + sum(map(mul, weights, self.expected))
        total = _PRIOR + sum(map(mul, weights, self.seen))
        return float(min(own * total / promised, 1.0))

    @property
    def is_worse(self) -> bool:
        """Whether our forecasts are worse than the base rate and than the simple schedule."""
        if self.forecasts < _TRIED:
            return False
        share = self.changes / self.forecasts
        base = self.forecasts * share * (1.0 - share)
        return self.squares > base and self.squares > self.simple


def class_of(chance: float) -> int:
    """The class of a chance."""
    return min(max(math.frexp(max(chance, 1e-9))[1] + CLASSES - 1, 0), CLASSES - 1)


def simple_chance(row: PageRow, days: float, every: float) -> float:
    """The chance of a change by the interval that Nutch would have: an even chance when it is due.

    Args:
        row: The page.
        days: Days since its last visit.
        every: Days between steps: the interval that it begins with.
    """
    calm = max(0, row.visits - 1 - row.changes)
    interval = every * _LONGER ** float(min(calm, 60)) * _SHORTER ** float(min(row.changes, 60))
    return 1.0 - math.exp2(-days / min(max(interval, _SHORTEST), _LONGEST))
