"""Forecasts are corrected by their outcomes, and given up where a simple schedule is better."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.calibration import (
    CLASSES,
    CalibrationRow,
    class_of,
    simple_chance,
)


@pytest.mark.parametrize(
    ("chance", "found"),
    [(0.0, 0), (1e-12, 0), (1 / 8192, 1), (0.004, 6), (0.3, 12), (0.6, 13), (1.0, 13)],
)
def test_classes_of_chances(chance: float, found: int) -> None:
    assert class_of(chance) == found


@given(st.floats(0.0, 1.0))
def test_every_chance_has_a_class(chance: float) -> None:
    assert 0 <= class_of(chance) < CLASSES


def test_what_promised_too_much_is_corrected_with_its_neighbours() -> None:
    row = CalibrationRow()
    assert row.corrected(0.004) == 0.004
    for _ in range(10_000):
        row.learn(0.004, changed=0.0)
    assert row.corrected(0.004) < 0.0004
    assert row.corrected(0.004) < row.corrected(0.008) * 0.5 < 0.004 * 0.5
    assert row.corrected(0.5) > 0.4


def test_what_promised_too_little_is_corrected_up_to_certainty() -> None:
    row = CalibrationRow()
    for _ in range(100):
        row.learn(0.3, changed=1.0)
    assert 0.8 < row.corrected(0.3) <= 1.0
    assert row.corrected(0.5) <= 1.0


def test_what_was_right_stays() -> None:
    row = CalibrationRow()
    for number in range(1_000):
        row.learn(0.1, changed=float(number % 10 == 0))
    assert row.corrected(0.1) == pytest.approx(0.1, rel=0.1)


def test_old_outcomes_are_halved() -> None:
    row = CalibrationRow()
    for _ in range(1_000):
        row.learn(0.5, changed=1.0)
    assert max(row.expected) <= 101.0
    for _ in range(12_000):
        row.score(0.5, 0.5, changed=False)
    assert row.forecasts <= 1_001.0


@pytest.mark.parametrize(
    ("ours", "simple", "count", "worse"),
    [
        (0.9, 0.1, 300, True),  # worse than both
        (0.9, 0.1, 100, False),  # too few to say
        (0.9, 0.95, 300, False),  # the simple one is worse still
        (0.1, 0.05, 300, False),  # better than the base rate
    ],
)
def test_who_forecasts(ours: float, simple: float, count: int, worse: bool) -> None:
    row = CalibrationRow()
    for number in range(count):
        changed = number % 10 == 0
        row.score(ours if not changed else 1.0 - ours / 2, simple, changed=changed)
    assert row.is_worse is worse


@pytest.mark.parametrize(
    ("visits", "changes", "days", "chance"),
    [
        (1, 0, 7.0, 0.5),  # its first interval is that between steps
        (2, 0, 9.8, 0.5),
        (2, 1, 5.6, 0.5),
        (1, 0, 14.0, 0.75),
        (40, 0, 365.0, 0.5),
        (40, 39, 1.0, 0.5),
        (3, 0, 0.0, 0.0),
    ],
)
def test_the_simple_schedule(visits: int, changes: int, days: float, chance: float) -> None:
    row = PageRow("http://a.test/", visits=visits, changes=changes)
    assert simple_chance(row, days, 7.0) == pytest.approx(chance)


def test_a_large_event_with_good_forecasts_does_not_excuse_bad_ones_for_long() -> None:
    row = CalibrationRow()
    for _ in range(2_500):
        row.score(0.95, 0.5, changed=True)
    for _ in range(2_000):
        row.score(0.3, 0.05, changed=False)
    assert row.is_worse
