"""Made-up names: where they are asked for, and what their answers teach."""

import re

import pytest

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.pagerow import PageKind, PageRow
from nacre.core.processor import Visit
from nacre.planner.slices import ROWS, at_once
from nacre.planner.visited import MemoryRows
from nacre.recrawl.judge import Lessons
from nacre.recrawl.probing import learn_probe, probes
from tests.archive.captures import make_capture

DAY = 86_400.0
NOW = 1_767_571_200.0


def _rows(*folders: tuple[str, int], **facts: object) -> MemoryRows:
    """So many pages in each folder."""
    rows = MemoryRows()
    for folder, count in folders:
        for number in range(count):
            row = {"visits": 1, **facts}
            rows.put(PageRow(f"http://a.test/{folder}/p{number}.html", **row))  # type: ignore[arg-type]
    return rows


def _asked(rows: MemoryRows, lessons: Lessons | None = None, most: int = 10) -> list[str]:
    return at_once(probes(rows, lessons or Lessons.none(), NOW, most))


def test_a_name_is_made_up_in_the_directories_with_the_most_pages() -> None:
    found = _asked(_rows(("few", 4), ("some", 5), ("many", 9)))
    assert [re.sub(r"[0-9a-f]{12}", "#", url) for url in found] == [
        "http://a.test/many/#.html", "http://a.test/some/#.html"
    ]  # fmt: skip
    assert len(_asked(_rows(("some", 5), ("many", 9)), most=1)) == 1
    assert _asked(_rows(("many", 9)), most=0) == []


def test_names_without_an_ending_stay_without_one() -> None:
    rows = MemoryRows()
    for number in range(5):
        rows.put(PageRow(f"http://a.test/docs/p{number}?q=a.b", visits=1))
    (url,) = _asked(rows)
    assert re.fullmatch(r"http://a\.test/docs/[0-9a-f]{12}", url)


@pytest.mark.parametrize("facts", [{"visits": 0}, {"life": "gone"}, {"kind": PageKind.EMBED}])
def test_only_pages_that_live_count(facts: dict[str, object]) -> None:
    assert _asked(_rows(("many", 9), **facts)) == []


def test_a_directory_is_asked_once_a_month() -> None:
    rows, lessons = _rows(("many", 9)), Lessons.none()
    lessons.error_model("http://a.test/many/p1.html").learn_probe(404, "", None, NOW - 30 * DAY)
    assert len(_asked(rows, lessons)) == 1
    lessons.error_model("http://a.test/many/p1.html").learn_probe(404, "", None, NOW - 29 * DAY)
    assert _asked(rows, lessons) == []


def test_the_rows_are_looked_through_in_slices() -> None:
    rows = _rows(("many", 3 * ROWS))
    assert sum(1 for _ in probes(rows, Lessons.none(), NOW, 1)) == 3


def _visit(status: int = 200, body: bytes = b"", mime: str = "text/html", **more: object) -> Visit:
    uri = CrawlURI("http://a.test/many/made-up.html", b"k", "q", **more)  # type: ignore[arg-type]
    capture = make_capture(body=body, status=status) if status > 0 else None
    return Visit(uri, status, capture, mime=mime)


def test_an_answer_shows_how_a_site_says_that_a_page_is_gone() -> None:
    lessons = Lessons.none()
    learn_probe(lessons, _visit(200, b"<p>This page could not be found.</p>"), NOW)
    model = lessons.error_model("http://a.test/many/other.html")
    assert (model.status, model.target, model.probed) == (200, "", NOW)
    assert model.prints


def test_a_redirect_shows_where_what_is_gone_leads() -> None:
    lessons, visit = Lessons.none(), _visit(302)
    visit.add_outlinks(
        [Outlink("http://a.test/x", Hop.LINK, ""), Outlink("http://a.test/", Hop.REDIRECT, "")]
    )
    learn_probe(lessons, visit, NOW)
    model = lessons.error_model(visit.uri.url)
    assert (model.status, model.target, model.prints) == (302, "http://a.test/", frozenset())
    assert model.is_sink("http://a.test/", "http://a.test/x")


def test_pages_of_other_types_have_no_pieces() -> None:
    lessons = Lessons.none()
    learn_probe(lessons, _visit(404, b"none", "text/plain"), NOW)
    assert lessons.error_model("http://a.test/many/x").prints == frozenset()


def test_no_answer_teaches_nothing() -> None:
    lessons = Lessons.none()
    learn_probe(lessons, _visit(-2), NOW)
    assert not lessons.errors
