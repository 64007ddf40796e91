"""The runs of a job, with what each got and found."""

from collections.abc import Mapping
from typing import Final

import msgspec

from nacre.console.links import cursor_of, place_of
from nacre.core.clock import iso
from nacre.inspect.analysis.page_history import found_by
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.machine.layout import Layout
from nacre.ops.fields import Cursor, RowCount
from nacre.report.statistics import CrawlTotals, totals
from nacre.runs.runs import RunRow, all_runs
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import VIEWS


class RunItem(msgspec.Struct, frozen=True):
    """A run.

    Attributes:
        name: Its directory.
        number: From 1.
        mode: `full` or `incremental`.
        started: When, RFC 3339.
        ended: The same; "" while it runs.
        elapsed: Seconds that it ran.
        exit: How it ended; RUNNING while it runs, or after a crash.
        budget: What it might spend; "" for no limit.
        keep: What of its visits is stored in full.
        got: Its replies and failures: `documents`, `errors`, `redirects`, `unchanged` (304),
            `failed`; {} where an earlier run has left no summary.
        found: Its pages by the result of a comparison with earlier runs; {} if there was none: for
            the first run, and for a full run until the next incremental run.
        closed: It was ended for good.
    """

    name: str
    number: int
    mode: str
    started: str
    ended: str
    elapsed: float
    exit: str
    budget: str
    keep: str
    got: dict[str, int]
    found: dict[str, int]
    closed: bool


class RunsQuery(msgspec.Struct, frozen=True):
    """The place in the list of runs.

    Attributes:
        after: `next` of the page before; "" for the newest ones.
        limit: Runs on a page, 1 to 500.
    """

    after: Cursor = ""
    limit: RowCount = 50


class RunList(msgspec.Struct, frozen=True):
    """A page of runs, the newest first.

    Attributes:
        items: The items.
        as_of: The moment of these data, RFC 3339.
        next: The `after` of the next page; null for none.
    """

    items: tuple[RunItem, ...]
    as_of: str
    next: str | None = None


@reader_task("runs")
def list_runs(layout: Layout, query: RunsQuery) -> RunList:
    """Read a page of the runs, the newest first, with what each got and found.

    Raises:
        RefusedRequestError: The cursor is none (400).
    """
    after = max(place_of(query.after, int) or 0, 0)
    with VIEWS.looking(layout) as view:
        rows = [row for row in all_runs(view.store) if not row.fresh]
        older = [row for row in reversed(rows) if not after or row.number < after]
        runs = older[: query.limit]
        items = []
        for row in runs:
            got = _got(totals(view.store)) if row is rows[-1] else _got_before(layout, row)
            page = found_by(view.store, row) if row.number > 1 else {}
            items.append(_item(row, got, page))
        following = cursor_of(runs[-1].number) if len(older) > query.limit else None
        return RunList(tuple(items), iso(view.as_of), following)


def _item(row: RunRow, got: dict[str, int], numbers: dict[str, int]) -> RunItem:
    ended = iso(row.ended) if row.ended else ""
    return RunItem(
        row.name, row.number, row.mode, iso(row.started), ended, row.elapsed, str(row.exit),
        row.budget, row.keep, got, numbers, row.closed,
    )  # fmt: skip


def _got(tally: CrawlTotals) -> dict[str, int]:
    """The replies and failures of the last run by kind."""
    return {
        "documents": tally.documents, "errors": tally.errors, "redirects": tally.redirects,
        "unchanged": tally.unchanged, "failed": tally.failed_pages,
    }  # fmt: skip


_KEPT: Final[Mapping[str, str]] = {
    "documents": "documents",
    "errors": "error_replies",
    "redirects": "redirects",
    "unchanged": "not_modified_uris",
    "failed": "failed_pages",
}
_LARGE: Final = 1 << 20


def _got_before(layout: Layout, row: RunRow) -> dict[str, int]:
    """Return the counts of an earlier run from its summary; {} if that cannot be read.

    The store has only the counts of the last run.
    """
    path = layout.run(row.name) / "reports" / CrawlSummaryReport.file
    try:
        with path.with_suffix(".json").open("rb") as file:
            numbers = msgspec.json.decode(file.read(_LARGE), type=dict[str, object])
    except (OSError, msgspec.MsgspecError):
        return {}
    values = {name: numbers.get(key) for name, key in _KEPT.items()}
    return {name: value for name, value in values.items() if isinstance(value, int)}
