"""Convert the timings of pages between a continuous crawl and rows.

With `recrawl.schedule.kind: worth` a timing is the evidence of the change rate of a page; with
another kind its interval and due time.

Timings of another kind of schedule are ignored: these pages start again.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.crawldb.revisits import ChangeRateRevisits, RowTiming, revisits_of
from nacre.crawldb.row import Status
from nacre.crawldb.transition import FetchOutcome, FinalVisit, outcome_of, transition
from nacre.planner.change_detection.deletion import Life
from nacre.planner.learning import kind_of
from nacre.planner.visited import unknown_page
from nacre.recrawl.pagestore import TIMINGS, PageStore, scan
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

WORTH = "worth"
_MOST_MS = 1 << 53


class VisitPlan(NamedTuple):
    """The state of a URL that a continuous crawl has visited once.

    Attributes:
        status: Its `Status`.
        wait: Time until the next fetch, ms; None for that of an existing page.
        interval: Its interval, s; None for the default.
    """

    status: int
    wait: int | None = None
    interval: int | None = None


_STATUSES = {
    FetchOutcome.SUCCESS: Status.FETCHED,
    FetchOutcome.NOT_MODIFIED: Status.NOT_MODIFIED,
    FetchOutcome.REDIR_TEMP: Status.REDIR_TEMP,
    FetchOutcome.REDIR_PERM: Status.REDIR_PERM,
    FetchOutcome.NOT_ATTEMPTED: Status.UNFETCHED,
}


class VisitPlans:
    """Makes plans for fetch statuses with the state machine of rounds, as for a first visit.

    Args:
        settings: The settings of the rounds.
    """

    def __init__(self, settings: JobSettings) -> None:
        self._schedule = revisits_of(settings.recrawl.schedule, {})
        self._update = settings.cycle.update
        self._made: dict[int, VisitPlan] = {}

    def of(self, code: int) -> VisitPlan:
        """Return the plan after a visit with a fetch status."""
        plan = self._made.get(code)
        if plan is None:
            plan = self._made[code] = self._plan(code)
        return plan

    def _plan(self, code: int) -> VisitPlan:
        status = _STATUSES.get(outcome_of(code))
        if status is not None:
            return VisitPlan(int(status))
        state = transition(None, FinalVisit(code, 0), self._schedule, self._update).state
        if state is None:
            return VisitPlan(int(Status.UNFETCHED))
        return VisitPlan(state.status, state.fetch_time, state.interval)


class RevisitTimings(NamedTuple):
    """Reads learned timings from a store.

    Attributes:
        kind: The schedule that the rows are for.
        worth: Converts evidence to a timing; None for another kind.
    """

    kind: str
    worth: ChangeRateRevisits | None

    def of(self, store: Store) -> Iterator[tuple[str, RowTiming]]:
        """URLs with their timing.

        Args:
            store: The store.
        """
        if self.worth is not None:
            for page in PageStore(store).scan():
                last = round(page.last_visit * 1000)
                if page.evidence and last > 0:
                    changed = round(page.last_change * 1000)
                    timed = RowTiming(self.worth.interval, modified=changed or last, last_time=last)
                    yield page.url, self.worth.learned(timed, page.evidence)
            return
        decode = msgspec.msgpack.Decoder(TimingRow).decode
        for _, value in scan(store, TIMINGS):
            row = decode(value)
            if row.kind == self.kind and row.interval > 0:
                due = row.due * 1000
                yield (
                    row.url,
                    RowTiming(
                        min(round(row.interval), 2**31 - 1),
                        round(due) if math.isfinite(due) and 0 < due < _MOST_MS else _MOST_MS,
                        round(row.modified * 1000),
                        min(row.retries, 255),
                    ),
                )


def revisit_timings(settings: JobSettings) -> RevisitTimings:
    """The reader of timings under the schedule of a job."""
    schedule = revisits_of(settings.recrawl.schedule, {})
    worth = schedule if isinstance(schedule, ChangeRateRevisits) else None
    return RevisitTimings(settings.recrawl.schedule.kind, worth)


_LIVES = {
    Status.FETCHED: Life.LIVE, Status.NOT_MODIFIED: Life.LIVE, Status.DUPLICATE: Life.LIVE,
    Status.GONE: Life.GONE, Status.REDIR_TEMP: Life.MOVED, Status.REDIR_PERM: Life.MOVED,
}  # fmt: skip
"""The state of the page for statuses that a recrawl knows."""
_EMBEDDED = "E"


def page_row(row: Mapping[str, Any], url: str) -> PageRow | None:
    """Return the page for a recrawl; None for a row that was not visited, or without a reply.

    Args:
        row: The row: `status`, `last_time`, `digest`, `length`, `path`, `mime`, `modified`,
            `evidence`.
        url: Its URL.
    """
    life = _LIVES.get(row["status"])
    if life is None or not row["last_time"]:
        return None
    path, visited = row["path"] or "", row["last_time"] / 1e6
    kind = PageKind.EMBED if path.endswith(_EMBEDDED) else kind_of(row["mime"] or "")
    page = unknown_page(url, visited, len(path), kind)
    changed = row["modified"] / 1000 if row["evidence"] else 0.0
    page.answered(visited, changed=False)
    page.live(life.value, visited if life is not Life.LIVE else 0.0, 0, "")
    page.showed(row["digest"] or "", row["length"] or 0, None)
    page.rated(row["evidence"] or b"")
    page.last_change = changed
    return page


def timing_row(row: Mapping[str, Any], url: str, kind: str) -> TimingRow | None:
    """The timing of a row for a continuous crawl; None for a row that was not visited.

    Args:
        row: The row: `last_time`, `interval`, `fetch_time`, `modified`, `retries`, `mime`.
        url: Its URL.
        kind: The schedule; `worth` has none.
    """
    if kind == WORTH or not row["last_time"]:
        return None
    return TimingRow(
        url,
        kind,
        visited=row["last_time"] / 1e6,
        interval=float(row["interval"]),
        due=row["fetch_time"] / 1000,
        modified=row["modified"] / 1000,
        retries=row["retries"],
        mime=row["mime"] or "",
    )
