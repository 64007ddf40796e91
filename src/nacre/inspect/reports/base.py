"""The base classes of reports: the data, and a document of them for people.

`RunReport` is the base of Heritrix's reports, which have a text file too: `SummaryReport` for those
of bounded size, `RowReport` for those with a row for each host, seed or the like.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum, StrEnum
from itertools import chain, islice
from typing import Any, NamedTuple

from nacre.errors import JobError
from nacre.inspect.reports.source import Data, ReportSource, source_of
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import Cell, Column, DataTable, Format, ReportDocument, Section
from nacre.report.plain import MOST_ROWS as PRINTED_ROWS

MOST_ROWS = 100_000
"""Rows of a report in its data; the files of a run have them all."""


class Audience(StrEnum):
    """The readers of a report."""

    CURATOR = "curators"
    OPERATOR = "operators"
    DEVELOPER = "developers"


PURPOSES = {
    Audience.CURATOR: "which pages of a site are stored, and how the site changes",
    Audience.OPERATOR: "how a crawl proceeds, its costs, and what slows it down",
    Audience.DEVELOPER: "why the crawler decided as it did",
}
"""What each audience wants to know."""


class ReportSubject(Enum):
    """Whether a report is of the whole job, of one page, or of either."""

    JOB = "job"
    PAGE = "page"
    EITHER = "either"


class ReportRequest(NamedTuple):
    """The request of a user for a report.

    Attributes:
        url: The page; "" for the whole job.
        old: Beginning of the date of the older version, for `diff`; "" for the last but one.
        new: The same of the newer version; "" for the last.
        run: Name or number of the run, for `run`; "" for the last one.
        language: Of the document, `en` or `zh`, for `run`.
        time_zone: Of the document, such as `Asia/Shanghai`, for `run`.
        verbose: The document has the crawler's internal data too.
        now: Time of the request, seconds since the epoch.
    """

    url: str = ""
    old: str = ""
    new: str = ""
    run: str = ""
    language: str = "en"
    time_zone: str = "UTC"
    verbose: bool = False
    now: float = 0.0


class Report(ABC):
    """A report of `nacre report` and of `nacre.read_report`, stock or of a plug-in.

    Attributes:
        name: Its name.
        summary: Its contents, in a few words.
        audience: Who reads it.
        subject: What it is of.
        printed_rows: Rows of a table that the terminal shows.
        live: The process that runs the job is asked for the data: its store lacks a part of them.
        contract: The contract of plug-ins that it was written for; 0 for Nacre's own reports.
    """

    name: str
    summary: str
    audience: Audience = Audience.OPERATOR
    subject: ReportSubject = ReportSubject.JOB
    printed_rows: int = PRINTED_ROWS
    live: bool = False
    contract: int = 0

    @abstractmethod
    def data(self, view: View, request: ReportRequest) -> Any:  # noqa: ANN401 - each has its own
        """Its data: JSON types, or a msgspec struct of them.

        Raises:
            JobError: The job has nothing to report.
        """

    @abstractmethod
    def document(self, data: Any, request: ReportRequest) -> ReportDocument:  # noqa: ANN401
        """The data for people."""

    def check(self, request: ReportRequest) -> None:
        """Refuse a URL that is missing or not wanted, and options of the report `run`.

        Raises:
            JobError: The request does not fit this report.
        """
        if self.subject is ReportSubject.PAGE and not request.url:
            raise JobError(
                message(
                    "report.page-report",
                    "{name} is of one page: `nacre report JOB {name} URL`",
                    name=self.name,
                )
            )
        if self.subject is ReportSubject.JOB and request.url:
            raise JobError(
                message(
                    "report.job-report",
                    "{name} is of the whole job and takes no URL",
                    name=self.name,
                )
            )
        refuse_options_of_run(request)


def refuse_options_of_run(request: ReportRequest) -> None:
    """Refuse what only the report `run` takes.

    Raises:
        JobError: The request has such an option.
    """
    usual = ReportRequest()
    is_given = {
        "--run": request.run,
        "--lang": request.language != usual.language,
        "--time-zone": request.time_zone != usual.time_zone,
    }
    named = next((option for option, value in is_given.items() if value), None)
    if named:
        raise JobError(
            message(
                "report.is-for-report-run-alone",
                "{named} is for the report `run` alone: `nacre report JOB run {named} ...`",
                named=named,
            )
        )


class RunReport(Report):
    """A report of a run, with a text file in Heritrix's form.

    Attributes:
        file: Name of its text file, as in Heritrix.
        default: It is written at the end of a run.
    """

    file: str
    default: bool = True
    live = True

    def data(self, view: View, request: ReportRequest) -> Data:
        """See `Report.data`."""
        live = view.live.figures() if view.live is not None else None
        return self.build(source_of(view.store, view.layout, view.settings, live))

    @abstractmethod
    def build(self, source: ReportSource) -> Data:
        """Its data."""

    @abstractmethod
    def text(self, data: Data) -> str:
        """The text of such data, as in Heritrix."""

    @abstractmethod
    def parts(self, source: ReportSource) -> Iterator[tuple[str, str]]:
        """The whole report, piece by piece: text, and the same as JSON."""


class SummaryReport(RunReport):
    """A report of bounded size."""

    @abstractmethod
    def lines(self, data: Data) -> Iterable[str]:
        """The lines of the text."""

    def text(self, data: Data) -> str:
        """See `RunReport.text`."""
        return "\n".join(self.lines(data)) + "\n"

    def parts(self, source: ReportSource) -> Iterator[tuple[str, str]]:
        """See `RunReport.parts`."""
        data = self.build(source)
        yield self.text(data), json.dumps(data, indent=1) + "\n"


class ReportColumn(NamedTuple):
    """A column of a document that is made of rows of data.

    Attributes:
        key: Of the value in a row.
        heading: Its heading.
        format: How its values are written.
        verbose: It is shown only where the request is verbose.
    """

    key: str
    heading: str
    format: Format = Format.TEXT
    verbose: bool = False


class RowReport(RunReport):
    """A report with a row for each host, seed or the like; never all in memory at once.

    Attributes:
        header: First line of the text.
        empty: The text in place of the header if there are no rows; "" for the header.
        title: Title of the document.
        caption: Caption of its table; "" for the title.
        columns: Its columns.
        note: A sentence about the counts; "" for none.
    """

    header: str
    empty: str = ""
    title: str
    caption: str = ""
    columns: tuple[ReportColumn, ...]
    note: str = ""

    @abstractmethod
    def rows(self, source: ReportSource) -> Iterator[Data]:
        """The rows, in order."""

    @abstractmethod
    def line(self, row: Data) -> str:
        """The line of a row in the text, without line feed."""

    def build(self, source: ReportSource, most: int = MOST_ROWS) -> Data:
        """The first rows, and how many more there are: `rows`, `left_out`."""
        rows = self.rows(source)
        first = list(islice(rows, most))
        return {"report": self.name, "rows": first, "left_out": sum(1 for _ in rows)}

    def text(self, data: Data) -> str:
        """See `RunReport.text`."""
        lines = [self._head(next(iter(data["rows"]), None)), *map(self.line, data["rows"])]
        if data["left_out"]:
            lines.append(f"... and {data['left_out']} more; {self.file} of a run has them all")
        return "\n".join(lines) + "\n"

    def parts(self, source: ReportSource) -> Iterator[tuple[str, str]]:
        """See `RunReport.parts`; one row a line in the JSON too."""
        rows = self.rows(source)
        first = next(rows, None)
        head = self._head(first)
        yield f"{head}\n", f'{{"report": "{self.name}", "rows": ['
        separator = "\n"
        for row in chain(() if first is None else (first,), rows):
            yield self.line(row) + "\n", separator + json.dumps(row)
            separator = ",\n"
        yield "", '\n], "left_out": 0}\n'

    def document(self, data: Data, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        rows_left = data.get("left_out", 0)
        text: tuple[str, ...] = (self.note,) if self.note else ()
        text += (
            (
                message(
                    "report.more-rows",
                    "{left:,} more rows are in the file of the run.",
                    left=rows_left,
                ),
            )
            if rows_left
            else ()
        )
        rows = map(self.format_row, data["rows"])
        columns = self.columns_of(data)
        table = data_table(self.caption or self.title, columns, rows, verbose=request.verbose)
        return ReportDocument(self.title, (Section("", text, tables=(table,)),))

    def columns_of(self, data: Data) -> tuple[ReportColumn, ...]:
        """The columns of the table that some data make."""
        return self.columns

    def format_row(self, row: Data) -> Data:
        """A row as the document shows it."""
        return row

    def _head(self, first: Data | None) -> str:
        return self.header if first is not None or not self.empty else self.empty


def data_table(
    caption: str, columns: Iterable[ReportColumn], rows: Iterable[Data], *, verbose: bool
) -> DataTable:
    """A table of a document, made of rows of data."""
    visible = [column for column in columns if verbose or not column.verbose]
    cells = tuple(tuple(_cell(row.get(item.key), item.format) for item in visible) for row in rows)
    return DataTable(caption, tuple(Column(item.heading, item.format) for item in visible), cells)


def _cell(value: object, form: Format) -> Cell:
    if form is Format.TIME and isinstance(value, str):
        return datetime.fromisoformat(value).timestamp()
    return value if isinstance(value, str | int | float) else None
