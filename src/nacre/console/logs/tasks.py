"""The tasks of a reader process that read logs: lines, and the past of a run."""

import msgspec

from nacre.console.logs.lines import LogPageQuery, wanted_lines
from nacre.console.logs.pages import LogPage, LogQuestion, log_path, read_page
from nacre.console.logs.progress import ProgressPast, read_past
from nacre.console.readers.task import reader_task
from nacre.store.layout import Layout


class PastRequest(msgspec.Struct, frozen=True):
    """The past of a run.

    Attributes:
        seconds: How far back before the last row of its log; None for all.
    """

    seconds: float | None


@reader_task("log-lines")
def find_lines(layout: Layout, query: LogPageQuery) -> LogPage:
    """Find the lines that pass the filters of a query; its `at` is not read.

    Raises:
        RefusedRequestError: There is no such log (404), or a filter is wrong (400).
    """
    question = LogQuestion(query.after, query.before, query.limit, wanted_lines(query))
    return read_page(log_path(layout, query.name, query.run), question)


@reader_task("progress")
def read_progress(layout: Layout, request: PastRequest) -> ProgressPast:
    """Read the past of the last run of a job."""
    return read_past(layout, request.seconds)
