"""The time line of a page: what each visit found, and when its changes came about (pure)."""

from collections.abc import Mapping
from typing import Final

import msgspec

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.errors import JobError
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import CHANGED, MISSING, NEW, RecrawlData
from nacre.inspect.analysis.wording import DECIDED_BY, FOUND, STORED_AS, WHY_VISITED
from nacre.inspect.archived_replies import ArchivedReply
from nacre.inspect.reports.base import Audience, ReportRequest, ReportSubject
from nacre.messages import message, static
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section, Span, TimeLine
from nacre.report.formatting import moment, url_facts
from nacre.wire.date import parse_w3c_date

_LANES = (
    "stored",
    "unchanged",
    "changed",
    "missing",
    message("study.no-reply", "no answer"),
    "hint",
)


_ABSENT: Final[Mapping[int, str]] = {404: "missing", 410: "gone"}
"""Statuses of pages that are not there, with what a visit found by them."""


class TimelineVisit(msgspec.Struct, frozen=True):
    """A visit.

    Attributes:
        time: When, seconds since the epoch.
        status: Fetch status.
        lane: What it amounts to: `stored`, `unchanged`, `missing` or `no answer`.
        kind: How the page differed: a class of changes, or `new`; the answer for a missing page.
        score: Share of the page that differed.
        reason: Code of what decided.
        wanted: Why it was visited; "" in a full run.
        stored: What the archive stored.
        since: For a change: the previous visit, seconds since the epoch; 0 for none.
    """

    time: float
    status: int
    lane: str
    kind: str
    score: float
    reason: str
    wanted: str
    stored: str
    since: float = 0.0


class PageTimeline(msgspec.Struct):
    """All that is known of a page in time.

    Attributes:
        url: The page.
        page: Its row; None when only the fetch log knows it.
        visits: In order of time.
    """

    url: str
    page: PageRow | None
    visits: list[TimelineVisit]


def page_timeline(data: RecrawlData, url: str) -> PageTimeline:
    """The time line of a page.

    Raises:
        JobError: Neither a visit nor a capture of it is known.
    """
    looks: list[TimelineVisit] = []
    last, there = 0.0, False
    for visit in data.visits():
        if visit.url == url:
            look = _look(visit, last, there=there)
            looks.append(look)
            if look.lane != "no answer":
                last, there = visit.time, look.lane != "missing"
    if not looks:  # the log has a full run after the next incremental run
        looks = [_capture_look(capture) for capture in data.captures((url,))]
    row = data.row(url)
    if not looks and row is None:
        raise JobError(
            message(
                "study.unvisited-url",
                "the log of visits and the archive of this job have nothing of {url}; "
                "`nacre explain JOB URL` prints its state",
                url=url,
            )
        )
    return PageTimeline(url, row, looks)


def _look(visit: FetchRow, last: float, *, there: bool) -> TimelineVisit:
    """A visit; the one before that had an answer was at `last`, and found the page `there`."""
    changed = visit.kind in CHANGED or (visit.answer in MISSING and there)
    return TimelineVisit(
        visit.time,
        visit.status,
        _lane(visit),
        visit.verdict,
        visit.score,
        visit.reason,
        visit.wanted,
        visit.stored,
        last if changed else 0.0,
    )


def _capture_look(capture: ArchivedReply) -> TimelineVisit:
    """The visit of a capture; its outcome is not known, except for a missing page."""
    status = int(capture.status) if capture.status.isdigit() else 0
    kind = _ABSENT.get(status, "")
    stored = "duplicate" if capture.is_revisit else "novel"
    lane = "missing" if kind else "unchanged" if capture.is_revisit else "stored"
    return TimelineVisit(
        parse_w3c_date(capture.date) or 0.0, status, lane, kind, 0.0, "", "", stored
    )


def _lane(visit: FetchRow) -> str:
    if visit.wanted == "pair":
        return "unchanged"
    if visit.answer in MISSING:
        return "missing"
    if visit.status <= 0 or visit.answer == "silent":
        return message("study.no-reply", "no answer")
    return "stored" if visit.stored in {"novel", "delta"} else "unchanged"


def document(result: PageTimeline) -> ReportDocument:
    """The time line for people."""
    plot = TimeLine("Visits, changes and hints", _LANES, (*_spans(result), *_hints(result.page)))
    columns = (
        Column("time", Format.TIME),
        Column("status"),
        Column("what was found"),
        Column("share that differs", Format.SHARE),
        Column("decided by"),
        Column("visited because"),
        Column("what was kept"),
        Column("changed after", Format.TIME),
    )
    rows = tuple(
        (
            *(look.time, str(look.status), _result_text(look), look.score or None),
            *(DECIDED_BY.get(look.reason, look.reason), WHY_VISITED.get(look.wanted, look.wanted)),
            *(STORED_AS.get(look.stored, look.stored), look.since or None),
        )
        for look in reversed(result.visits)
    )
    text = (
        message(
            "study.change-interval",
            "A change came about between the last visit that did not see it and the first that "
            "did: the bars of the lane `changed`.",
        ),
    )
    table = DataTable("Visits, latest first", columns, rows)
    facts = _facts(result.page) if result.page else ()
    section = Section("", text, (*url_facts(result.url), *facts), (plot,), (table,))
    return ReportDocument("Time line of a page", (section,))


def _result_text(look: TimelineVisit) -> str:
    """What a visit found, in words."""
    return FOUND.get(look.kind, look.kind)


def _spans(timeline: PageTimeline) -> list[Span]:
    spans = []
    for look in timeline.visits:
        when = moment(look.time)
        spans.append(
            Span(look.lane, look.time, look.time, f"{when}: {look.status}, {_result_text(look)}")
        )
        if look.since and look.kind != NEW:
            text = message(
                "study.between",
                "{value} between {moment} and {when}",
                value=_result_text(look) or look.lane,
                moment=moment(look.since),
                when=when,
            )
            spans.append(Span("changed", look.since, look.time, text))
    return spans


def _hints(row: PageRow | None) -> list[Span]:
    if row is None:
        return []
    date = parse_w3c_date(row.lastmod) if row.lastmod else None
    spans = (
        [
            Span(
                "hint",
                date,
                date,
                message(
                    "study.last-change-of-site",
                    "last change by its site: {lastmod}",
                    lastmod=row.lastmod,
                ),
            )
        ]
        if date
        else []
    )
    if row.listed:
        spans.append(
            Span("hint", row.listed, row.listed, message("study.in-sitemap", "named by a sitemap"))
        )
    return spans


def _facts(row: PageRow) -> tuple[tuple[str, str], ...]:
    return (
        ("Template", row.template or "none"),
        ("First seen", moment(row.first_seen)),
        ("Last visit", moment(row.last_visit)),
        ("Last change seen", moment(row.last_change)),
        (
            "Visits",
            message(
                "study.visit-numbers",
                "{visits:,}; changes: {changes:,}, only noise: {noise:,}",
                visits=row.visits,
                changes=row.changes,
                noise=row.noise,
            ),
        ),
        (
            "Life",
            message(
                "study.life-since",
                "{life} since {time}",
                life=static(row.life),
                time=moment(row.life_since or row.first_seen),
            ),
        ),
        ("Moved to", row.target or "nowhere"),
        ("Hints since the last visit", ", ".join(row.told) or "none"),
        ("Last change by its site", row.lastmod or "unknown"),
    )


class TimelineReport(Analysis):
    """Every visit of a page, and when its changes came about."""

    name = "timeline"
    summary = "every visit of a page, and the times of its changes"
    audience = Audience.CURATOR
    subject = ReportSubject.PAGE

    def analyze(self, data: RecrawlData, request: ReportRequest) -> PageTimeline:
        """See `Analysis.analyze`."""
        return page_timeline(data, request.url)

    def document(self, data: PageTimeline, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
