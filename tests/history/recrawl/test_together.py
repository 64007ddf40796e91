"""A release changes half of a folder at once: three sentinels are asked, then all or nobody."""

from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import Source
from nacre.history.recrawl.choice import SENTINEL
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.recrawl.together import Together
from nacre.history.slices import at_once
from nacre.history.visited import DigestJudge, MemoryRows

DAY = 86_400.0
NOW = 100 * DAY
TEMPLATE = "http://a.test/docs/page{int}.html"


def _url(number: int) -> str:
    return f"http://a.test/docs/page{number}.html"


def _released(changed: int) -> tuple[MemoryRows, Sites, Step, Together]:
    """Thirty pages; nine steps without a change, and one in which so many of twenty changed."""
    rows, sites, step = MemoryRows(), Sites(), Step()
    for number in range(30):
        rows.put(PageRow(_url(number), template=TEMPLATE, visits=5, last_visit=90 * DAY))
    for time in range(10):
        for number in range(20):
            row = rows.get(_url(number))
            assert row is not None
            sites.note_together(row, time * DAY, changed=time == 9 and number < changed)
    step.begin(NOW)
    together = Together(Knowledge(rows, sites, DigestJudge(), RecrawlSettings()), step)
    together.begin()
    for row in rows.scan():
        together.take(row)
    return rows, sites, step, together


def _visit(rows: MemoryRows, sites: Sites, urls: list[str], *, changed: bool) -> None:
    for url in urls:
        row = rows.get(url)
        assert row is not None
        sites.note_together(row, NOW, changed=changed)


def test_sentinels_that_changed_speak_for_all() -> None:
    rows, sites, step, together = _released(15)
    chosen = at_once(together.sentinels(100))
    assert [one.reason for one in chosen] == [SENTINEL] * 3
    assert chosen[0].propensity == 0.1
    step.take(chosen)
    _visit(rows, sites, [one.url for one in chosen], changed=True)
    at_once(together.tell())
    assert len(step.told) == 27
    told = rows.get(next(iter(step.told)))
    assert told is not None
    assert told.told == (str(Source.CO_CHANGE),)


def test_sentinels_that_stayed_say_that_the_others_did() -> None:
    rows, sites, step, together = _released(15)
    chosen = at_once(together.sentinels(100))
    step.take(chosen)
    other = next(row for row in rows.scan() if row.url not in step.done)
    assert sites.signals(other) == []
    _visit(rows, sites, [one.url for one in chosen], changed=False)
    at_once(together.tell())
    assert not step.told
    assert [source for source, _ in sites.signals(other)] == [Source.CO_CHANGE]


def test_pages_that_change_by_chance_have_no_sentinels() -> None:
    *_, together = _released(3)
    assert at_once(together.sentinels(100)) == []


def test_how_right_sentinels_were_is_learned() -> None:
    rows, sites, step, together = _released(15)
    chosen = at_once(together.sentinels(100))
    step.take(chosen)
    _visit(rows, sites, [one.url for one in chosen], changed=True)
    at_once(together.tell())
    for number, url in enumerate(list(step.told)[:8]):
        row = rows.get(url)
        assert row is not None
        sites.learn_hints(row, NOW, changed=number < 6, propensity=1.0)
    trust = sites._sites["a.test"].trust[Source.CO_CHANGE]
    assert (trust.told, trust.false) == (6.0, 2.0)


def test_what_pages_say_of_their_own_changes_is_judged() -> None:
    sites = Sites()
    row = PageRow(_url(1), template=TEMPLATE, visits=2, last_visit=90 * DAY, dated=1000)
    for dated, changed in ((2000, True), (2000, True), (0, False), (1000, True), (3000, False)):
        sites.learn_date(row, NOW, dated, changed=changed)
    trust = sites._sites["a.test"].trust[Source.PAGE_DATE]
    assert (trust.told, trust.untold, trust.false, trust.quiet) == (2.0, 1.0, 1.0, 20.0)
