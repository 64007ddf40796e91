"""New links count for the cheapest lists that show them; lists that overflow are visited sooner."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.finding.hubs import MOST_LOST, Hub, credited, expected_loss, overflows


def _hub(links: str, cost: float = 1.0) -> Hub:
    return Hub(frozenset(links), cost)


def test_each_link_counts_for_one_list() -> None:
    found = credited({"home": _hub("abc"), "news": _hub("abcdef"), "other": _hub("fg")})
    assert found == {"news": 6, "other": 1, "home": 0}


def test_what_is_visited_anyway_goes_first_and_cheap_before_dear() -> None:
    hubs = {"home": _hub("ab", 0.0), "dear": _hub("abcd", 4.0), "cheap": _hub("abcd", 1.0)}
    assert credited(hubs) == {"home": 2, "cheap": 2, "dear": 0}


@given(st.dictionaries(st.text(max_size=3), st.frozensets(st.integers(0, 20)), max_size=8))
def test_all_links_are_covered_once(sets: dict[str, frozenset[int]]) -> None:
    hubs = {name: Hub(frozenset(map(str, links)), 1.0 + len(name)) for name, links in sets.items()}
    assert sum(credited(hubs).values()) == len(frozenset().union(*sets.values()))


def _by_sum(window: int, arriving: float) -> float:
    total, log = 0.0, -arriving
    for count in range(2000):
        total += max(0, count - window) * math.exp(log)
        log += math.log(arriving) - math.log(count + 1)
    return total


@pytest.mark.parametrize(("window", "arriving"), [(1, 0.2), (10, 3.0), (20, 25.0), (40, 40.0)])
def test_the_loss_is_that_of_the_sum(window: int, arriving: float) -> None:
    assert expected_loss(window, arriving) == pytest.approx(_by_sum(window, arriving), abs=1e-9)


def test_a_large_loss_is_about_the_difference() -> None:
    assert expected_loss(100, 1000.0) == pytest.approx(900.0, rel=1e-6)
    assert expected_loss(10, 0.0) == 0.0


def test_a_list_that_is_read_too_seldom_overflows() -> None:
    days = [day for day in range(1, 30) if overflows(20, 2.0, day)]
    assert days == list(range(days[0], 30))
    assert 3 < days[0] < 11
    assert expected_loss(20, 2.0 * (days[0] - 1)) <= MOST_LOST * 2.0 * (days[0] - 1)
    assert not overflows(0, 2.0, 1000.0)
