"""Time: the protocol of a clock, moments as text in UTC, durations, hours of the week (pure).

Moments of a broken clock are taken to the nearest of the years 1970 to 9999.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

from nacre.messages import Message, message


class Clock(Protocol):
    """The source of time for code that does I/O; pure code takes `now` instead."""

    def now(self) -> float:
        """Seconds since the epoch, UTC; may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        ...


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799.0
_DIGITS = re.compile(r"^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$", re.ASCII)
_YEARS = range(1971, 9999)
"""Years of a time that a user types: 0 means "never" in many rows, and a run goes on after it."""


def parse_time(text: str) -> float:
    """Seconds since the epoch of a time that a user typed.

    Args:
        text: ISO 8601, in UTC if it has no zone, or the 14 digits of a timestamp of an archive.

    Raises:
        ValueError: It is no time, or not of the years 1971 to 9998.
    """
    typed = _DIGITS.sub(r"\1-\2-\3T\4:\5:\6", text.strip())
    if typed.isdigit() and len(typed) != len("20261123"):  # `fromisoformat` reads some of them
        raise ValueError(f"{text!r} is no time")
    try:
        moment = datetime.fromisoformat(typed)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no time") from None
    if moment.year not in _YEARS:
        raise ValueError(f"{text!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}")
    return moment.timestamp()


def iso_of_digits(digits: str) -> str:
    """`2026-11-20T10:00:00Z`, of the 14 digits of a timestamp of an archive."""
    day = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"
    return f"{day}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"


def digits14(seconds: float) -> str:
    """`20261120151100`, of seconds since the epoch."""
    return f"{_moment(seconds):%Y%m%d%H%M%S}"


def digits17(seconds: float) -> str:
    """`20261120151100123`, of seconds since the epoch: to the millisecond."""
    moment = _moment(seconds)
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03}"


def iso(seconds: float) -> str:
    """`2026-11-20T15:11:00Z` (ISO 8601), of seconds since the epoch."""
    return f"{_moment(seconds):%Y-%m-%dT%H:%M:%SZ}"


def iso_millis(seconds: float) -> str:
    """`2026-11-20T15:11:00.123Z` (ISO 8601), of seconds since the epoch."""
    return _moment(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_SECONDS = partial(message, "time.seconds", "{number} s")
_UNITS: tuple[tuple[int, Callable[..., Message]], ...] = (
    (86400, partial(message, "time.days", "{number} d")),
    (3600, partial(message, "time.hours", "{number} h")),
    (60, partial(message, "time.minutes", "{number} min")),
    (1, _SECONDS),
)
"""Lengths in seconds, each with the text of a number of it."""


def duration(seconds: float) -> str:
    """`30 ms`, `1.8 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`."""
    if seconds < 1:
        number = f"{seconds * 1000:.0f}"
        return message("time.milliseconds", "{number} ms", number=number)
    if seconds < 10:
        return _SECONDS(number=f"{seconds:.1f}")
    whole = round(seconds)
    if whole < 60:
        return _SECONDS(number=whole)
    at = next(index for index, (length, _) in enumerate(_UNITS) if whole >= length)
    length, write = _UNITS[at]
    large = write(number=whole // length)
    shorter, write = _UNITS[at + 1]
    remainder = whole % length // shorter
    if not remainder:
        return large
    small = write(number=remainder)
    return message("time.two-units", "{large} {small}", large=large, small=small)


def roughly(seconds: float) -> str:
    """A time that is only estimated, in whole seconds, from a minute on in minutes: `4 min`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else duration(round(seconds / 60) * 60)


def _moment(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=min(max(seconds, 0.0), _LAST))


# ---- hours of the week

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""Days of the week as they are written, Monday first."""

_DAY = 24 * 60
_HOURS = re.compile(r"(\d{1,2})(?::([0-5]\d))?\s*-\s*(\d{1,2})(?::([0-5]\d))?\Z")


def parse_days(text: str) -> frozenset[int]:
    """Days of the week, 0 for Monday, from `mon-fri`, `sat,sun`, `fri-mon`.

    Raises:
        ValueError: The text has another form.
    """
    days: set[int] = set()
    for part in text.lower().split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(
                message(
                    "core.not-days-of-week",
                    "not days of the week: {part!r}; write them as mon-fri or sat",
                    part=part.strip(),
                )
            )
        start = DAYS.index(first)
        days |= {(start + n) % 7 for n in range((DAYS.index(last or first) - start) % 7 + 1)}
    return frozenset(days)


def parse_hours(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the day in minutes from `9-17`, `22:30-6`, `0-8,20-24`; one may pass midnight.

    Raises:
        ValueError: The text has another form.
    """
    spans = []
    for part in text.split(","):
        match = _HOURS.match(part.strip())
        if match is None:
            raise ValueError(
                message(
                    "core.not-hours",
                    "not hours: {part!r}; write them as 9-17 or 22:30-6",
                    part=part.strip(),
                )
            )
        start, end = (int(match[n]) * 60 + int(match[n + 1] or 0) for n in (1, 3))
        if start >= _DAY or end > _DAY or start == end:
            raise ValueError(
                message("core.not-hours-of-day", "not hours of a day: {part!r}", part=part.strip())
            )
        spans.append((start, end if end > start else end + _DAY))
    return tuple(spans)


def in_hours(days: str, hours: str, local: datetime) -> bool:
    """Whether a time is in these hours; those that pass midnight belong to the day they begin."""
    minute = local.hour * 60 + local.minute
    weekdays = parse_days(days)
    today, before = local.weekday(), (local.weekday() - 1) % 7
    return any(
        (today in weekdays and start <= minute < end)
        or (before in weekdays and start <= minute + _DAY < end)
        for start, end in parse_hours(hours)
    )
