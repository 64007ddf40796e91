"""Dates of cookies and headers (abarth/http-state)."""

from nacre.wire.date import format_http_date, parse_http_date
from tests.cases.table import Row, Table, json_lines


def check(row: Row) -> str | None:
    """The same moment, or None for what is no date."""
    moment = parse_http_date(row["input"])
    answer = None if moment is None else format_http_date(moment)
    return None if answer == row["expected"] else repr(answer)


TABLE = Table("http_date", json_lines("http_date.jsonl"), check)
