"""Simple schedules that an operator can choose in place of the planner (pure).

A fixed interval (as libraries do today), a calendar, the factors of Heritrix's adaptive revisiting
and StormCrawler's. Nutch's are in `history.schedule.nutch`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

HOUR = 3600.0
DAY = 24 * HOUR
_FAR = 366 * 5


class Factors(NamedTuple):
    """An interval that shrinks when a page changed and grows when it did not.

    Attributes:
        first: Interval before anything is known, s.
        shortest: Lower bound, s.
        longest: Upper bound, s.
        grow: Factor for an unchanged page.
        shrink: Factor for a changed page.
        towards_shortest: The shrinkage takes that share of the way to `shortest`, not to 0.
    """

    first: float
    shortest: float
    longest: float
    grow: float
    shrink: float
    towards_shortest: bool = False

    def next_interval(self, interval: float, *, changed: bool) -> float:
        """The interval after a visit, s; 0 before means that there was none."""
        interval = interval or self.first
        if not changed:
            longer = interval * self.grow
        elif self.towards_shortest:
            longer = interval * self.shrink + self.shortest * (1.0 - self.shrink)
        else:
            longer = interval * self.shrink
        return min(max(longer, self.shortest), self.longest)


HERITRIX = Factors(DAY, HOUR, 28 * DAY, 1.5, 1 / 1.5)
"""Heritrix 1.14's WaitEvaluator, with its defaults for text: see `heritrix_first`."""
STORMCRAWLER = Factors(DAY, HOUR, 14 * DAY, 1.5, 0.5, towards_shortest=True)


def heritrix_first(mime: str) -> float:
    """First interval by media type, s: text 12 h, images 2 days, unknown 3 days, others one."""
    if not mime or mime == "unknown":
        return 3 * DAY
    if mime.startswith("text/"):
        return 12 * HOUR
    return 2 * DAY if mime.startswith("image/") else DAY


class Calendar:
    """Times in cron's five fields: minute, hour, day of month, month, day of week.

    Numbers, `*`, lists, ranges and steps; names of months and days; Sunday is 0 or 7. As in cron, a
    day counts when either of the two day fields names it, if both are restricted.

    Args:
        text: The five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
        zone: Name of the time zone, such as `Asia/Shanghai`.

    Raises:
        ValueError: A field is none; the message names it. Or the zone is unknown.
    """

    def __init__(self, text: str, zone: str = "UTC") -> None:
        fields = _SHORT.get(text.strip(), text).split()
        if len(fields) != len(_FIELDS):
            raise ValueError(f"{text!r}: five fields are wanted: minute hour day month weekday")
        sets = [_parsed(field, *spec) for field, spec in zip(fields, _FIELDS, strict=True)]
        self._minutes, self._hours, self._days, self._months, weekdays = sets
        self._weekdays = frozenset(day % 7 for day in weekdays)
        self._either = not fields[2].startswith("*") and not fields[4].startswith("*")
        try:
            self._zone = UTC if zone == "UTC" else ZoneInfo(zone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"{zone!r} is no time zone; for example Asia/Shanghai") from error

    def after(self, time: float) -> float | None:
        """The first such time after `time` (seconds since the epoch); None within five years."""
        start = datetime.fromtimestamp(time, self._zone)
        for number in range(_FAR):
            day = (start + timedelta(days=number)).date()
            if not self._has(day.month, day.day, day.isoweekday() % 7):
                continue
            for hour, minute in self._times():
                moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=self._zone)
                if moment.timestamp() > time:
                    return moment.timestamp()
        return None

    def _has(self, month: int, day: int, weekday: int) -> bool:
        if month not in self._months:
            return False
        by_date, by_week = day in self._days, weekday in self._weekdays
        return by_date or by_week if self._either else by_date and by_week

    def _times(self) -> Iterator[tuple[int, int]]:
        return ((hour, minute) for hour in sorted(self._hours) for minute in sorted(self._minutes))


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day", 1, 31, []),
    ("month", 1, 12, ["", *_MONTHS]),
    ("weekday", 0, 7, _WEEKDAYS),
)
_SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}


def _parsed(field: str, name: str, low: int, high: int, names: list[str]) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            begin = low if span == "*" else _number(first, names)
            end = high if span == "*" or (step and not dash) else begin
            end = _number(last, names) if dash else end
            every = int(step) if step else 1
        except ValueError:
            raise ValueError(f"{name} {part!r}: not a number, range or step") from None
        if not low <= begin <= end <= high or every < 1:
            raise ValueError(f"{name} {part!r}: not within {low} to {high}")
        found.update(range(begin, end + 1, every))
    return frozenset(found)


def _number(text: str, names: list[str]) -> int:
    return names.index(text.lower()) if text.lower() in names and text else int(text)
