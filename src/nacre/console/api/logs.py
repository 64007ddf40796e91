"""`/api/v1/jobs/J/logs`: the logs of a run, and their lines by bytes."""

import asyncio
import re
from typing import Final

import msgspec

from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.logs.lines import LogFilter, wanted_lines
from nacre.console.logs.pages import (
    LogLine,
    LogPage,
    LogQuestion,
    log_names,
    log_path,
    place_at,
    read_page,
)
from nacre.console.problems import RefusedRequestError
from nacre.core.clock import iso
from nacre.frontier.pending import any_text
from nacre.messages import message
from nacre.ops.fields import LineText, LogLines, ShortText, Whole
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields

_MOMENT: Final = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?", re.ASCII)


class LogsQuery(msgspec.Struct, frozen=True):
    """The run whose logs are listed.

    Attributes:
        run: Its name; "" for the last one.
    """

    run: ShortText = ""


class LogFile(msgspec.Struct, frozen=True):
    """A log: its name in URLs, and its bytes."""

    name: str
    size: int


class LogList(msgspec.Struct, frozen=True):
    """The logs of a run; `items` are by name, those that a checkpoint renamed last."""

    items: tuple[LogFile, ...]
    next: None = None
    as_of: str = ""


class LogQuery(LogsQuery, frozen=True, kw_only=True):
    """The lines that are wanted of a log.

    Attributes:
        after: Byte behind which they begin; the oldest of these come first.
        before: Byte before which they end; without it and `after` the end of the file.
        at: Moment at which they begin, where no byte is named: the beginning of a time in UTC, such
            as `2026-11-24T02:12`.
        limit: Number of lines, 1 to 1000.
        match: A regular expression (RE2) that is found in the line.
        status: Statuses with commas between, such as `404,5xx,-2,failed,refused`.
        host: The host of the URL, or one above it.
        mime: The beginning of the media type.
        annotation: An annotation, or the beginning of one.
    """

    after: Whole | None = None
    before: Whole | None = None
    at: ShortText = ""
    limit: LogLines = 100
    match: LineText = ""
    status: LineText = ""
    host: LineText = ""
    mime: ShortText = ""
    annotation: LineText = ""

    @property
    def filter(self) -> LogFilter:
        """Its filters."""
        return LogFilter(self.match, self.status, self.host, self.mime, self.annotation)


class LogItem(msgspec.Struct, frozen=True):
    """A line of a log.

    Attributes:
        offset: Byte at which it begins.
        text: It, without its end.
        fields: Its fields where it is one of crawl.log; null for another.
    """

    offset: int
    text: str
    fields: CrawlLogFields | None


class LogLineList(msgspec.Struct, frozen=True):
    """Some lines of a log.

    Attributes:
        items: They, in the order of the file.
        next: The `after` of the lines behind them.
        previous: The `before` of the lines before them; null at the beginning of the file.
        size: Bytes of the file.
        searched: Bytes that were looked through.
        is_cut: The search stopped early; it goes on from `next` or `previous`.
        stamp: Changes when the file is another one.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[LogItem, ...]
    next: int
    previous: int | None
    size: int
    searched: int
    is_cut: bool
    stamp: str
    as_of: str


async def list_logs(call: Call) -> LogList:
    """The logs of a run."""
    query: LogsQuery = call.query
    job = call.job()
    if query.run:
        log_path(job.layout, "crawl", query.run)
    found = await asyncio.to_thread(log_names, job.layout, query.run)
    items = tuple(LogFile(name, size) for name, size in found)
    return LogList(items, as_of=iso(call.services.clock.now()))


async def get_log(call: Call) -> LogLineList:
    """Some lines of a log."""
    page = await log_page(call, call.job(), str(call.request.path_params["log"]), call.query)
    items = tuple(
        LogItem(line.offset, line.text, crawl_log_fields(line.text)) for line in page.lines
    )
    return LogLineList(
        items, page.end, page.start or None, page.size, page.searched, page.is_cut, page.stamp,
        iso(call.services.clock.now()),
    )  # fmt: skip


async def log_page(call: Call, job: FoundJob, name: str, query: LogQuery) -> LogPage:
    """A page of a log; what is searched is searched by a reader process.

    Raises:
        RefusedRequestError: There is no such log (404), or a filter is wrong (400).
    """
    wanted_lines(query.filter)
    moment = moment_of(query.at)
    path = await asyncio.to_thread(log_path, job.layout, name, query.run)
    if moment and query.after is None and query.before is None:
        after = await asyncio.to_thread(place_at, path, moment)
        query = msgspec.structs.replace(query, after=after)
    if query.filter.is_empty:
        asked = LogQuestion(query.after, query.before, query.limit, any_text)
        return await asyncio.to_thread(read_page, path, asked)
    found = await call.services.readers.ask(
        "log-lines", job.layout.root, name=name, run=query.run, after=query.after,
        before=query.before, limit=query.limit, filter=msgspec.to_builtins(query.filter),
    )  # fmt: skip
    return msgspec.convert(found, LogPage)


def moment_of(text: str) -> str:
    """The beginning of a time as lines of logs have it; "" for none (pure).

    Raises:
        RefusedRequestError: It is none (400).
    """
    given = text.strip().replace(" ", "T").removesuffix("Z")
    if given and not _MOMENT.fullmatch(given):
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.time-format",
                "{text!r} is no time; write it as 2026-11-24T02:12, in UTC",
                text=text,
            ),
        )
    return given


class AlertItem(msgspec.Struct, frozen=True):
    """An alert: the byte of alerts.log at which its line begins, its time, and its text."""

    offset: int
    time: str
    text: str


class AlertList(msgspec.Struct, frozen=True):
    """Alerts of the last run.

    Attributes:
        items: The alerts, the newest last.
        next: The `before` of older ones; null for none.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[AlertItem, ...]
    next: int | None
    as_of: str


class AlertsQuery(msgspec.Struct, frozen=True):
    """The alerts that are wanted.

    Attributes:
        before: Byte of alerts.log before which they are; null for the newest.
        limit: Number of alerts, 1 to 1000.
    """

    before: Whole | None = None
    limit: LogLines = 50


async def list_alerts(call: Call) -> AlertList:
    """The alerts of a job's last run."""
    query: AlertsQuery = call.query
    job, now = call.job(), iso(call.services.clock.now())
    try:
        asked = LogQuery(before=query.before, limit=query.limit)
        page = await log_page(call, job, "alerts", asked)
    except RefusedRequestError as error:
        if error.status != 404:
            raise
        return AlertList((), None, now)
    items = tuple(alert_item(line) for line in page.lines)
    return AlertList(items, page.start or None, now)


def alert_item(line: LogLine) -> AlertItem:
    """An alert of a line: `TIME LEVEL TEXT`."""
    time, _, rest = line.text.partition(" ")
    return AlertItem(line.offset, time, rest.partition(" ")[2])
