"""Runs a job from the command line: checkpoint, signals, progress, socket, exit code."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace

from nacre.cli import process
from nacre.cli.output import count, format_path, tell, to_copy, typed
from nacre.cli.progress import Display, display_for
from nacre.cli.summary import say_finished, summarize
from nacre.core.clock import Clock
from nacre.core.events import ActionTaken, Alert, Event, StateChanged
from nacre.core.states import ExitStatus, JobState
from nacre.errors import JobError
from nacre.inspect.view import is_finished, latest_time
from nacre.job.commands import asking, serve_commands
from nacre.job.control import BY, PEER, is_running
from nacre.job.job import Job
from nacre.job.monitors import BackgroundTask
from nacre.job.session import Session
from nacre.machine.clock import MovedClock, SystemClock
from nacre.machine.layout import Layout
from nacre.machine.local_files import make_private
from nacre.ops.run_end import RunResult, run_result
from nacre.ops.starts import require_later
from nacre.runs.manifest import OriginOf
from nacre.runs.runs import INCREMENTAL, set_back_warning
from nacre.settings.load import load_job
from nacre.settings.settings import JobSettings

_TICK = 0.25
"""Seconds between two looks whether the job can answer commands."""


def run_job(job: Job, display: Display, *, accept_loss: bool = False, by: str = "") -> RunResult:
    """Run or resume a job to its end, or until a signal.

    Args:
        job: The job.
        display: Shows the progress.
        accept_loss: Continue although archived data is missing.
        by: The user, for job.log; "" for the user of this process.
    """
    return process.run(_Runner(job, display, by).run(accept_loss=accept_loss))


def run_new(
    layout: Layout, settings: JobSettings, clock: Clock, *, quiet: bool, as_json: bool
) -> RunResult:
    """Run a job that never ran, to its end or until a signal; its summary is not printed.

    Raises:
        JobError: `--now` is before the end of its last run.
    """
    _check_time(layout, clock)
    make_private(layout.state)
    watched, origin = sys.stderr.isatty(), load_job(layout).origin
    job = Job(layout.root, settings, clock=clock, on_terminal=watched, origin=origin)
    return run_job(job, display_for(clock, quiet=quiet, as_json=as_json))


class _Runner:
    """One run in this process."""

    def __init__(self, job: Job, display: Display, by: str = "") -> None:
        self._job = job
        self._by = by
        self._display = display
        self._signals = 0
        self._task: asyncio.Task[ExitStatus] | None = None
        self._result = RunResult(ExitStatus.INTERRUPTED)

    async def run(self, *, accept_loss: bool) -> RunResult:
        """Run it."""
        job = self._job
        unsubscribe = job.events.subscribe(self._receive)
        self._display.start()
        try:
            with self._signals_caught():
                async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
                    self._task = group.create_task(job.run(accept_loss=accept_loss), name="job")
                    ticker = group.create_task(self._ticks(stack), name="ticks")
                    self._task.add_done_callback(lambda _: ticker.cancel())
            self._result = replace(self._result, exit=self._ended())
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
                await stack.enter_async_context(serve_commands(self._job))
                serves = True
            if session is not None and self._by:
                user = asking({PEER: os.getuid(), BY: self._by})
                session.logs.job(f"started by {user}")
                self._by = ""
            if session is not None:
                self._display.tick(session)
            await asyncio.sleep(self._display.every if serves else _TICK)

    def _may_serve_early(self) -> bool:
        """It waits for space, and no other process runs the job."""
        layout = self._job.layout
        return self._job.waits_for_space and not is_running(layout.socket)

    # ---- what happens

    def _receive(self, event: Event) -> None:
        if isinstance(event, Alert):
            self._display.message("alert", event.message)
        elif isinstance(event, ActionTaken):
            self._display.message("action", f"{event.name}: {event.message}")
        elif isinstance(event, StateChanged):
            self._changed(event)

    def _changed(self, event: StateChanged) -> None:
        session = self._job.session
        if event.new is JobState.FINISHED and session is not None:
            self._result = run_result(session, self._job.account)
            self._display.ended(session)
        reason = f": {event.why}" if event.why else ""
        self._display.message("state", f"{event.old} -> {event.new}{reason}")
        if event.new is JobState.PAUSED and event.old is JobState.PREPARING:
            job = format_path(self._job.layout.root)
            text = f"paused before the first fetch ({event.why}): `nacre resume {job}` begins"
            self._display.message("start", to_copy(text))
        if event.new is JobState.RUNNING and event.old is JobState.PREPARING and session:
            self._display.message("start", describe_start(session))

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
            waits = self._job.waits_for_space
            self._display.message("signal", "ending the wait for space" if waits else "ending")
            if self._task is not None:
                self._task.cancel()
        elif self._signals == 1:
            self._display.message("signal", _ending(session.engine.busy))
            session.stop(ExitStatus.INTERRUPTED)
        else:
            self._display.message("signal", "ends at once")
            session.abandon()


def _ending(busy: int) -> str:
    """What the first signal does."""
    first = f": {count(busy, 'fetch', 'fetches')} in process will be finished" if busy else ""
    return f"ending{first}; once more ends at once"


def describe_start(session: Session) -> str:
    """Return the first line of a run: what begins or is resumed."""
    run, totals = session.run_row, session.frontier.totals
    if session.layout.is_recording:
        recorded = session.statistics.totals.recorded
        if recorded or run.elapsed:
            return f"resumes run {run.name}: {count(recorded, 'request')} recorded so far"
        return f"run {run.name} begins"
    if totals.finished or run.elapsed:
        finished, waiting = f"{totals.finished:,} URIs are done", f"{totals.queued:,} wait"
        return f"resumes run {run.name}: {finished}, {waiting}"
    if run.mode == INCREMENTAL:
        return f"incremental run {run.name} begins"
    return f"run {run.name} begins with {count(totals.queued, 'URI')}"


def _check_time(layout: Layout, clock: Clock) -> None:
    require_later(layout, clock)
    if not isinstance(clock, MovedClock):
        warning = set_back_warning(clock.now(), latest_time(layout), format_path(layout.root))
        if warning:
            tell(f"nacre: warning: {warning}")


def run_and_summarize(
    layout: Layout,
    settings: JobSettings,
    clock: Clock | None = None,
    *,
    quiet: bool,
    as_json: bool,
    accept_loss: bool = False,
    traps: bool = False,
    origin: OriginOf | None = None,
    by: str = "",
    companion: Callable[[Session], BackgroundTask] | None = None,
) -> int:
    """Run a job, print a summary, and return the exit code.

    Args:
        layout: Its directories.
        settings: Its settings.
        clock: The time; None for the machine's.
        quiet: Show no progress.
        as_json: Print the summary as JSON.
        accept_loss: Continue although archived data is missing.
        traps: URIs of endless places count as work to resume.
        origin: Gives the origin of a setting; None: that of the job's file.
        by: The user, for job.log; "" for the user of this process.
        companion: Makes a task that gives each session its work, so that the job is never
            finished; None: there is none.

    Raises:
        JobError: It runs already, or `--now` is before the end of its last run; or there is nothing
            for the WACZ of `archive.wacz`.
        StorageError: This WACZ cannot be written.
    """
    if is_running(layout.socket):
        raise JobError(f"{layout.root} is running already; see `nacre status {layout.root}`")
    resumes = accept_loss or companion is not None
    if not resumes and is_finished(layout, update=True, traps=traps):
        say_finished(layout, as_json=as_json)
        return 0
    clock = clock or SystemClock()
    _check_time(layout, clock)
    make_private(layout.state)
    origin = origin or load_job(layout).origin
    watched = sys.stderr.isatty()
    job = Job(
        layout.root, settings, clock=clock, on_terminal=watched, origin=origin, companion=companion
    )
    display = display_for(clock, quiet=quiet, as_json=as_json)
    result = run_job(job, display, accept_loss=accept_loss, by=by)
    summarize(layout, settings, result, clock, as_json=as_json)
    if settings.archive.wacz:
        _pack(layout, settings, result.exit)
    return result.code


_RESUMED = frozenset(
    (ExitStatus.NONE, ExitStatus.ABORTED, ExitStatus.INTERRUPTED, ExitStatus.DISK_WAIT)
)
"""Ends of a run after which `archive.wacz` is not written: it is to be resumed."""


def _pack(layout: Layout, settings: JobSettings, end: ExitStatus) -> None:
    """Write the WACZ of `archive.wacz`.

    Raises:
        JobError: There is no capture.
        StorageError: It cannot be written, or the disk is full.
    """
    from nacre.cli.packing import ByteProgress, describe_package
    from nacre.ops.packing import PackRequest, pack

    target = layout.root / settings.archive.wacz
    if end in _RESUMED:
        tell(
            f"nacre: {format_path(target)} is written when the run ends: "
            f"`nacre run {typed(layout.root)}`"
        )
        return
    request = PackRequest(wacz=target, replace=True)
    tell(describe_package(pack([layout.root], request, tell=ByteProgress()), request))
