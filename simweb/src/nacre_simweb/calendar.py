"""The hours of a week or a year: which are busy and which are quiet.

A process runs in *operational time*, of which a quiet hour has little and a busy one much; on the
average of a week, or of a year with holidays, both clocks run alike.
"""

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Literal

HOUR = 3600.0
DAY = 86400.0
WEEK = 7 * DAY
START = 1_767_571_200.0
"""Time 0 of every world: Monday, 2026-01-05 00:00 UTC, in seconds since the epoch."""

Rhythm = Literal["flat", "office", "news", "holidays"]

_OFFICE_DAY = (
    (0.0,) * 8 + (1.0, 3.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 2.0) + (0.5,) * 2 + (0.0,) * 4
)
_NEWS_DAY = (0.3,) * 5 + (0.8, 1.5, 2.0, 2.0, 1.8) + (1.5,) * 9 + (1.2, 1.0, 0.8, 0.6, 0.4)
_REST = 0.02
_OFFICE_WEEK = _OFFICE_DAY * 5 + (_REST,) * 48
_HOLIDAYS = ((41, 9), (89, 3), (116, 5), (165, 3), (263, 3), (269, 7), (361, 3))
"""Public holidays of China in 2026, from time 0 on: first day and days. Spring Festival,
Tomb-Sweeping Day, Labour Day, Dragon Boat Festival, Mid-Autumn Festival, National Day, New Year."""


def _year() -> tuple[float, ...]:
    """52 weeks of an office, with holidays; every year has the same."""
    weights = list(_OFFICE_WEEK * 52)
    for first, days in _HOLIDAYS:
        weights[first * 24 : (first + days) * 24] = [_REST] * (days * 24)
    return tuple(weights)


_WEIGHTS: dict[str, tuple[float, ...]] = {
    "flat": (1.0,) * 168,
    "office": _OFFICE_WEEK,
    "holidays": _year(),
    "news": _NEWS_DAY * 5 + tuple(weight * 0.6 for weight in _NEWS_DAY) * 2,
}


@lru_cache
def _ends(rhythm: Rhythm) -> tuple[float, ...]:
    """Operational time at the end of each hour of the week, or of the year."""
    weights = _WEIGHTS[rhythm]
    total, length = sum(weights), len(weights) * HOUR
    return tuple(length * part / total for part in accumulate(weights))


def operational(rhythm: Rhythm, time: float) -> float:
    """Operational time at a time of the world, both in seconds."""
    if rhythm == "flat":
        return time
    ends = _ends(rhythm)
    length = len(ends) * HOUR
    round_, offset = divmod(time, length)
    hour = min(int(offset // HOUR), len(ends) - 1)
    before = ends[hour - 1] if hour else 0.0
    return round_ * length + before + (ends[hour] - before) * (offset - hour * HOUR) / HOUR


def real(rhythm: Rhythm, time: float) -> float:
    """Time of the world at an operational time: the inverse of `operational`."""
    if rhythm == "flat":
        return time
    ends = _ends(rhythm)
    length = len(ends) * HOUR
    round_, offset = divmod(time, length)
    hour = min(bisect_right(ends, offset), len(ends) - 1)
    before = ends[hour - 1] if hour else 0.0
    return round_ * length + (hour + (offset - before) / (ends[hour] - before)) * HOUR
