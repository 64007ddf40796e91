import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.histories.figures import Interval, Share, bootstrap, brier, share_of, skill_of, wilson


def test_shares_are_printed_with_their_parts():
    assert str(share_of([1, 2, 3, 4], lambda n: n > 1)) == "3/4 = 0.750"
    assert str(Share(0, 0)) == "0/0"


@pytest.mark.parametrize(
    ("hits", "size", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)],
)  # the first three: R's prop.test without correction
def test_intervals_of_shares(hits: int, size: int, low: float, high: float):
    assert wilson(Share(hits, size)) == pytest.approx(Interval(low, high), abs=2e-4)


@given(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_contains_its_share(pair: tuple[int, int]):
    share = Share(*pair)
    low, high = wilson(share)
    assert 0 <= low <= high <= 1
    assert share.value is None or low - 1e-9 <= share.value <= high + 1e-9


def test_forecasts_are_compared_with_the_base_rate():
    score = brier([(0.8, True), (0.2, False), (0.2, False), (0.2, False)])
    assert (score.real, score.size) == (1, 4)
    assert score.forecast == pytest.approx(1.4)
    assert score.score == pytest.approx(0.04)
    assert score.base == pytest.approx(0.1875)
    assert score.skill == pytest.approx(1 - 0.04 / 0.1875)
    assert skill_of([(0.5, False), (0.1, False)]) is None
    assert brier([]).size == 0


def test_pages_are_drawn_with_all_their_visits():
    groups = [[(0.9, True)] * 5, [(0.1, False)] * 5, [(0.4, True)] * 5, [(0.2, False)] * 5]
    interval = bootstrap(groups, skill_of)
    assert interval is not None
    value = skill_of([row for group in groups for row in group])
    assert value is not None
    assert interval.low < value < interval.high
    assert bootstrap(groups, skill_of) == interval
    assert bootstrap(groups[:1], skill_of) is None
    assert bootstrap([[(0.1, False)]] * 3, skill_of) is None
