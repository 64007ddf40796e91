"""Hours of the week, and what holds in them."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_DAY = 24 * 60
_HOURS = re.compile(r"(\d{1,2})(?::([0-5]\d))?\s*-\s*(\d{1,2})(?::([0-5]\d))?\Z")


def parse_days(text: str) -> frozenset[int]:
    """Days of the week, 0 for Monday, from `mon-fri`, `sat,sun`, `fri-mon`.

    Raises:
        ValueError: The text says something else.
    """
    days: set[int] = set()
    for part in text.lower().split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(f"no days of the week: {part.strip()!r}; write them as mon-fri or sat")
        start = DAYS.index(first)
        days |= {(start + n) % 7 for n in range((DAYS.index(last or first) - start) % 7 + 1)}
    return frozenset(days)


def parse_hours(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of the day in minutes from `9-17`, `22:30-6`, `0-8,20-24`; one may pass midnight.

    Raises:
        ValueError: The text says something else.
    """
    spans = []
    for part in text.split(","):
        match = _HOURS.match(part.strip())
        if match is None:
            raise ValueError(f"no hours: {part.strip()!r}; write them as 9-17 or 22:30-6")
        start, end = (int(match[n]) * 60 + int(match[n + 1] or 0) for n in (1, 3))
        if start >= _DAY or end > _DAY or start == end:
            raise ValueError(f"no hours of a day: {part.strip()!r}")
        spans.append((start, end if end > start else end + _DAY))
    return tuple(spans)


def in_hours(days: str, hours: str, local: datetime) -> bool:
    """Whether a time lies in these hours; those that pass midnight belong to the day they begin."""
    minute = local.hour * 60 + local.minute
    wanted = parse_days(days)
    today, before = local.weekday(), (local.weekday() - 1) % 7
    return any(
        (today in wanted and start <= minute < end)
        or (before in wanted and start <= minute + _DAY < end)
        for start, end in parse_hours(hours)
    )


class Window(Protocol):
    """Some hours of the week, and what holds in them; None leaves a value as it is."""

    @property
    def days(self) -> str:
        """See `parse_days`."""
        ...

    @property
    def hours(self) -> str:
        """See `parse_hours`."""
        ...

    @property
    def total(self) -> int | None:
        """Bytes a second of the whole crawl; 0 for no limit."""
        ...

    @property
    def per_host(self) -> int | None:
        """Bytes a second of one host; 0 for no limit."""
        ...

    @property
    def parallel(self) -> int | None:
        """Fetches at the same time."""
        ...

    @property
    def min_delay(self) -> float | None:
        """Shortest politeness delay, seconds."""
        ...


class Pace(NamedTuple):
    """What holds at a moment.

    Attributes:
        total: Bytes a second of the whole crawl; 0 for no limit.
        per_host: Bytes a second of one host; 0 for no limit.
        parallel: Fetches at the same time; None: as the settings say.
        min_delay: Shortest politeness delay, seconds.
        windows: Windows that hold, as `mon-fri 9-17`.
    """

    total: int = 0
    per_host: int = 0
    parallel: int | None = None
    min_delay: float = 0.0
    windows: tuple[str, ...] = ()

    def delay(self, size: int, duration: float, per_host: int = 0) -> float:
        """Least politeness delay after a fetch, so that its host's rate is kept on average.

        Args:
            size: Bytes received.
            duration: Seconds that it took.
            per_host: Another limit of the host, bytes a second; 0 for none.
        """
        rate = slower(self.per_host, per_host)
        return max(self.min_delay, size / rate - duration) if rate else self.min_delay


def slower(one: int, other: int) -> int:
    """The lower of two rates, of which 0 is none."""
    return min(one, other) if one and other else one or other


def pace_at(usual: Pace, windows: Sequence[Window], local: datetime) -> Pace:
    """What holds at a local time: of all windows that it lies in, the last that says something."""
    pace = usual
    for window in windows:
        if not in_hours(window.days, window.hours, local):
            continue
        pace = Pace(
            pace.total if window.total is None else window.total,
            pace.per_host if window.per_host is None else window.per_host,
            pace.parallel if window.parallel is None else window.parallel,
            pace.min_delay if window.min_delay is None else window.min_delay,
            (*pace.windows, f"{window.days} {window.hours}"),
        )
    return pace
