"""The report on pages in a browser: signs, ends and refusals, with their meaning."""

import pytest

from nacre.core.processor import PageUnit, RefusedRequest
from nacre.core.rendered import RenderedPage
from nacre.engine.pages.sign_rows import SignRows
from nacre.inspect.registry import report_named
from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.reports.browser_report import (
    BrowserReport,
    browser_figures,
    end_text,
    refusal_text,
)
from nacre.report.browser_tally import BrowserCounts, BrowserTally
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from nacre.store.store import Store
from tests.report.pages import harmless
from tests.report.visits import make_visit
from tests.store.memory import MemoryEngine

HOSTILE = "http://a.test/<script>alert(1)</script>"


@pytest.fixture
def store() -> Store:
    store = Store(MemoryEngine())
    counts = BrowserCounts(store)
    refused = [RefusedRequest("http://a.test/api/1", "fetch", "robots", "Disallow: /api/")]
    for url, sign in (("http://a.test/", "always"), (HOSTILE, "mount")):
        visit = make_visit(url)
        rendered = RenderedPage("settled", cpu=1.5, seconds=3.0, browser="Chromium/156")
        visit.page = PageUnit("id", sign, rendered, [make_visit()], refused=refused, sizes=2000)
        counts.count(visit)
    counts.seal()
    rows = SignRows(store)
    mount = rows.count("mount")
    mount.see(HOSTILE)
    mount.run += 1
    mount.learn(has_gained=True)
    rows.seal()
    store.seal()
    return store


def test_signs_with_and_without_a_judgement(store: Store):
    figures = browser_figures(store, "auto")
    signs = {row.sign: row for row in figures.signs}
    assert (signs["mount"].seen, signs["mount"].run, signs["mount"].gained) == (1, 1, 1)
    assert (signs["always"].run, signs["always"].gained) == (1, None)
    assert signs["always"].examples == ["http://a.test/"]


def test_the_text(store: Store):
    document = BrowserReport().document(browser_figures(store, "auto"), ReportRequest())
    text = " ".join(plain_text(document).split())
    for part in (
        "Pages run 2", "3.0 s, 1.50 s a page", "an empty element that a framework fills",
        "robots.txt forbids it", "robots.txt refused 2 of 4 requests of 2 pages", "Chromium/156",
    ):  # fmt: skip
        assert part in text, part
    harmless(html_page(document))


@pytest.mark.parametrize(
    ("use", "tally", "text"),
    [
        ("never", BrowserTally(), "`browser.use` is never"),
        ("recording", BrowserTally(), "of a browser that Nacre did not run"),
        ("auto", BrowserTally(unrun=1, unrun_pages=["http://a.test/x"]), "1 page looks as if"),
        ("auto", BrowserTally(unrun=3, unrun_pages=["http://a.test/x"]), "3 pages look as if"),
    ],
)
def test_why_no_page_was_run(use: str, tally: BrowserTally, text: str):
    figures = browser_figures(Store(MemoryEngine()), use)
    figures.tally = tally
    document = BrowserReport().document(figures, ReportRequest())
    assert text in " ".join(plain_text(document).split())
    assert document.sections[0].tables == (), "no table is empty"


def test_each_end_and_rule_has_words():
    ends = (
        "settled loadTime pageTime requestLimit byteLimit crash hang memory browserGone notLoaded"
    )
    rules = "scope robots guard block budget limit wait method body"
    assert all(end_text(end) != end for end in ends.split())
    assert all(refusal_text(rule) != rule for rule in rules.split())
    assert end_text("new") == refusal_text("new") == "new"


def test_it_is_a_report():
    assert isinstance(report_named("browser"), BrowserReport)
