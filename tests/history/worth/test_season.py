"""Operational time: weeks, ages, and back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.worth.season import (
    HOURS,
    Hazard,
    Season,
    fit_hazard,
    hour_of_week,
    inside,
    learned,
)

MONDAY = 1_704_067_200.0  # 2024-01-01 00:00 UTC, a Monday
DAY = 86_400.0
weeks = st.lists(st.floats(0.01, 50), min_size=HOURS, max_size=HOURS)
times = st.floats(0, 4e9)


def test_hours_begin_on_monday() -> None:
    assert hour_of_week(MONDAY) == 0
    assert hour_of_week(MONDAY + 7 * DAY - 1) == 167


def test_an_even_week_is_plain_time() -> None:
    assert Season().days(MONDAY + 100.0, MONDAY + 100.0 + 2.5 * DAY) == pytest.approx(2.5)


def test_a_site_of_office_hours_does_not_age_at_night() -> None:
    office = Season([1.0 if 9 <= hour % 24 < 17 and hour < 120 else 0.0 for hour in range(HOURS)])
    assert office.days(MONDAY, MONDAY + 9 * 3600) == pytest.approx(0.0)
    assert office.days(MONDAY, MONDAY + 7 * DAY) == pytest.approx(7.0)
    assert office.days(MONDAY + 9 * 3600, MONDAY + 17 * 3600) == pytest.approx(7.0 / 5)


@given(weeks, times, st.floats(0, 400))
def test_after_undoes_days(hours: list[float], start: float, days: float) -> None:
    season = Season(hours)
    end = season.after(start, days)
    assert season.days(start, end) == pytest.approx(days, abs=1e-4)


@given(weeks, times, times, times)
def test_time_adds_up(hours: list[float], one: float, two: float, three: float) -> None:
    season = Season(hours)
    a, b, c = sorted((one, two, three))
    assert season.days(a, b) + season.days(b, c) == pytest.approx(season.days(a, c), abs=1e-5)


def test_no_time_passes_backwards() -> None:
    assert Season().days(MONDAY + 10.0, MONDAY) == 0.0


def test_a_profile_is_learned_against_a_wider_one() -> None:
    counts = [0.0] * HOURS
    counts[9] = 1000.0
    assert learned(counts, Season()).hours[9] > 100.0
    assert learned([0.0] * HOURS, Season()).hours == pytest.approx([1.0] * HOURS)


def test_an_interval_is_divided_among_five_ages() -> None:
    assert inside(0.5, 4.0) == pytest.approx((0.5, 2.0, 1.0, 0.0, 0.0))
    assert inside(5.0, 400.0) == pytest.approx((0.0, 0.0, 1.0, 6.0, 388.0))


def test_youth_adds_changes() -> None:
    hazard = Hazard((0.4, 0.2, 0.1, 0.0, 0.0))
    assert hazard.changes(0.0, 1.0) == pytest.approx(0.4)
    assert hazard.changes(0.5, 4.0) == pytest.approx(0.2 + 0.4 + 0.1)
    assert hazard.changes(100.0, 103.0) == 0.0


def test_hazards_are_what_rates_do_not_explain() -> None:
    fitted = fit_hazard([40.0, 10.0, -3.0, 0.0, 100.0], [95.0, 95.0, 95.0, 95.0, 1000.0])
    assert fitted.rates == pytest.approx((0.4, 0.1, 0.0, 0.0, 0.0))
    assert fit_hazard([0.0] * 5, [0.0] * 5) == Hazard()
