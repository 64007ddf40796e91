import pytest

from nacre.core.pagerow import PageKind
from nacre.inspect.analysis.decisions import page_decision
from nacre.inspect.analysis.trust import document, trust_table
from nacre.planner.discovery.hints import HintTrust, MapRow, ReplyAudit, map_key
from nacre.planner.sites import SiteRow
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, SITE, Given
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    given = Given()
    honest = HintTrust(told=19.0, untold=1.0, false=1.0, quiet=100.0)
    given.sites = {
        "b.test": SiteRow(trust={"sitemap": HintTrust()}, doubted=MONDAY),
        "a.test": SiteRow(trust={"sitemap": honest, "feed": HintTrust(told=1.0)}),
    }
    return given


def test_each_source_of_each_site(known: Given):
    found = trust_table(known).sources
    assert [(one.site, one.source) for one in found] == [
        ("a.test", "feed"), ("a.test", "sitemap"), ("b.test", "sitemap"),
    ]  # fmt: skip


def test_indexes_of_sitemaps(known: Given):
    index, spared = "http://a.test/i.xml", "http://a.test/m1.xml"
    proved = ReplyAudit(clean=12, lies=1)
    rows = [
        MapRow(index, read=MONDAY, looked=MONDAY, children=2, audit=proved, spared=7),
        MapRow(spared, index, "2026-01-01", stood=MONDAY, looked=MONDAY - DAY),
        MapRow("http://a.test/m2.xml", index, "2026-01-02", read=MONDAY, looked=MONDAY),
    ]
    known.maps = {map_key(row.url): row for row in rows}
    (one,) = trust_table(known).indexes
    assert (one.url, one.sitemaps, one.rested, one.spared) == (index, 2, 1, 7)
    assert (one.clean, one.lies, one.believed) == (12, 1, True)
    assert "readings spared" in plain_text(document(trust_table(known)))
    known.page("/m1.xml", kind=PageKind.SITEMAP)
    known.page("/m2.xml", kind=PageKind.SITEMAP)
    said = [page_decision(known, f"{SITE}/m{number}.xml").reason for number in (1, 2)]
    assert [f"{index} dates it 2026-01-01" in text for text in said] == [True, False]


def test_recall_with_its_interval(known: Given):
    one = trust_table(known).sources[1]
    assert one.recall == pytest.approx(19.7 / 21)
    assert one.recall_low == pytest.approx(0.8208, abs=1e-3)
    assert one.recall_high == pytest.approx(0.9915, abs=1e-3)
    assert one.precision == pytest.approx(20 / 22)
    assert one.false_days == pytest.approx(130 / 1.6)


def test_a_source_that_told_nothing_yet_is_wide_open(known: Given):
    one = trust_table(known).sources[2]
    assert one.recall_low < 0.01
    assert one.recall_high > 0.99
    assert one.doubted == MONDAY


def test_audits_of_304_replies(known: Given):
    known.audits = {
        "a.test http://a.test/{int}.html": ReplyAudit(clean=30),
        "b.test http://b.test/": ReplyAudit(lies=2, banned_until=known.now + DAY),
        "c.test http://c.test/": ReplyAudit(clean=1, lies=1, banned_until=known.now - DAY),
    }
    first, second, third = trust_table(known).validators
    assert (first.host, first.template) == ("a.test", "http://a.test/{int}.html")
    assert first.lie_bound == pytest.approx(0.1)
    assert first.banned_until == 0.0
    assert (second.lies, second.lie_bound) == (2, 1.0)
    assert second.banned_until == known.now + DAY
    assert third.banned_until == 0.0


def test_a_page_for_people(known: Given):
    known.settings = known.settings.model_copy(update={"hints": False})
    found = document(trust_table(known))
    assert "`recrawl.hints` is off" in plain_text(found)
    harmless(html_page(found))
