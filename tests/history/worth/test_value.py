"""Values of visits: against quadrature, and where they grow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.worth import value
from nacre.history.worth.rates import FLAT, GRID


@given(st.floats(1e-9, 50))
def test_captured_is_the_integral_of_its_density(x: float) -> None:
    steps = 2000
    width = x / steps
    middle = (width * (index + 0.5) for index in range(steps))
    area = sum(t * math.exp(-t) * width for t in middle)
    assert value.captured(x) == pytest.approx(area, rel=1e-3)


def test_values_grow_with_time_and_rate() -> None:
    assert value.value(value.importance(FLAT, 1.0), -1.0) == 0.0
    slow = [0.0] * GRID
    fast = list(slow)
    slow[5], fast[15] = 1.0, 1.0
    assert value.value(slow, 3.0) < value.value(slow, 30.0)
    assert value.value(slow, 3.0) < value.value(fast, 3.0)


def test_exploring_pays_where_little_is_known() -> None:
    """A class of which one page in fifty changes daily: it is worth finding which."""
    mixed = [0.0] * GRID
    mixed[3], mixed[19] = 0.98, 0.02
    alike = [0.0] * GRID
    alike[3] = 1.0
    assert value.news(tuple(mixed), 5.0, 0.02, 1.0) > 0.05
    assert value.news(tuple(alike), 5.0, 0.02, 1.0) == pytest.approx(0.0, abs=1e-9)


def test_youth_adds_to_the_value_of_a_visit() -> None:
    assert value.value(FLAT, 1.0, 0.5) > value.value(FLAT, 1.0)
