import pytest

from nacre.history.hints import Audit, HintTrust
from nacre.history.sites import SiteRow
from nacre.job.studies.trust import document, trust_table
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.job.studies.given import DAY, MONDAY, Given
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
        "a.test http://a.test/{int}.html": Audit(clean=30),
        "b.test http://b.test/": Audit(lies=2, banned_until=known.now + DAY),
        "c.test http://c.test/": Audit(clean=1, lies=1, banned_until=known.now - DAY),
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
