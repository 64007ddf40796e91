"""The state of a job in numbers: for the live view, `nacre status`, queues and programs."""

from collections.abc import Iterator, Sequence
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nacre.core.clock import Clock
from nacre.core.message_data import to_builtins
from nacre.core.states import CRASHED, ExitStatus, JobState
from nacre.core.status import cause
from nacre.engine.counters import (
    SEEDS,
    SEEDS_GOT,
    TIMEOUTS,
    TOO_DEEP,
    TOO_DEEP_POOR,
    alerts_counter,
    not_visited,
    untried_guesses,
)
from nacre.frontier.operator import why_it_waits
from nacre.frontier.policy import delay_limit
from nacre.frontier.queue_cache import read_queue, scan_queues
from nacre.frontier.queues import Queue, QueueRow, QueueState, Totals, read_totals
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import PolitenessSettings
from nacre.inspect.other_jobs import OtherJobs, QueueSharer, other_jobs, sharing_text
from nacre.messages import SEMICOLON, join
from nacre.report.statistics import CrawlTotals, totals
from nacre.runs.passes import next_pass
from nacre.runs.runs import RunRow
from nacre.scope.patterns.matching import Matcher
from nacre.store.file_table import warc_bytes_before
from nacre.store.store import Store
from nacre.uri.surt import queue_host

if TYPE_CHECKING:
    # Who only looks at a job loads nothing that crawls.
    from nacre.engine.engine import Engine
    from nacre.frontier.frontier import Frontier
    from nacre.inspect.view import View
    from nacre.job.session import Session


class JobOverview(msgspec.Struct, frozen=True):
    """The numbers of a job at one moment. Bytes are as received, heads included.

    Attributes:
        state: State of the job; how it ended when it does not run.
        why: Why it is paused; "" otherwise.
        run: Name of the run; "" before the first.
        started: Its first start, seconds since the epoch.
        elapsed: Seconds that it ran, pauses left out.
        discovered: Different URIs seen.
        queued: URIs that wait or are in process.
        retrying: Of these, the ones that wait for another try after a failure.
        finished: URIs with a final result.
        succeeded: Of these, with a reply.
        failed: Of these, without.
        failed_pages: Of those, URIs other than prerequisites (`dns:`, robots.txt).
        disregarded: Of these, denied by robots.txt and the like, or deleted.
        deleted: Of those, URIs that the operator deleted.
        readmitted: Of these, URIs that wait again because that was undone.
        untried: Guesses dropped without a fetch: they are done, and in none of the numbers above.
        documents: Replies with a document: status 200 to 299, robots.txt left out.
        html: Of these, HTML pages.
        unchanged: Replies 304.
        redirects: Replies that only led elsewhere.
        errors: Error replies, such as 404; those for robots.txt and for guesses left out.
        prerequisites: Replies that other URIs needed first (robots.txt).
        bytes: Bytes of all these replies.
        novel_bytes: Bytes stored in full.
        saved_documents: Replies that a revisit record was enough for.
        saved_bytes: Bytes that were not stored again for that reason.
        warc_bytes: Bytes of WARC that the run wrote.
        archive_bytes: Bytes of WARC of all runs.
        trapped: Of the documents, those of kinds that look like traps: nothing new, or no end.
        busy: Fetches in process.
        parallel: Fetches that may be in process; 0 when it does not run.
        worked: Seconds that all fetches took together since it began to run; 0 when it does not.
            What it grows by in a second is how many were in process on average.
        queues: Number of queues by state.
        timeouts: Matches of operators' expressions that took too long, and counted as none.
        trouble: What is waited for when nothing but further tries is left; "" otherwise.
        trouble_queue: Key of the queue of that; "" otherwise.
        next_try: Time of the next retry, seconds since the epoch; 0 while other URIs are queued,
            and if the retry is due.
        gives_up: When the last retried URI is given up, seconds since the epoch; 0 while other URIs
            are queued.
        alerts: Alerts raised in this run.
        next_pass: When the next pass of a crawl that never ends begins, seconds since the epoch; 0
            for none.
        next_why: Why then.
        policy: Order, budgets, quotas and bandwidth, in words.
        endless: URIs of endless places, which wait until nothing else is left.
        ended_at: When the run ended, seconds since the epoch; 0 while it runs, and after a crash.
        closed: The operator closed the run: it cannot be resumed.
        seeds: Seeds that the run meant to visit, counted at its end; 0 while it runs.
        seeds_got: Of these, the ones that were captured, or unchanged.
        too_deep: URLs that only the number of their hops keeps out of the scope, counted at the end
            of the run; 0 while it runs. Pages that only they link to were never seen.
        too_deep_poor: Of those, the ones of a kind whose last pages had nothing new: a trap?
        unvisited: Due pages that the budget of an incremental run left unvisited, counted at its
            end; 0 while it runs.
        held: Known URLs that an incremental run did not visit, because they lead into traps
            (`recrawl.trap_share`); 0 while it runs. Pages that only they link to were never seen.
        repeated: New URLs that it did not visit, because they differ from known pages in idle
            query parameters alone (`recrawl.idle_parameters`); 0 while it runs.
        faults: URIs that ended by an error of Nacre itself (-5), robots.txt included.
        unparsed: Replies that were too much for the parser: their links are not known.
        withheld: Replies that were not written to WARC for a preference (`rights.enforce`).
        browser_pages: Pages that were run in a browser.
        browser_requests: Replies to requests of these pages; they are not documents.
        browser_bytes: Bytes of these replies, heads included.
        recorded: Requests that a recording received, failures included. They are no URIs of a
            queue: `discovered` and `finished` leave them out.
        as_of: Time of the job's clock, which `--now` may have moved, seconds since the epoch; 0 if
            it does not run.
    """

    state: str
    why: str = ""
    run: str = ""
    started: float = 0.0
    elapsed: float = 0.0
    discovered: int = 0
    queued: int = 0
    retrying: int = 0
    finished: int = 0
    succeeded: int = 0
    failed: int = 0
    failed_pages: int = 0
    disregarded: int = 0
    deleted: int = 0
    readmitted: int = 0
    untried: int = 0
    documents: int = 0
    html: int = 0
    unchanged: int = 0
    redirects: int = 0
    errors: int = 0
    prerequisites: int = 0
    bytes: int = 0
    novel_bytes: int = 0
    saved_documents: int = 0
    saved_bytes: int = 0
    warc_bytes: int = 0
    archive_bytes: int = 0
    trapped: int = 0
    busy: int = 0
    parallel: int = 0
    worked: float = 0.0
    queues: dict[str, int] = {}
    alerts: int = 0
    timeouts: int = 0
    trouble: str = ""
    trouble_queue: str = ""
    next_try: float = 0.0
    gives_up: float = 0.0
    next_pass: float = 0.0
    next_why: str = ""
    policy: tuple[str, ...] = ()
    endless: int = 0
    ended_at: float = 0.0
    closed: bool = False
    seeds: int = 0
    seeds_got: int = 0
    too_deep: int = 0
    too_deep_poor: int = 0
    unvisited: int = 0
    held: int = 0
    repeated: int = 0
    faults: int = 0
    unparsed: int = 0
    withheld: int = 0
    browser_pages: int = 0
    browser_requests: int = 0
    browser_bytes: int = 0
    recorded: int = 0
    as_of: float = 0.0

    @property
    def refused(self) -> int:
        """The URIs that were disregarded, without those that the operator deleted."""
        return self.disregarded - self.deleted

    @property
    def left_deleted(self) -> int:
        """The URIs that the operator deleted, and that do not wait again."""
        return self.deleted - self.readmitted

    @property
    def active_hosts(self) -> int:
        """Queues that are being worked on, or could be."""
        return sum(self.queues.get(name, 0) for name in ("in_process", "snoozed", "ready"))


def live_overview(session: "Session") -> JobOverview:
    """The numbers of a running job."""
    # The settings, which a running job has anyhow.
    from nacre.inspect.reports.policy_text import policy_lines  # noqa: PLC0415 - slow

    scheduling, frontier, engine = session.scheduling, session.frontier, session.engine
    statistics, alerts, watch = session.statistics, session.logs.alerts, session.watch
    timeouts, pacer, clock = scheduling.timeouts, session.fetching.pacer, session.clock
    now, mono = clock.now(), clock.monotonic()
    trouble, queue = _trouble(frontier, session.storing.store)
    # While it is held nothing is tried, and the frontier is left alone.
    wait = frontier.next_wake(mono) if trouble and session.state is JobState.RUNNING else None
    fresh = _overview(
        frontier.totals,
        statistics.totals,
        session.run_row,
        scheduling.speculation.untried,
    )
    return msgspec.structs.replace(
        fresh,
        state=str(session.state),
        why=session.why,
        elapsed=watch.elapsed,
        warc_bytes=session.storing.written,
        archive_bytes=session.storing.before + session.storing.written,
        busy=engine.busy,
        parallel=engine.parallel,
        worked=engine.worked,
        alerts=alerts.total,
        timeouts=timeouts.total,
        trouble=trouble,
        trouble_queue=queue,
        next_try=now + wait if wait and not engine.busy else 0.0,
        gives_up=frontier.last_until(now, mono) or 0.0,
        policy=tuple(policy_lines(session.settings, pacer.pace)),
        as_of=now,
    )


def _trouble(frontier: "Frontier", store: Store) -> tuple[str, str]:
    """One of the URIs that are tried again, once only such are left, and its queue; else "", ""."""
    from nacre.frontier.pending import pending  # noqa: PLC0415 - with the frontier's settings

    if not frontier.only_retries_remain:
        return "", ""
    entry = next((entry for entry in pending(store) if entry.uri.attempts), None)
    if entry is None:
        return "", ""
    uri = entry.uri
    reason = cause(uri.last_status, uri.last_error)
    return f"{uri.url}: {reason} ({uri.last_status}, try {uri.attempts})", uri.queue


def stored_overview(store: Store, run: RunRow | None) -> JobOverview:
    """The numbers of a job that does not run, as last committed."""
    if run is None:
        return JobOverview("NASCENT")
    fresh = _overview(read_totals(store), totals(store), run, untried_guesses(store))
    state = CRASHED if run.exit is ExitStatus.NONE else str(run.exit)
    following, unvisited = next_pass(store), not_visited(store, run.number)
    return msgspec.structs.replace(
        fresh,
        state=state,
        ended_at=run.ended,
        closed=run.closed,
        next_pass=following.time if following else 0.0,
        next_why=following.reason if following else "",
        warc_bytes=store.counter("warc.total"),
        archive_bytes=warc_bytes_before(store, run.name) + store.counter("warc.total"),
        timeouts=store.counter(TIMEOUTS),
        alerts=store.counter(alerts_counter(run.name)),
        seeds=store.counter(SEEDS),
        seeds_got=store.counter(SEEDS_GOT),
        too_deep=store.counter(TOO_DEEP),
        too_deep_poor=store.counter(TOO_DEEP_POOR),
        **unvisited._asdict(),
    )


def _overview(frontier: Totals, tally: CrawlTotals, run: RunRow, untried: int) -> JobOverview:
    return JobOverview(
        state="",
        run=run.name,
        started=run.started,
        elapsed=run.elapsed,
        discovered=frontier.discovered,
        queued=frontier.queued,
        endless=frontier.endless,
        retrying=frontier.stuck,
        finished=frontier.finished,
        succeeded=frontier.succeeded,
        failed=frontier.failed,
        failed_pages=tally.failed_pages,
        disregarded=frontier.disregarded - untried,
        untried=untried,
        deleted=tally.deleted,
        readmitted=tally.readmitted,
        documents=tally.documents,
        html=tally.html,
        trapped=tally.trapped,
        unchanged=tally.unchanged,
        redirects=tally.redirects,
        errors=tally.errors,
        prerequisites=tally.prerequisites,
        bytes=tally.size,
        novel_bytes=tally.novel_bytes,
        saved_documents=tally.duplicate_urls + tally.not_modified_urls,
        saved_bytes=tally.duplicate_bytes + tally.not_modified_bytes,
        faults=tally.faults,
        unparsed=tally.unparsed,
        withheld=tally.withheld,
        browser_pages=tally.rendered_pages,
        browser_requests=tally.page_requests,
        browser_bytes=tally.page_bytes,
        recorded=tally.recorded,
        queues={state.name.lower(): frontier.states[state] for state in QueueState},
    )


class SlowQueue(msgspec.Struct, frozen=True):
    """A queue that takes long.

    Attributes:
        name: Queue key.
        pending: URIs in it.
        delay: Its politeness delay, seconds.
        needs: Seconds that it needs at that delay and at its usual latency.
        alone: Its site asks for a Crawl-delay: one fetch at a time.
        backoff: Factor of its adaptive backoff after refusals; 1 for none.
        host: The host, where it is the queue of one; else the name.
        cause: What decided its delay: a value of `DelayCause`.
        most: Longest delay of this cause, seconds; 0 if no setting of politeness bounds it.
    """

    name: str
    pending: int
    delay: float
    needs: float
    alone: bool = False
    backoff: float = 1.0
    host: str = ""
    cause: str = ""
    most: float = 0.0


def slowest_queues(frontier: "Frontier", number: int = 5) -> list[SlowQueue]:
    """The queues in memory that will take longest at their present delay."""
    politeness = frontier.queue_states.settings.politeness
    queues = (_slow(queue, politeness[queue.overlay]) for queue in frontier.queues_in_memory())
    return nlargest(number, (slow for slow in queues if slow.needs), key=lambda slow: slow.needs)


def _slow(queue: Queue, politeness: PolitenessSettings) -> SlowQueue:
    row = queue.row
    pending = row.size + row.waiting
    needs = pending * (row.delay + row.latency / 1000)
    host = queue_host(row.name)
    most = delay_limit(politeness, row.cause)
    return SlowQueue(
        row.name, pending, row.delay, needs, row.alone, row.backoff, host, row.cause, most
    )


def name_sharers(root: Path, slowest: Sequence[dict[str, Any]], clock: Clock) -> None:
    """Add to each queue of an answer to `status` which other jobs fetch from its host.

    It is for the process that asked: a crawl does not look into the stores of other jobs.

    Args:
        root: The job's directory.
        slowest: Its slowest queues (`SlowQueue`); `sharers` is added (`QueueSharer`).
        clock: The time.
    """
    if slowest:
        with other_jobs(root, clock) as jobs:
            for queue in slowest:
                queue["sharers"] = to_builtins(jobs.sharers(str(queue["name"])))


class FetchInProcess(msgspec.Struct, frozen=True):
    """A visit in process: its URL, and since how many seconds."""

    url: str
    seconds: float


def longest_fetches(engine: "Engine", clock: Clock, number: int = 5) -> list[FetchInProcess]:
    """The visits that have been in process for longest."""
    mono = clock.monotonic()
    visits = list(engine.current.values())
    busy = (FetchInProcess(visit.uri.url, max(mono - visit.started, 0.0)) for visit in visits)
    return nlargest(number, busy, key=lambda fetching: fetching.seconds)


class StoredQueue(msgspec.Struct, frozen=True, rename={"reason": "why"}):
    """A queue as last committed.

    Attributes:
        queue: Its key.
        state: Its state in words.
        reason: Why it waits; "" if it does not.
        sharers: Other jobs that fetch from its host.
        pending: URIs that wait.
        retrying: Of these, the ones that wait for another try.
        precedence: Its precedence.
        spent: Cost of its URIs so far.
        budget: The limit of that; None for no limit.
        balance: Cost that it may spend before the next queue has its turn.
        successes: URIs fetched with success.
        failures: URIs that failed.
        delay: Its last politeness delay, seconds; 0 before the first fetch.
        backoff: Factor of its adaptive backoff; 1 for none.
        shares: Addresses of its host that other queues have, too; "" for none.
        last: URL handed out last.
    """

    queue: str
    state: str
    reason: str
    sharers: tuple[QueueSharer, ...]
    pending: int
    retrying: int
    precedence: int
    spent: int
    budget: int | None
    balance: int
    successes: int
    failures: int
    delay: float
    backoff: float
    shares: str
    last: str


def queue_facts(view: "View", matches: Matcher) -> Iterator[StoredQueue]:
    """The facts of each queue whose key matches, as last committed."""
    with other_jobs(view.layout.root, view.clock) as jobs:
        for row in scan_queues(view.store):
            if matches(row.name):
                yield _facts(view, row, jobs)


def facts_of(view: "View", name: str) -> StoredQueue | None:
    """The facts of one queue; None when there is none of that name."""
    row = read_queue(view.store, queue_id(name))
    if row is None:
        return None
    with other_jobs(view.layout.root, view.clock) as jobs:
        return _facts(view, row, jobs)


def _facts(view: "View", row: QueueRow, jobs: OtherJobs) -> StoredQueue:
    settings = view.settings.frontier
    budget = settings.queue_total_budget
    sharers = jobs.sharers(row.name)
    reasons = (why_it_waits(row, settings), *map(sharing_text, sharers))
    return StoredQueue(
        queue=row.name,
        state=QueueState(row.state).name.lower().replace("_", " "),
        reason=join(reasons, *SEMICOLON),
        sharers=tuple(sharers),
        pending=row.size + row.waiting,
        retrying=row.retrying,
        precedence=row.precedence,
        spent=row.spent,
        budget=budget if budget >= 0 else None,
        balance=row.balance,
        successes=row.successes,
        failures=row.errors,
        delay=row.delay,
        backoff=row.backoff,
        shares=row.group,
        last=row.last_peek,
    )
