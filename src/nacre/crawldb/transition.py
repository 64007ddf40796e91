"""Nutch's state machine: the state of a row after a visit, with waits by class of failure.

Source: Nutch, `CrawlDbReducer` (reference N 1.4). Differences, by the quirks listed there: the
count of failures saturates, the wait after a failure depends on its kind, and a URL that was
listed but not attempted keeps its state, with the reason.
"""

from enum import StrEnum
from typing import NamedTuple

from nacre.crawldb.revisits import RevisitSchedule, RowTiming
from nacre.crawldb.row import Status
from nacre.crawldb.settings import UpdateSettings
from nacre.planner.schedules.nutch import PageState

_MOST_RETRIES = 255
_HOUR_MS = 3_600_000
_MINUTES_MS = 600_000
_DAY_MS = 86_400_000


class FetchOutcome(StrEnum):
    """The end of a visit, in Nutch's fetch statuses."""

    SUCCESS = "success"
    NOT_MODIFIED = "notmodified"
    REDIR_TEMP = "redir_temp"
    REDIR_PERM = "redir_perm"
    GONE = "gone"
    RETRY = "retry"
    PARSE_FAILED = "parse_failed"
    NOT_ATTEMPTED = "not_attempted"


class StateRow(NamedTuple):
    """The columns of the group `state`, in their order; see `row.COLUMNS`."""

    status: int = int(Status.UNFETCHED)
    fetch_time: int = 0
    interval: int = 0
    fixed_interval: float | None = None
    retries: int = 0
    modified: int = 0
    signature: bytes | None = None
    last_status: int | None = None
    last_time: int | None = None
    last_reason: str | None = None
    evidence: bytes | None = None


class FinalVisit(NamedTuple):
    """A final visit.

    Attributes:
        status: Fetch status: of HTTP, or the crawler's own; 0: not attempted.
        time: When, µs since the epoch.
        signature: Signature of the content; None for none.
        modified: Last-Modified, ms since the epoch; 0 when unknown.
        retry_after: Retry-After of the server, s; None for none.
        mime: Media type; "" for none.
        soft_404: It is an error page with status 200.
        parse_failed: Its content could not be parsed.
        reason: Why it was not attempted; "" if it was.
    """

    status: int
    time: int
    signature: bytes | None = None
    modified: int = 0
    retry_after: float | None = None
    mime: str = ""
    soft_404: bool = False
    parse_failed: bool = False
    reason: str = ""


class StateChange(NamedTuple):
    """The change of a row by a visit.

    Attributes:
        state: Its new state; None for no change, as for an unknown URL that was not attempted.
        outcome: The end of the visit.
        no_duplicate: The row was a duplicate, and is none until the next `dedup`.
        purged: It is purged until a new link to it (`cycle.update.purge_gone`).
    """

    state: StateRow | None
    outcome: FetchOutcome
    no_duplicate: bool = False
    purged: bool = False


_TEMPORARY = frozenset((302, 303, 307))
_OF_SERVER = frozenset((408, 429))
_OF_NAMES = frozenset((-1, -6))
_OF_CONNECTIONS = frozenset((-2, -3, -4, 408))
_FAILURES = frozenset((-1, -2, -3, -4, -5, -6, -61, -62, -63, 999))
_REFUSED = frozenset((-7, -9998))


def outcome_of(status: int) -> FetchOutcome:
    """Return the end of a visit, by its fetch status.

    Args:
        status: Status of HTTP, or of `core.status`.
    """
    if 200 <= status < 300 or status == 1:
        return FetchOutcome.SUCCESS
    if status == 304:
        return FetchOutcome.NOT_MODIFIED
    if 300 <= status < 400:
        return FetchOutcome.REDIR_TEMP if status in _TEMPORARY else FetchOutcome.REDIR_PERM
    if status in _REFUSED or (400 <= status < 500 and status not in _OF_SERVER):
        return FetchOutcome.GONE
    if status in _FAILURES or status >= 100:
        return FetchOutcome.RETRY
    return FetchOutcome.NOT_ATTEMPTED


def transition(
    old: StateRow | None, visit: FinalVisit, schedule: RevisitSchedule, settings: UpdateSettings
) -> StateChange:
    """Return the state of a row after a visit.

    Args:
        old: The row before, as readers see it; None for an unknown URL, such as the target of a
            redirect.
        visit: The visit.
        schedule: When pages are visited again.
        settings: `cycle.update`.
    """
    outcome = _outcome(visit, settings)
    was_duplicate = old is not None and old.status == Status.DUPLICATE
    if outcome is FetchOutcome.NOT_ATTEMPTED:
        return StateChange(_not_attempted(old, visit), outcome)
    before = old or StateRow()
    at = visit.time // 1000
    if outcome is FetchOutcome.RETRY:
        state = _retry(before, visit, at, schedule, settings)
    elif outcome is FetchOutcome.GONE:
        state = _gone(before, at, schedule, Status.GONE)
    elif outcome is FetchOutcome.PARSE_FAILED:
        state = _gone(before, at, schedule, Status.PARSE_FAILED)
    else:
        state = _answer(before, visit, at, schedule, outcome)
    state = state._replace(
        retries=min(state.retries, _MOST_RETRIES),
        last_status=visit.status,
        last_time=visit.time,
        last_reason=None,
    )
    purged = settings.purge_gone and state.status == Status.GONE
    return StateChange(state, outcome, no_duplicate=was_duplicate, purged=purged)


def _outcome(visit: FinalVisit, settings: UpdateSettings) -> FetchOutcome:
    outcome = outcome_of(visit.status)
    if outcome is not FetchOutcome.SUCCESS:
        return outcome
    if visit.parse_failed:
        return FetchOutcome.PARSE_FAILED
    if visit.soft_404 and settings.soft_404 == "gone":
        return FetchOutcome.GONE
    return outcome


def _not_attempted(old: StateRow | None, visit: FinalVisit) -> StateRow | None:
    if old is None:
        return None
    # A duplicate is shown as such by its group; its state is that of a page that was fetched.
    status = Status.FETCHED if old.status == Status.DUPLICATE else old.status
    return old._replace(status=int(status), last_reason=visit.reason or "unattempted")


def _timed(row: StateRow, schedule: RevisitSchedule) -> RowTiming:
    return RowTiming(
        interval=row.interval or schedule.interval,
        fetch_time=row.fetch_time,
        modified=row.modified,
        retries=row.retries,
        fixed=row.fixed_interval or 0.0,
        last_time=(row.last_time or 0) // 1000,
        evidence=row.evidence or b"",
    )


def _with(row: StateRow, timed: RowTiming, status: Status) -> StateRow:
    return row._replace(
        status=int(status),
        fetch_time=timed.fetch_time,
        interval=timed.interval,
        retries=timed.retries,
        modified=timed.modified,
        evidence=timed.evidence or None,
    )


def _gone(row: StateRow, at: int, schedule: RevisitSchedule, status: Status) -> StateRow:
    return _with(row, schedule.gone(_timed(row, schedule), at), status)


def _retry(
    row: StateRow, visit: FinalVisit, at: int, schedule: RevisitSchedule, settings: UpdateSettings
) -> StateRow:
    timed = _timed(row, schedule)
    wait = _DAY_MS if settings.nutch_retry else retry_delay(visit, row.retries)
    timed = timed._replace(fetch_time=at + wait, retries=row.retries + 1)
    if timed.retries < settings.retry_max:
        return _with(row, timed, Status.UNFETCHED)
    return _with(row, schedule.gone(timed, at), Status.GONE)


def retry_delay(visit: FinalVisit, retries: int) -> int:
    """Return the wait after a failure, ms.

    Args:
        visit: The visit that failed.
        retries: Consecutive failures before this one.
    """
    if visit.status in {429, 503} and visit.retry_after is not None:
        return min(max(round(visit.retry_after * 1000), _MINUTES_MS // 10), 30 * _DAY_MS)
    doubled = 1 << min(retries, 8)
    if visit.status in _OF_NAMES:
        return min(_HOUR_MS * doubled, 7 * _DAY_MS)
    if visit.status in _OF_CONNECTIONS:
        return min(_MINUTES_MS * doubled, 7 * _DAY_MS)
    return _HOUR_MS


def _answer(
    row: StateRow, visit: FinalVisit, at: int, schedule: RevisitSchedule, outcome: FetchOutcome
) -> StateRow:
    """Return the state after a page, changed or not, or a redirect."""
    page_state, status = PageState.UNKNOWN, Status.FETCHED
    modified, signature = visit.modified or row.modified, visit.signature
    if outcome is FetchOutcome.NOT_MODIFIED:
        page_state, status = PageState.NOT_MODIFIED, Status.NOT_MODIFIED
        modified, signature = row.modified, row.signature
    elif outcome is FetchOutcome.REDIR_TEMP:
        status, signature = Status.REDIR_TEMP, None
    elif outcome is FetchOutcome.REDIR_PERM:
        status, signature = Status.REDIR_PERM, None
    elif row.signature is not None and signature is not None:
        page_state = PageState.MODIFIED
        if row.signature == signature:
            page_state, status, modified = PageState.NOT_MODIFIED, Status.NOT_MODIFIED, row.modified
    timed = _timed(row, schedule)._replace(modified=modified)
    timed = schedule.fetched(timed, at, page_state, visit.mime)
    forced = schedule.forced(timed)
    if forced is not None:
        # Its old capture may be deleted by now: the next visit must not find it unchanged.
        timed, status, signature = forced, Status.UNFETCHED, None
    return _with(row, timed, status)._replace(signature=signature)
