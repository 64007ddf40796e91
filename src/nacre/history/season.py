"""Operational time: days counted by how much happens in them (pure).

A site that publishes on weekday mornings ages little at night. Replacing plain time by the integral
of its weekly profile, and of how a page's age slows its changes, keeps every formula of
`history.rates`. Source: reference/incremental.md 2.1.
"""

from collections.abc import Sequence
from typing import NamedTuple

HOURS = 168
_HOUR = 3600.0
_DAY = 86_400.0
_WEEK = 7 * _DAY
# The epoch began on a Thursday; weeks begin on Monday.
_MONDAY = 4 * _DAY

AGES = (1.0, 3.0, 6.0, 12.0)
"""Ages in days at which the hazard of a change is told apart: below 1, to 3, 6, 12, and older."""
SMOOTHING = 100.0
"""As many events weigh as much as the wider profile."""


class Season:
    """The week of a site: how much happens in each of its hours, 1 on average.

    Args:
        hours: 168 weights from Monday 0 h UTC; empty for an even week.
    """

    def __init__(self, hours: Sequence[float] = ()) -> None:
        total = sum(hours)
        even = [1.0] * HOURS
        self.hours = [HOURS * weight / total for weight in hours] if total > 0.0 else even
        self._until = [0.0]
        for weight in self.hours:
            self._until.append(self._until[-1] + weight / 24.0)

    def days(self, start: float, end: float) -> float:
        """Operational days between two times, seconds since the epoch; 0 when `end` is first."""
        return max(0.0, self._since_epoch(end) - self._since_epoch(start))

    def after(self, start: float, days: float) -> float:
        """The time at which so many operational days have passed since `start`."""
        target = self._since_epoch(start) + days
        weeks, left = divmod(target, 7.0)
        hour = self._hour_at(left)
        weight = self.hours[hour] / 24.0
        part = (left - self._until[hour]) / weight if weight > 0.0 else 0.0
        return _MONDAY + weeks * _WEEK + (hour + part) * _HOUR

    def _since_epoch(self, time: float) -> float:
        weeks, left = divmod(time - _MONDAY, _WEEK)
        hour, part = divmod(left, _HOUR)
        at = int(hour)
        return weeks * 7.0 + self._until[at] + self.hours[at] / 24.0 * part / _HOUR

    def _hour_at(self, days: float) -> int:
        low, high = 0, HOURS - 1
        while low < high:
            middle = (low + high) // 2
            if self._until[middle + 1] > days:
                high = middle
            else:
                low = middle + 1
        return low


def learned(counts: Sequence[float], wider: Season) -> Season:
    """The week of a site from the times of its new links, leaning on a wider profile.

    Args:
        counts: 168 counts, see `hour_of_week`.
        wider: Profile of its kind of sites.
    """
    return Season(
        [
            count + SMOOTHING * weight / HOURS
            for count, weight in zip(counts, wider.hours, strict=True)
        ]
    )


def hour_of_week(time: float) -> int:
    """Hour from Monday 0 h UTC, 0 to 167, of a time in seconds since the epoch."""
    return int((time - _MONDAY) % _WEEK // _HOUR)


def age_bucket(days: float) -> int:
    """Which of the five ages of `AGES` a page is in."""
    return sum(days >= limit for limit in AGES)


class Hazard(NamedTuple):
    """Changes a page's age brings, relative to an old page: 1 for the oldest bucket."""

    factors: tuple[float, ...] = (1.0,) * (len(AGES) + 1)

    def days(self, start: float, end: float) -> float:
        """Days between two ages (in days), each counted by the hazard of its bucket."""
        total, lower = 0.0, 0.0
        for factor, upper in zip(self.factors, (*AGES, float("inf")), strict=True):
            inside = min(end, upper) - max(start, lower)
            if inside > 0.0:
                total += inside * factor
            lower = upper
        return total


def fit_hazard(events: Sequence[float], exposure: Sequence[float], *, lean: float = 5.0) -> Hazard:
    """Hazards of a class from pooled events and exposure (days) in each age bucket.

    Args:
        events: Expected changes seen in each bucket.
        exposure: Days observed in each.
        lean: As many events of the overall rate are added to each bucket.
    """
    total = sum(exposure)
    if total <= 0.0 or sum(events) <= 0.0:
        return Hazard()
    overall = sum(events) / total
    rates = [
        (seen + lean) / (days + lean / overall) for seen, days in zip(events, exposure, strict=True)
    ]
    return Hazard(tuple(rate / rates[-1] for rate in rates))
