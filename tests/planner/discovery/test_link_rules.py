"""The three link rules: each found from data that follow it, none from data that do not.

The link rules at work: new links are foreseen, late ones marked, and none is left out.
"""

import random
from datetime import UTC, datetime
from hashlib import blake2b

import pytest

from nacre.core.urlshape import shaped
from nacre.planner.discovery.link_rules import (
    LinkHistory,
    LinkRule,
    LinkWatch,
    RuleRow,
    coverage,
    spearman,
)

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


def _hash(at: int) -> str:
    return blake2b(str(at).encode()).hexdigest()


REAL_LIFE = {
    # Chinese government and press: dates in names and in folders; of a month alone the number tells
    # more.
    "t{d:%Y%m%d}_{n}.html": "T",
    "{d:%Y-%m}/{d:%d}/content_{n}.htm": "T",
    "n1/{d:%Y}/{d:%m%d}/c1001-{n}.html": "T",
    "art/{d:%Y}/{d.month}/{d.day}/art_{n}.html": "T",
    "politics/{d:%Y%m%d}/{h:.32}/c.html": "T",
    "rain/a/{d:%Y%m%d}A0{k}B7K00": "T",
    "c/{d:%Y-%m-%d}/doc-{h:.12}.shtml": "T",
    "yaowen/{d:%Y%m}/content_{n}.htm": "S",
    "info/1046/{n:08d}.htm": "S",
    # News and weblogs elsewhere.
    "{d:%Y}/{d:%m}/{d:%d}/how-to-build-a-boat": "T",
    "{d:%Y-%m-%d}-how-to-build-a-boat.html": "T",
    "world/{d:%Y}/{month}/{d:%d}/a-boat": "T",
    "?p={t}": "T",
    "how-to-build-a-boat-{n}": "S",
    "{n}-how-to-build-a-boat": "S",
    # Databases, forums, shops.
    "view.php?id={n}": "S",
    "viewtopic.php?f={k}&t={n}": "S",
    "thread-{n}-1-1.html": "S",
    "story?id=12{n:08d}": "S",
    "item/{h:.12}.html": "K",
    "item/{h:.40}": "K",
    "watch?v={h:.11}": "K",
    "wiki/Boat_{k}": "K",
    "how-to-build-the-{k}-boat": "K",
    # A folder for each version, whose pages all appear with it.
    "3.{k}/library/os.html": "K",
}


@pytest.mark.parametrize(("shape", "rule"), REAL_LIFE.items())
def test_names_as_they_are_found(shape: str, rule: str) -> None:
    """Three births a day for twenty days; `k` follows nothing, `n` rises with gaps and swaps."""
    rng = random.Random(5)
    history = LinkHistory()
    for at in range(60):
        seen = START + at * DAY / 3
        day = datetime.fromtimestamp(seen - rng.random() * DAY / 4, UTC)
        number = 4_000_000 + 7 * at + rng.randrange(20)
        name = shape.format(
            d=day, n=number, h=_hash(at), k=rng.randrange(10, 99), t=int(seen - rng.random() * 900),
            month=day.strftime("%b").lower(),
        )  # fmt: skip
        history.add(shaped(f"http://a.cn/{name}").tokens, seen)
    assert history.choice().rule == rule


def test_ten_digits_that_follow_another_pace_than_time_are_a_number() -> None:
    urls = [(f"http://a.cn/{1_100_000_000 + 1000 * at}.html", START + at * DAY) for at in range(60)]
    assert _learned(urls).choice().rule is LinkRule.SEQUENCE


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


START_LINKWATCH = 1_767_571_200.0
LINKS = "a.test */view?id={int}"


def _url(number: int) -> str:
    return f"http://a.test/view?id={number}"


def _watched(days: int = 30) -> tuple[LinkWatch, dict[str, RuleRow]]:
    rows: dict[str, RuleRow] = {}
    watch = LinkWatch(rows)
    for day in range(days):
        watch.begin_step()
        for number in (2 * day, 2 * day + 1):
            watch.meet(
                _url(1000 + number), START_LINKWATCH + day * DAY, START_LINKWATCH + (day - 1) * DAY
            )
    watch.begin_step()
    return watch, rows


def test_a_number_beyond_all_known_ones_is_surely_new() -> None:
    watch, rows = _watched()
    assert watch.meet(_url(1060), START_LINKWATCH + 30 * DAY, START_LINKWATCH + 29 * DAY) is True
    (row,) = rows.values()
    assert row.history.choice().rule is LinkRule.SEQUENCE
    assert row.share == 1.0


def test_an_unknown_link_below_the_mark_comes_late() -> None:
    watch, rows = _watched()
    assert watch.meet(_url(900), START_LINKWATCH + 30 * DAY, START_LINKWATCH + 29 * DAY) is False
    (row,) = rows.values()
    assert row.late == 1


def test_before_a_list_was_visited_twice_nothing_is_judged() -> None:
    watch, rows = _watched()
    before = [(row.foreseen, row.late) for row in rows.values()]
    assert watch.meet(_url(5), START_LINKWATCH + 30 * DAY, 0.0) is None
    assert [(row.foreseen, row.late) for row in rows.values()] == before


def test_sections_share_a_rule() -> None:
    rows: dict[str, RuleRow] = {}
    watch = LinkWatch(rows)
    for section in ("news", "law"):
        watch.meet(f"http://a.test/{section}/t20260105_5.html", START_LINKWATCH, 0.0)
    assert len(rows) == 1
