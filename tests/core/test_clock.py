from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core import clock

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
