"""One life of a running job: from the opened store to its closing.

A storage error ends a session, not the job: everything in memory is dropped, and the next session
recovers as after a crash (docs/architecture.md, "Durability"). One code path.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from nacre.archive.cdxj import sorted_index
from nacre.core.clock import Clock
from nacre.fetch.guard import AddressGuard
from nacre.frontier.queues import State
from nacre.job.admission.prospects import Prospects
from nacre.job.admission.scoping import dump_prefixes
from nacre.job.assemble import Parts
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.variables import for_run
from nacre.job.events import Alert, Events, StateChanged
from nacre.job.intake.edits import note_removed
from nacre.job.intake.entering import Entering
from nacre.job.layout import Layout
from nacre.job.mending.loss import accept_loss
from nacre.job.mending.mending import mend
from nacre.job.reports.material import live_facts
from nacre.job.reports.progresslog import ProgressLog
from nacre.job.reports.reporting import material_of, write_run_reports
from nacre.job.running.clockwatch import ClockWatch
from nacre.job.running.companion import Companion
from nacre.job.running.limits import Stopwatch, reached
from nacre.job.running.space import SpaceGuard
from nacre.job.running.watchdog import Watchdog
from nacre.job.runs.manifest import write_manifest
from nacre.job.runs.newrun import INCREMENTAL, clear
from nacre.job.runs.notes import take_notes
from nacre.job.runs.runs import (
    begin_run,
    enter_seeds_again,
    link_as_heritrix,
    read_run,
    run_archives,
    write_run,
)
from nacre.job.seeding.seeds import Entry
from nacre.job.states import ExitStatus, JobState, check_transition
from nacre.job.visit.runtime import RUNTIME
from nacre.store.opening import Opened, open_for_work
from nacre.store.recovery import Start
from nacre.store.seam import Disk
from nacre.store.store import Store

if TYPE_CHECKING:
    from nacre.job.incremental.planning import Planning

_LAST_TRIES_OF_NOTHING = 60.0
"""Time for the last tries of a crawl that has fetched nothing at all, seconds."""

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

    Attributes:
        state: Where it is in its life.
        why: Why it came there, for people; "" when that needs no reason.
        parts: What works in it; set by `open`.
        suspects: After `close`: files whose fsync failed, absolute; they are never synced again.
    """

    parts: Parts

    def __init__(
        self, layout: Layout, settings: JobSettings, disk: Disk, clock: Clock, events: Events
    ) -> None:
        self.layout = layout
        self.settings = settings
        self.state = JobState.NASCENT
        self.why = ""
        self._disk = disk
        self._clock = clock
        self._events = events
        self._opened: Opened | None = None
        self.suspects: frozenset[str] = frozenset()
        self._asked: ExitStatus | None = None
        self._held: set[str] = set()
        self._attention = asyncio.Event()
        self._engine_task: asyncio.Task[None] | None = None
        self._companions: list[Companion] = []

    def accompany(self, companion: Companion) -> None:
        """Let it run along from the moment that the crawl runs; to be called before `run`."""
        self._companions.append(companion)

    def open(self, guard: AddressGuard, seeds: Callable[[], Iterator[Entry]], start: Start) -> None:
        """Open the store, recover, build the parts, and enter the seeds of a new run.

        Raises:
            StorageError: The store or a file cannot be used; DamageError when data contradicts.
        """
        self._become(JobState.PREPARING)
        self._opened = opened = self._open_store(start)
        self.recovered = opened.recovered
        clear(opened.store)
        last = read_run(opened.store)
        self.run_row, is_new = begin_run(opened.store, self.layout, self._clock.now())
        self.settings = for_run(self.settings, self.run_row.name)
        self._assemble(opened, guard)
        rests = self.planning.recrawl.rests if self.planning is not None else None
        self._entering = Entering(self.parts, seeds, rests)
        self.parts.lines.begin()
        if is_new:
            self._begin()
        else:
            self._go_on(last.exit if last else None)
        dump_prefixes(self.parts.scope_state, self._disk, self.layout.root, self.run_row.name)
        opening = ("Job instantiated", "Job launched", f"PREPARING {self.run_row.name}")
        for text in (*take_notes(self.layout), *opening):
            self.parts.logs.job(text)
        self.parts.logs.job(f"{self.run_row.title} {'begins' if is_new else 'goes on'}")

    def _open_store(self, start: Start) -> Opened:
        self._disk.makedirs(str(self.layout.scratch))
        root, memory = str(self.layout.root), self.settings.store.memory
        start = start._replace(
            archives=run_archives(self.layout, self.settings.archive.directories),
            sort_index=sorted_index,
        )
        if start.accept_loss and self.layout.has_store:
            with Store.open(str(self.layout.store), memory=memory) as store:
                accept_loss(store, self._disk, root, start)
        return open_for_work(root, self._disk, self._clock, memory=memory, start=start)

    def _assemble(self, opened: Opened, guard: AddressGuard) -> None:
        self.parts = Parts(
            settings=self.settings,
            layout=self.layout,
            run=self.run_row,
            store=opened.store,
            commit=opened.commit,
            guard=guard,
            clock=self._clock,
            events=self._events,
        )
        limit = opened.store.engine.size_limit
        self.watch = Stopwatch(self._clock, self.run_row.elapsed)
        self.progress = ProgressLog(self.parts, self.watch, self._clock)
        self.space = SpaceGuard(self._disk, self.layout, self.settings, limit)
        opened.commit.on_seal(self._save_run)
        self.planning = self._planning() if self.run_row.mode == INCREMENTAL else None
        if self.planning is None:
            self._look_ahead(opened)

    def _look_ahead(self, opened: Opened) -> None:
        """A full crawl learns what links promise; an incremental one has its planner."""
        parts = self.parts
        prospects = Prospects(
            opened.store, parts.effective.then(lambda s: s.traps), parts.sheets.of
        )
        parts.candidates.prospects = prospects
        parts.frontier.handout.place = prospects.place
        opened.commit.on_seal(prospects.seal)

    def _begin(self) -> None:
        """A new run: its seeds enter, the first portion now."""
        self.progress.begin()
        link_as_heritrix(self.directory, self.settings.archive.directories)
        self._load_cookies()
        self._entering.begin()
        self._entering.portion()
        self.parts.unasked.enter()

    def _go_on(self, before: ExitStatus | None) -> None:
        """A run that was begun; `before` says how it ended the last time."""
        self.parts.seeds.load()
        self._entering.resume()
        # The settings may be others now; who is over its budget retires again.
        self.parts.frontier.steering.unretire(all_of_them=False)
        if before == ExitStatus.FINISHED and not self.parts.statistics.totals.urls:
            enter_seeds_again(self.parts)

    def _planning(self) -> "Planning":
        from nacre.job.incremental.planning import Planning  # noqa: PLC0415 - 50 modules

        return Planning(
            self.parts,
            self.layout,
            self.run_row,
            lambda: self.watch.elapsed,
            lambda text: self._events.emit(Alert(text)),
            lambda: self._asked is not None,
        )

    @property
    def directory(self) -> Path:
        """Directory of the run."""
        return self.layout.run(self.run_row.name)

    # ---- what others may ask

    def stop(self, why: ExitStatus) -> None:
        """Finish what is in process, and end."""
        if self._asked is None:
            self._asked = why
        self._attention.set()

    def abandon(self) -> None:
        """End now: visits in process are dropped, and made again when the run goes on."""
        self.stop(ExitStatus.INTERRUPTED)
        if self._engine_task is not None:
            self._engine_task.cancel()

    @property
    def abandoned(self) -> bool:
        """Whether somebody wants the end now."""
        return self._engine_task is not None and self._engine_task.cancelled()

    def hold(self, reason: str) -> None:
        """Pause for a reason; goes on when no reason is left."""
        self._held.add(reason)
        self._attention.set()

    def release(self, reason: str) -> None:
        """A reason to pause is gone."""
        self._held.discard(reason)
        self._attention.set()

    @property
    def held(self) -> frozenset[str]:
        """The reasons for which it is paused."""
        return frozenset(self._held)

    # ---- its life

    async def run(self) -> ExitStatus:
        """Crawl to the end.

        Raises:
            StorageError: The store or a file failed: close, and open another session.
        """
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.parts.commit.run(), name="commit")
                crawl = group.create_task(self._crawl(), name="crawl")
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        self._write_reports()
        return crawl.result()

    async def close(self) -> None:
        """Give everything back; nothing uncommitted survives."""
        if hasattr(self, "parts"):
            await self.parts.fetcher.close()
            await self.parts.parser.close()
            self.parts.frontier.courtesy.leave()
        if self._opened is not None:
            self.suspects = self._opened.close()
            if self.state is JobState.FINISHED and self.run_row.exit is ExitStatus.FINISHED:
                self._opened.ballast.drop()
            self._opened = None

    async def _crawl(self) -> ExitStatus:
        engine = self.parts.engine
        mended = await mend(self.parts, self._disk)
        if mended:
            self._events.emit(Alert(mended))
        await self._entering.rest(lambda: self._asked is not None)
        if self.planning is not None:
            await self.planning.begin()
        behind = -self.parts.frontier.clock_offset(self._clock.now())
        self._clock_watch = ClockWatch(self._clock, behind)
        self._set_out()
        self._listen()
        self._mind_pace()
        async with asyncio.TaskGroup() as group:
            self._engine_task = group.create_task(engine.run(), name="engine")
            engine.on_settled = self._attention.set
            self.parts.unasked.attention = self._attention.set
            self.mind_limits()
            watchdog = Watchdog(engine, self.parts.logs, self._clock)
            others = [group.create_task(watchdog.run(), name="watchdog")]
            others += [group.create_task(one.run(), name=one.name) for one in self._companions]
            how = await self._supervise()
            for other in others:
                other.cancel()
            self._become(JobState.STOPPING, str(how))
            engine.stop()
        self.watch.stop()
        if not self.abandoned:
            await self.parts.fetcher.settle()
            self.parts.unasked.settle()
            for companion in self._companions:
                await companion.ending(how)
        self._wind_up(how)
        return how

    def _set_out(self) -> None:
        """The crawl runs, or is paused from its first moment on (`hold` before `run`)."""
        if self._held:
            self.parts.engine.pause()
            self._become(JobState.PAUSED, ", ".join(sorted(self._held)))
            return
        self._become(JobState.RUNNING)
        self.watch.start()

    async def _supervise(self) -> ExitStatus:
        """Until something says that it is over; pauses and resumes meanwhile."""
        while True:
            self._attention.clear()
            how = await self._over()
            if how is not None:
                return how
            self._alert(self.space.check(self._clock.monotonic(), self.parts.commit.largest))
            self._alert(self._clock_watch.look())
            if self.parts.unasked.settle():
                self.parts.engine.wake()
            self._mind_space()
            self.parts.shortage.look()
            self.parts.frontier.courtesy.look(self._clock.monotonic())
            self._mind_pause()
            self._mind_pace()
            self._mind_the_end()
            if self.planning is not None:
                await self.planning.look()
            if self.parts.frontier.steering.step(_REVIEWED):
                self._attention.set()
            self.progress.look()
            try:
                async with asyncio.timeout(_TICK):
                    await self._attention.wait()
            except TimeoutError:
                continue

    def mind_limits(self) -> None:
        """Limits were set or taken away: with one, each hand-out asks whether it is reached."""
        limits = self.settings.limits
        counted = (limits.documents, limits.bytes, limits.novel_bytes, limits.novel_documents)
        written = (limits.warc_bytes, self.settings.archive.max_total)
        self.parts.engine.limit(self._enough if any((*counted, *written)) else None)

    def _enough(self, busy: int) -> bool:
        """A limit is reached, or that of documents will be by what is in process."""
        if self._limit() is not None:
            self._attention.set()
            return True
        documents = self.settings.limits.documents
        return 0 < documents <= self.parts.statistics.documents + busy

    def _limit(self) -> ExitStatus | None:
        """The limit that is reached."""
        archive, counts = self.parts.archive, self.parts.statistics
        if archive.writer.full:
            return ExitStatus.WRITE_LIMIT
        return reached(
            self.settings.limits,
            counts.totals,
            self.watch.elapsed,
            archive.writer.total + archive.large.total,
            counts.prerequisites,
        )

    async def _over(self) -> ExitStatus | None:
        if self._asked is not None:
            return self._asked
        # Twice: while the planner thinks, an operator may add URLs.
        done = self._is_done() and not await self._more() and await self._is_settled()
        if done and not self._into_traps():
            return self._finished()
        if self._is_stuck():
            await self._more()
        if self.space.waited_too_long(self._clock.monotonic()):
            return ExitStatus.DISK_WAIT
        return self._limit()

    def _finished(self) -> ExitStatus:
        """How it ends when nothing is left to do; somebody may have asked for the end meanwhile."""
        if self._asked is not None:
            return self._asked
        frontier = self.parts.frontier
        resting = frontier.totals.states[State.RETIRED] and frontier.endless.others_rest
        return ExitStatus.QUEUE_BUDGET if resting else ExitStatus.FINISHED

    def _into_traps(self) -> bool:
        """Nothing but endless places is left: go on with some of their URLs, if any may go."""
        if self._asked is not None or not self.parts.frontier.endless.begin_round():
            return False
        self.parts.engine.wake()
        return True

    async def _more(self) -> bool:
        """In an incremental run, the planner wants more visits, which are in the frontier now."""
        return self.planning is not None and await self.planning.more()

    def _is_done(self) -> bool:
        """Whether nothing waits, nothing is in process, and nothing is about to come in."""
        parts = self.parts
        if self._held or parts.engine.busy or not parts.frontier.is_empty:
            return False
        return not any(companion.busy for companion in self._companions)

    async def _is_settled(self) -> bool:
        """Done, and no connection has anything to say that makes a capture suspect."""
        if self._is_done():
            await self.parts.fetcher.settle()
            self.parts.unasked.settle()
        return self._is_done()

    def _is_stuck(self) -> bool:
        """What the planner chose waits for hosts that do not answer: others need not wait too."""
        if self.planning is None or not self.planning.wants_more:
            return False
        busy = self._held or self.parts.engine.busy
        return not busy and self.parts.frontier.only_retries_remain

    def _alert(self, message: str | None) -> None:
        if message:
            self.parts.logs.alert(message)
            self._events.emit(Alert(message))

    def _mind_space(self) -> None:
        if self.space.short:
            self._held.add("disk")
        else:
            self._held.discard("disk")

    def _mind_the_end(self) -> None:
        """Nothing but retries is left, and their time is over: what they wait for is final.

        Where nothing was fetched yet, that time is short: a mistyped seed need not take long.
        """
        parts = self.parts
        fetched = parts.statistics.totals.urls
        parts.frontier.terms.shorter_end = None if fetched else _LAST_TRIES_OF_NOTHING
        for removed in self.parts.frontier.removal.abandon():
            note_removed(self.parts, removed)

    def _mind_pause(self) -> None:
        engine, state = self.parts.engine, self.state
        if self._held and state is JobState.RUNNING:
            engine.pause()
            self._become(JobState.PAUSING, ", ".join(sorted(self._held)))
        elif not self._held and state in {JobState.PAUSING, JobState.PAUSED}:
            engine.resume()
            self.watch.start()
            self._become(JobState.RUNNING)
        if self.state is JobState.PAUSING and not engine.busy:
            self.watch.stop()
            self._become(JobState.PAUSED, ", ".join(sorted(self._held)))

    def _listen(self) -> None:
        """What parts may ask for."""
        runtime = self.parts.runtime
        runtime.elapsed = lambda: self.watch.elapsed
        runtime.pause = lambda: self.hold(RUNTIME)
        runtime.terminate = lambda: self.stop(ExitStatus.TIME_LIMIT)
        self.parts.pacer.on_parallel = self._set_parallel

    def _mind_pace(self) -> None:
        """Bandwidth, fetches and delays change with the hour of the week."""
        said = self.parts.pacer.mind(self._clock.now())
        if said:
            self.parts.logs.job(f"bandwidth: {said}")

    def _set_parallel(self, wanted: int | None) -> None:
        self.parts.engine.parallel = wanted or self.settings.engine.parallel

    def _wind_up(self, how: ExitStatus) -> None:
        """Close the files and note how it ended, all in the last commit group."""
        parts = self.parts
        parts.archive.writer.rotate()
        parts.archive.large.rotate()
        for chain in parts.chains:
            chain.finish()
        if self.planning is not None:
            self.planning.end()
        self._save_cookies()
        self.progress.row()
        self.run_row = structs.replace(self.run_row, exit=how, ended=self._clock.now())
        self._save_run()
        parts.commit.finish()
        self._become(JobState.FINISHED, str(how))
        parts.logs.job("Job instance discarded")

    def _write_reports(self) -> None:
        """From the store, after the last commit; not when somebody wants the end now."""
        if self.abandoned:
            return
        parts, layout = self.parts, self.layout
        write_manifest(self.directory, self.run_row, parts.store)
        material = material_of(parts.store, layout, self.settings, live_facts(parts))
        problem = write_run_reports(self._disk, layout, material)
        if problem:
            self._events.emit(Alert(problem))

    def _load_cookies(self) -> None:
        named = self.settings.cookies.load_file
        if named:
            path = self.layout.root / named
            for problem in self.parts.cookie_rows.load_file(path, self._clock.now()):
                self.parts.logs.alert(f"{named}: {problem}")

    def _save_cookies(self) -> None:
        named = self.settings.cookies.save_file
        problem = self.parts.cookie_rows.save_file(self.layout.root / named) if named else ""
        if problem:
            self.parts.logs.alert(problem)

    def _save_run(self) -> None:
        row = structs.replace(self.run_row, elapsed=self.watch.elapsed)
        write_run(self.parts.store, row)

    def _become(self, state: JobState, why: str = "") -> None:
        old = self.state
        check_transition(old, state)
        self.state, self.why = state, why
        if hasattr(self, "parts"):
            self.progress.event(old, state, why)
        self._events.emit(StateChanged(old, state, why))


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that caused the others."""
    todo: list[Sequence[BaseException]] = [errors.exceptions]
    while todo:
        for error in todo.pop(0):
            if isinstance(error, BaseExceptionGroup):
                todo.append(error.exceptions)
            elif not isinstance(error, asyncio.CancelledError):
                return error
    return errors
