"""What all reports have in common."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from nacre.errors import JobError
from nacre.inspect.reports.base import (
    Report,
    ReportColumn,
    ReportRequest,
    ReportSubject,
    RowReport,
    SummaryReport,
    data_table,
)
from nacre.report.document import Format, ReportDocument

NO_SOURCE: Any = None
MONDAY = 1_795_392_000.0


class Words(RowReport):
    """Words and their lengths."""

    name = "words"
    summary = "words"
    file = "words-report.txt"
    header = "[word] [length]"
    empty = "[no words]"
    title = "Words"
    columns: tuple[ReportColumn, ...] = (
        ReportColumn("word", "word"),
        ReportColumn("length", "letters", Format.COUNT),
        ReportColumn("code", "code", verbose=True),
    )

    def __init__(self, *words: str) -> None:
        self.words = words

    def rows(self, source: Any) -> Iterator[dict[str, Any]]:
        return ({"word": word, "length": len(word), "code": hex(len(word))} for word in self.words)

    def line(self, row: dict[str, Any]) -> str:
        return f"{row['word']} {row['length']}"


class Total(SummaryReport):
    """How many there are."""

    name = "total"
    summary = "a number"
    file = "total-report.txt"

    def build(self, source: Any) -> dict[str, Any]:
        return {"total": 3}

    def lines(self, data: dict[str, Any]) -> Iterator[str]:
        return (f"{name}: {value}" for name, value in data.items())

    def document(self, data: dict[str, Any], request: ReportRequest) -> ReportDocument:
        return ReportDocument("Total", ())


class Plain(Report):
    """A report of a given subject."""

    name = "plain"
    summary = "plain"

    def __init__(self, subject: ReportSubject) -> None:
        self.subject = subject

    def data(self, view: Any, request: ReportRequest) -> None:
        """None."""

    def document(self, data: None, request: ReportRequest) -> ReportDocument:
        return ReportDocument("Plain", ())


def whole(report: Words | Total) -> tuple[str, Any]:
    """The text and the JSON of a report as a run writes them."""
    parts = list(report.parts(NO_SOURCE))
    return "".join(text for text, _ in parts), json.loads("".join(data for _, data in parts))


def test_the_first_rows_are_asked_for_and_the_others_counted():
    data = Words("a", "bb", "ccc").build(NO_SOURCE, most=2)
    assert [row["word"] for row in data["rows"]] == ["a", "bb"]
    assert (data["report"], data["left_out"]) == ("words", 1)


def test_the_text_of_rows():
    report = Words("a", "bb", "ccc")
    assert report.text(report.build(NO_SOURCE, most=2)) == (
        "[word] [length]\na 1\nbb 2\n... and 1 more; words-report.txt of a run has them all\n"
    )
    assert Words().text(Words().build(NO_SOURCE)) == "[no words]\n"


@pytest.mark.parametrize("words", [(), ("a",), ("a", "bb", "ccc")])
def test_the_files_of_a_run_have_all_rows(words: tuple[str, ...]):
    text, data = whole(Words(*words))
    assert text.splitlines()[1:] == [f"{word} {len(word)}" for word in words]
    assert [row["word"] for row in data["rows"]] == list(words)
    assert data["left_out"] == 0


def test_the_document_of_rows():
    report = Words("a", "bb")
    document = report.document(report.build(NO_SOURCE, most=1), ReportRequest())
    section = document.sections[0]
    assert section.text == ("1 more rows are in the file of the run.",)
    assert section.tables[0].caption == "Words"
    assert section.tables[0].rows == (("a", 1),)
    verbose = report.document(report.build(NO_SOURCE), ReportRequest(verbose=True)).sections[0]
    assert verbose.text == ()
    assert verbose.tables[0].rows[1] == ("bb", 2, "0x2")


def test_a_summary_is_one_text_and_one_json():
    assert whole(Total()) == ("total: 3\n", {"total": 3})


def test_cells_of_a_table():
    columns = (ReportColumn("when", "time", Format.TIME), ReportColumn("what", "what"))
    rows: list[dict[str, Any]] = [
        {"when": "2026-11-23T00:00:00+00:00", "what": ["a"]},
        {"when": 1.5},
    ]
    table = data_table("t", columns, rows, verbose=False)
    assert table.rows == ((MONDAY, None), (1.5, None))
    assert [column.form for column in table.columns] == [Format.TIME, Format.TEXT]


@pytest.mark.parametrize(
    ("subject", "url", "fits"),
    [
        (ReportSubject.JOB, "", True),
        (ReportSubject.JOB, "http://a.test/", False),
        (ReportSubject.PAGE, "", False),
        (ReportSubject.PAGE, "http://a.test/", True),
        (ReportSubject.EITHER, "", True),
        (ReportSubject.EITHER, "http://a.test/", True),
    ],
)
def test_whether_a_url_fits_the_subject(subject: ReportSubject, url: str, fits: bool):
    report = Plain(subject)
    if fits:
        report.check(ReportRequest(url=url))
    else:
        with pytest.raises(JobError, match="plain"):
            report.check(ReportRequest(url=url))


@pytest.mark.parametrize(
    ("request_", "option"),
    [
        (ReportRequest(run="run2"), "--run"),
        (ReportRequest(language="zh"), "--lang"),
        (ReportRequest(time_zone="Asia/Shanghai"), "--time-zone"),
    ],
)
def test_options_of_the_report_run_are_refused(request_: ReportRequest, option: str):
    with pytest.raises(JobError, match=option):
        Plain(ReportSubject.JOB).check(request_)
