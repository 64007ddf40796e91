from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core import clock
from nacre.core.clock import DAYS, in_hours, parse_days, parse_hours

MOMENT = datetime(2026, 11, 20, 15, 11, 0, 123_456, tzinfo=UTC).timestamp()


def test_all_forms_of_a_moment():
    assert clock.digits14(MOMENT) == "20261120151100"
    assert clock.digits17(MOMENT) == "20261120151100123"
    assert clock.iso(MOMENT) == "2026-11-20T15:11:00Z"
    assert clock.iso_millis(MOMENT) == "2026-11-20T15:11:00.123Z"


@pytest.mark.parametrize(("seconds", "year"), [(-1e300, "1970"), (1e300, "9999")])
def test_a_broken_clock_has_moments_too(seconds: float, year: str):
    assert clock.iso(seconds)[:4] == clock.digits17(seconds)[:4] == year


@given(st.floats(0, 4e9))
def test_iso_is_read_back(seconds: float):
    back = datetime.fromisoformat(clock.iso_millis(seconds)).timestamp()
    assert seconds - 0.0011 < back <= seconds + 1e-6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.03, "30 ms"), (1.84, "1.8 s"), (42.4, "42 s"), (60, "1 min"), (185, "3 min 5 s"),
        (7800, "2 h 10 min"), (273_600, "3 d 4 h"),
    ],
)  # fmt: skip
def test_durations(seconds: float, text: str):
    assert clock.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4.4, "4 s"), (59.4, "59 s"), (59.6, "1 min"), (100, "2 min"), (7_830, "2 h 10 min")],
)
def test_a_time_of_an_estimate(seconds: float, text: str):
    assert clock.roughly(seconds) == text


@pytest.mark.parametrize(
    "text",
    [
        "2024-07-01T13:00:00Z", "2024-07-01T13:00", "2024-07-01 13:00:00", "20240701130000",
        "2024-07-01T15:00:00+02:00", "20240701T130000Z", " 2024-07-01T13:00:00.000Z ",
    ],
)  # fmt: skip
def test_a_typed_time_may_have_a_zone_or_14_digits(text: str):
    assert clock.iso(clock.parse_time(text)) == "2024-07-01T13:00:00Z"


def test_a_typed_date_is_its_midnight_in_utc():
    assert clock.parse_time("2024-07-01") == clock.parse_time("20240701")
    assert clock.iso(clock.parse_time("20240701")) == "2024-07-01T00:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "", "now", "2024", "20240101123", "2024010112345", "20241301000000", "20240230000000",
        "2024-07-01T25:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-10:00",
        "1970-01-01T00:00:00Z", "\uff19" * 4, "二〇二四年", "\uff12" * 14, "1" * 5000,
        "2024-07-01T13:00:00 Europe/Paris",
    ],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str):
    with pytest.raises(ValueError, match=r"is no time|is not in the years 1971 to 9998"):
        clock.parse_time(text)


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str):
    try:
        seconds = clock.parse_time(text)
    except ValueError:
        return
    assert clock.parse_time("19710101000000") <= seconds < clock.parse_time("9998-12-31") + 86400


@given(st.floats(4e7, 2e11))
def test_timestamps_are_read_back(seconds: float):
    assert clock.parse_time(clock.digits14(seconds)) == int(seconds)
    assert clock.parse_time(clock.iso(seconds)) == int(seconds)


MONDAY = datetime(2026, 11, 16, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("mon", {0}),
        ("mon-fri", {0, 1, 2, 3, 4}),
        ("Sat, sun", {5, 6}),
        ("fri-mon", {4, 5, 6, 0}),
        ("mon-sun", set(range(7))),
        ("sun-sun", {6}),
    ],
)
def test_days(text: str, days: set[int]) -> None:
    assert parse_days(text) == days


@pytest.mark.parametrize("text", ["", "monday", "mon-", "0", "mon,,tue", "mon-fri-sat"])
def test_no_days(text: str) -> None:
    with pytest.raises(ValueError, match="not days"):
        parse_days(text)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("9-17", ((540, 1020),)),
        ("0-24", ((0, 1440),)),
        ("22:30-6", ((1350, 1800),)),
        ("9 - 12, 14-18:30", ((540, 720), (840, 1110))),
    ],
)
def test_hours(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    assert parse_hours(text) == spans


@pytest.mark.parametrize("text", ["", "9", "9-9", "24-3", "9-25", "9-24:01", "9:60-10", "-1-2"])
def test_no_hours(text: str) -> None:
    with pytest.raises(ValueError, match="not hours"):
        parse_hours(text)


@pytest.mark.parametrize(
    ("days", "hours", "day", "time", "inside"),
    [
        ("mon-fri", "9-17", 0, (9, 0), True),
        ("mon-fri", "9-17", 0, (8, 59), False),
        ("mon-fri", "9-17", 4, (16, 59), True),
        ("mon-fri", "9-17", 4, (17, 0), False),
        ("mon-fri", "9-17", 5, (12, 0), False),
        ("fri", "22-6", 4, (23, 0), True),
        ("fri", "22-6", 5, (5, 59), True),
        ("fri", "22-6", 5, (6, 0), False),
        ("fri", "22-6", 4, (5, 0), False),
        ("sun", "22-6", 0, (1, 0), True),
        ("mon", "0-24", 0, (23, 59), True),
        ("mon", "0-24", 1, (0, 0), False),
    ],
)
def test_inside(days: str, hours: str, day: int, time: tuple[int, int], inside: bool) -> None:
    local = MONDAY + timedelta(days=day, hours=time[0], minutes=time[1])
    assert in_hours(days, hours, local) is inside


@given(st.sampled_from(DAYS), st.integers(0, 23), st.integers(1, 24), st.integers(0, 10079))
def test_a_span_lasts_as_long_as_it_says(day: str, start: int, end: int, offset: int) -> None:
    if start == end:
        return
    hours = f"{start}-{end}"
    week = [MONDAY + timedelta(minutes=(offset + 30 * n) % 10080) for n in range(336)]
    inside = sum(in_hours(day, hours, local) for local in week)
    assert inside == 2 * ((end - start) % 24 or 24)
