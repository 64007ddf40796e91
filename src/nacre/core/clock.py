"""Time: the protocol of a clock, and moments as text in UTC (pure).

Moments of a broken clock are taken to the nearest of the years 1970 to 9999.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol


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


def _moment(seconds: float) -> datetime:
    return _EPOCH + timedelta(seconds=min(max(seconds, 0.0), _LAST))
