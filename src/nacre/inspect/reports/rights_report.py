"""The report on preferences: what sites state on the use of their content, and since when."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import msgspec

from nacre.inspect.reports.base import Audience, Report, ReportRequest, ReportSubject
from nacre.inspect.rights import (
    MOST_ROWS,
    LedgerRow,
    UrlRights,
    ledger_rows,
    url_rights,
    url_versions,
)
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section


class RightsFigures(msgspec.Struct):
    """The figures of the report.

    Attributes:
        held: What holds for the page now; None for a report on all sites.
        rows: The signals of the page or of all sites at all times, the first 1,000 rows.
        is_cut: Whether there are more rows.
    """

    held: UrlRights | None
    rows: list[LedgerRow]
    is_cut: bool = False


class RightsReport(Report):
    """Preferences of sites about the use of their content."""

    name = "rights"
    summary = "what sites state on the use of their content; of a URL: what holds for it, and held"
    audience = Audience.OPERATOR
    subject = ReportSubject.EITHER

    def data(self, view: View, request: ReportRequest) -> RightsFigures:
        """See `Report.data`."""
        held, every = None, ledger_rows(view.store)
        if request.url:
            now = round(view.clock.now() * 1e6)
            held = url_rights(view.store, request.url, now)
            every = url_versions(view.store, request.url)
        rows = list(islice(every, MOST_ROWS + 1))
        return RightsFigures(held, rows[:MOST_ROWS], is_cut=len(rows) > MOST_ROWS)

    def document(self, data: RightsFigures, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        facts = () if data.held is None else tuple(data.held.uses.items())
        section = Section("", tuple(_notes(data)), facts=facts, tables=(signal_table(data.rows),))
        return ReportDocument("Preferences of sites", (section,))


def _notes(data: RightsFigures) -> Iterator[str]:
    if data.held is not None and data.held.missing:
        yield message(
            "report.rights-missing",
            "Not collected, so that `unknown` is no permission: {sources}.",
            sources=", ".join(data.held.missing),
        )
    if not data.rows:
        yield message("report.no-rights", "No preferences are recorded.")
    if data.is_cut:
        yield message(
            "report.rights-cut",
            "These are the first {number} rows; `nacre rights JOB` prints all, and with a URL and "
            "--history those of the URL.",
            number=len(data.rows),
        )


def signal_table(rows: list[LedgerRow]) -> DataTable:
    """Return the table of signals: interval, source, preferences, line, capture."""
    columns = (
        Column("since", Format.TIME),
        Column("until", Format.TIME),
        Column("source", Format.NAME),
        Column("states", Format.NAME),
        Column("line", Format.NAME),
        Column("capture", Format.URL),
    )
    cells = tuple(
        (
            _seconds(row.since),
            _seconds(row.until) if row.until else None,
            row.source,
            row.preferences or row.state or "-",
            row.line,
            row.url,
        )
        for row in rows
    )
    return DataTable("Preferences", columns, cells)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
