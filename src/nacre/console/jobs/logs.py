"""`/api/v1/jobs/J/logs`: the logs of a run, and their lines by bytes."""

import asyncio
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlencode

import msgspec

from nacre.console.admin.quotas import quota_items
from nacre.console.call import JobCall, PageAnswer
from nacre.console.forms import offered_runs
from nacre.console.logs.lines import (
    CRAWL,
    LogPageQuery,
    LogQuery,
    LogsQuery,
    wanted_lines,
)
from nacre.console.logs.pages import (
    LogLine,
    LogQuestion,
    log_names,
    log_path,
    place_at,
    read_page,
    runs_with_logs,
)
from nacre.console.logs.progress import find_lines
from nacre.console.logs.tails import LogPosition
from nacre.console.task_answers import ask
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.job.quotas import QuotaLevel
from nacre.messages import message
from nacre.ops.fields import LogLines, ShortText, Whole
from nacre.ops.operation import Role
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields
from nacre.scope.patterns.matching import any_text
from nacre.web.workers.pool import PATIENCE

_MOMENT: Final = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,6})?)?)?)?)?)?", re.ASCII)


class LogFile(msgspec.Struct, frozen=True):
    """A log: its name in URLs, and its bytes."""

    name: str
    size: int


class LogList(msgspec.Struct, frozen=True):
    """The logs of a run; `items` are by name, those that a checkpoint renamed last."""

    items: tuple[LogFile, ...]
    next: None = None
    as_of: str = ""


class LogItem(msgspec.Struct, frozen=True):
    """A line of a log.

    Attributes:
        offset: Byte at which it begins.
        text: It, without its end.
        fields: Its fields if it is one of crawl.log; null for another.
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
        is_cut: The search stopped early; it resumes at `next` or `previous`.
        stamp: Changes when the file is replaced.
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


async def list_logs(call: JobCall) -> LogList:
    """List the logs of a run."""
    query: LogsQuery = call.query
    job = call.job()
    if query.run:
        log_path(job.layout, CRAWL, query.run)
    names = await asyncio.to_thread(log_names, job.layout, query.run)
    return LogList(tuple(LogFile(name, size) for name, size in names), as_of=call.now)


async def get_log(call: JobCall) -> LogLineList:
    """Return some lines of a log."""
    name = str(call.params["log"])
    return await read_log(call, LogPageQuery(**msgspec.structs.asdict(call.query), name=name))


async def read_log(call: JobCall, query: LogPageQuery) -> LogLineList:
    """Read some lines of a log of the job of the path; a reader process searches it.

    Raises:
        RefusedRequestError: There is no such log (404), or a filter is wrong (400).
    """
    wanted_lines(query)
    moment, layout = moment_of(query.at), call.job().layout
    path = await asyncio.to_thread(log_path, layout, query.name, query.run)
    if moment and query.after is None and query.before is None:
        after = await asyncio.to_thread(place_at, path, moment)
        query = msgspec.structs.replace(query, after=after)
    if query.has_filter:
        page = await ask(call, find_lines, query, PATIENCE)
    else:
        question = LogQuestion(query.after, query.before, query.limit, any_text)
        page = await asyncio.to_thread(read_page, path, question)
    return LogLineList(
        log_items(page.lines), page.end, page.start or None, page.size, page.searched, page.is_cut,
        page.stamp, call.now,
    )  # fmt: skip


def log_items(lines: Iterable[LogLine]) -> tuple[LogItem, ...]:
    """Return lines with their fields."""
    return tuple(LogItem(line.offset, line.text, crawl_log_fields(line.text)) for line in lines)


def moment_of(text: str) -> str:
    """The beginning of a time as lines of logs have it; "" for none (pure).

    Raises:
        RefusedRequestError: It is none (400).
    """
    moment = text.strip().replace(" ", "T").removesuffix("Z")
    if moment and not _MOMENT.fullmatch(moment):
        raise RefusedRequestError(
            400,
            "bad-query",
            message(
                "console.time-format",
                "{text!r} is no time; write it as 2026-11-24T02:12, in UTC",
                text=text,
            ),
        )
    return moment


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
    """The query of a page of alerts.

    Attributes:
        before: Byte offset in alerts.log before which the alerts are; null for the newest.
        limit: Number of alerts, 1 to 1000.
    """

    before: Whole | None = None
    limit: LogLines = 50


async def list_alerts(call: JobCall) -> AlertList:
    """List the alerts of a job's last run."""
    query: AlertsQuery = call.query
    try:
        page = await read_log(
            call, LogPageQuery(name="alerts", before=query.before, limit=query.limit)
        )
    except RefusedRequestError as error:
        if error.status != 404:
            raise
        return AlertList((), None, call.now)
    return AlertList(tuple(map(alert_item, page.items)), page.previous, page.as_of)


def alert_item(line: LogLine | LogItem) -> AlertItem:
    """An alert of a line: `TIME LEVEL TEXT`."""
    time, _, message = line.text.partition(" ")
    return AlertItem(line.offset, time, message.partition(" ")[2])


ROWS: Final = 200
"""Lines of the page of a log."""
_LIKE_CRAWL: Final = frozenset((CRAWL, "nonfatal-errors"))
"""Logs whose lines have the fields of crawl.log."""


class LogTailQuery(LogQuery, frozen=True, kw_only=True):
    """The query of a stream of rows.

    Attributes:
        seen: Position up to which the page has the lines, in the notation of the stream.
    """

    seen: ShortText = ""


def in_columns(name: str) -> bool:
    """Whether a log is shown in columns."""
    return name.partition(".")[0] in _LIKE_CRAWL


async def log_page(call: JobCall) -> PageAnswer:
    """Show a log of a run, the newest lines at the end; that of the last run grows."""
    query: LogPageQuery = call.query
    layout = call.job().layout
    runs = await asyncio.to_thread(runs_with_logs, layout)
    if query.run and query.run not in runs:
        raise not_found(message("console.run-with-logs", "run {run} with logs", run=query.run))
    names = await asyncio.to_thread(log_names, layout, query.run)
    facts: dict[str, object] = {
        "names": names, "columns": in_columns(query.name), "refused": "", "found": None, "rows": (),
        "older": "", "newer": "", "tail": "", "position": "", "lacks": False,
        "runs": offered_runs(runs, query.run),
    }  # fmt: skip
    if query.run and names and query.name not in {name for name, _ in names}:
        # Who goes from run to run with one log comes to a run that did not write it.
        return PageAnswer("log.html", {**facts, "lacks": True}, 404)
    try:
        page = await read_log(call, msgspec.structs.replace(query, limit=ROWS))
    except RefusedRequestError as error:
        # The page shows an error of a filter next to the filters; a job that never ran has no logs.
        if error.status != 400 and names:
            raise
        facts["refused"] = str(error) if error.status == 400 else ""
        return PageAnswer("log.html", facts)
    filters = {name: value for name in _FILTERS if (value := getattr(query, name))}
    facts |= {
        "found": page,
        "rows": page.items,
        "older": urlencode({**filters, "before": page.previous}) if page.previous else "",
        "newer": urlencode({**filters, "after": page.next}) if page.next < page.size else "",
    }
    if query.before is None and not query.run and page.size - page.next < 1 << 16:
        facts["tail"] = urlencode(filters)
        facts["position"] = str(LogPosition(page.stamp, page.next))
    return PageAnswer("log.html", facts)


_FILTERS: Final = ("name", "run", "match", "status", "host", "mime", "annotation")


MOST_JOBS: Final = 50
"""Jobs on the page; those whose alerts are the newest come first."""
ALERTS_OF_JOB: Final = 5


async def alerts_page(call: JobCall) -> PageAnswer:
    """Show the last alerts of each job, the newest first, and the console's own problems."""
    jobs = [
        job for job, snapshot in call.snapshots() if snapshot.overview and snapshot.overview.alerts
    ]
    alerts = await asyncio.to_thread(lambda: [(job.id, last_alerts(job)) for job in jobs])
    alerts.sort(key=lambda row: row[1][0].time if row[1] else "", reverse=True)
    quotas = [
        item for item in quota_items(call, call.parts.books.quotas) if item.level != QuotaLevel.FREE
    ]
    own = call.parts.troubles.all() if call.identity.role >= Role.ADMIN else []
    return PageAnswer("alerts.html", {"found": alerts[:MOST_JOBS], "quotas": quotas, "own": own})


def last_alerts(job: FoundJob) -> list[AlertItem]:
    """The last alerts of a job, the newest first; none if there is no log."""
    try:
        question = LogQuestion(None, None, ALERTS_OF_JOB, any_text)
        lines = read_page(log_path(job.layout, "alerts"), question).lines
    except RefusedRequestError:
        return []
    return [alert_item(line) for line in reversed(lines)]
