"""Plans: the published examples, the budget kept, and what each objective favours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.worth.allocation import (
    Bounds,
    Share,
    frequency,
    freshness,
    inverse_captured,
    plan,
)
from nacre.history.worth.value import captured

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
