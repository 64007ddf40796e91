"""Simple schedules that an operator can choose in place of the planner (pure).

A fixed interval (as libraries use it today), a calendar, the factors of Heritrix's adaptive
revisiting and StormCrawler's. `Timing` is the protocol of a schedule: when a page is due after a
visit. Nutch's schedules are in `planner.schedules.nutch`.
"""

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from nacre.config.component import Component, Seconds, setting
from nacre.core.pagerow import TimingRow
from nacre.messages import message
from nacre.planner.change_detection.deletion import Answer

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
    day counts if it matches either of the two day fields, when both are restricted.

    When clocks are set back, an hour is repeated: entries whose hour is `*` or has a step run in
    both passes, those with fixed hours in the first one. When they are set forward, an entry with
    a fixed hour that does not exist runs once, right after the gap (Vixie cron, cron(8)).

    Args:
        text: The five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
        zone: Name of the time zone, such as `Asia/Shanghai`.

    Raises:
        ValueError: A field is not valid (the message contains it), or the zone is unknown.
    """

    def __init__(self, text: str, zone: str = "UTC") -> None:
        fields = _SHORT.get(text.strip(), text).split()
        if len(fields) != len(_FIELDS):
            raise ValueError(
                message(
                    "recrawl.five-fields-are-needed",
                    "{text!r}: five fields are needed: minute hour day month weekday",
                    text=text,
                )
            )
        sets = [_parsed(field, *spec) for field, spec in zip(fields, _FIELDS, strict=True)]
        self._minutes, self._hours, self._days, self._months, weekdays = sets
        self._weekdays = frozenset(day % 7 for day in weekdays)
        self._is_every = "*" in fields[1] or "/" in fields[1]
        self._either = not fields[2].startswith("*") and not fields[4].startswith("*")
        try:
            self._zone = UTC if zone == "UTC" else ZoneInfo(zone)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(
                message(
                    "recrawl.is-not-time-zone",
                    "{zone!r} is not a time zone; for example Asia/Shanghai",
                    zone=zone,
                )
            ) from error

    def after(self, time: float) -> float | None:
        """The first such time after `time` (seconds since the epoch); None within five years."""
        start = datetime.fromtimestamp(time, self._zone)
        for number in range(_FAR):
            day = (start + timedelta(days=number)).date()
            if not self._has(day.month, day.day, day.isoweekday() % 7):
                continue
            moment = next((later for later in self._moments(day) if later > time), None)
            if moment is not None:
                return moment
        return None

    def _moments(self, day: date) -> Iterable[float]:
        """The times on a day, in order, seconds since the epoch."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=self._zone)
        following = midnight + timedelta(days=1)
        if midnight.utcoffset() == following.utcoffset():
            begin = midnight.timestamp()
            return (begin + 60 * (60 * hour + minute) for hour, minute in self._times())
        moments: set[float] = set()
        for hour, minute in self._times():
            moments.update(self._moments_at(midnight.replace(hour=hour, minute=minute)))
        return sorted(moments)

    def _moments_at(self, local: datetime) -> tuple[float, ...]:
        """The moments at which a local time is, on a day on which clocks are changed."""
        first, second = local.timestamp(), local.replace(fold=1).timestamp()
        if first == second:
            return (first,)
        if first < second:  # the hour is repeated
            return (first, second) if self._is_every else (first,)
        return () if self._is_every else (self._change_between(second, first),)

    def _change_between(self, before: float, behind: float) -> float:
        """When clocks are changed between two moments, seconds since the epoch."""
        offset = datetime.fromtimestamp(before, self._zone).utcoffset()
        low, high = int(before), int(behind)
        while high - low > 1:
            middle = (low + high) // 2
            if datetime.fromtimestamp(middle, self._zone).utcoffset() == offset:
                low = middle
            else:
                high = middle
        return float(high)

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
    numbers: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            begin = low if span == "*" else _number(first, names)
            end = high if span == "*" or (step and not dash) else begin
            end = _number(last, names) if dash else end
            every = int(step) if step else 1
        except ValueError:
            raise ValueError(
                message(
                    "recrawl.not-number",
                    "{name} {part!r}: not a number, range or step",
                    name=name,
                    part=part,
                )
            ) from None
        if not low <= begin <= end <= high or every < 1:
            raise ValueError(
                message(
                    "recrawl.not-within",
                    "{name} {part!r}: not within {low} to {high}",
                    name=name,
                    part=part,
                    low=low,
                    high=high,
                )
            )
        numbers.update(range(begin, end + 1, every))
    return frozenset(numbers)


def _number(text: str, names: list[str]) -> int:
    return names.index(text.lower()) if text.lower() in names and text else int(text)


NEVER = math.inf
_EARLY = 0.01
"""Share of its interval by which a page may be visited sooner: runs never begin to the second."""
_MINUTES = 10_000
"""Minutes for which a calendar's answer is remembered."""


class Met(NamedTuple):
    """A visit as schedules see it.

    Attributes:
        time: When the page was fetched, seconds since the epoch.
        status: Fetch status.
        answer: Its result about the page's existence.
        changed: The page is another than at the visit before, or is gone since.
        first: The first visit that gave an answer.
        mime: Media type; "" if there is none.
        run: When its run began; 0: at `time`. Intervals count from there, so that a run of every
            week finds what the last one visited at its end.
    """

    time: float
    status: int
    answer: Answer
    changed: bool = False
    first: bool = False
    mime: str = ""
    run: float = 0.0

    @property
    def counted(self) -> float:
        """From when on intervals count."""
        return self.run or self.time


class Timing(Protocol):
    """One schedule with its settings."""

    @property
    def kind(self) -> str:
        """Its name in the settings."""
        ...

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """The timing of a page after a visit; `row` is as before, None when there is none."""
        ...

    def due(self, row: TimingRow, now: float) -> float:
        """The due time of a page, seconds since the epoch, as seen from `now`."""
        ...

    def early(self, row: TimingRow) -> float:
        """The time by which a run may visit it sooner, s."""
        ...


class FactorTimes(Component):
    """An interval that shrinks when a page changed and grows when it did not."""

    first: Seconds = setting(DAY, "First interval.", unit="s", gt=0, live=False)
    first_text: Seconds = setting(DAY, "First interval of text.", unit="s", gt=0, live=False)
    first_image: Seconds = setting(DAY, "First interval of images.", unit="s", gt=0, live=False)
    unknown: Seconds = setting(
        DAY, "Time until the next visit after one without a result.", unit="s", gt=0, live=False
    )
    shortest: Seconds = setting(HOUR, "Shortest interval.", unit="s", gt=0, live=False)
    longest: Seconds = setting(28 * DAY, "Longest interval.", unit="s", gt=0, live=False)
    grow: float = setting(1.5, "Factor for a page that did not change.", ge=1, live=False)
    shrink: float = setting(0.5, "Factor for one that did.", gt=0, le=1, live=False)


class HeritrixTimes(FactorTimes):
    """Wait factors of Heritrix 1.14's adaptive revisiting; its defaults."""

    first_text: Seconds = setting(DAY / 2, "First interval of text.", unit="s", gt=0, live=False)
    first_image: Seconds = setting(2 * DAY, "First interval of images.", unit="s", gt=0, live=False)
    unknown: Seconds = setting(
        3 * DAY,
        "Time until the next visit after one without a result.",
        unit="s",
        gt=0,
        live=False,
    )
    shrink: float = setting(
        HERITRIX.shrink,
        "Factor for a page that changed: 1 divided by Heritrix's changed-factor.",
        gt=0,
        le=1,
        live=False,
    )

    @property
    def factors(self) -> Factors:
        """The rule."""
        return Factors(self.first, self.shortest, self.longest, self.grow, self.shrink)


class StormTimes(FactorTimes):
    """StormCrawler's adaptive scheduler; its defaults."""

    unknown: Seconds = setting(
        2 * HOUR, "Time until the next visit after one without a result.", unit="s", gt=0,
        live=False,
    )  # fmt: skip
    longest: Seconds = setting(
        STORMCRAWLER.longest, "Longest interval.", unit="s", gt=0, live=False
    )
    shrink: float = setting(
        0.5, "Share of the way to `shortest` that is left after a change.", gt=0, le=1, live=False
    )

    @property
    def factors(self) -> Factors:
        """The rule."""
        return Factors(
            self.first, self.shortest, self.longest, self.grow, self.shrink, towards_shortest=True
        )


class FixedTiming:
    """A fixed interval, independent of the results.

    Args:
        interval: Time between visits, s.
    """

    kind = "fixed"

    def __init__(self, interval: float) -> None:
        self._interval = interval

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`."""
        due = met.counted + self._interval
        return TimingRow(url, self.kind, met.time, self._interval, due, mime=met.mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; another interval holds at once."""
        return row.due - row.interval + self._interval

    def early(self, row: TimingRow) -> float:
        """See `Timing`."""
        return _EARLY * self._interval


class CalendarTiming:
    """At the times of a calendar.

    Args:
        calendar: The calendar.
    """

    kind = "calendar"

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._known: dict[float, float] = {}

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`."""
        due = self._following(met.time)
        return TimingRow(url, self.kind, met.time, due - met.time, due, mime=met.mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; another calendar holds at once."""
        return self._following(row.visited)

    def early(self, row: TimingRow) -> float:
        """See `Timing`: never."""
        return 0.0

    def _following(self, time: float) -> float:
        # Calendars name minutes, and the pages of a pass were visited within few of them.
        minute = time // 60.0
        following = self._known.get(minute)
        if following is None:
            if len(self._known) >= _MINUTES:
                self._known.clear()
            after = self._calendar.after(time)
            following = self._known[minute] = NEVER if after is None else after
        return following


class FactorTiming:
    """An interval that shrinks when a page changed and grows when it did not.

    Args:
        kind: Its name in the settings.
        factors: The rule.
        times: The first intervals.
    """

    def __init__(self, kind: str, factors: Factors, times: FactorTimes) -> None:
        self.kind = kind
        self._factors = factors
        self._times = times

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`; a visit that said nothing leaves the interval as it is."""
        mime = met.mime or (row.mime if row else "")
        interval = row.interval if row and not met.first else self._first(mime)
        if met.answer is Answer.SILENT:
            due = met.counted + self._times.unknown
            retries = (row.retries if row else 0) + 1
            return TimingRow(url, self.kind, met.time, interval, due, retries=retries, mime=mime)
        if row is not None and not met.first:
            interval = self._factors.next_interval(interval, changed=met.changed)
        return TimingRow(url, self.kind, met.time, interval, met.counted + interval, mime=mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; a shorter longest interval holds at once."""
        return min(row.due, row.visited + max(self._factors.longest, self._times.unknown))

    def early(self, row: TimingRow) -> float:
        """See `Timing`."""
        return _EARLY * row.interval

    def _first(self, mime: str) -> float:
        if not mime or mime == "unknown":
            return self._times.unknown
        if mime.startswith("text/"):
            return self._times.first_text
        return self._times.first_image if mime.startswith("image/") else self._times.first


def adopted(timing: Timing, url: str, time: float, mime: str) -> TimingRow:
    """Return the timing of a page that had a visit when its schedule was set."""
    return timing.after(url, None, Met(time, 200, Answer.THERE, first=True, mime=mime))
