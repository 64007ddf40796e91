"""Values of visits: against quadrature, against the published table, and their inverse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history import value
from nacre.history.rates import FLAT, GRID, NO_EVIDENCE, RATES, observe_count, posterior


@given(st.floats(1e-9, 50))
def test_captured_is_the_integral_of_its_density(x: float) -> None:
    steps = 2000
    width = x / steps
    middle = (width * (index + 0.5) for index in range(steps))
    area = sum(t * math.exp(-t) * width for t in middle)
    assert value.captured(x) == pytest.approx(area, rel=1e-3)


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("share", [1e-4, 0.01, 0.3, 0.7, 0.99])
def test_a_page_is_due_when_its_value_reaches_the_price(theta: float, share: float) -> None:
    weights = value.importance(posterior(observe_count(NO_EVIDENCE, 5, 60.0), FLAT), theta)
    price = share * sum(weights)
    days = value.due_after(weights, price)
    assert value.value(weights, days) == pytest.approx(price, rel=0.01)


def test_a_page_that_is_not_worth_its_price_is_never_due() -> None:
    weights = value.importance(FLAT, 1.0)
    assert value.due_after(weights, 1.5) == value.NEVER
    assert value.due_after(weights, 0.0) == 0.0
    assert value.due_after([0.0] * GRID, 0.1) == value.NEVER
    assert value.value(weights, -1.0) == 0.0


def test_values_grow_with_time_and_rate() -> None:
    slow = [0.0] * GRID
    fast = list(slow)
    slow[5], fast[15] = 1.0, 1.0
    assert value.value(slow, 3.0) < value.value(slow, 30.0)
    assert value.value(slow, 3.0) < value.value(fast, 3.0)


def test_a_tiny_price_is_due_within_a_minute() -> None:
    weights = value.importance(FLAT, 1.0)
    assert 0.0 < value.due_after(weights, 1e-12) <= value.TIMES[0]


# Reference 2.5: share of versions captured, by visits for each change and quality of the hints.
CAPTURED = [
    (0.5, 0.5, 0.2, 0.440),
    (0.5, 0.5, 0.8, 0.471),
    (0.5, 0.8, 0.8, 0.486),
    (0.5, 0.95, 0.9, 0.496),
    (1.0, 0.5, 0.2, 0.652),
    (1.0, 0.5, 0.8, 0.737),
    (1.0, 0.8, 0.8, 0.833),
    (1.0, 0.95, 0.9, 0.910),
    (2.0, 0.5, 0.2, 0.818),
    (2.0, 0.5, 0.8, 0.872),
    (2.0, 0.8, 0.8, 0.941),
    (4.0, 0.5, 0.8, 0.937),
    (4.0, 0.8, 0.8, 0.973),
]


@pytest.mark.parametrize(("visits", "recall", "precision", "expected"), CAPTURED)
def test_hints_buy_what_the_reference_says(
    visits: float, recall: float, precision: float, expected: float
) -> None:
    rate = 1.0
    noise = recall * rate * (1.0 - precision) / precision
    silent, told = (1.0 - recall) * rate, recall * rate + noise
    worth = -math.log(noise / told) / silent
    low, high = 1e-6, 500.0
    for _ in range(80):
        middle = (low + high) / 2.0
        between = value.hinted_cycle(silent, noise, told, worth, middle)[1]
        low, high = (middle, high) if between < 1.0 / visits else (low, middle)
    fresh, between = value.hinted_cycle(silent, noise, told, worth, high)
    assert fresh / between == pytest.approx(expected, abs=0.006)


def test_without_hints_the_hinted_value_is_the_plain_one() -> None:
    rate = RATES[14]
    deaf = value.Signal(recall=0.0, false_rate=1e-6)
    assert value.hinted_value(rate, 2.0, 0, deaf) == pytest.approx(
        value.captured(rate * 2.0), rel=1e-3
    )


def test_a_trusted_hint_makes_a_page_due() -> None:
    good = value.Signal(recall=0.9, false_rate=0.001)
    none = value.hinted_value(0.05, 2.0, 0, good)
    one = value.hinted_value(0.05, 2.0, 1, good)
    assert one > 20 * none


def test_index_pages_follow_the_square_of_their_wait() -> None:
    assert value.arrival_value(3.0, 2.0) == pytest.approx(6.0)
    assert value.arrival_value(3.0, 4.0) == pytest.approx(24.0)


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
