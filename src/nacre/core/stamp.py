"""Moments as text, in UTC: the forms that names, logs and records have (pure).

Moments of a broken clock are taken to the nearest of the years 1970 to 9999.
"""

from datetime import UTC, datetime, timedelta

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
