"""Events of sites: what changed on many pages of a run in the same way (pure)."""

from collections import Counter

import msgspec

from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.reports.base import Audience, ReportRequest
from nacre.messages import message
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.uri.parse import authority

_EVENT = "event"
_MOST = 500
"""A bound of length: events that are shown, the newest."""


class SiteEvent(msgspec.Struct, frozen=True):
    """Pages of a site that changed in one run in the same way, and in no other way.

    Attributes:
        run: Number of the run.
        site: Host and port.
        pages: How many.
        first: Time of the first of these visits, seconds since the epoch.
        example: Some of what changed on one of them, in words.
        url: This page.
    """

    run: int
    site: str
    pages: int
    first: float
    example: str
    url: str


class SiteEvents(msgspec.Struct):
    """All events, latest first.

    Attributes:
        events: The events.
    """

    events: list[SiteEvent]


def site_events(data: RecrawlData) -> SiteEvents:
    """Gather the events from the fetch log."""
    pages: Counter[tuple[int, str]] = Counter()
    results: dict[tuple[int, str], SiteEvent] = {}
    for visit in data.visits():
        if visit.reason == _EVENT:
            key = visit.run, authority(visit.url)
            pages[key] += 1
            if key not in results:
                results[key] = SiteEvent(*key, 0, visit.time, visit.evidence, visit.url)
    events = [msgspec.structs.replace(item, pages=pages[key]) for key, item in results.items()]
    return SiteEvents(sorted(events, key=lambda item: (-item.run, -item.pages, item.site)))


def document(result: SiteEvents) -> ReportDocument:
    """The events for people."""
    columns = (
        Column("run"),
        Column("site", Format.NAME),
        Column("pages", Format.COUNT),
        Column("since", Format.TIME),
        Column("what changed", Format.NAME),
        Column("for example on", Format.URL),
    )
    rows = tuple(
        (str(item.run), item.site, item.pages, item.first, item.example, item.url)
        for item in result.events[:_MOST]
    )
    text = (
        message(
            "study.events-explained",
            "Each row is one event: pages on which nothing differed but what several other "
            "pages of the run had as well. They do not count as changed.",
        ),
    )
    return ReportDocument(
        "Events of sites", (Section("", text, tables=(DataTable("Events", columns, rows),)),)
    )


class EventsReport(Analysis):
    """Changes of many pages of a site at once."""

    name = "events"
    summary = "what changed on many pages of a site in the same way"
    audience = Audience.CURATOR

    def analyze(self, data: RecrawlData, request: ReportRequest) -> SiteEvents:
        """See `Analysis.analyze`."""
        return site_events(data)

    def document(self, data: SiteEvents, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)
