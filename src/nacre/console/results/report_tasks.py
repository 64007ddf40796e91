"""Tasks of reader processes that make reports: for a page, or as a file."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from nacre.console.catalogue import ENGLISH
from nacre.console.catalogue import language as language_of
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
    DataTable,
    Format,
    ReportDocument,
    Section,
)
from nacre.report.formatting import NUMERIC, heading, written
from nacre.report.html import html_page
from nacre.report.localize import localize
from nacre.report.plain import plain_text
from nacre.web.workers.views import CLOCK, VIEWS, OpenView, figures_of

ROWS: Final = 500
"""Rows of a table on a page; a download has them all."""
_UTC: Final = re.compile(r"\s*[(\uff08]UTC[)\uff09]$")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def list_reports(_: Layout, __: Mapping[str, Any]) -> dict[str, object]:
    """The reports by who reads them."""
    groups: list[dict[str, object]] = []
    for audience, purpose in PURPOSES.items():
        reports = [
            {"name": report.name, "summary": report.summary, "subject": report.subject.value}
            for report in all_reports()
            if report.audience is audience
        ]
        groups.append({"audience": audience.value, "purpose": purpose, "reports": reports})
    return {"groups": groups}


def make_report(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """A report of the last committed state.

    Args:
        layout: The job.
        arguments: `name`; `url`, `old`, `new`, `run`, `language`: of the request; `form`: `page`,
            `json`, `text`, `csv` or `html`; `toes`: what the running job said of its workers, None
            where it does not run; `table`, `sort`, `falling`: number of the table that is sorted,
            and of its column, from 0; -1 for none; `first`: rows of it before the page; `spoken`:
            the language of the page.

    Raises:
        JobError: There is no such report, or nothing to report, or it needs a URL or takes none.
    """
    report = report_named(str(arguments["name"]))
    url, old, new, run, language = (
        str(arguments[name]) for name in ("url", "old", "new", "run", "language")
    )
    if report.subject is ReportSubject.JOB and arguments["form"] == "page":
        url = ""  # a link of a page of one URL may lead here
    request = ReportRequest(url, old, new, run, language, now=CLOCK.now())
    report.check(request)
    with VIEWS.looking(layout, float(arguments.get("since", 0.0))) as view:
        toes = arguments.get("toes")
        data = _data_of(view, report, request, figures_of(toes) if toes else None)
        form, as_of = str(arguments["form"]), iso(view.as_of)
        if form == "json":
            return {
                "body": msgspec.json.format(to_json(data), indent=1),
                "as_of": as_of,
            }
        document = report.document(data, request)
        if not document.about:
            document = document._replace(about=title_facts(view.view()))
        downloaded = CHINESE if language == "zh" else ENGLISH
        reader = language_of(str(arguments["spoken"]) if form == "page" else downloaded)
        document = localize(document, reader.template, reader.tag)
        if form == "page":
            return {"document": page_document(document, arguments), "as_of": as_of}
        return {"body": _body(report, data, document, form), "as_of": as_of}


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


def page_document(document: ReportDocument, arguments: Mapping[str, Any]) -> dict[str, object]:
    """A report as a page shows it: cells as text, tables sorted and cut, plots drawn."""
    number = 0
    sections = []
    for section in document.sections:
        tables = []
        for table in section.tables:
            is_sorted = number == int(arguments["table"])
            column = int(arguments["sort"]) if is_sorted else -1
            falling = bool(arguments["falling"])
            first = int(arguments.get("first", 0)) if is_sorted else 0
            tables.append(_page_table(table, number, column, first, falling=falling))
            number += 1
        sections.append(_page_section(section, tables))
    return {"title": document.title, "about": list(document.about), "sections": sections}


def _page_section(section: Section, tables: list[dict[str, object]]) -> dict[str, object]:
    pieces = section.comparison
    return {
        "heading": section.heading,
        "text": list(section.text),
        "facts": list(section.facts),
        "plots": [{"title": plot.title, "drawing": draw_plot(plot)} for plot in section.plots],
        "tables": tables,
        "comparison": None
        if pieces is None
        else {
            "old": pieces.old,
            "new": pieces.new,
            "pieces": [piece._asdict() for piece in pieces.pieces[:ROWS]],
        },
    }


def _page_table(
    table: DataTable, number: int, column: int, first: int, *, falling: bool
) -> dict[str, object]:
    rows: Sequence[tuple[Cell, ...]] = table.rows
    if 0 <= column < len(table.columns):
        rows = sorted(rows, key=lambda row: _order(row[column]), reverse=falling)
    return {
        "number": number,
        "caption": table.caption,
        "columns": [
            {
                "name": _page_heading(column_shown),
                "number": column_shown.form in NUMERIC,
                "url": column_shown.form is Format.URL,
            }
            for column_shown in table.columns
        ],
        "rows": [
            [
                {
                    "text": written(cell, column_shown.form),
                    "url": cell if column_shown.form is Format.URL else None,
                    "time": None
                    if column_shown.form is not Format.TIME or isinstance(cell, str)
                    else cell,
                }
                for cell, column_shown in zip(row, table.columns, strict=True)
            ]
            for row in rows[first : first + ROWS]
        ],
        "first": first,
        "before": max(first - ROWS, 0) if first else None,
        "behind": first + ROWS if first + ROWS < len(rows) else None,
        "total": len(rows),
        "sorted": column,
        "falling": falling,
    }


def _page_heading(column: Column) -> str:
    """The heading of a column; its times are shown in the zone of the viewer."""
    return _UTC.sub("", column.name) if column.form is Format.TIME else heading(column)


def _order(cell: Cell) -> tuple[int, float, str]:
    """The place of a cell: nothing, numbers, texts."""
    if cell is None:
        return 0, 0.0, ""
    return (2, 0.0, cell) if isinstance(cell, str) else (1, float(cell), "")
