"""The report on walls: hosts whose replies were no pages of them, which their owners can read."""

from collections.abc import Iterator, Mapping

import msgspec

from nacre.core.clock import iso_millis
from nacre.engine.wall_book import HostWalls, WallExample, scan_walls
from nacre.fetch.settings import fill_user_agent
from nacre.frontier.operator import HELD
from nacre.frontier.queue_cache import read_queue
from nacre.frontier.queues import QueueState
from nacre.frontier.rows import queue_id
from nacre.inspect.reports.base import Audience, Report, ReportRequest, ReportSubject
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.store.store import Store
from nacre.uri.parse import host

_MEANINGS: Mapping[str, str] = {
    "challenge": message("report.wall-challenge", "a test whether the visitor is a person"),
    "signedOut": message("report.wall-signed-out", "a login, or a refusal without one"),
    "consentWall": message("report.wall-consent", "a dialog that asks for consent first"),
    "paywall": message("report.wall-paywall", "a text that is not free to read"),
    "rateLimited": message("report.wall-rate", "too many requests"),
    "emptyShell": message("report.wall-empty", "a page that is empty in a browser, too"),
    "geoBlocked": message("report.wall-geo", "a refusal for this country, or for legal reasons"),
}
"""What verdicts mean."""


class HostFigures(msgspec.Struct):
    """The walls of a host.

    Attributes:
        host: The host.
        queue: Key of its queue.
        held: Whether nothing more is fetched of it until its queue is woken.
        first, last: Times of the first and the last wall, UTC.
        verdicts: Walls of each kind.
        examples: The first URLs of each kind, three at most, with status and time.
    """

    host: str
    queue: str
    held: bool
    first: str
    last: str
    verdicts: dict[str, int]
    examples: dict[str, list[tuple[str, int, str]]]


class WallFigures(msgspec.Struct):
    """The figures of the report.

    Attributes:
        agent: User agent of the requests.
        contact: How to reach the operator; "" if it is not set.
        host: The host of the report; "" for all.
        hosts: The hosts with walls, those with most of them first.
    """

    agent: str
    contact: str
    host: str
    hosts: list[HostFigures]


def wall_figures(store: Store, name: str = "") -> list[HostFigures]:
    """Return the walls of hosts, as last committed.

    Args:
        store: The store of the job.
        name: A host; "" for all.
    """
    rows = (row for row in scan_walls(store) if name in {"", row.host})
    figures = [_figures(store, row) for row in rows]
    return sorted(figures, key=lambda figure: (-sum(figure.verdicts.values()), figure.host))


def _figures(store: Store, row: HostWalls) -> HostFigures:
    queue = read_queue(store, queue_id(row.queue))
    is_held = queue is not None and queue.state == QueueState.RETIRED
    examples = {
        wall: [_example(example) for example in list_] for wall, list_ in row.examples.items()
    }
    return HostFigures(
        row.host,
        row.queue,
        is_held and queue is not None and queue.why.startswith(HELD),
        iso_millis(row.first),
        iso_millis(row.last),
        row.totals,
        examples,
    )


def _example(example: WallExample) -> tuple[str, int, str]:
    return example.url, example.status, iso_millis(example.time)


class WallsReport(Report):
    """Replies that were no pages of their sites."""

    name = "walls"
    summary = "replies that were no pages: challenges, logins, refusals; of a URL: of its host"
    audience = Audience.OPERATOR
    subject = ReportSubject.EITHER

    def data(self, view: View, request: ReportRequest) -> WallFigures:
        """See `Report.data`."""
        settings = view.settings.fetch
        agent, name = fill_user_agent(settings.user_agent, settings.contact), host(request.url)
        return WallFigures(agent, settings.contact, name, wall_figures(view.store, name))

    def document(self, data: WallFigures, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        first = Section("", tuple(_notes(data)), facts=_facts(data), tables=(_host_table(data),))
        return ReportDocument("Replies that are no pages", (first, *map(_section, data.hosts)))


def _notes(data: WallFigures) -> Iterator[str]:
    if not data.hosts:
        yield (
            message("report.no-walls-of-host", "{host} replied with no wall.", host=data.host)
            if data.host
            else message("report.no-walls", "No reply of this job was a wall.")
        )
        return
    yield message(
        "report.walls-intro",
        "These replies were not the pages that were requested, but a challenge, a login or a "
        "refusal. They are stored, and never count as a change of a page, nor as its end.",
    )
    if data.host:
        yield message(
            "report.walls-owner",
            "For the owner of {host}: the crawler sends its name in each request and obeys "
            "robots.txt. If it may have these pages, admit its user agent; if not, robots.txt can "
            "say so.",
            host=data.host,
        )
    if any(figure.held for figure in data.hosts):
        yield message(
            "report.walls-held",
            "Nothing more is fetched of hosts that are held. `nacre frontier JOB wake --queue "
            "QUEUE` releases a queue.",
        )


def _facts(data: WallFigures) -> tuple[tuple[str, str], ...]:
    facts = (("User agent", data.agent),)
    return (*facts, ("Contact", data.contact)) if data.contact else facts


def _host_table(data: WallFigures) -> DataTable:
    columns = (
        Column("host", Format.NAME),
        Column("walls", Format.COUNT),
        Column("verdicts", Format.NAME),
        Column("held"),
        Column("first", Format.NAME),
        Column("last", Format.NAME),
        Column("queue", Format.NAME),
    )
    rows = tuple(
        (
            figure.host,
            sum(figure.verdicts.values()),
            ", ".join(f"{wall} {number}" for wall, number in sorted(figure.verdicts.items())),
            "yes" if figure.held else "no",
            figure.first,
            figure.last,
            figure.queue,
        )
        for figure in data.hosts
    )
    return DataTable("Hosts", columns, rows)


def _section(figures: HostFigures) -> Section:
    columns = (
        Column("verdict", Format.NAME),
        Column("meaning"),
        Column("URL", Format.URL),
        Column("status", Format.NUMBER),
        Column("time", Format.NAME),
    )
    rows = tuple(
        (wall, _MEANINGS.get(wall, ""), url, status, time)
        for wall, examples in sorted(figures.examples.items())
        for url, status, time in examples
    )
    return Section(figures.host, tables=(DataTable("Examples", columns, rows),))
