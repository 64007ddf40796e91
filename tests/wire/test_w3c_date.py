"""Dates of sitemaps and feeds."""

import pytest

from nacre.wire.date import parse_w3c_date

DATES = [
    ("1970-01-02", 86_400.0),
    ("1970", 0.0),
    ("1970-02", 2_678_400.0),
    ("1970-01-01T00:01Z", 60.0),
    ("1970-01-01T01:00:05+01:00", 5.0),
    ("1970-01-01 00:00:07", 7.0),
    ("1970-01-01T00:00:07.123456-0030", 1807.0),
    (" 1970-01-02\n", 86_400.0),
    ("Thu, 01 Jan 1970 00:00:09 GMT", 9.0),
    ("1970-13-01", None),
    ("1970-02-30", None),
    ("yesterday", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_dates(text: str, expected: float | None) -> None:
    assert parse_w3c_date(text) == expected
