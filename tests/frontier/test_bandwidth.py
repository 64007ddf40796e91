from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.frontier.bandwidth import (
    DAYS,
    BandwidthLimits,
    BandwidthSettings,
    WindowSettings,
    in_hours,
    pace_at,
    parse_days,
    parse_hours,
    slower,
)

MONDAY = datetime(2026, 11, 16, tzinfo=timezone(timedelta(hours=8)))
PEAK = WindowSettings(days="mon-fri", hours="9-17", total=10**6, parallel=5, min_delay=10)


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


def test_the_last_window_that_speaks_wins() -> None:
    night = WindowSettings(hours="20-8", total=0, parallel=100)
    rush = WindowSettings(days="mon", hours="10-11", per_host=1000)
    usual = BandwidthLimits(total=5 * 10**6)
    windows = (PEAK, night, rush)
    assert pace_at(usual, windows, MONDAY.replace(hour=18)) == usual
    assert pace_at(usual, windows, MONDAY.replace(hour=3)) == BandwidthLimits(
        0, 0, 100, 0.0, ("mon-sun 20-8",)
    )
    rushed = pace_at(usual, windows, MONDAY.replace(hour=10))
    assert rushed == BandwidthLimits(10**6, 1000, 5, 10.0, ("mon-fri 9-17", "mon 10-11"))


@pytest.mark.parametrize(
    ("pace", "size", "duration", "per_host", "delay"),
    [
        (BandwidthLimits(), 10**6, 1.0, 0, 0.0),
        (BandwidthLimits(per_host=1000), 10_000, 2.0, 0, 8.0),
        (BandwidthLimits(per_host=1000), 10_000, 20.0, 0, 0.0),
        (BandwidthLimits(per_host=1000), 10_000, 0.0, 500, 20.0),
        (BandwidthLimits(), 10_000, 0.0, 500, 20.0),
        (BandwidthLimits(min_delay=30), 10_000, 0.0, 500, 30.0),
    ],
)
def test_delays(
    pace: BandwidthLimits, size: int, duration: float, per_host: int, delay: float
) -> None:
    assert pace.delay(size, duration, per_host) == delay


@given(st.integers(0, 9), st.integers(0, 9))
def test_no_limit_is_never_the_lower_one(one: int, other: int) -> None:
    assert slower(one, other) == min([rate for rate in (one, other) if rate], default=0)


@pytest.mark.parametrize(
    "values",
    [
        {"windows": [{"days": "never"}]},
        {"windows": [{"hours": "9"}]},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": "../etc/passwd"},
        {"total": -1},
    ],
)
def test_what_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BandwidthSettings.model_validate(values)
