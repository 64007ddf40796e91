"""The data of reports of a run: seeds, queues and workers, from store and running job."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from nacre.config.effective import fixed
from nacre.core.clock import Clock, iso_millis
from nacre.core.states import CRASHED, ExitStatus
from nacre.core.status import with_tries
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.counters import untried_guesses
from nacre.engine.outcomes import Outcomes
from nacre.engine.seeding.seedbook import redirect_targets, seed_rows
from nacre.frontier.queue_cache import scan_queues
from nacre.frontier.queues import QueueRow, QueueState, read_totals
from nacre.inspect.reports.seed_outcomes import SeedOutcomes
from nacre.inspect.view import LiveFigures, ToeFacts
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.runs.runs import RunRow, read_run
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from nacre.uri.surt import queue_host

Data = dict[str, Any]
"""A report, or one row of it; JSON types only."""


class RunFacts(NamedTuple):
    """A run, in numbers.

    Attributes:
        job: Name of the job.
        run: Name of the run.
        status: How it ended, or `RUNNING`; `CRASHED` where it was cut off without an end.
        started: Seconds since the epoch.
        elapsed: Seconds that it ran, pauses left out.
        seeds_crawled: Seeds with a reply.
        seeds_uncrawled: The others.
        discovered: Different URIs seen.
        queued: URIs that wait.
        finished: URIs with a final result.
        succeeded: Of these, with a reply.
        failed: Of these, without.
        disregarded: Of these, denied by robots.txt and the like.
        untried: Guesses let go before they were tried, in none of these numbers.
        now: Time of these data, seconds since the epoch.
    """

    job: str
    run: str
    status: str
    started: float
    elapsed: float
    seeds_crawled: int
    seeds_uncrawled: int
    discovered: int
    queued: int
    finished: int
    succeeded: int
    failed: int
    disregarded: int
    untried: int = 0
    now: float = 0.0


class SeedFacts(NamedTuple):
    """The facts about a seed and its outcome.

    Attributes:
        url: Its URL.
        status: Fetch status of its last result; 0 before.
        redirect: The URL that it redirected to and that became a seed too; "" for none.
        cause: Why it was not got, in words, and how often it was tried; "" when it was.
        next_try: When it is tried again, ISO 8601; "" when nothing says so.
    """

    url: str
    status: int
    redirect: str
    cause: str = ""
    next_try: str = ""


class QueueFacts(NamedTuple):
    """A queue. Source of the columns: Heritrix 3, `WorkQueue`.

    Attributes:
        queue: Queue key.
        state: Name of its state, lower case.
        precedence: Lower ones are activated first.
        current_size: URIs in it, those that wait for another try included.
        total_enqueues: URIs ever put in.
        session_balance: What it may spend before another queue takes its turn.
        last_cost: The last charge.
        average_cost: The average charge.
        last_dequeue_time: Time of the last hand-out, ISO 8601; None for never.
        wake_time: It waits until then, ISO 8601; None when it does not.
        total_spend: What it spent.
        total_budget: What it may spend; negative for no limit.
        error_count: Final failures.
        last_peek_uri: URL handed out last; "" for none.
        last_queued_uri: URL put in last; "" for none.
    """

    queue: str
    state: str
    precedence: int
    current_size: int
    total_enqueues: int
    session_balance: int
    last_cost: int
    average_cost: float
    last_dequeue_time: str | None
    wake_time: str | None
    total_spend: int
    total_budget: int
    error_count: int
    last_peek_uri: str
    last_queued_uri: str


class ReportSource(Protocol):
    """Asked only for what a report needs. Everything is as last committed, but for the workers."""

    @property
    def store(self) -> Store:
        """The store with the statistics."""
        ...

    @property
    def scratch(self) -> Path | None:
        """Directory for temporary files; None for the system's."""
        ...

    def facts(self) -> RunFacts:
        """The run; looks every seed up."""
        ...

    def seeds(self) -> Iterable[SeedFacts]:
        """All seeds."""
        ...

    def remaining(self) -> Iterable[tuple[str, int]]:
        """Host and number of URIs that wait, in no order; a host may come several times."""
        ...

    def queue_states(self) -> dict[str, int]:
        """Number of queues by name of their state."""
        ...

    def queues(self) -> Iterable[QueueFacts]:
        """All queues, in no order that means anything."""
        ...

    def parallel(self) -> int:
        """Workers; 0 when the job does not run."""
        ...

    def toes(self) -> Sequence[ToeFacts]:
        """The workers that are busy, by number."""
        ...


class JobReportSource:
    """The `ReportSource` of a job.

    Args:
        store: The job's store, or a checkpoint of it.
        settings: The job's settings.
        run: The run.
        live: What the running job is at; None when it does not run.
        scratch: Directory for temporary files; None for the system's.
        clock: The time of the reports; None for the machine's.
    """

    def __init__(
        self,
        store: Store,
        settings: JobSettings,
        run: RunRow,
        *,
        clock: Clock | None = None,
        live: LiveFigures | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.store = store
        self.scratch = scratch
        self._settings = settings
        self._clock = clock or SystemClock()
        self._run = run
        self._runs = live is not None
        self._live = live or LiveFigures(0, (), 0.0)
        self._facts: RunFacts | None = None

    def facts(self) -> RunFacts:
        """See `ReportSource.facts`; found once."""
        if self._facts is None:
            self._facts = self._find_facts()
        return self._facts

    def _find_facts(self) -> RunFacts:
        frontier, run = read_totals(self.store), self._run
        untried = untried_guesses(self.store)
        crawled = total = 0
        for seed in self.seeds():
            total += 1
            crawled += seed.status > 0
        return RunFacts(
            job=self._settings.name,
            run=run.name,
            status=str(run.exit) if self._runs or run.exit is not ExitStatus.NONE else CRASHED,
            started=run.started,
            elapsed=run.elapsed,
            seeds_crawled=crawled,
            seeds_uncrawled=total - crawled,
            discovered=frontier.discovered,
            queued=frontier.queued,
            finished=frontier.finished - untried,
            succeeded=frontier.succeeded,
            failed=frontier.failed,
            disregarded=frontier.disregarded - untried,
            untried=untried,
            now=self._clock.now(),
        )

    def seeds(self) -> Iterator[SeedFacts]:
        """See `ReportSource.seeds`; redirect targets are seeds as well.

        Of a seed without a scheme whose https cannot be reached there is the http URL.
        """
        settings = self._settings
        identity = Identity(canonicalizer(settings.uri), fixed(settings.frontier))
        outcomes, ends = Outcomes(self.store), SeedOutcomes(self.store, identity)
        targets = redirect_targets(self.store)
        replaced = {row.stands_in_for for row in seed_rows(self.store) if row.stands_in_for}
        for row in seed_rows(self.store):
            if row.url in replaced:
                continue
            outcome = outcomes.get(identity.key(row.url))
            status = outcome.status if outcome else 0
            end = ends.outcome_of(row.url, outcome)
            again = _stamp(end.next_try) if end.next_try else None
            reason = "; ".join(filter(None, (with_tries(end.cause, end.tries), end.dead_text)))
            target = targets.get(row.url)
            yield SeedFacts(row.url, status, target.url if target else "", reason, again or "")

    def remaining(self) -> Iterator[tuple[str, int]]:
        """See `ReportSource.remaining`."""
        for row in scan_queues(self.store):
            waiting = row.size + row.waiting
            if waiting:
                yield queue_host(row.name), waiting

    def queue_states(self) -> dict[str, int]:
        """See `ReportSource.queue_states`."""
        states = read_totals(self.store).states
        return {state.name.lower(): states[state] for state in QueueState}

    def queues(self) -> Iterator[QueueFacts]:
        """See `ReportSource.queues`."""
        frontier = self._settings.frontier
        budget = frontier.queue_total_budget
        for row in scan_queues(self.store):
            yield queue_facts(row, budget, self._live.offset)

    def parallel(self) -> int:
        """See `ReportSource.parallel`."""
        return self._live.parallel

    def toes(self) -> Sequence[ToeFacts]:
        """See `ReportSource.toes`."""
        return self._live.toes


def queue_facts(row: QueueRow, budget: int, offset: float = 0.0) -> QueueFacts:
    """The facts of a queue.

    Args:
        row: The queue, as last saved.
        budget: What a queue may spend; negative for no limit.
        offset: What the clock is ahead of frontier time, seconds (`Frontier.clock_offset`).
    """
    return QueueFacts(
        queue=row.name,
        state=QueueState(row.state).name.lower(),
        precedence=row.precedence,
        current_size=row.size + row.waiting,
        total_enqueues=row.enqueued,
        session_balance=row.balance,
        last_cost=row.last_cost,
        average_cost=row.spent / row.costs if row.costs else 0.0,
        last_dequeue_time=_stamp(row.last_dequeue),
        wake_time=_stamp(row.wake + offset) if row.state is QueueState.SNOOZED else None,
        total_spend=row.spent,
        total_budget=budget,
        error_count=row.errors,
        last_peek_uri=row.last_peek,
        last_queued_uri=row.last_queued,
    )


def _stamp(seconds: float) -> str | None:
    """ISO 8601 to the millisecond, UTC; None for never or for what no calendar holds."""
    if not 0 < seconds < 253_402_300_800:
        return None
    return iso_millis(seconds)


def source_of(
    store: Store, layout: Layout, settings: JobSettings, live: LiveFigures | None
) -> JobReportSource:
    """The source of the reports of a job.

    Args:
        store: The job's store, or a checkpoint of it.
        layout: The job's directories.
        settings: The job's settings.
        live: What the running job is at; None when it does not run.

    Raises:
        JobError: The job never ran.
    """
    run = read_run(store)
    if run is None:
        raise layout.never_ran()
    # Only a running job has its scratch directory for sure, and the right to write there.
    return JobReportSource(
        store, settings, run, live=live, scratch=layout.scratch if live else None
    )
