from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.frontier.bandwidth import (
    BandwidthLimits,
    BandwidthSettings,
    WindowSettings,
    pace_at,
    slower,
)

MONDAY = datetime(2026, 11, 16, tzinfo=timezone(timedelta(hours=8)))
PEAK = WindowSettings(days="mon-fri", hours="9-17", total=10**6, parallel=5, min_delay=10)


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
