import pytest

from nacre.history.hints import HintTrust
from nacre.history.sites import SiteRow
from nacre.job.studies.trust import document, trust_table
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.job.studies.given import MONDAY, Given
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


def test_a_page_for_people(known: Given):
    known.settings = known.settings.model_copy(update={"hints": False})
    found = document(trust_table(known))
    assert "`recrawl.hints` is off" in plain_text(found)
    harmless(html_page(found))
