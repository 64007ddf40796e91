"""Dates of cookies and headers (abarth/http-state)."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from nacre.wire.date import format_http_date, parse_http_date
from tests.cases.table import Row, Table, json_lines


def check(row: Row) -> str | None:
    """The same moment, or None for what is no date."""
    moment = parse_http_date(row["input"])
    answer = None if moment is None else _written(moment)
    return None if answer == row["expected"] else repr(answer)


def _written(moment: float) -> str:
    """As an HTTP date; Nacre itself writes none before 1970."""
    if moment >= 0:
        return format_http_date(moment)
    return format_datetime(
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=moment), usegmt=True
    )


TABLE = Table("http_date", json_lines("http_date.jsonl"), check)
