"""HTTP dates and Retry-After."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.wire.date import format_http_date, parse_http_date, retry_after

MOMENT = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "6 nov 94 8:49:37",
        "08:49:37 / 1994 / November / 06",
        "Sun, 06 Nov 1994 08:49:37 +0500 (CET)",
        "Sun, 06 Nov 1994 08:49:37x GMT",
    ],
)
def test_every_form_of_one_moment(text):
    assert parse_http_date(text) == MOMENT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "06 Nov 1994",
        "Nov 1994 08:49:37",
        "06 1994 08:49:37",
        "06 Nov 08:49:37",
        "31 Feb 1994 08:49:37",
        "0 Nov 1994 08:49:37",
        "06 Nov 1600 08:49:37",
        "06 Nov 1994 24:00:00",
        "06 Nov 1994 08:60:00",
        "06 Nov 1994 08:00:60",
        "06 Nov 19940 08:49:37",
        "006 Nov 1994 08:49:37",
        "06 Nov 1994 08:49:377",
        "\u0660\u0666 Nov 1994 08:49:37",
        " " * 300 + "Sun, 06 Nov 1994 08:49:37 GMT",
    ],
)
def test_what_is_no_date(text):
    assert parse_http_date(text) is None


@pytest.mark.parametrize(
    ("short", "full"), [("69", 2069), ("70", 1970), ("00", 2000), ("99", 1999)]
)
def test_two_digit_years(short, full):
    expected = datetime(full, 1, 2, tzinfo=UTC).timestamp()
    assert parse_http_date(f"02-Jan-{short} 00:00:00") == expected


@given(st.integers(0, 253402300799))
def test_what_is_written_is_read_back(seconds):
    text = format_http_date(seconds)
    assert len(text) == 29
    assert parse_http_date(text) == seconds


@given(st.text())
def test_reading_never_raises(text):
    moment = parse_http_date(text)
    assert moment is None or math.isfinite(moment)


def test_writing_stays_within_the_calendar():
    assert format_http_date(MOMENT + 0.9) == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert format_http_date(-5) == "Thu, 01 Jan 1970 00:00:00 GMT"
    assert format_http_date(1e300) == "Fri, 31 Dec 9999 23:59:59 GMT"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("1.5", 1.5),
        ("1000000000000", 1e12),
        ("9" * 5000, math.inf),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("-5", None),
        ("", None),
        ("soon", None),
        ("\u0661\u0662", None),
    ],
)
def test_retry_after(value, seconds):
    assert retry_after(value, MOMENT) == seconds
