"""The three link rules: each found from data that follow it, none from data that do not."""

import random
from datetime import UTC, datetime

import pytest

from nacre.history.linkrules import LinkHistory, LinkRule, coverage, spearman
from nacre.history.urlshape import shaped

DAY = 86_400.0
START = datetime(2024, 1, 1, tzinfo=UTC).timestamp()


def _dated(day: int, number: int) -> str:
    date = datetime.fromtimestamp(START + day * DAY, UTC)
    return f"http://a.cn/{date:%Y%m}/t{date:%Y%m%d}_{number}.html"


def _learned(urls: list[tuple[str, float]]) -> LinkHistory:
    history = LinkHistory()
    for url, seen in urls:
        history.add(shaped(url).tokens, seen)
    return history


def test_dates_are_found() -> None:
    rng = random.Random(1)
    urls = [
        (_dated(day, rng.randrange(10**6)), START + (day + rng.random()) * DAY) for day in range(60)
    ]
    choice = _learned(urls).choice()
    assert choice.rule is LinkRule.TIMESTAMP
    assert choice.slack <= 1.0 * DAY
    watermark = START + 60 * DAY
    assert choice.looks_new(shaped(_dated(61, 1)).tokens, watermark)
    assert not choice.looks_new(shaped(_dated(20, 1)).tokens, watermark)


def test_sequences_are_found_with_their_disorder() -> None:
    rng = random.Random(2)
    urls = [
        (f"http://a.cn/view?id={1000 + 3 * at + rng.randrange(6)}", START + at * DAY)
        for at in range(80)
    ]
    choice = _learned(urls).choice()
    assert choice.rule is LinkRule.SEQUENCE
    assert choice.looks_new(shaped("http://a.cn/view?id=2000").tokens, START)
    assert not choice.looks_new(shaped("http://a.cn/view?id=900").tokens, START)


def test_of_two_numbers_the_rising_one_counts() -> None:
    rng = random.Random(3)
    urls = [
        (f"http://a.cn/{rng.randrange(9)}/{5000 + at}.html", START + at * DAY) for at in range(40)
    ]
    choice = _learned(urls).choice()
    assert (choice.rule, choice.at) == (LinkRule.SEQUENCE, 1)


@pytest.mark.parametrize("few", [True, False])
def test_without_evidence_only_the_key_tells(*, few: bool) -> None:
    rng = random.Random(4)
    urls = [
        (f"http://a.cn/{rng.randrange(10**6)}.html", START + at * DAY)
        for at in range(5 if few else 60)
    ]
    choice = _learned(urls).choice()
    assert choice.rule is LinkRule.KEY
    assert choice.looks_new(shaped("http://a.cn/1.html").tokens, START) is None


def test_a_first_crawl_proves_no_order() -> None:
    """All were first seen in one run: the order of the crawl is not that of publication."""
    urls = [(f"http://a.cn/{at}.html", START) for at in range(100)]
    assert _learned(urls).choice().rule is LinkRule.KEY


def test_the_samples_are_bounded() -> None:
    history = _learned([(f"http://a.cn/{at}.html", START + at) for at in range(3000)])
    assert len(history.samples) <= 400
    assert history.count == 3000
    assert history.highest == [2999]


def test_coverage_of_a_sequence() -> None:
    found = coverage([1, 2, 3, 7, 8, 20])
    assert found is not None
    assert found.seen == 6
    assert found.share == pytest.approx(0.3)
    assert found.gaps == ((9, 19), (4, 6))
    assert coverage([]) is None


def test_rank_correlation() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 99]) == pytest.approx(1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 1, 1], [1, 2, 3]) == 0.0
