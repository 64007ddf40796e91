"""The report on walls: hosts with verdicts and examples, and one that a site's owner can read."""

import pytest

from nacre.engine.wall_book import WallBook, WallExample
from nacre.inspect.registry import report_named
from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.reports.walls_report import WallFigures, WallsReport, wall_figures
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from nacre.store.store import Store
from tests.report.pages import harmless
from tests.store.memory import MemoryEngine

HOSTILE = "http://a.test/<script>alert(1)</script>"


@pytest.fixture
def store() -> Store:
    store = Store(MemoryEngine())
    book = WallBook(store)
    for number in range(5):
        example = WallExample(HOSTILE if not number else f"http://a.test/{number}", 429, 1e9)
        book.of_queue("test,a,").meet("rateLimited", "a.test", example)
    book.of_queue("test,b,").meet("geoBlocked", "b.test", WallExample("http://b.test/", 451, 2e9))
    for queue in ("test,a,", "test,b,"):
        book.change(book.of_queue(queue))
    book.seal()
    store.seal()
    return store


def test_hosts_with_most_walls_are_first(store: Store) -> None:
    first, second = wall_figures(store)
    assert (first.host, first.verdicts, first.held) == ("a.test", {"rateLimited": 5}, False)
    assert [url for url, _, _ in first.examples["rateLimited"]] == [
        HOSTILE, "http://a.test/1", "http://a.test/2",
    ]  # fmt: skip
    assert second.first == "2033-05-18T03:33:20.000Z"


def test_the_report_of_a_host_is_for_its_owner(store: Store) -> None:
    (figures,) = wall_figures(store, "b.test")
    report, request = report_named("walls"), ReportRequest(url="http://b.test/")
    assert isinstance(report, WallsReport)
    report.check(request)
    data = WallFigures("nacre/1 +me@example.net", "me@example.net", "b.test", [figures])
    text = plain_text(report.document(data, request))
    for words in (
        "For the owner of b.test",
        "me@example.net",
        "geoBlocked",
        "http://b.test/",
        "451",
    ):
        assert words in text
    assert "a.test" not in text.replace("b.test", "")


def test_all_hosts_in_html(store: Store) -> None:
    report, request = WallsReport(), ReportRequest()
    data = WallFigures("nacre", "", "", wall_figures(store))
    page = html_page(report.document(data, request))
    harmless(page)
    assert "too many requests" in page
