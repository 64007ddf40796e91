"""Which visits are changes for readers, and their rows."""

from pathlib import Path

import pytest

from nacre.core.changes import ChangeRow
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageKind, PageRow
from nacre.recrawl.change_log import ChangeLog, change_kind, change_rows
from nacre.store.store import Store

URL, TIME = "http://a.test/", 1_700_000_000.0


def page(life: str = "live", since: float = 0.0, kind: PageKind = PageKind.PAGE) -> PageRow:
    return PageRow(URL, kind, life=life, life_since=since)


def visit(answer: str = "there", kind: str = "none", status: int = 200) -> FetchRow:
    return FetchRow(URL, TIME + 5, 2, status, answer, kind)


@pytest.mark.parametrize(
    ("found", "row", "had_version", "kind"),
    [
        (visit(kind="new"), page(), False, "new"),
        (visit(kind="minor"), page(), True, "changed"),
        (visit(kind="major"), page(), True, "changed"),
        (visit(kind="noise"), page(), True, ""),
        (visit(kind="template"), page(), True, ""),
        (visit(kind="none", status=304), page(), True, ""),
        (visit(kind="none"), page(since=TIME), True, "back"),
        (visit(kind="none"), page(since=TIME), False, "new"),  # a dead link that works now
        (visit("missing", status=404), page("suspect", TIME), True, "gone"),
        (visit("gone", status=410), page("gone", TIME), True, "gone"),
        (visit("soft-404"), page("suspect", TIME), True, "gone"),
        (visit("missing", status=404), page("gone", TIME - 9), True, ""),  # reported before
        (visit("missing", status=404), page("suspect", TIME), False, ""),  # a dead link
        (visit("moved", status=301), page("moved", TIME), True, "moved"),
        (visit("moved", status=301), page("moved", TIME), False, ""),  # always was a redirect
        (visit("silent", status=503), page(), True, ""),
        (visit(kind="major"), page(kind=PageKind.FILE), True, "changed"),
        (visit(kind="major"), page(kind=PageKind.EMBED), True, ""),
        (visit(kind="new"), page(kind=PageKind.SITEMAP), False, ""),
        (visit(kind="major"), page(kind=PageKind.FEED), True, ""),
    ],
)
def test_the_kind_of_a_change(found: FetchRow, row: PageRow, had_version: bool, kind: str):
    assert change_kind(found, row, TIME, had_version=had_version) == kind


def test_rows_are_in_order_of_time(tmp_path: Path):
    with Store.open(str(tmp_path)) as store:
        log = ChangeLog(store)
        rows = [ChangeRow(URL, TIME + n, 2, "changed", title="标题") for n in range(3)]
        for row in reversed(rows):
            log.add(row)
        assert list(change_rows(store)) == rows
        assert list(change_rows(store, TIME + 1)) == rows[1:]
        log.drop(URL, TIME + 1)
        assert list(change_rows(store)) == [rows[0], rows[2]]
