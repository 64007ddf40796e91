"""`/j/J/log`: a log of a run, with filters; without script it is read page by page."""

import asyncio
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlencode

from nacre.console.api.logs import LogQuery, log_page
from nacre.console.call import Call, PageAnswer
from nacre.console.forms import offered_runs
from nacre.console.live.tails import LogPosition
from nacre.console.logs.pages import LogLine, log_names, runs_with_logs
from nacre.console.problems import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.report.log_fields import CrawlLogFields, crawl_log_fields

ROWS: Final = 200
CRAWL: Final = "crawl"
_LIKE_CRAWL: Final = frozenset((CRAWL, "nonfatal-errors"))
"""Logs whose lines have the fields of crawl.log."""


class LogPageQuery(LogQuery, frozen=True, kw_only=True):
    """The query of the page.

    Attributes:
        name: Name of the log.
    """

    name: ShortText = CRAWL


class LogTailQuery(LogQuery, frozen=True, kw_only=True):
    """The query of a stream of rows.

    Attributes:
        seen: The place up to which the page has the lines, as the stream names it.
    """

    seen: ShortText = ""


class LogRow(NamedTuple):
    """A row of the table.

    Attributes:
        offset: Byte at which its line begins.
        text: The line.
        fields: Its fields; None where it has none.
    """

    offset: int
    text: str
    fields: CrawlLogFields | None


def rows(lines: Iterable[LogLine]) -> list[LogRow]:
    """The rows of lines."""
    return [LogRow(line.offset, line.text, crawl_log_fields(line.text)) for line in lines]


def in_columns(name: str) -> bool:
    """Whether a log is shown in columns."""
    return name.partition(".")[0] in _LIKE_CRAWL


async def page(call: Call) -> PageAnswer:
    """A log of a run, the newest lines at the end; that of the last run grows."""
    query: LogPageQuery = call.query
    job = call.job()
    runs = await asyncio.to_thread(runs_with_logs, job.layout)
    if query.run and query.run not in runs:
        raise not_found(message("console.run-with-logs", "run {run} with logs", run=query.run))
    names = await asyncio.to_thread(log_names, job.layout, query.run)
    facts = {
        "job": job.id, "query": query, "names": names, "columns": in_columns(query.name),
        "refused": "", "found": None, "rows": [], "older": "", "newer": "", "tail": "",
        "position": "", "runs": offered_runs(runs, query.run), "lacks": False,
    }  # fmt: skip
    if query.run and names and query.name not in {name for name, _ in names}:
        # Who goes from run to run with one log comes to a run that did not write it.
        return PageAnswer("log.html", {**facts, "lacks": True}, 404)
    try:
        found = await log_page(call, job, query.name, _limited(query))
    except RefusedRequestError as error:
        # A wrong filter is said beside the filters; a job that never ran has no logs.
        if error.status != 400 and names:
            raise
        facts["refused"] = str(error) if error.status == 400 else ""
        return PageAnswer("log.html", facts)
    filters = _given(query)
    facts |= {
        "found": found,
        "rows": rows(found.lines),
        "older": urlencode({**filters, "before": found.start}) if found.start else "",
        "newer": urlencode({**filters, "after": found.end}) if found.end < found.size else "",
    }
    if query.before is None and not query.run and found.size - found.end < 1 << 16:
        facts["tail"] = urlencode(filters)
        facts["position"] = str(LogPosition(found.stamp, found.end))
    return PageAnswer("log.html", facts)


def _limited(query: LogPageQuery) -> LogQuery:
    values = {name: getattr(query, name) for name in LogQuery.__struct_fields__}
    return LogQuery(**{**values, "limit": ROWS})


_FILTERS: Final = ("name", "run", "match", "status", "host", "mime", "annotation")


def _given(query: LogPageQuery) -> dict[str, str]:
    """The filters that are set."""
    return {name: value for name in _FILTERS if (value := getattr(query, name))}
