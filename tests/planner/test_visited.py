"""What a digest alone says of a visit, and rows in memory."""

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.discovery.traps import print_of
from nacre.planner.visited import (
    DigestJudge,
    MemoryRows,
    VisitFinding,
    answer_of,
    unknown_page,
)
from tests.history.visits import Visit

URL = "http://a.test/news/1.html"


def _visit(status: int = 200, digest: str = "sha1:B") -> Visit:
    return Visit(URL, 1.0, status, digest, "text/html", 10, (), bytes)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        *((200, Answer.THERE), (206, Answer.THERE), (299, Answer.THERE), (304, Answer.THERE)),
        *((301, Answer.MOVED), (302, Answer.MOVED), (308, Answer.MOVED)),
        *((404, Answer.MISSING), (410, Answer.GONE)),
        *((300, Answer.SILENT), (403, Answer.SILENT), (500, Answer.SILENT)),
        *((199, Answer.SILENT), (0, Answer.SILENT), (-2, Answer.SILENT)),
    ],
)
def test_a_status_tells_whether_a_page_exists(status: int, answer: Answer) -> None:
    assert answer_of(status) is answer


@pytest.mark.parametrize(
    ("before", "visit", "finding"),
    [
        ("sha1:A", _visit(), VisitFinding(Answer.THERE, ChangeClass.MAJOR, reason="payload")),
        ("sha1:B", _visit(), VisitFinding(Answer.THERE, ChangeClass.NONE, reason="payload")),
        ("", _visit(), VisitFinding(Answer.THERE)),
        ("sha1:A", _visit(304, ""), VisitFinding(Answer.THERE)),
        ("sha1:A", _visit(404), VisitFinding(Answer.MISSING)),
        ("sha1:A", _visit(-2, ""), VisitFinding(Answer.SILENT)),
    ],
)
def test_another_payload_is_a_change(before: str, visit: Visit, finding: VisitFinding) -> None:
    assert DigestJudge().judge(PageRow(URL, digest=before), visit) == finding


def test_a_digest_learns_nothing_from_second_fetches() -> None:
    judge, row = DigestJudge(), PageRow(URL, digest="sha1:A")
    assert judge.pairs_wanted(URL) == 0
    assert judge.pair(row, _visit()) == frozenset()


def test_pages_of_the_same_payload_say_the_same() -> None:
    judge = DigestJudge()
    assert judge.says(_visit()) == print_of("sha1:B") == judge.says(_visit(404))
    assert judge.says(_visit()) != judge.says(_visit(digest="sha1:A"))


def test_rows_may_be_put_while_they_are_scanned() -> None:
    rows = MemoryRows()
    rows.put(PageRow(URL))
    for row in rows.scan():
        rows.put(PageRow(row.url + "?more"))
    assert [row.url for row in rows.scan()] == [URL, URL + "?more"]
    assert rows.get("http://a.test/other") is None


def test_the_row_of_a_page_that_was_never_heard_of() -> None:
    row = unknown_page(URL, 5.0, 3, PageKind.SITEMAP, lastmod="2026-01-01", born=4.0)
    assert (row.url, row.kind, row.first_seen, row.depth) == (URL, PageKind.SITEMAP, 5.0, 3)
    assert (row.template, row.lastmod, row.born) == (
        "http://a.test/news/{int}.html",
        "2026-01-01",
        4.0,
    )
    assert (row.visits, row.evidence, row.last_visit) == (0, b"", 0.0)
