import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.cost import CostPolicy, cost_of


@pytest.mark.parametrize(
    ("policy", "url", "via", "cost"),
    [
        ("unit", "http://a/?x", "http://a/", 1),
        ("zero", "http://a/?x", "", 0),
        ("wag", "http://a/b", "http://a/b", 1),
        ("wag", "http://a/b?x=1", "", 2),
        ("wag", "http://a/b?x=1", "http://a/c", 2),
        ("wag", "http://a/b?x=1", "http://a/b?x=2", 3),
        ("wag", "http://a/b?x=1", "http://a/b/c", 3),
        ("wag", "http://a/b?", "http://a/b", 3),
        ("anti-calendar", "http://a/page", "", 1),
        ("anti-calendar", "http://a/Calendar/2020/05/", "", 2),
        ("anti-calendar", "http://a/archive/2020/05", "", 2),
        ("anti-calendar", "http://a/archive/1999.html", "", 2),
        ("anti-calendar", "http://a/archive/2020", "", 1),
        ("anti-calendar", "http://a/12020.html", "", 1),
        ("anti-calendar", "http://a/?yr=7", "", 2),
        ("anti-calendar", "http://a/bonjour", "", 2),
        ("anti-calendar", "http://a/calendrier", "", 2),
        ("anti-calendar", "http://a/UPDATES", "", 2),
    ],
)
def test_costs(policy: CostPolicy, url: str, via: str, cost: int) -> None:
    assert cost_of(policy, url, via) == cost


@given(st.text(max_size=40), st.text(max_size=40))
def test_costs_are_small(url: str, via: str) -> None:
    assert cost_of("wag", url, via) in {1, 2, 3}
    assert cost_of("anti-calendar", url, via) in {1, 2}
