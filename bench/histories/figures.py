"""Shares, forecasts and their intervals (pure)."""

import random
from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple, TypeVar

Row = TypeVar("Row")
_Z = 1.959964
_DRAWS = 1_000


class Share(NamedTuple):
    """A part of a whole."""

    hits: int
    size: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.size if self.size else None

    def __str__(self) -> str:
        return f"{self.hits}/{self.size}" + ("" if self.value is None else f" = {self.value:.3f}")


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"


def share_of(rows: Sequence[Row], has: Callable[[Row], object]) -> Share:
    """Return the share of the rows that have something."""
    return Share(sum(bool(has(row)) for row in rows), len(rows))


def wilson(share: Share) -> Interval:
    """Wilson's score interval; 0 to 1 of nothing."""
    hits, size = share
    if not size:
        return Interval(0.0, 1.0)
    center = (hits + _Z * _Z / 2) / (size + _Z * _Z)
    half = _Z / (size + _Z * _Z) * sqrt(hits * (size - hits) / size + _Z * _Z / 4)
    return Interval(max(0.0, center - half), min(1.0, center + half))


def bootstrap(
    groups: Sequence[Sequence[Row]], measure: Callable[[Sequence[Row]], float | None]
) -> Interval | None:
    """Return the interval of a measure, over groups (pages) that are drawn with replacement.

    Visits of one page depend on each other; its pages are the independent draws. None: nothing to
    measure, or one group.
    """
    if len(groups) < 2:
        return None
    chance, values = random.Random(len(groups)), []
    for _ in range(_DRAWS):
        drawn = [row for group in chance.choices(groups, k=len(groups)) for row in group]
        value = measure(drawn)
        if value is not None:
            values.append(value)
    if not values:
        return None
    values.sort()
    last = len(values) - 1
    return Interval(values[round(0.025 * last)], values[round(0.975 * last)])


class Brier(NamedTuple):
    """Mean squared error of forecasts, beside that of the base rate.

    Attributes:
        forecast: Sum of the chances: the number of changes that was expected.
        real: Number of changes.
        size: Number of forecasts.
        score: Mean squared error of the chances.
        base: The same of the share of changes, known in hindsight.
    """

    forecast: float
    real: int
    size: int
    score: float
    base: float

    @property
    def skill(self) -> float | None:
        """1: perfect; 0: as the base rate; below 0: worse. None if all or no visits had changes."""
        return 1 - self.score / self.base if self.base else None


def brier(forecasts: Sequence[tuple[float, bool]]) -> Brier:
    """Return the score of chances and outcomes."""
    size = max(1, len(forecasts))
    real = sum(outcome for _, outcome in forecasts)
    error = sum((chance - outcome) ** 2 for chance, outcome in forecasts)
    rate = real / size
    expected = sum(chance for chance, _ in forecasts)
    return Brier(expected, real, len(forecasts), error / size, rate * (1 - rate))


def skill_of(forecasts: Sequence[tuple[float, bool]]) -> float | None:
    """Return the skill of chances and outcomes; see `Brier.skill`."""
    return brier(forecasts).skill
