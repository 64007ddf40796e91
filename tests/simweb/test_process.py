"""Processes of change: their rates, their order, and that they follow from the seed."""

import statistics
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre_simweb.calendar import DAY, WEEK, operational, real
from nacre_simweb.draw import Draw
from nacre_simweb.process import early_edits, events

KINDS = ("poisson", "periodic", "bursty", "calendar", "heavy")


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_on_the_long_run_is_the_one_asked_for(kind):
    counts = [
        len(events(kind, Draw(7).at(kind, page), 0.5 / DAY, 0.0, 400 * DAY)) for page in range(60)
    ]
    # Pareto gaps vary without limit; calendars have whole numbers of hours a week.
    assert statistics.mean(counts) / 200 == pytest.approx(1, abs=0.35 if kind == "heavy" else 0.15)


@pytest.mark.parametrize("kind", KINDS)
def test_times_are_sorted_within_the_range_and_repeatable(kind):
    found = events(kind, Draw(1).at("a"), 2 / DAY, 3 * DAY, 30 * DAY)
    assert found == sorted(found)
    assert found[0] >= 3 * DAY
    assert found[-1] < 30 * DAY
    assert found == events(kind, Draw(1).at("a"), 2 / DAY, 3 * DAY, 30 * DAY)
    assert found != events(kind, Draw(2).at("a"), 2 / DAY, 3 * DAY, 30 * DAY)


def spread(kind):
    """Coefficient of variation of the gaps: 1 for a Poisson process."""
    gaps = [
        after - before
        for page in range(40)
        for before, after in pairwise(events(kind, Draw(3).at(page), 1 / DAY, 0.0, 200 * DAY))
    ]
    return statistics.pstdev(gaps) / statistics.mean(gaps)


def test_only_one_process_is_like_poisson():
    assert spread("poisson") == pytest.approx(1, abs=0.06)
    assert spread("periodic") < 0.2
    assert spread("bursty") > 1.3
    assert spread("heavy") > 1.3


def test_nothing_happens_at_rate_zero_or_in_no_time():
    assert events("poisson", Draw(1), 0.0, 0.0, DAY) == []
    assert events("heavy", Draw(1), 1.0, DAY, DAY) == []


def test_early_edits_fade():
    times = [
        time
        for page in range(500)
        for time in early_edits(Draw(5).at(page), 2.0, 1.5, 0.0, 90 * DAY)
    ]
    assert len(times) / 500 == pytest.approx(2.0 * 1.5, rel=0.1)
    assert sum(time < 1.5 * DAY for time in times) / len(times) == pytest.approx(0.632, abs=0.05)


@given(st.sampled_from(["flat", "office", "news", "holidays"]), st.floats(-60 * WEEK, 120 * WEEK))
def test_operational_time_and_back(rhythm, time):
    there = operational(rhythm, time)
    assert operational(rhythm, real(rhythm, there)) == pytest.approx(there, abs=1e-3)


def test_a_week_is_a_week_in_both_times():
    for rhythm in ("office", "news"):
        assert operational(rhythm, 5 * WEEK) == pytest.approx(5 * WEEK)
        assert operational(rhythm, 3 * DAY) != pytest.approx(3 * DAY)


def test_holidays_stand_still_and_a_year_is_a_year():
    passed = [operational("holidays", (day + 1) * DAY) - operational("holidays", day * DAY)
              for day in range(364)]  # fmt: skip
    spring_festival, labour_day = passed[41:50], passed[116:121]
    assert max(spring_festival + labour_day) < 0.05 * passed[36]
    assert sum(passed) == pytest.approx(364 * DAY)
