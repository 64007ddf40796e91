"""What the job tells its reports: seeds, queues, workers, out of its store and its parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.config.effective import fixed
from nacre.core.cause import with_tries
from nacre.core.clock import Clock
from nacre.core.stamp import iso_millis
from nacre.frontier.queues import QueueRow, State
from nacre.frontier.roster import scan_queues
from nacre.frontier.totals import read_totals
from nacre.job.admission.identity import Identity, canonicalizer
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.counters import untried_guesses
from nacre.job.reports.seedends import SeedEnds
from nacre.job.runrow import RunRow
from nacre.job.seeding.seedbook import seed_rows
from nacre.job.states import CRASHED, ExitStatus
from nacre.job.visit.outcomes import Outcomes
from nacre.report.material import QueueFacts, RunFacts, SeedFacts, ToeFacts
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.job.assemble import Parts


class Live(NamedTuple):
    """What only a running job knows, as it was at one moment.

    Attributes:
        parallel: Number of workers.
        toes: Those at work.
        offset: What the clock is ahead of frontier time, seconds.
    """

    parallel: int
    toes: Sequence[ToeFacts]
    offset: float


def live_facts(parts: "Parts") -> Live:
    """What the parts of a running job are at."""
    mono, engine = parts.clock.monotonic(), parts.engine
    toes = [
        ToeFacts(
            toe,
            visit.uri.url,
            visit.uri.path,
            visit.uri.via,
            visit.uri.attempts,
            visit.step,
            round(max(mono - visit.started, 0.0), 3),
        )
        for toe, visit in sorted(engine.current.items())
    ]
    parallel = engine.parallel if engine.at_work else 0
    return Live(parallel, toes, parts.frontier.clock_offset(parts.clock.now()))


class JobMaterial:
    """See `report.material.Material`.

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
        live: Live | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.store = store
        self.scratch = scratch
        self._settings = settings
        self._clock = clock or SystemClock()
        self._run = run
        self._runs = live is not None
        self._live = live or Live(0, (), 0.0)
        self._facts: RunFacts | None = None

    def facts(self) -> RunFacts:
        """See `Material.facts`; found once."""
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
        """See `Material.seeds`; redirect targets are seeds as well."""
        settings = self._settings
        identity = Identity(canonicalizer(settings.uri), fixed(settings.frontier))
        outcomes, ends = Outcomes(self.store), SeedEnds(self.store, identity)
        targets = {row.redirect_from: row.url for row in seed_rows(self.store) if row.redirect_from}
        for row in seed_rows(self.store):
            outcome = outcomes.get(identity.key(row.url))
            status = outcome.status if outcome else 0
            end = ends.why(row.url, outcome)
            again = _stamp(end.next_try) if end.next_try else None
            why = with_tries(end.cause, end.tries)
            yield SeedFacts(row.url, status, targets.get(row.url, ""), why, again or "")

    def remaining(self) -> Iterator[tuple[str, int]]:
        """See `Material.remaining`."""
        for row in scan_queues(self.store):
            waiting = row.size + row.waiting
            if waiting:
                yield queue_host(row.name), waiting

    def queue_states(self) -> dict[str, int]:
        """See `Material.queue_states`."""
        states = read_totals(self.store).states
        return {state.name.lower(): states[state] for state in State}

    def queues(self) -> Iterator[QueueFacts]:
        """See `Material.queues`."""
        budget = self._settings.frontier.queue_total_budget
        for row in scan_queues(self.store):
            yield queue_facts(row, budget, self._live.offset)

    def parallel(self) -> int:
        """See `Material.parallel`."""
        return self._live.parallel

    def toes(self) -> Sequence[ToeFacts]:
        """See `Material.toes`."""
        return self._live.toes


def queue_host(queue: str) -> str:
    """The host of a queue key: `com,example,www,#8080` is of `www.example.com`."""
    name = queue.partition("#")[0]
    if not name.endswith(","):
        return name
    return ".".join(reversed(name[:-1].split(",")))


def queue_facts(row: QueueRow, budget: int, offset: float = 0.0) -> QueueFacts:
    """What there is to tell of a queue.

    Args:
        row: The queue, as last saved.
        budget: What a queue may spend; negative for no limit.
        offset: What the clock is ahead of frontier time, seconds (`Frontier.clock_offset`).
    """
    return QueueFacts(
        queue=row.name,
        state=State(row.state).name.lower(),
        precedence=row.precedence,
        current_size=row.size + row.waiting,
        total_enqueues=row.enqueued,
        session_balance=row.balance,
        last_cost=row.last_cost,
        average_cost=row.spent / row.costs if row.costs else 0.0,
        last_dequeue_time=_stamp(row.last_dequeue),
        wake_time=_stamp(row.wake + offset) if row.state is State.SNOOZED else None,
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
