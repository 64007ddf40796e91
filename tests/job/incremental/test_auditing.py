"""Audits of 304 replies: one lie is enough for a host, and what was clean is believed."""

from nacre.history.recrawl.choice import Choice
from nacre.job.incremental.auditing import AUDIT, BANNED, PAIR, Audits

DAY = 86_400.0
PAGES = [f"http://a.test/news/{number}.html" for number in range(1000)]


def share(audits: Audits, urls: list[str], wanted: float = 0.02) -> float:
    return sum(audits.plain(url, 1.0, wanted) == AUDIT for url in urls) / len(urls)


def test_audits_are_many_at_first_and_then_few() -> None:
    audits = Audits({})
    assert 0.2 < share(audits, PAGES) < 0.3
    for url in PAGES[:10]:
        audits.observe(url, 0.0, lied=False)
    assert 0.01 < share(audits, PAGES) < 0.04
    assert share(audits, PAGES, 0.0) == 0.0


def test_no_audits_where_none_are_wanted() -> None:
    assert share(Audits({}), PAGES, 0.0) == 0.0


def test_a_lie_speaks_for_the_host_but_for_what_was_found_clean() -> None:
    audits = Audits({})
    for number in range(10):
        audits.observe(f"http://a.test/clean/{number}.html", 0.0, lied=False)
    audits.observe(PAGES[0], 0.0, lied=True)
    assert audits.plain(PAGES[1], DAY, 0.0) == BANNED
    assert audits.plain("http://a.test/other/1.html", DAY, 0.0) == BANNED
    assert audits.plain("http://a.test/clean/99.html", DAY, 0.0) == ""
    assert audits.plain("http://b.test/news/1.html", DAY, 0.0) == ""
    assert audits.plain(PAGES[1], 91 * DAY, 0.0) == ""


def test_pairs_ask_without_validators_and_first_visits_have_none() -> None:
    audits = Audits({})
    choice = Choice(PAGES[0], 0.0, "pair")
    assert audits.unconditional(choice, 0.0, 0.0) == PAIR
    assert audits.unconditional(choice._replace(reason="new"), 0.0, 1.0) == ""
    assert audits.unconditional(choice._replace(reason="rate"), 0.0, 1.0) == AUDIT
