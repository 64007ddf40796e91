"""A job that runs in this process, as it is looked at."""

import resource
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path

from nacre.assembly.records import RunRecords
from nacre.assembly.rules import JobRules
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.processor import Visit
from nacre.engine.candidates.candidates import Candidates
from nacre.engine.candidates.identity import Identity
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.engine import Engine
from nacre.engine.seeding.seedbook import SeedBook
from nacre.frontier.frontier import Frontier
from nacre.frontier.queues import QueueRow, QueueState
from nacre.inspect.view import LiveFigures, ToeFacts
from nacre.report.progress import ProgressCounts
from nacre.report.statistics import CrawlTotals, Statistics
from nacre.scope.scope import Scope
from nacre.settings.sheets import Sheets

_PAGE = resource.getpagesize()


class LiveJob:
    """See `view.RunningJob`; it also gives progress-statistics.log and the reports their numbers.

    Args:
        rules: What decides under which settings a URI is crawled.
        identity: Gives the keys and queues of URLs.
        candidates: Judge links.
        seeds: The seeds.
        frontier: The frontier.
        statistics: The counts of fetches.
        engine: The engine.
        clock: The time.
    """

    def __init__(  # noqa: PLR0913 - what can be looked at
        self,
        *,
        rules: JobRules,
        identity: Identity,
        candidates: Candidates,
        seeds: SeedBook,
        frontier: Frontier,
        statistics: Statistics,
        engine: Engine,
        clock: Clock,
    ) -> None:
        self._rules = rules
        self._identity = identity
        self._candidates = candidates
        self._seeds = seeds
        self._frontier = frontier
        self._statistics = statistics
        self._engine = engine
        self._clock = clock

    @property
    def identity(self) -> Identity:
        """See `RunningJob`."""
        return self._identity

    @property
    def scope(self) -> Effective[Scope]:
        """See `RunningJob`."""
        return self._candidates.scope

    @property
    def seeds(self) -> SeedBook:
        """See `RunningJob`."""
        return self._seeds

    @property
    def sheets(self) -> Sheets:
        """See `RunningJob`."""
        return self._rules.sheets

    @property
    def rule_files(self) -> RuleFiles:
        """See `RunningJob`."""
        return self._rules.rule_files

    @property
    def totals(self) -> CrawlTotals:
        """The totals of the run so far."""
        return self._statistics.totals

    def in_process(self) -> list[Visit]:
        """See `RunningJob`."""
        visits = self._engine.current
        return list(visits.values())

    def queue(self, name: str) -> tuple[QueueRow, float] | None:
        """See `RunningJob`."""
        queue = self._frontier.queue_in_memory(name)
        if queue is None:
            return None
        return queue.row, max(queue.wake - self._clock.monotonic(), 0.0)

    def figures(self) -> LiveFigures:
        """See `RunningJob`."""
        clock, engine = self._clock, self._engine
        mono = clock.monotonic()
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
        return LiveFigures(parallel, toes, self._frontier.clock_offset(clock.now()))

    def counts(self) -> ProgressCounts:
        """The counts of progress-statistics.log."""
        totals = self._frontier.totals
        states = totals.states
        working = states[QueueState.IN_PROCESS] + states[QueueState.SNOOZED]
        able = working + states[QueueState.READY] + states[QueueState.INACTIVE]
        filled = able + states[QueueState.RETIRED]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        memory = _resident() or peak
        return ProgressCounts(
            discovered=totals.discovered,
            queued=totals.queued,
            failed=totals.failed,
            busy=self._engine.busy,
            congestion=_ratio(able, working),
            deepest=max((row.size + row.waiting for row in self._rows()), default=0),
            average=totals.queued // filled if filled else 0,
            memory=memory,
            peak=max(peak, memory),
        )

    def _rows(self) -> Iterator[QueueRow]:
        return (queue.row for queue in self._frontier.queues_in_memory())


def live_job(records: RunRecords, engine: Engine) -> LiveJob:
    """A job that runs, from the records of its run."""
    scheduling, queues = records.scheduling, records.queues
    return LiveJob(
        rules=records.rules,
        identity=queues.identity,
        candidates=scheduling.candidates,
        seeds=scheduling.seeds,
        frontier=queues.frontier,
        statistics=records.reporting.statistics,
        engine=engine,
        clock=records.context.clock,
    )


def _ratio(able: int, working: int) -> float:
    if working:
        return able / working
    return inf if able else nan


def _resident() -> int:
    """Resident memory now, KB; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * _PAGE // 1024
