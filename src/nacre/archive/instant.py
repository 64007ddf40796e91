"""WARC-Date as a number."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(date: str | None) -> int:
    """µs since the epoch of a WARC-Date; 0 for what is none."""
    try:
        moment = datetime.fromisoformat(date or "")
    except ValueError:
        return 0
    return (moment - _EPOCH) // timedelta(microseconds=1) if moment.tzinfo else 0
