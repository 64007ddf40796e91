"""Decides when a run is over: nothing is left to fetch, a limit is reached, or it was requested."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nacre.assembly.parts import EngineRecord
from nacre.assembly.records import RunRecords
from nacre.core.states import ExitStatus, JobState
from nacre.frontier.queues import QueueState
from nacre.job.monitors import BackgroundTask, DiskSpaceMonitor, LimitMonitor
from nacre.settings.settings import JobSettings

if TYPE_CHECKING:
    from nacre.recrawl.planning import Planning


@dataclass
class RunRequests:
    """The requests to a run by its operator and its parts.

    Attributes:
        exit: How it shall end, with the visits in process; None if it goes on.
        pauses: The reasons for which it is paused.
    """

    exit: ExitStatus | None = None
    pauses: set[str] = field(default_factory=set)


class EndMonitors(NamedTuple):
    """The monitors that can end a run.

    Attributes:
        limits: Limits of documents, bytes and time.
        space: Free space on the disk.
    """

    limits: LimitMonitor
    space: DiskSpaceMonitor


class RunEnd:
    """Decides when a run is over.

    Args:
        records: The parts of the run.
        crawling: Its engine.
        requests: The requests to it.
        monitors: The monitors that can end it.
        planning: The planner of an incremental run; None for another.
        tasks: Its background tasks, which may add URIs.
        is_unit: Whether it fetches a list, which comes to an end.
    """

    def __init__(  # noqa: PLR0913 - what decides together
        self,
        records: RunRecords,
        crawling: EngineRecord,
        requests: RunRequests,
        monitors: EndMonitors,
        planning: "Planning | None",
        tasks: Sequence[BackgroundTask],
        *,
        is_unit: bool,
    ) -> None:
        self._engine, self._unasked = crawling.engine, crawling.unasked
        self._frontier, self._fetcher = records.queues.frontier, records.fetching.fetcher
        self._storing, self._clock = records.storing, records.context.clock
        self._requests = requests
        self._monitors = monitors
        self._planning = planning
        self._tasks = tasks
        self._is_unit = is_unit
        self.configure(records.rules.settings)

    def configure(self, settings: JobSettings) -> None:
        """Apply changed settings."""
        is_endless = self._planning is None and not self._is_unit
        self._waits = settings.engine.run_while_empty and is_endless

    async def look(self, state: JobState) -> ExitStatus | JobState | None:
        """Return how the run ends, or its next state; None while it goes on as it is.

        Args:
            state: Its state.
        """
        if self._requests.exit is not None:
            return self._requests.exit
        if state is JobState.EMPTY:
            return self._look_at_empty()
        # Twice: while the planner thinks, an operator may add URLs.
        is_exhausted = self._is_done() and not await self._more() and await self._is_settled()
        if is_exhausted and not self._enter_traps():
            if not self._waits:
                return self._finish()
            if state is JobState.RUNNING:  # else a pause ends first
                return JobState.EMPTY
        if self._is_stuck():
            await self._more()
        limits, space = self._monitors
        waited = space.waited_too_long(self._clock.monotonic())
        return ExitStatus.DISK_WAIT if waited else limits.reached()

    def _look_at_empty(self) -> ExitStatus | JobState | None:
        """See `look`, for a run that waits for URIs."""
        if not self._waits or not self._is_done():
            return JobState.RUNNING
        self._storing.rotate_idle()
        return self._monitors.limits.reached()

    async def settle(self) -> None:
        """Wait until every connection is quiet, and handle unsolicited replies."""
        await self._fetcher.settle()
        self._unasked.settle()

    def _finish(self) -> ExitStatus:
        """Return how it ends when nothing is left; the end may have been requested meanwhile."""
        if self._requests.exit is not None:
            return self._requests.exit
        totals, traps = self._frontier.totals, self._frontier.traps
        rests = totals.states[QueueState.RETIRED] and traps.others_rest
        return ExitStatus.QUEUE_BUDGET if rests else ExitStatus.FINISHED

    def _enter_traps(self) -> bool:
        """Release some URLs of endless places, when nothing else is left."""
        traps = self._frontier.traps
        if self._requests.exit is not None or not traps.begin_round():
            return False
        self._engine.wake()
        return True

    async def _more(self) -> bool:
        """Let the planner of an incremental run add visits to the frontier; False if none came."""
        if self._planning is None or not await self._planning.more():
            return False
        self._engine.wake()
        return True

    def _is_done(self) -> bool:
        """Whether nothing waits, nothing is in process, and nothing is about to come in."""
        if self._requests.pauses or self._engine.busy or not self._frontier.is_empty:
            return False
        return not any(task.busy for task in self._tasks)

    async def _is_settled(self) -> bool:
        """Whether it is done, and no connection receives a reply that makes a capture suspect."""
        if self._is_done():
            await self.settle()
        return self._is_done()

    def _is_stuck(self) -> bool:
        """Whether the planner's visits wait for silent hosts, for which others need not wait."""
        if self._planning is None or not self._planning.wants_more:
            return False
        is_busy = self._requests.pauses or self._engine.busy
        return not is_busy and self._frontier.only_retries_remain
