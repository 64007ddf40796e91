import pytest

from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.report.plain import plain_text
from nacre.report.statistics import Statistics, Stored
from tests.inspect.reports.given import Given
from tests.report.visits import HEAD

SIZE = len(HEAD) + 5


@pytest.fixture
def given() -> Given:
    return Given()


def test_crawl_summary(given: Given):
    given.visited("http://a.test/1", "http://a.test/2", "http://b.test/")
    given.visited("http://c.test/", status=-2)
    assert CrawlSummaryReport().text(CrawlSummaryReport().build(given)).splitlines() == [
        "crawl name: books",
        "crawl status: Finished",
        "duration: 1h2m3s4ms",
        "",
        "seeds crawled: 2",
        "seeds uncrawled: 1",
        "",
        "hosts visited: 2",
        "",
        "URIs processed: 17",
        "URI successes: 12",
        "URI failures: 4",
        "URI disregards: 1",
        "",
        "novel URIs: 3",
        "",
        f"total crawled bytes: {3 * SIZE} ({3 * SIZE} B) ",
        f"novel crawled bytes: {3 * SIZE} ({3 * SIZE} B)",
        "",
        "URIs/sec: 0",
        "KB/sec: 0",
    ]


def test_what_was_known_and_what_was_not_tried(given: Given):
    given.visited("http://a.test/1", stored=Stored.DUPLICATE)
    given.untried = 7
    lines = CrawlSummaryReport().text(CrawlSummaryReport().build(given)).splitlines()
    assert "duplicate-by-hash URIs: 1" in lines
    assert f"duplicate-by-hash crawled bytes: {SIZE} ({SIZE} B)" in lines
    assert not any(line.startswith("not-modified") for line in lines)
    assert lines[-2:] == ["", "guesses not tried: 7"]


def test_withheld_replies_are_counted_with_their_setting(given: Given):
    data = CrawlSummaryReport().build(given)
    shown = plain_text(CrawlSummaryReport().document(data, ReportRequest()))
    assert "withheld" not in f"{shown}{CrawlSummaryReport().text(data)}".lower()
    given.visited("http://a.test/1", stored=Stored.NOTHING, words=["rightsWithheld:noai"])
    data = CrawlSummaryReport().build(given)
    line = "replies withheld for a preference (rights.enforce): 1"
    assert line in CrawlSummaryReport().text(data)
    shown = plain_text(CrawlSummaryReport().document(data, ReportRequest()))
    assert "Withheld, not in the archive (rights.enforce)" in shown
    del data["withheld_replies"]  # as the report of an older run
    assert CrawlSummaryReport().document(data, ReportRequest()).sections


def test_the_document_tells_the_inside_only_where_it_is_wanted(given: Given):
    given.visited("http://a.test/1", stored=Stored.DUPLICATE)
    data = CrawlSummaryReport().build(given)
    short = plain_text(CrawlSummaryReport().document(data, ReportRequest()))
    long = plain_text(CrawlSummaryReport().document(data, ReportRequest(verbose=True)))
    assert "URIs with a result" in long
    assert "URIs with a result" not in short
    assert f"Same content as before  1 URIs, {SIZE} B" in short


def test_an_expression_that_took_too_long_is_told_without_being_asked(given: Given):
    given.store.set_counter("scope.timeouts", 3)
    data = CrawlSummaryReport().build(given)
    assert "regex time-outs: 3" in CrawlSummaryReport().text(data)
    shown = plain_text(CrawlSummaryReport().document(data, ReportRequest()))
    assert "Matches of expressions that took too long" in shown


def test_what_the_operator_deleted_is_counted_apart(given: Given):
    given.visited("http://a.test/1", status=-6000)
    Statistics(given.store).readmit(1)
    given.visited("http://a.test/2", "http://a.test/3", status=-6000)
    data = CrawlSummaryReport().build(given)
    assert (data["uris_deleted"], data["uris_readmitted"]) == (2, 1)
    assert "URI disregards deleted by the operator: 2" in CrawlSummaryReport().text(data)
    shown = plain_text(CrawlSummaryReport().document(data, ReportRequest()))
    assert "Deleted by the operator" in shown
    assert "Time, without preparation and pauses  1 h 2 min" in " ".join(shown.split("\n"))
