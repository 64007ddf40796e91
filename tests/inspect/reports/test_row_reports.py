import json

import pytest

from nacre.inspect.reports.base import ReportRequest, RowReport
from nacre.inspect.reports.row_reports import (
    HostsReport,
    MediaTypesReport,
    SeedsReport,
    SourcesReport,
    StatusCodesReport,
)
from nacre.inspect.reports.source import SeedFacts
from nacre.report.plain import plain_text
from tests.inspect.reports.given import Given
from tests.report.visits import HEAD

SIZE = len(HEAD) + 5


@pytest.fixture
def given() -> Given:
    return Given()


def lines(given: Given, table: RowReport) -> list[str]:
    return table.text(table.build(given)).splitlines()


def test_hosts_are_in_order_of_their_urls(given: Given):
    given.visited("http://few.test/", "http://many.test/1", "http://many.test/2")
    given.visited("http://many.test/private", status=-9998)
    given.given_remaining = [("waits.test", 4), ("many.test", 1), ("many.test", 2)]
    assert lines(given, HostsReport()) == [
        "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] [#novel-bytes] "
        "[#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] [#not-modified-bytes]",
        f"2 {2 * SIZE} many.test 1 3 2 {2 * SIZE} 0 0 0 0 ",
        f"1 {SIZE} few.test 0 0 1 {SIZE} 0 0 0 0 ",
        "0 0 waits.test 0 4 0 0 0 0 0 0 ",
    ]


def test_lookups_are_one_pseudo_host(given: Given):
    given.visited("dns:a.test", "dns:b.test", status=1)
    assert [(row["host"], row["urls"]) for row in HostsReport().build(given)["rows"]] == [
        ("dns:", 2)
    ]


def test_seeds_that_need_a_look_come_first(given: Given):
    given.given_seeds = [
        SeedFacts("http://ok.test/", 200, ""),
        SeedFacts("http://moved.test/", 301, "http://new.test/"),
        SeedFacts("http://denied.test/", -9998, ""),
        SeedFacts("http://dead.test/", -2, ""),
        SeedFacts("http://b.test/", 0, ""),
        SeedFacts("http://a.test/", 0, ""),
    ]
    assert lines(given, SeedsReport()) == [
        "[code] [status] [seed] [redirect]",
        "0 NOTCRAWLED http://a.test/",
        "0 NOTCRAWLED http://b.test/",
        "-2 NOTCRAWLED http://dead.test/",
        "-9998 NOTCRAWLED http://denied.test/",
        "301 CRAWLED http://moved.test/ http://new.test/",
        "200 CRAWLED http://ok.test/",
    ]


def test_sources_tag_by_tag(given: Given):
    given.visited("http://a.test/", source="z")
    given.visited("http://a.test/", "http://b.test/1", "http://b.test/2", source="my seed")
    assert lines(given, SourcesReport()) == [
        "[source] [host] [#urls]",
        "my%20seed b.test 2",
        "my%20seed a.test 1",
        "z a.test 1",
    ]


def test_sources_with_their_statuses(given: Given):
    given.visited("http://a.test/1", "http://a.test/2", source="种子 1", codes=True)
    given.visited("http://a.test/3", source="种子 1", status=404, codes=True)
    given.visited("http://b.test/", source="种子 1", status=-2, codes=True)
    given.visited("http://a.test/4", codes=True)
    report = SourcesReport()
    assert lines(given, report) == [
        "[source] [host] [rescode] [#urls]",
        "种子%201 a.test 200 2",
        "种子%201 a.test 404 1",
        "种子%201 b.test -2 1",
    ]
    text = "".join(part for part, _ in report.parts(given))
    assert text.splitlines() == lines(given, report)
    (table,) = report.document(report.build(given), ReportRequest()).sections[0].tables
    assert [column.name for column in table.columns][2] == "status"


def test_media_types_cannot_break_a_line(given: Given):
    given.visited("http://a.test/", mime="text/html")
    given.visited("http://a.test/", "http://b.test/", mime="x y\r\n1 2 z")
    assert lines(given, MediaTypesReport()) == [
        "[#urls] [#bytes] [mime-types]",
        f"2 {2 * SIZE} x%20y%0D%0A1%202%20z",
        f"1 {SIZE} text/html",
    ]


def test_statuses(given: Given):
    given.visited("http://a.test/", status=-2)
    given.visited("http://a.test/", "http://b.test/", status=404)
    assert lines(given, StatusCodesReport()) == ["[#urls] [rescode]", "2 404", "1 -2"]
    assert StatusCodesReport().build(given)["rows"] == [
        {"urls": 2, "rescode": 404},
        {"urls": 1, "rescode": -2},
    ]


@pytest.mark.parametrize(
    "table",
    [HostsReport(), MediaTypesReport(), StatusCodesReport(), SeedsReport(), SourcesReport()],
)
def test_the_pieces_make_up_the_whole(given: Given, table):
    given.visited(*(f"http://h{number}.test/" for number in range(5)), source="s", mime="a/b")
    given.given_seeds = [SeedFacts("http://h1.test/", 200, ""), SeedFacts("http://x/", 0, "")]
    text, pieces = zip(*table.parts(given), strict=True)
    assert "".join(text) == table.text(table.build(given))
    assert json.loads("".join(pieces)) == table.build(given)


def test_an_empty_table_is_json_too(given: Given):
    pieces = [piece for _, piece in HostsReport().parts(given)]
    assert json.loads("".join(pieces)) == {"report": "hosts", "rows": [], "left_out": 0}


def test_what_is_left_out_is_told(given: Given):
    given.visited(*(f"http://h{number}.test/" for number in range(5)))
    data = HostsReport().build(given, most=2)
    assert len(data["rows"]) == 2
    assert HostsReport().text(data).splitlines()[-1].startswith("... and 3 more; hosts-report.txt")


def shown(report: RowReport, data: dict[str, object]) -> str:
    return plain_text(report.document(data, ReportRequest()))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"code": 0}, "not tried yet"),
        (
            {"code": -2, "cause": "connection refused, tried twice"},
            "connection refused, tried twice",
        ),
        ({"code": 404}, "HTTP status 404"),
    ],
)
def test_a_seed_says_what_came_of_it(row: dict[str, object], told: str):
    whole = {"seed": "http://a.test/", "status": "x", "redirect": None} | row
    assert told in shown(SeedsReport(), {"report": "seeds", "rows": [whole], "left_out": 0})


def test_rows_that_are_left_out_are_told():
    row = {"urls": 3, "bytes": 1500, "mime": "text/html"}
    told = shown(MediaTypesReport(), {"report": "mimetype", "rows": [row], "left_out": 1234})
    assert "1,234 more rows" in told
    assert "1.5 KB" in told
