"""Operational time: days counted by how much happens in them (pure).

A site that publishes on weekday mornings ages little at night. Replacing plain time by the integral
of its weekly profile keeps every formula of `history.worth.rates`. Beside it stand the corrections
of fresh pages, which come on top of whatever rate a page has.
"""

from collections.abc import Sequence
from itertools import pairwise
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
_LEAN = 5.0


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


class Hazard(NamedTuple):
    """Changes a day that youth adds to a page's own rate, by age bucket; none when it is old."""

    rates: tuple[float, ...] = (0.0,) * (len(AGES) + 1)

    def changes(self, start: float, end: float) -> float:
        """Changes expected between two ages (in days) because the page is young."""
        spent = inside(start, end)
        return sum(rate * days for rate, days in zip(self.rates, spent, strict=True))


def inside(start: float, end: float) -> tuple[float, ...]:
    """Days that lie in each age bucket between two ages (in days)."""
    bounds = (0.0, *AGES, float("inf"))
    return tuple(max(0.0, min(end, upper) - max(start, lower)) for lower, upper in pairwise(bounds))


def fit_hazard(surplus: Sequence[float], exposure: Sequence[float]) -> Hazard:
    """Hazards of a class from what was seen in each age bucket; old pages have none.

    Args:
        surplus: Changes seen in each bucket beyond those that the pages' own rates explain.
        exposure: Days observed in each; `_LEAN` more are added, without a change.
    """
    rates = [max(0.0, more) / (days + _LEAN) for more, days in zip(surplus, exposure, strict=True)]
    return Hazard((*rates[:-1], 0.0))
