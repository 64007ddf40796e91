"""Runs a job from the command line: signals, progress, the socket, the exit code."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field

from nacre.cli import process
from nacre.cli.display import Display
from nacre.cli.output import count
from nacre.job.events import ActionTaken, Alert, Event, StateChanged
from nacre.job.job import Job
from nacre.job.operator.commands import serving
from nacre.job.operator.control import running
from nacre.job.operator.overview import Overview, live_overview
from nacre.job.reports.reporting import all_seeds, run_counts
from nacre.job.reports.seedends import SeedTally
from nacre.job.runs.newrun import INCREMENTAL
from nacre.job.session import Session
from nacre.job.states import (
    ExitCode,
    ExitStatus,
    JobState,
    RunCounts,
    SeedsEnd,
    exit_code,
)
from nacre.report.stats import rows
from nacre.store.recovery import Start

_TICK = 0.25


@dataclass
class Result:
    """How a run ended.

    Attributes:
        exit: Why.
        overview: The last numbers; None when it never came to run.
        counts: What the exit code depends on.
        seeds: The seeds in numbers; with those that were not got, and why.
        statuses: Replies by status; None where the store is to be asked, after a recrawl.
    """

    exit: ExitStatus
    overview: Overview | None = None
    counts: RunCounts = field(default_factory=RunCounts)
    seeds: SeedTally = field(default_factory=SeedTally)
    statuses: dict[int, int] | None = None

    @property
    def fetched(self) -> bool:
        """At least one seed had a reply."""
        return self.counts.seeds is not SeedsEnd.NO_REPLY

    @property
    def code(self) -> ExitCode:
        """Exit code of the process."""
        return exit_code(self.exit, self.counts)


def run_job(job: Job, display: Display, start: Start) -> Result:
    """Run or resume a job to its end, or until a signal."""
    return process.run(_Runner(job, display).run(start))


class _Runner:
    """One run in this process."""

    def __init__(self, job: Job, display: Display) -> None:
        self._job = job
        self._display = display
        self._signals = 0
        self._task: asyncio.Task[ExitStatus] | None = None
        self._result = Result(ExitStatus.INTERRUPTED)

    async def run(self, start: Start) -> Result:
        """Run it."""
        job = self._job
        unsubscribe = job.events.subscribe(self._heard)
        self._display.start()
        try:
            with self._signals_caught():
                async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
                    self._task = group.create_task(job.run(start), name="job")
                    ticker = group.create_task(self._ticks(stack), name="ticks")
                    self._task.add_done_callback(lambda _: ticker.cancel())
            self._result.exit = self._ended()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._display.stop()
            unsubscribe()
        return self._result

    def _ended(self) -> ExitStatus:
        task = self._task
        if task is None or task.cancelled():
            return ExitStatus.INTERRUPTED
        return task.result()

    async def _ticks(self, stack: AsyncExitStack) -> None:
        """Serve commands once the job holds its lock, or waits for space; show how it goes."""
        serves = False
        while True:
            session = self._job.session
            if not serves and (session is not None or self._may_serve_early()):
                await stack.enter_async_context(serving(self._job))
                serves = True
            if session is not None:
                self._display.tick(session)
            await asyncio.sleep(_TICK)

    def _may_serve_early(self) -> bool:
        """It waits for space, and no other process runs the job."""
        return self._job.waits_for_space and not running(self._job.layout.socket)

    # ---- what happens

    def _heard(self, event: Event) -> None:
        if isinstance(event, Alert):
            self._display.message("alert", event.message)
        elif isinstance(event, ActionTaken):
            self._display.message("action", f"{event.name}: {event.message}")
        elif isinstance(event, StateChanged):
            self._changed(event)

    def _changed(self, event: StateChanged) -> None:
        session = self._job.session
        if event.new is JobState.FINISHED and session is not None:
            self._result.overview = live_overview(session)
            store, identity = session.parts.store, session.parts.identity
            seeds = all_seeds(store, identity)
            got = session.parts.statistics.totals
            self._result.seeds = seeds
            self._result.counts = run_counts(session.run_row, seeds, got)
            if session.run_row.mode != INCREMENTAL:
                self._result.statuses = _statuses(session)
            self._display.ended(session)
        why = f": {event.why}" if event.why else ""
        self._display.message("state", f"{event.old} -> {event.new}{why}")
        if event.new is JobState.PAUSED and event.old is JobState.PREPARING:
            text = f"paused before the first fetch ({event.why}): `nacre resume JOB` begins"
            self._display.message("start", text)
        if event.new is JobState.RUNNING and event.old is JobState.PREPARING and session:
            self._display.message("start", _beginning(session))

    # ---- signals

    @contextmanager
    def _signals_caught(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._signalled)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _signalled(self) -> None:
        """The first finishes cleanly, the second at once; both leave a job that can go on."""
        self._signals += 1
        session = self._job.session
        if session is None:
            self._display.message("signal", "ends")
            if self._task is not None:
                self._task.cancel()
        elif self._signals == 1:
            self._display.message("signal", _ending(session.parts.engine.busy))
            session.stop(ExitStatus.INTERRUPTED)
        else:
            self._display.message("signal", "ends at once")
            session.abandon()


def _statuses(session: Session) -> dict[int, int]:
    """Replies by status. The store need not be opened again for them, which takes 40 ms."""
    parts = session.parts
    parts.statistics.seal()
    found = ((int(status), tally.urls) for status, tally in rows(parts.store, "status"))
    return {status: number for status, number in found if status >= 100}


def _ending(busy: int) -> str:
    """What the first signal does."""
    first = f": {count(busy, 'fetch', 'fetches')} in process will be finished" if busy else ""
    return f"ending{first}; once more ends at once"


def _beginning(session: Session) -> str:
    """The first line of a run: what begins or goes on."""
    run, totals = session.run_row, session.parts.frontier.totals
    if totals.finished or run.elapsed:
        done, waiting = f"{totals.finished:,} URIs are done", f"{totals.queued:,} wait"
        return f"goes on with run {run.name}: {done}, {waiting}"
    if run.mode == INCREMENTAL:
        return f"incremental run {run.name} begins"
    return f"run {run.name} begins with {count(totals.queued, 'URI')}"
