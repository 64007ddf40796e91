"""Values of visits: against quadrature, and where they grow.

Ages: what youth adds.

Plans: the published examples, the budget kept, and what each objective favours.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.planner.change_rate import value
from nacre.planner.change_rate.rates import FLAT, GRID
from nacre.planner.change_rate.value import (
    Bounds,
    Hazard,
    Share,
    captured,
    fit_hazard,
    frequency,
    freshness,
    inside,
    inverse_captured,
    plan,
)


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
    assert value.exploration(tuple(mixed), 5.0, 0.02, 1.0) > 0.05
    assert value.exploration(tuple(alike), 5.0, 0.02, 1.0) == pytest.approx(0.0, abs=1e-9)


def test_youth_adds_to_the_value_of_a_visit() -> None:
    assert value.value(FLAT, 1.0, 0.5) > value.value(FLAT, 1.0)


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


FIVE = [Share(float(rate)) for rate in range(1, 6)]


def recall(pages: list[Share], often: list[float]) -> float:
    """Share of all versions that a plan captures."""
    caught = sum(one.rate * freshness(one.rate, n) for one, n in zip(pages, often, strict=True))
    return caught / sum(one.rate for one in pages)


def test_freshness_optimum_of_the_published_example() -> None:
    """Cho and Garcia-Molina: rates 1 to 5, five visits a day; the fastest page gets none."""
    often, _ = plan(FIVE, 5.0, theta=0.0)
    assert often == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.02)


def test_to_catch_versions_visits_are_proportional_to_rates() -> None:
    often, _ = plan(FIVE, 7.5, theta=1.0)
    assert often == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.5], rel=1e-3)


def test_each_objective_wins_at_its_own_game() -> None:
    for_freshness, _ = plan(FIVE, 5.0, theta=0.0)
    for_versions, _ = plan(FIVE, 5.0, theta=1.0)
    assert recall(FIVE, for_versions) > recall(FIVE, for_freshness)
    fresh = [sum(map(freshness, (1, 2, 3, 4, 5), often)) for often in (for_freshness, for_versions)]
    assert fresh[0] > fresh[1]


@given(
    st.lists(
        st.builds(
            Share, st.floats(0.001, 20), st.floats(0.1, 10), st.floats(0.1, 10), st.just(1.0)
        ),
        min_size=1,
        max_size=20,
    ),
    st.floats(0.05, 50),
    st.floats(0, 1),
)
def test_no_plan_spends_more_than_its_budget(
    pages: list[Share], budget: float, theta: float
) -> None:
    often, _ = plan(pages, budget, theta)
    spent = sum(page.cost * visits for page, visits in zip(pages, often, strict=True))
    assert spent <= budget * 1.01


def test_floors_and_ceilings_hold() -> None:
    bounds = Bounds(floor=0.1, ceiling=1.2)
    often, _ = plan(FIVE, 5.0, theta=0.0, bounds=bounds)
    assert min(often) >= 0.1
    assert max(often) <= 1.2
    assert frequency(Share(0.0), 1.0, 1.0, bounds) == 0.1


@given(st.floats(1e-6, 0.999))
def test_the_inverse_is_one(share: float) -> None:
    assert captured(inverse_captured(share)) == pytest.approx(share, rel=1e-6)


def test_pages_that_never_change_are_always_fresh() -> None:
    assert freshness(0.0, 0.0) == 1.0
    assert freshness(1.0, 0.0) == 0.0
    assert freshness(1.0, 1.0) == pytest.approx(0.632, abs=0.001)
