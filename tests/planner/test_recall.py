import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.planner.recall import (
    RecallEstimate,
    beta_quantile,
    beta_share,
    binomial_interval,
    hidden_interval,
)


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [
        # Clopper and Pearson's values, as R's binom.test gives them.
        (0, 100, 0.0, 0.03621669),
        (3, 50, 0.01254859, 0.16548195),
        (10, 10, 0.69150289, 1.0),
        (500, 1000, 0.46854917, 0.53145083),
        (0, 0, 0.0, 1.0),
    ],
)
def test_exact_intervals(hits: int, tries: int, low: float, high: float):
    assert binomial_interval(hits, tries) == pytest.approx((low, high), abs=1e-8)


@given(st.floats(0.01, 0.99), st.floats(0.5, 500), st.floats(0.5, 500))
def test_quantiles_are_the_inverse(share: float, yes: float, no: float):
    assert beta_share(beta_quantile(share, yes, no), yes, no) == pytest.approx(share, abs=1e-6)


def test_beta_of_known_shapes():
    assert beta_share(0.3, 1.0, 1.0) == pytest.approx(0.3)
    assert beta_share(0.5, 4.0, 4.0) == pytest.approx(0.5)
    assert (beta_share(0.0, 2.0, 3.0), beta_share(1.0, 2.0, 3.0)) == (0.0, 1.0)


def test_recall_of_an_audit():
    # 2 of 100 pages drawn had changed: of the 9,900 others about 198, beside 792 found.
    recall = RecallEstimate(drawn=100, changed=2, not_drawn=9_900, changes_found=792).recall()
    assert recall.value == pytest.approx(0.8)
    assert recall.low < 0.8 < recall.high < 1.0


def test_no_lots_say_nothing():
    assert RecallEstimate(0, 0, 50.0, 10.0).recall() == pytest.approx((10 / 60, 1.0, 1.0))


@pytest.mark.parametrize(
    ("hits", "tries", "left", "interval"),
    [
        (0, 0, 10, (0, 10)),
        (0, 5, 0, (0, 0)),
        # One hit among two drawn of four: two hits in all are drawn so in 4 of 6 cases.
        (1, 2, 2, (0, 2)),
        # Nothing in nine of ten: the tenth may be one, in one case of ten.
        (0, 9, 1, (0, 1)),
        # Nothing in 99 of 100: one in a hundred is less than 2.5 %.
        (0, 99, 1, (0, 0)),
    ],
)
def test_what_is_hidden(hits: int, tries: int, left: int, interval: tuple[int, int]):
    assert hidden_interval(hits, tries, left) == interval


def test_few_of_many_are_as_if_they_were_put_back():
    low, high = hidden_interval(3, 50, 1_000_000)
    assert (low / 1e6, high / 1e6) == pytest.approx(binomial_interval(3, 50), abs=1e-4)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_hidden_hits_by_counting(hits: int, misses: int, left: int):
    tries, size = hits + misses, hits + misses + left

    def chance(among: int, drawn: range) -> float:
        ways = sum(math.comb(among, x) * math.comb(size - among, tries - x) for x in drawn)
        return ways / math.comb(size, tries)

    plausible = [
        number
        for number in range(left + 1)
        if chance(hits + number, range(hits, tries + 1)) >= 0.025
        and chance(hits + number, range(hits + 1)) >= 0.025
    ]
    assert hidden_interval(hits, tries, left) == (plausible[0], plausible[-1])


def test_nothing_left_out_is_everything():
    assert RecallEstimate(0, 0, 0.0, 10.0).recall() == (1.0, 1.0, 1.0)


def test_the_interval_holds_as_often_as_it_says():
    random = Random(5)
    held = 0
    for _ in range(300):
        changed = sum(random.random() < 0.05 for _ in range(80))
        low, high = binomial_interval(changed, 80)
        held += low <= 0.05 <= high
    assert held >= 285
