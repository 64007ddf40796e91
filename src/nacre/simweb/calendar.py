"""The hours of a week: where life is quick and where it stands still.

A process runs in *operational time*, of which a quiet hour has little and a busy one much; on the
average of a week both clocks run alike. Source: reference/incremental.md 2.1.
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

Rhythm = Literal["flat", "office", "news"]

_OFFICE_DAY = (
    (0.0,) * 8 + (1.0, 3.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 2.0) + (0.5,) * 2 + (0.0,) * 4
)
_NEWS_DAY = (0.3,) * 5 + (0.8, 1.5, 2.0, 2.0, 1.8) + (1.5,) * 9 + (1.2, 1.0, 0.8, 0.6, 0.4)
_WEIGHTS: dict[str, tuple[float, ...]] = {
    "flat": (1.0,) * 168,
    "office": _OFFICE_DAY * 5 + (0.02,) * 48,
    "news": _NEWS_DAY * 5 + tuple(weight * 0.6 for weight in _NEWS_DAY) * 2,
}


@lru_cache
def _ends(rhythm: Rhythm) -> tuple[float, ...]:
    """Operational time at the end of each hour of the week."""
    weights = _WEIGHTS[rhythm]
    total = sum(weights)
    return tuple(WEEK * part / total for part in accumulate(weights))


def operational(rhythm: Rhythm, time: float) -> float:
    """Operational time at a time of the world, both in seconds."""
    if rhythm == "flat":
        return time
    week, rest = divmod(time, WEEK)
    hour = min(int(rest // HOUR), 167)
    ends = _ends(rhythm)
    before = ends[hour - 1] if hour else 0.0
    return week * WEEK + before + (ends[hour] - before) * (rest - hour * HOUR) / HOUR


def real(rhythm: Rhythm, time: float) -> float:
    """Time of the world at an operational time: the inverse of `operational`."""
    if rhythm == "flat":
        return time
    week, rest = divmod(time, WEEK)
    ends = _ends(rhythm)
    hour = min(bisect_right(ends, rest), 167)
    before = ends[hour - 1] if hour else 0.0
    return week * WEEK + (hour + (rest - before) / (ends[hour] - before)) * HOUR
