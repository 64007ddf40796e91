"""The register of deleted pages, each with the records that prove it (pure)."""

from collections import defaultdict

import msgspec

from nacre.core.clock import iso
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import MISSING, RecrawlData
from nacre.inspect.archived_replies import ArchivedReply
from nacre.inspect.reports.base import Audience, ReportRequest
from nacre.messages import message
from nacre.planner.change_detection.deletion import Existence, Life, next_look
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section

_ORDER = (Life.GONE, Life.SUSPECT, Life.MOVED)
_MOST_EVIDENCE = 20
_MEANING = {
    Life.GONE: message(
        "study.deletion-confirmed",
        "missing at two looks a day apart, or said to be gone for good (410)",
    ),
    Life.SUSPECT: message(
        "study.deletion-suspected", "missing once; another visit will show whether it is gone"
    ),
    Life.MOVED: message("study.deletion-redirect", "redirects to another page"),
}


class DeletionEvidence(msgspec.Struct, frozen=True):
    """A visit that did not find the page.

    Attributes:
        time: When, seconds since the epoch.
        status: Fetch status.
        answer: `missing`, `gone`, `soft-404` or `moved`.
        record: Where its record lies: WARC and offset; "" where only the log has it.
        digest: Payload digest of that record; "" without one.
    """

    time: float
    status: int
    answer: str
    record: str = ""
    digest: str = ""


class Deletion(msgspec.Struct):
    """A page that is not there any more.

    Attributes:
        url: The page.
        life: `gone`, `suspect` or `moved`.
        last_there: Last visit that found it. It went between this and `since`.
        since: First visit that did not.
        looks: Further looks since then.
        target: Where it moved to; "" for nowhere.
        next_look: When it is looked at again; None for what never was a page.
        evidence: What proves it, in order of time.
    """

    url: str
    life: str
    last_there: float
    since: float
    looks: int
    target: str
    next_look: float | None
    evidence: list[DeletionEvidence]


class DeletionRegister(msgspec.Struct):
    """All of them.

    Attributes:
        deletions: Gone ones first, then those in doubt, then those that moved.
        never_there: URLs that were never found: dead links, and redirects from the start.
    """

    deletions: list[Deletion]
    never_there: int


def deletion_register(data: RecrawlData) -> DeletionRegister:
    """Make the register."""
    results = [row for row in data.rows() if row.life != Life.LIVE]
    urls = {row.url for row in results}
    there: dict[str, float] = {}
    visits: defaultdict[str, list[FetchRow]] = defaultdict(list)
    for visit in data.visits() if urls else ():
        if visit.url not in urls:
            continue
        if visit.answer == "there":
            there[visit.url] = visit.time
            visits.pop(visit.url, None)
        elif visit.answer in MISSING or visit.answer == "moved":
            visits[visit.url].append(visit)
    records = _records(data, urls & there.keys())
    deletions = [
        _deletion(row, there[row.url], visits[row.url], records)
        for row in results
        if row.url in there
    ]
    deletions.sort(
        key=lambda deletion: (_ORDER.index(Life(deletion.life)), -deletion.since, deletion.url)
    )
    return DeletionRegister(deletions, len(results) - len(deletions))


def _records(data: RecrawlData, urls: set[str]) -> dict[tuple[str, str], ArchivedReply]:
    """Records by URL and second."""
    return {(capture.url, capture.date): capture for capture in data.captures(urls)} if urls else {}


def _deletion(
    row: PageRow,
    there: float,
    visits: list[FetchRow],
    records: dict[tuple[str, str], ArchivedReply],
) -> Deletion:
    state = Existence(Life(row.life), row.life_since, row.looks)
    evidence = [
        _evidence(visit, records.get((visit.url, iso(visit.time))))
        for visit in visits[-_MOST_EVIDENCE:]
    ]
    look = next_look(state, row.last_visit) if row.digest or row.life != Life.MOVED else None
    return Deletion(row.url, row.life, there, row.life_since, row.looks, row.target, look, evidence)


def _evidence(visit: FetchRow, record: ArchivedReply | None) -> DeletionEvidence:
    if record is None:
        return DeletionEvidence(visit.time, visit.status, visit.answer)
    where = f"{record.file}:{record.offset}"
    return DeletionEvidence(visit.time, visit.status, visit.answer, where, record.digest)


def document(result: DeletionRegister) -> ReportDocument:
    """The register for people."""
    lives = [Life(deletion.life) for deletion in result.deletions]
    facts: tuple[tuple[str, str], ...] = tuple(
        (f"{life}", f"{lives.count(life):,}: {_MEANING[life]}") for life in _ORDER
    )
    facts += (
        (
            "never there",
            message(
                "study.dead-links",
                "{never_there:,}: dead links, and redirects from the start",
                never_there=result.never_there,
            ),
        ),
    )
    columns = (
        Column("page", Format.URL),
        Column("state"),
        Column("last there", Format.TIME),
        Column("missing since", Format.TIME),
        Column("moved to", Format.URL),
        Column("next look", Format.TIME),
        Column("visits as evidence", Format.COUNT),
    )
    rows = tuple(
        (
            *(deletion.url, deletion.life, deletion.last_there, deletion.since),
            *(deletion.target, deletion.next_look, len(deletion.evidence)),
        )
        for deletion in result.deletions
    )
    tables = (DataTable("Pages that are gone", columns, rows), _evidence_table(result))
    text = (
        message(
            "study.failures-not-counted",
            "Failures, refusals and challenges never count as a deletion.",
        ),
    )
    return ReportDocument("Deletion register", (Section("", text, facts, tables=tables),))


def _evidence_table(register: DeletionRegister) -> DataTable:
    columns = (
        Column("page", Format.URL),
        Column("time", Format.TIME),
        Column("status"),
        Column("answer"),
        Column("record", Format.URL),
        Column("payload", Format.URL),
    )
    rows = tuple(
        (deletion.url, proof.time, str(proof.status), proof.answer, proof.record, proof.digest)
        for deletion in register.deletions
        for proof in deletion.evidence
    )
    return DataTable("Evidence", columns, rows)


class DeletionsReport(Analysis):
    """The register of deleted pages."""

    name = "deletions"
    summary = "pages that are gone, with the records that prove it"
    audience = Audience.CURATOR

    def analyze(self, data: RecrawlData, request: ReportRequest) -> DeletionRegister:
        """See `Analysis.analyze`."""
        return deletion_register(data)

    def document(self, data: DeletionRegister, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
