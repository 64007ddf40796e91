"""Tasks of reader processes that make reports: for a page, or as a file."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import count, starmap
from typing import Any, Final

import msgspec

from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.core.message_data import to_json
from nacre.inspect.registry import all_reports, report_named
from nacre.inspect.reports.base import PURPOSES, Report, ReportRequest, ReportSubject, RunReport
from nacre.inspect.reports.source import source_of
from nacre.inspect.view import LiveFigures, title_facts
from nacre.languages import CHINESE
from nacre.machine.layout import Layout
from nacre.report.charts import draw_plot
from nacre.report.document import (
    Cell,
    Column,
    Comparison,
    DataTable,
    Format,
    ReportDocument,
)
from nacre.report.formatting import NUMERIC, heading, written
from nacre.report.html import html_page
from nacre.report.localize import localize
from nacre.report.plain import plain_text
from nacre.web.languages import ENGLISH
from nacre.web.languages import language as language_of
from nacre.web.workers.task import NoRequest, reader_task
from nacre.web.workers.views import CLOCK, VIEWS, OpenView, figures_of

ROWS: Final = 500
"""Rows of a table on a page; a download has them all."""
_UTC: Final = re.compile(r"\s*[(\uff08]UTC[)\uff09]$")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class ReportItem(msgspec.Struct, frozen=True):
    """A report.

    Attributes:
        name: Its name, as `/reports/NAME` takes it.
        summary: What it is about.
        subject: What it is of.
        audience: Who reads it.
    """

    name: str
    summary: str
    subject: str
    audience: str


class ReportNames(ItemList[ReportItem], frozen=True):
    """The reports.

    Attributes:
        groups: The same by who reads them, each with its `audience`, `purpose` and `reports`.
    """

    groups: tuple[dict[str, Any], ...]


@reader_task("reports")
def list_reports(_: Layout, __: NoRequest) -> ReportNames:
    """List all reports."""
    items, groups = list[ReportItem](), list[dict[str, Any]]()
    for audience, purpose in PURPOSES.items():
        facts = [
            {"name": report.name, "summary": report.summary, "subject": report.subject.value}
            for report in all_reports()
            if report.audience is audience
        ]
        items += [ReportItem(**report, audience=audience.value) for report in facts]
        groups.append({"audience": audience.value, "purpose": purpose, "reports": facts})
    return ReportNames(tuple(items), None, iso(CLOCK.now()), tuple(groups))


class ReportTaskRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A report of the last committed state.

    Attributes:
        name: Its name.
        form: `page`, `json`, `text`, `csv` or `html`.
        language: `en` or `zh`, for `run`.
        url: The page that it is of; "" for none.
        old: Beginning of the date of the older version, for `diff`.
        new: The same of the newer version.
        run: Name or number of a run, for `run`.
        toes: The answer of the running job about its workers; None if it does not run.
        table: Number of the table of the page that is sorted; -1 for none.
        sort: Number of its column, from 0.
        falling: The largest value first.
        first: Rows of this table before the page.
        spoken: Name of the language of the page.
    """

    name: str
    form: str
    language: str
    url: str = ""
    old: str = ""
    new: str = ""
    run: str = ""
    toes: dict[str, Any] | None = None
    table: int = -1
    sort: int = -1
    falling: bool = False
    first: int = 0
    spoken: str = ENGLISH


class PageColumn(msgspec.Struct, frozen=True):
    """A column of a table: its heading, and whether it has numbers or URLs."""

    name: str
    number: bool
    url: bool


class PageCell(msgspec.Struct, frozen=True):
    """A cell: its text, and its URL or its time (s since the epoch) if it is one."""

    text: str
    url: str | None
    time: int | float | None


class PageTable(msgspec.Struct, frozen=True):
    """Some rows of a table.

    Attributes:
        number: Its number in the report, from 0.
        caption: Its caption.
        columns: Its columns.
        rows: The rows.
        first: Rows before them.
        before: Rows before those of the previous page; None if there is none.
        behind: Rows before those of the next page; None if there is none.
        total: All rows.
        sorted: Number of the column that they are sorted by; -1 for none.
        falling: The largest value first.
    """

    number: int
    caption: str
    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    first: int
    before: int | None
    behind: int | None
    total: int
    sorted: int
    falling: bool


class PagePlot(msgspec.Struct, frozen=True):
    """A plot: its title, and its SVG, in which every text is escaped (`report/charts.py`)."""

    title: str
    drawing: str


class PageSection(msgspec.Struct, frozen=True):
    """A section of a report; see `report.document.Section`."""

    heading: str
    text: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    plots: tuple[PagePlot, ...]
    tables: tuple[PageTable, ...]
    comparison: Comparison | None


class PageDocument(msgspec.Struct, frozen=True):
    """A report as a page shows it: cells as text, tables sorted and cut, plots drawn."""

    title: str
    about: tuple[tuple[str, str], ...]
    sections: tuple[PageSection, ...]


class MadeReport(msgspec.Struct, frozen=True):
    """A report.

    Attributes:
        as_of: The moment of its data, RFC 3339.
        body: Its bytes, in a form other than `page`.
        document: The page; None in another form.
    """

    as_of: str
    body: bytes = b""
    document: PageDocument | None = None


@reader_task("report")
def make_report(layout: Layout, task: ReportTaskRequest) -> MadeReport:
    """Make a report of the last committed state.

    Raises:
        JobError: There is no such report, or nothing to report, or it needs a URL or takes none.
    """
    report, form = report_named(task.name), task.form
    # A link of a page of one URL may lead to a report of the job.
    url = "" if report.subject is ReportSubject.JOB and form == "page" else task.url
    request = ReportRequest(url, task.old, task.new, task.run, task.language, now=CLOCK.now())
    report.check(request)
    with VIEWS.looking(layout) as view:
        data = _data_of(view, report, request, figures_of(task.toes) if task.toes else None)
        as_of = iso(view.as_of)
        if form == "json":
            return MadeReport(as_of, msgspec.json.format(to_json(data), indent=1))
        document = report.document(data, request)
        if not document.about:
            document = document._replace(about=title_facts(view.view()))
        downloaded = CHINESE if task.language == "zh" else ENGLISH
        reader = language_of(task.spoken if form == "page" else downloaded)
        document = localize(document, reader.template, reader.tag)
        if form == "page":
            return MadeReport(as_of, document=page_document(document, task))
        return MadeReport(as_of, _body(report, data, document, form))


def _data_of(
    view: OpenView, report: Report, request: ReportRequest, live: LiveFigures | None
) -> Any:  # noqa: ANN401 - each has its own
    if isinstance(report, RunReport):
        settings = view.loaded.settings
        return report.build(source_of(view.store, view.layout, settings, live))
    return report.data(view.view(running=live is not None), request)


def _body(report: Report, data: Any, document: ReportDocument, form: str) -> bytes:  # noqa: ANN401
    if form == "csv":
        return csv_of(document)
    if form == "html":
        return html_page(document).encode("utf-8", "backslashreplace")
    if isinstance(report, RunReport):
        return report.text(data).encode("utf-8", "backslashreplace")
    return plain_text(document, 1_000_000).encode("utf-8", "backslashreplace")


def csv_of(document: ReportDocument) -> bytes:
    """The tables of a report, with an empty line between them; numbers as they are.

    A text that a spreadsheet would take for a formula gets an apostrophe.
    """
    to = io.StringIO(newline="")
    writer = csv.writer(to)
    tables = [table for section in document.sections for table in section.tables]
    for number, table in enumerate(tables):
        if number:
            writer.writerow(())
        if len(tables) > 1:
            writer.writerow((table.caption,))
        writer.writerow([heading(column) for column in table.columns])
        for row in table.rows:
            writer.writerow([_csv_cell(cell) for cell in row])
    return to.getvalue().encode("utf-8-sig", "backslashreplace")


def _csv_cell(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def page_document(document: ReportDocument, request: ReportTaskRequest) -> PageDocument:
    """Return a report as a page shows it (pure)."""
    numbers = count()
    sections = tuple(
        PageSection(
            section.heading, section.text, section.facts,
            tuple(PagePlot(plot.title, draw_plot(plot)) for plot in section.plots),
            tuple(_page_table(table, next(numbers), request) for table in section.tables),
            _first_pieces(section.comparison),
        )
        for section in document.sections
    )  # fmt: skip
    return PageDocument(document.title, document.about, sections)


def _first_pieces(comparison: Comparison | None) -> Comparison | None:
    return comparison and comparison._replace(pieces=comparison.pieces[:ROWS])


def _page_table(table: DataTable, number: int, request: ReportTaskRequest) -> PageTable:
    column, first = (request.sort, request.first) if number == request.table else (-1, 0)
    rows: Sequence[tuple[Cell, ...]] = table.rows
    if 0 <= column < len(table.columns):
        rows = sorted(rows, key=lambda row: _order(row[column]), reverse=request.falling)
    columns = tuple(
        PageColumn(_page_heading(column), column.form in NUMERIC, column.form is Format.URL)
        for column in table.columns
    )
    return PageTable(
        number, table.caption, columns,
        tuple(
            tuple(starmap(_page_cell, zip(row, table.columns, strict=True)))
            for row in rows[first : first + ROWS]
        ),
        first, max(first - ROWS, 0) if first else None,
        first + ROWS if first + ROWS < len(rows) else None, len(rows), column, request.falling,
    )  # fmt: skip


def _page_cell(cell: Cell, column: Column) -> PageCell:
    url = cell if column.form is Format.URL and isinstance(cell, str) else None
    time = None if column.form is not Format.TIME or isinstance(cell, str) else cell
    return PageCell(written(cell, column.form), url, time)


def _page_heading(column: Column) -> str:
    """The heading of a column; its times are shown in the zone of the viewer."""
    return _UTC.sub("", column.name) if column.form is Format.TIME else heading(column)


def _order(cell: Cell) -> tuple[int, float, str]:
    """The place of a cell: nothing, numbers, texts."""
    if cell is None:
        return 0, 0.0, ""
    return (2, 0.0, cell) if isinstance(cell, str) else (1, float(cell), "")
