import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.speculative import (
    EXPLORED,
    MAX_KINDS,
    MAX_TRIES,
    HitRates,
    is_explored,
    is_hopeless,
    speculative_kind,
    wilson_upper,
    worth_trying,
)


def test_a_kind_without_hits_is_given_up_after_133_tries():
    assert not is_hopeless(132, 0)
    assert is_hopeless(133, 0)


@pytest.mark.parametrize(
    ("tried", "hit", "hopeless"),
    [(0, 0, False), (19, 0, False), (1000, 20, False), (1000, 5, True), (200, 1, False)],
)
def test_hopeless(tried, hit, hopeless):
    assert is_hopeless(tried, hit) is hopeless


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_bound_lies_above_the_rate_and_falls_with_more_tries(tried, hit):
    hit = min(tried, hit)
    upper = wilson_upper(tried, hit)
    assert 0 < upper <= 1
    if tried:
        assert upper >= hit / tried - 1e-12
        assert wilson_upper(tried + 1, hit) <= upper + 1e-12


def test_one_in_fifty_is_explored_and_always_the_same():
    urls = [f"http://a.test/{i}" for i in range(10_000)]
    explored = {url for url in urls if worth_trying(500, 0, url)}
    assert len(urls) / EXPLORED * 0.7 < len(explored) < len(urls) / EXPLORED * 1.3
    assert explored == {url for url in urls if is_explored(url)}
    assert not worth_trying(500, 0)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://a.test/x/y.JS", "=JS_MISC js"),
        ("http://a.test/x.js?v=1", "=JS_MISC js ?"),
        ("http://a.test/N/A", "=JS_MISC -"),
        ("http://a.test", "=JS_MISC -"),
        ("http://a.test/user.name", "=JS_MISC *"),
    ],
)
def test_kind(url, kind):
    assert speculative_kind(url, "=JS_MISC") == kind


def test_rates_are_learned_and_kept():
    rates = HitRates()
    for i in range(200):
        rates.note(f"http://a.test/{i}.foo", "=JS_MISC", hit=False)
        rates.note(f"http://a.test/{i}.js", "=JS_MISC", hit=i % 2 == 0)
    again = HitRates.decode(rates.encode())
    assert again.counts("=JS_MISC *") == (200, 0)
    assert again.counts("=JS_MISC js") == (200, 100)
    guesses = [f"http://a.test/new{i}" for i in range(100)]
    assert [again.worth_trying(f"{g}.foo", "=JS_MISC") for g in guesses].count(True) < 10
    assert all(again.worth_trying(f"{g}.js", "=JS_MISC") for g in guesses)


def test_old_counts_are_halved():
    rates = HitRates()
    for _ in range(MAX_TRIES):
        rates.note("http://a.test/x", "=JS_MISC", hit=True)
    assert rates.counts("=JS_MISC -") == (MAX_TRIES // 2, MAX_TRIES // 2)


def test_kinds_are_bounded():
    rates = HitRates()
    for i in range(MAX_KINDS + 10):
        rates.note("http://a.test/x", f"=C{i}", hit=False)
    assert rates.counts("*") == (10, 0)
    assert rates.counts("unknown") == (10, 0)


@given(st.binary(max_size=50))
def test_damaged_rows_are_nothing(row):
    assert HitRates.decode(row).encode()
    assert HitRates.decode(b"\xc1" + row).counts("x") == (0, 0)
