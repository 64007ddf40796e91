"""The estimated recall of a run, from pages drawn at random (pure).

Nothing is known of the pages that a run leaves out. A few of them are drawn at random and visited
anyway; the share that had changed is an estimate that depends on no model.
"""

import math
from bisect import bisect_left
from typing import NamedTuple

_TERMS = 300
"""Terms of the continued fraction at most: it converges within a few dozen."""
_TINY = 1e-300
"""The replacement of 0 in Lentz's algorithm."""
_HALVINGS = 60
"""Halvings of an interval: more than a float has digits."""


class Range(NamedTuple):
    """An estimate between its lower and upper end."""

    low: float
    value: float
    high: float


class RecallEstimate(NamedTuple):
    """The recall of a step, estimated from its random sample.

    Attributes:
        drawn: Pages drawn at random, that the plan would have left out.
        changed: Those that had changed.
        not_drawn: Pages that were left out, those drawn not counted.
        changes_found: Changes that the step found, those of the sample too.
    """

    drawn: int
    changed: int
    not_drawn: float
    changes_found: float

    def share(self, coverage: float = 0.95) -> Range:
        """Share of the pages left out that had changed."""
        low, high = binomial_interval(self.changed, self.drawn, coverage)
        return Range(low, self.changed / self.drawn if self.drawn else 0.0, high)

    def missed(self, coverage: float = 0.95) -> Range:
        """Changes among the pages left out; the sample is part of a finite number of pages."""
        remaining = round(self.not_drawn)
        low, high = hidden_interval(self.changed, self.drawn, remaining, coverage)
        return Range(low, self.share().value * remaining, high)

    def recall(self, coverage: float = 0.95) -> Range:
        """Share of all changes that the step found."""
        missed = self.missed(coverage)
        return Range(*map(self._recall_at, (missed.high, missed.value, missed.low)))

    def _recall_at(self, missed: float) -> float:
        everything = self.changes_found + missed
        return self.changes_found / everything if everything > 0.0 else 1.0


def hidden_interval(
    hits: int, tries: int, not_drawn: int, coverage: float = 0.95
) -> tuple[int, int]:
    """Return the exact interval of the number of hits that were not drawn (hypergeometric).

    Args:
        hits: Hits among those drawn.
        tries: Number of items drawn, without replacement.
        not_drawn: Number of items not drawn.
        coverage: Least probability that the interval contains the number.
    """
    tail = (1.0 - coverage) / 2.0
    whole = _Urn(tries + not_drawn, tries)
    # The more hits there are in all, the more are drawn: both tails are monotone.
    low = bisect_left(range(not_drawn + 1), tail, key=lambda n: whole.at_least(hits, hits + n))
    high = bisect_left(range(not_drawn + 1), -tail, key=lambda n: -whole.at_most(hits, hits + n))
    if high > 0 and (high > not_drawn or whole.at_most(hits, hits + high) < tail):
        high -= 1
    return min(low, not_drawn), high


class _Urn:
    """Drawing some of so many, without putting them back."""

    def __init__(self, size: int, drawn: int) -> None:
        self._size = size
        self._drawn = drawn
        self._ways = _log_ways(size, drawn)

    def at_most(self, hits: int, among: int) -> float:
        """Probability of at most so many hits where there are `among` in all."""
        return self._between(0, hits, among)

    def at_least(self, hits: int, among: int) -> float:
        """Probability of at least so many."""
        return 1.0 - self._between(0, hits - 1, among) if hits > 0 else 1.0

    def _between(self, low: int, high: int, among: int) -> float:
        low = max(low, self._drawn - (self._size - among))
        high = min(high, among, self._drawn)
        return sum(
            math.exp(
                _log_ways(among, hits)
                + _log_ways(self._size - among, self._drawn - hits)
                - self._ways
            )
            for hits in range(low, high + 1)
        )


def _log_ways(size: int, drawn: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(drawn + 1) - math.lgamma(size - drawn + 1)


def binomial_interval(hits: int, tries: int, coverage: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934); the whole range without a try."""
    if tries <= 0:
        return 0.0, 1.0
    tail = (1.0 - coverage) / 2.0
    low = beta_quantile(tail, hits, tries - hits + 1) if hits else 0.0
    high = beta_quantile(1.0 - tail, hits + 1, tries - hits) if hits < tries else 1.0
    return low, high


def beta_quantile(share: float, yes: float, no: float) -> float:
    """Quantile of the Beta distribution with these parameters, both above 0."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if beta_share(middle, yes, no) < share else (low, middle)
    return (low + high) / 2.0


def beta_share(x: float, yes: float, no: float) -> float:
    """Regularised incomplete beta function: the probability of a value up to `x`."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    scale = math.lgamma(yes + no) - math.lgamma(yes) - math.lgamma(no)
    front = math.exp(scale + yes * math.log(x) + no * math.log1p(-x))
    # The continued fraction converges fast on the side of the mean where it is used.
    if x < (yes + 1.0) / (yes + no + 2.0):
        return front * _fraction(x, yes, no) / yes
    return 1.0 - front * _fraction(1.0 - x, no, yes) / no


def _fraction(x: float, yes: float, no: float) -> float:
    """Lentz's evaluation of the continued fraction (DLMF 8.17.22)."""
    total, more, less = yes + no, yes + 1.0, yes - 1.0
    c, d = 1.0, 1.0 / _off_zero(1.0 - total * x / more)
    value = d
    for m in range(1, _TERMS):
        for step in (
            m * (no - m) * x / ((less + 2 * m) * (yes + 2 * m)),
            -(yes + m) * (total + m) * x / ((yes + 2 * m) * (more + 2 * m)),
        ):
            d = 1.0 / _off_zero(1.0 + step * d)
            c = _off_zero(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
