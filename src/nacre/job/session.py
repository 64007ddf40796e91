"""One life of a running job: from the opened store to its closing.

A storage error ends a session, not the job: the next one recovers as after a crash (internals.md).
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from nacre.archive.index import sort_index
from nacre.assembly.parts import assemble
from nacre.assembly.records import RunRecords
from nacre.core.clock import Clock
from nacre.core.events import Alert, Events, StateChanged
from nacre.core.states import ExitStatus, JobState, check_transition
from nacre.engine.candidates.scope_state import dump_prefixes
from nacre.engine.limits import Stopwatch
from nacre.engine.observer import RenderedObserver, VisitObserver
from nacre.engine.steps.quotas import OPERATOR
from nacre.fetch.guard import AddressGuard
from nacre.history.rendered import RenderedDocuments
from nacre.inspect.live import live_job
from nacre.inspect.reports.run_reports import write_results
from nacre.job.frontier_edits import make_edits
from nacre.job.monitors import (
    BackgroundTask,
    ClockMonitor,
    DiskSpaceMonitor,
    JobUnit,
    LimitMonitor,
)
from nacre.job.repair import accept_loss, make_repair, repair_captures
from nacre.job.run_end import EndMonitors, RunEnd, RunRequests
from nacre.job.settings_change import SettingsChange
from nacre.job.task_errors import first_error
from nacre.job.watchdog import EventLoopWatchdog
from nacre.machine.clock import machine_clock
from nacre.machine.layout import Layout
from nacre.report.progress import ProgressLog
from nacre.runs.runs import (
    INCREMENTAL,
    RunContext,
    begin_run,
    clear_previous_run,
    link_as_heritrix,
    read_run,
    run_archives,
    take_notes,
    write_run,
)
from nacre.scope.seeds import Entry
from nacre.settings.enforced import enforce_warnings
from nacre.settings.settings import JobSettings
from nacre.settings.variables import for_run
from nacre.store.opening import Opened, open_for_work
from nacre.store.recovery import StartOptions
from nacre.store.seam import Disk
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.recrawl.planning import Planning

_REVIEWED = 500
"""Queues whose order is looked at again in one go, after the settings changed."""

_TICK = 0.5
"""Seconds between two looks at limits and space."""


class Session:
    """Make it, `run` it once, then `close` it (always).

    Args:
        layout: The job's directories.
        settings: Its settings.
        disk: The file operations.
        clock: The time.
        events: Who listens.
        faults: URLs whose disposition failed in two earlier sessions, with the bug; None for none.
        on_terminal: A person watches: a pause for space lasts until there is some.
        unit: The list that is fetched in place of the seeds; None: the seeds are.
        record_ids: Gives 16 fresh bytes for the id of a WARC record; None for random ones.

    Attributes:
        layout, clock: As given.
        settings: The current settings.
        state: The state of the job.
        why: Why it came there, for people; "" when that needs no reason.
        suspects: After `close`: files whose fsync failed, absolute; they are never synced again.
        rules: What decides under which settings a URI is crawled; set by `open`, as all below.
        reporting: Writes logs and reports of the run.
        logs: The logs of the run.
        statistics: The counts of the run.
        queues: The frontier, and what says where a URI belongs in it.
        frontier: The frontier.
        scheduling: What takes seeds and links to the frontier.
        storing: Stores captures.
        fetching: What fetches.
        engine: The engine.
        editor: Changes the frontier by the operator's commands.
        live: The view of the job for reports.
        run_row: The run.
        recovered: What the recovery of the store found.
    """

    def __init__(  # noqa: PLR0913 - what a job gives to each of its sessions
        self,
        layout: Layout,
        settings: JobSettings,
        disk: Disk,
        clock: Clock,
        events: Events,
        faults: Mapping[str, Exception] | None = None,
        *,
        on_terminal: bool = False,
        unit: JobUnit | None = None,
        record_ids: Callable[[], bytes] | None = None,
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.state = JobState.NASCENT
        self.why = ""
        self.paused_by = ""
        self._disk = disk
        self.clock = clock
        self._events = events
        self._faults = faults or {}
        self._on_terminal = on_terminal
        self._unit = unit
        self._record_ids = record_ids
        self.planning: Planning | None = None
        self._opened: Opened | None = None
        self._is_assembled = False
        self.suspects: frozenset[str] = frozenset()
        self._requests = RunRequests()
        self._attention = asyncio.Event()
        self._engine_task: asyncio.Task[None] | None = None
        self._tasks: list[BackgroundTask] = []

    def add_task(self, task: BackgroundTask) -> None:
        """Run a background task beside the crawl; to be called before `run`."""
        self._tasks.append(task)

    def open(
        self, guard: AddressGuard, seeds: Callable[[], Iterator[Entry]], start: StartOptions
    ) -> None:
        """Open the store, recover, build the parts, and enter the seeds of a new run.

        Raises:
            StorageError: The store or a file cannot be used; DamageError when data contradicts.
        """
        self._set_state(JobState.PREPARING)
        self._opened = opened = self._open_store(start)
        self.recovered = opened.recovered
        clear_previous_run(opened.store)
        last = read_run(opened.store)
        self.run_row, is_new = begin_run(opened.store, self.layout, self.clock.now())
        self.settings = for_run(self.settings, self.run_row.name)
        self._assemble(opened, guard, seeds)
        if is_new:
            self._begin()
        else:
            self._resume(last.exit if last else None)
        dump_prefixes(self.rules.scope_state, self._disk, self.layout.root, self.run_row.name)
        opening = ("Job instantiated", "Job launched", f"PREPARING {self.run_row.name}")
        unknown = (f"warning: {problem}" for problem in enforce_warnings(self.settings))
        for text in (*take_notes(self.layout), *opening, *unknown):
            self.logs.job(text)
        self.logs.job(f"{self.run_row.title} {'begins' if is_new else 'continues'}")

    def _open_store(self, start: StartOptions) -> Opened:
        self._disk.makedirs(str(self.layout.scratch))
        settings = self.settings
        root, memory = str(self.layout.root), settings.store.memory
        start = start._replace(
            archives=run_archives(self.layout, settings.archive.directories),
            sort_index=sort_index,
        )
        if start.accept_loss and self.layout.has_store:
            with Store.open(str(self.layout.store), memory=memory) as store:
                accept_loss(store, self._disk, root, start)
        return open_for_work(root, self._disk, self.clock, memory=memory, start=start)

    def _assemble(
        self, opened: Opened, guard: AddressGuard, seeds: Callable[[], Iterator[Entry]]
    ) -> None:
        (store, commit), settings = (opened.store, opened.commit), self.settings
        self.watch = Stopwatch(self.clock, self.run_row.elapsed)
        max_wait = self._unit.max_wait if self._unit is not None else 0.0
        context = RunContext(
            self.layout, self.run_row, self.clock, self._events, self, self._record_ids, max_wait
        )
        records, self._crawling = assemble(
            settings, context, (store, commit), guard, self._observer, self._faults
        )
        self._records, self.rules = records, records.rules
        self.queues, self.scheduling = records.queues, records.scheduling
        self.storing, self.fetching = records.storing, records.fetching
        self.reporting, self.statistics = records.reporting, records.reporting.statistics
        self.logs, lines = self.reporting.logs, self.reporting.lines
        self.frontier, self.engine = self.queues.frontier, self._crawling.engine
        self._is_assembled = True
        chooser = self._unit or (self.planning.recrawl if self.planning is not None else None)
        self._edits = make_edits(records, self.engine, seeds, chooser.rests if chooser else None)
        self.editor = self._edits.editor
        self.live = live_job(records, self.engine)
        self.watchdog = EventLoopWatchdog(self.engine, self.logs, self.clock, self._is_idle)
        self.progress = ProgressLog(self.live, self.logs, self.run_row.name, self.watch, self.clock)
        self._limits = LimitMonitor(settings, self.statistics, self.storing, self.watch)
        buffers, watched = store.engine.size_limit, self._on_terminal
        self.space = DiskSpaceMonitor(
            self._disk, self.layout, settings, buffers, on_terminal=watched
        )
        self._run_end = RunEnd(
            records, self._crawling, self._requests, EndMonitors(self._limits, self.space),
            self.planning, self._tasks, is_unit=self._unit is not None,
        )  # fmt: skip
        commit.on_seal(self._save_run)
        lines.begin()

    def _observer(self, records: RunRecords) -> VisitObserver:
        """What takes part in the visits: a unit, or the planner in an incremental run."""
        if self._unit is not None:
            return self._unit.begin(records)
        if self.run_row.mode != INCREMENTAL:
            return RenderedObserver(RenderedDocuments(records.storing.store))
        from nacre.recrawl.planning import plan_run  # noqa: PLC0415 - 50 modules

        self.planning = plan_run(
            records,
            lambda: self.elapsed,
            lambda text: self._events.emit(Alert(text)),
            lambda: self._requests.exit is not None,
        )
        return self.planning.recrawl

    def _begin(self) -> None:
        """A new run: its seeds enter, the first portion now."""
        self.progress.begin()
        archive, unasked = self.settings.archive, self._crawling.unasked
        link_as_heritrix(self.directory, archive.directories)
        for problem in self.fetching.load_cookies(self.layout.root, self.clock.now()):
            self.logs.alert(problem)
        loader = self._edits.loader
        loader.begin()
        loader.portion()
        unasked.enter()

    def _resume(self, before: ExitStatus | None) -> None:
        """Resume a run; `before` is the way in which it ended the last time."""
        book, operator = self.scheduling.seeds, self.frontier.operator
        seeds, loader = self._edits.seeds, self._edits.loader
        book.load(writes=True)
        loader.resume()
        # The settings may be others now; who is over its budget retires again.
        operator.unretire(all_of_them=False)
        totals = self.statistics.totals
        if before == ExitStatus.FINISHED and not totals.urls and self._unit is None:
            seeds.enter_again(self.queues.hosts, self.fetching.robots)

    def keep_run(self) -> None:
        """Keep the row of the run as it is stored, with its end: nothing will be crawled."""
        self.run_row = read_run(self.storing.store) or self.run_row

    async def repair(self) -> str:
        """Register salvaged captures and queue lost ones; return a summary, "" if there were none.

        Raises:
            StorageError: A file or the store failed; the next start does it again.
        """
        return await repair_captures(make_repair(self._records), self._disk)

    def apply(self, change: SettingsChange) -> None:
        """Let other settings, sheets and associations hold from now on.

        Parts whose settings depend on sheets find the new values at their next use; the others
        are given them here.
        """
        before, settings = self.rules.settings, change.settings
        sheets, operator = self.rules.sheets, self.frontier.operator
        sheets.replace(settings, change.sheets)
        self.settings = settings
        if before.engine.parallel != settings.engine.parallel:
            self.engine.set_parallel(settings.engine.parallel)
        self.scheduling.configure(settings, self.logs)
        self.fetching.configure(before, settings)
        self.storing.configure(settings)
        self._run_end.configure(settings)
        self.space.configure(settings)
        self._limits.configure(settings)
        self._apply_limits()
        operator.apply_settings(self.clock.monotonic())
        self.engine.wake()

    @property
    def directory(self) -> Path:
        """Directory of the run."""
        return self.layout.run(self.run_row.name)

    # ---- what others may ask (`engine.observer.Supervisor`)

    @property
    def elapsed(self) -> float:
        """Seconds that the run has been running, pauses left out."""
        return self.watch.elapsed

    def look(self) -> None:
        """Look soon whether there is something to do."""
        self._attention.set()

    def begin_work(self) -> None:
        """Watch the event loop more closely: a visit begins."""
        self.watchdog.wake()

    def _is_idle(self) -> bool:
        """Whether no visit is in process, and no background task is about to add URIs."""
        return not (self.engine.busy or any(task.busy for task in self._tasks))

    def stop(self, status: ExitStatus) -> None:
        """Finish the fetches in process, and end."""
        if self._requests.exit is None:
            self._requests.exit = status
        self._attention.set()

    def abandon(self) -> None:
        """End now: visits in process are dropped, and made again when the run is resumed."""
        self.stop(ExitStatus.INTERRUPTED)
        if self._engine_task is not None:
            self._engine_task.cancel()

    @property
    def abandoned(self) -> bool:
        """Whether the end was requested now."""
        return self._engine_task is not None and self._engine_task.cancelled()

    def hold(self, reason: str, by: str = "") -> None:
        """Pause for a reason, `by` a user or ""; the crawl resumes when no reason is left."""
        self._requests.pauses.add(reason)
        self.paused_by = by or self.paused_by
        self._attention.set()

    def release(self, reason: str) -> None:
        """A reason to pause is gone."""
        self._requests.pauses.discard(reason)
        self.paused_by = "" if reason == OPERATOR else self.paused_by
        self._attention.set()

    @property
    def holds(self) -> frozenset[str]:
        """The reasons for which it is paused."""
        return frozenset(self._requests.pauses)

    # ---- its life

    async def run(self) -> ExitStatus:
        """Crawl to the end.

        Raises:
            StorageError: The store or a file failed: close, and open another session.
        """
        commit = self.storing.commit
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.watchdog.watch(commit.run, "commit"), name="commit")
                crawl = group.create_task(self._crawl(), name="crawl")
        except BaseExceptionGroup as errors:
            raise first_error(errors) from errors
        self._write_reports()
        return crawl.result()

    async def close(self) -> None:
        """Give everything back; nothing uncommitted survives."""
        if self._is_assembled:
            await self.fetching.close()
            politeness = self.frontier.politeness
            politeness.leave()
        if self._opened is not None:
            self.suspects, ballast = self._opened.close(), self._opened.ballast
            if self.state is JobState.FINISHED and self.run_row.exit is ExitStatus.FINISHED:
                ballast.drop()
            self._opened = None

    async def _crawl(self) -> ExitStatus:
        engine, loader = self.engine, self._edits.loader
        repaired = await self.repair()
        if repaired:
            self._events.emit(Alert(repaired))
        await loader.load_rest(lambda: self._requests.exit is not None)
        if self.planning is not None:
            await self.planning.begin()
        behind = -self.frontier.clock_offset(self.clock.now())
        self._clock_monitor = ClockMonitor(self.clock, behind)
        self._start()
        self._apply_pace()
        async with asyncio.TaskGroup() as group:
            self._engine_task = group.create_task(engine.run(), name="engine")
            self._apply_limits()
            companions = [group.create_task(self.watchdog.run(), name="watchdog")]
            for task in self._tasks:
                watched = self.watchdog.watch(task.run, task.name)
                companions.append(group.create_task(watched, name=task.name))
            how = await self.watchdog.watch(self._supervise, "supervisor")
            for companion in companions:
                companion.cancel()
            self._set_state(JobState.STOPPING, str(how))
            engine.stop()
        self.watch.stop()
        if not self.abandoned:
            await self._run_end.settle()
            for task in self._tasks:
                await task.ending(how)
        self._wind_up(how)
        return how

    def _start(self) -> None:
        """The crawl runs, or is paused from its first moment on (`hold` before `run`)."""
        if self._requests.pauses:
            self.engine.pause()
            self._set_state(JobState.PAUSED, ", ".join(sorted(self._requests.pauses)))
            return
        self._set_state(JobState.RUNNING)
        self.watch.start()

    async def _supervise(self) -> ExitStatus:
        """Run the crawl until its end; it can be paused and resumed meanwhile."""
        operator = self.frontier.operator
        while True:
            self._attention.clear()
            if not self._is_idle():
                self.watchdog.wake()
            how = await self._run_end.look(self.state)
            if isinstance(how, JobState):
                self._set_state(how)
                continue
            if how is not None:
                return how
            self._look_after()
            if self.planning is not None and await self.planning.look():
                self.engine.wake()
            if operator.step(_REVIEWED):
                self._attention.set()
            self.progress.look()
            try:
                async with asyncio.timeout(_TICK):
                    await self._attention.wait()
            except TimeoutError:
                continue

    def _look_after(self) -> None:
        """Check space, time, limits and pauses once, and apply them."""
        mono, politeness = self.clock.monotonic(), self.frontier.politeness
        commit, crawling = self.storing.commit, self._crawling
        self.alert(self.space.check(mono, commit.largest))
        self.alert(self._clock_monitor.look())
        if crawling.unasked.settle():
            self.engine.wake()
        self._hold_for_space()
        crawling.shortage.look()
        crawling.time_passed()
        politeness.look(mono)
        self._apply_holds()
        self._apply_pace()
        self._edits.recorder.abandon_last_tries()

    def _apply_limits(self) -> None:
        """Limits were set or taken away: with one, each hand-out asks whether it is reached."""
        self.engine.limit(self._enough if self._limits.of_fetches else None)

    def _enough(self, busy: int) -> bool:
        """Whether a limit is reached, or the fetches in process can reach that of documents."""
        if self._limits.reached() is not None:
            self._attention.set()
            return True
        return self._limits.reached_by(busy)

    def reopen(self) -> None:
        """Let a run that finished be resumed: URIs were added."""
        self.run_row = structs.replace(self.run_row, exit=ExitStatus.INTERRUPTED, ended=0.0)
        self._save_run()

    def alert(self, message: str | None) -> None:
        """Log a message for the operator, and show it where the job runs; None for none."""
        if message:
            self.logs.alert(message)
            self._events.emit(Alert(message))

    def _hold_for_space(self) -> None:
        (self._requests.pauses.add if self.space.short else self._requests.pauses.discard)("disk")

    def _apply_holds(self) -> None:
        """Pause while there is a reason to; resume when none is left."""
        engine, state = self.engine, self.state
        if self._requests.pauses and state is JobState.RUNNING:
            engine.pause()
            self._set_state(JobState.PAUSING, ", ".join(sorted(self._requests.pauses)))
        elif not self._requests.pauses and state in {JobState.PAUSING, JobState.PAUSED}:
            engine.resume()
            self.watch.start()
            self._set_state(JobState.RUNNING)
        if self.state is JobState.PAUSING and not engine.busy:
            self.watch.stop()
            self._set_state(JobState.PAUSED, ", ".join(sorted(self._requests.pauses)))

    def _apply_pace(self) -> None:
        """Bandwidth, fetches and delays change with the hour of the week."""
        pacer = self.fetching.pacer
        change = pacer.apply(machine_clock(self.clock).now())
        if change.parallel:
            self.engine.set_parallel(pacer.pace.parallel or self.settings.engine.parallel)
        if change.text:
            self.logs.job(f"bandwidth: {change.text}")

    def _wind_up(self, how: ExitStatus) -> None:
        """Close the files and note how it ended, all in the last commit group."""
        self.storing.rotate()
        self._crawling.finish()
        if self.planning is not None:
            self.planning.end()
        if problem := self.fetching.save_cookies(self.layout.root):
            self.logs.alert(problem)
        self.progress.row()
        self.run_row = structs.replace(self.run_row, exit=how, ended=self.clock.now())
        self._save_run()
        self.storing.commit.finish()
        self._set_state(JobState.FINISHED, str(how))
        self.logs.job("Job instance discarded")

    def _write_reports(self) -> None:
        """From the store, after the last commit; not when the end was requested now."""
        if self.abandoned:
            return
        store, figures = self.storing.store, self.live.figures()
        if problem := write_results(
            self._disk, store, self.layout, self.settings, self.run_row, figures
        ):
            self._events.emit(Alert(problem))

    def _save_run(self) -> None:
        write_run(self.storing.store, structs.replace(self.run_row, elapsed=self.watch.elapsed))

    def _set_state(self, state: JobState, reason: str = "") -> None:
        old = self.state
        check_transition(old, state)
        self.state, self.why = state, reason
        if self._is_assembled:
            self.progress.event(old, state, reason)
        self._events.emit(StateChanged(old, state, reason))
