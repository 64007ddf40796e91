"""Run rounds: their steps one after the other, with a report of each to a listener.

This module is independent of command line and console. The options of a request are in its
`RoundSteps`.
"""

import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, Self

import msgspec

from nacre.crawldb.settings import CycleSettings
from nacre.errors import NacreError
from nacre.machine.layout import Layout
from nacre.rounds.engine import OnResult, TaskEngine, TaskResult, TaskSpec
from nacre.rounds.journal import (
    DEDUP,
    FETCH,
    GENERATE,
    GENERATED,
    INDEX,
    LINKS,
    SITEMAPS,
    UPDATE,
    JournalFile,
    RoundsEnd,
    RoundsJournal,
    StopSignal,
    begin,
    next_step,
    run_rounds,
    waiting,
    waiting_sitemaps,
)
from nacre.rounds.pushing import push_rounds
from nacre.rounds.rounds_mark import RoundsMark, StepProgress, fetch_step, rounds_mark
from nacre.rounds.segments.parts import count_parts_so_far
from nacre.rounds.steps.context import StepContext, Told
from nacre.rounds.steps.dedup import DedupResult
from nacre.rounds.steps.fetch import REPORTED_BY_FETCH, SegmentFetch
from nacre.rounds.steps.generate import GenerateResult
from nacre.rounds.steps.index import IndexResult
from nacre.rounds.steps.inject import InjectResult
from nacre.rounds.steps.links import LinksResult
from nacre.rounds.steps.sitemaps import SitemapsResult
from nacre.rounds.steps.update import UpdateResult
from nacre.rounds.tables.readers import KnownCounts, TableView, count_known_urls
from nacre.rounds.tables.versions import CycleVersion
from nacre.rounds.units.unit_folder import require_scratch

_NAP = 1.0
"""Seconds between two checks while nothing is due."""
INJECT = "inject"
"""The step before all rounds."""
_COUNTED = ("done", "nothing due")
"""Ends after which known URLs are counted: a user who interrupts rounds wants no more work."""
ABORTED = "aborted"
"""How rounds ended that were interrupted within a step."""


class RoundPlan(NamedTuple):
    """The plan of rounds.

    Attributes:
        rounds: Rounds; 0: until nothing is due.
        steps: The steps of a round, in order.
        once: The steps of the first round alone.
        until_due: Longest wait for something to be due, s; 0: no wait.
        dry: Report what the next round would list, and change nothing.
    """

    rounds: int
    steps: Sequence[str]
    once: Collection[str]
    until_due: float
    dry: bool


class FetchSoFar(NamedTuple):
    """A fetch of rounds that did not end, and what its parts hold.

    Attributes:
        round: Number of the round.
        segment: Its segment.
        pages: Pages.
        warc_bytes: Bytes of WARC.
    """

    round: int
    segment: str
    pages: int
    warc_bytes: int


class RoundsResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of rounds.

    Attributes:
        why: The reason of the end: `done`, `nothing due`, `interrupted`, `stopped`, `dry run`, or
            `aborted` within a step.
        rounds: Finished rounds.
        pages: Pages that were fetched.
        warc_bytes: Their bytes in the archive.
        faults: URLs that ended by an error of Nacre itself.
        known: Known URLs; None if not counted.
        waiting: Known URLs that wait for a fetch; None if not counted.
        interrupted: The fetch that was interrupted; None for none.
        version: Number of the newest version.
        generated: The last generate; None before the first.
        resumed: A round that was interrupted was resumed.
    """

    why: str
    rounds: int = 0
    pages: int = 0
    warc_bytes: int = 0
    faults: int = 0
    known: int | None = None
    waiting: int | None = None
    interrupted: FetchSoFar | None = None
    version: int = 0
    generated: GenerateResult | None = None
    resumed: bool = False


class StepTotals(NamedTuple):
    """The totals of the fetches of rounds.

    Attributes:
        pages: Pages.
        warc_bytes: Their bytes in the archive.
        faults: URLs that ended by an error of Nacre itself.
    """

    pages: int = 0
    warc_bytes: int = 0
    faults: int = 0

    def plus(self, fetch: SegmentFetch) -> "StepTotals":
        """Return the totals with a fetch; one that was interrupted is counted when it ends."""
        if fetch.interrupted or fetch.done_before:
            return self
        return StepTotals(
            self.pages + fetch.pages, self.warc_bytes + fetch.warc_bytes, self.faults + fetch.faults
        )


class RoundsListener(Protocol):
    """Receives the progress of rounds."""

    def begin(self, place: str, step: str) -> None:
        """A step begins; `place`: `round 1/3`, or "" for one before all rounds."""
        ...

    def progress(self, progress: StepProgress, numbers: Mapping[str, Any]) -> None:
        """The progress of a step, and its numbers by name."""
        ...

    def waits(self, result: GenerateResult) -> None:
        """Nothing is due, and rounds wait for it."""
        ...

    def finish(self, step: str, result: Any) -> None:  # noqa: ANN401 - of the step
        """A step is over."""
        ...

    def note(self, text: str) -> None:
        """A line for the user."""
        ...


class SilentListener:
    """Ignores the progress of rounds."""

    def begin(self, place: str, step: str) -> None:
        """See `RoundsListener`."""

    def progress(self, progress: StepProgress, numbers: Mapping[str, Any]) -> None:
        """See `RoundsListener`."""

    def waits(self, result: GenerateResult) -> None:
        """See `RoundsListener`."""

    def finish(self, step: str, result: Any) -> None:  # noqa: ANN401 - as the protocol
        """See `RoundsListener`."""

    def note(self, text: str) -> None:
        """See `RoundsListener`."""


SILENT = SilentListener()


class RoundSteps(Protocol):
    """The steps of rounds with their options."""

    def engine(self) -> TaskEngine:
        """Return the engine that runs the tasks of all steps, prepared for units; close it."""
        ...

    def open(
        self, engine: TaskEngine, clock: int, tell: Told
    ) -> AbstractContextManager[StepContext]:
        """Open the directory for a step; `clock`: ms since the epoch, 0 for now."""
        ...

    def plan(self, settings: CycleSettings) -> RoundPlan:
        """Return the plan of rounds."""
        ...

    def now(self) -> int:
        """Return the time, ms since the epoch."""
        ...

    def inject(self, context: StepContext, lists: Sequence[str]) -> InjectResult:
        """Inject seeds; without lists, the job's own list."""
        ...

    def sitemaps(self, context: StepContext, number: int) -> SitemapsResult:
        """Read sitemaps in the round of a number."""
        ...

    def generate(self, context: StepContext) -> GenerateResult:
        """Choose the URLs of a round."""
        ...

    def fetch(self, context: StepContext, segment: str, *, resumed: bool) -> SegmentFetch:
        """Fetch a segment; `resumed`: an earlier command made it."""
        ...

    def update(self, context: StepContext) -> UpdateResult:
        """Merge fetch results into the tables."""
        ...

    def links(self, context: StepContext) -> LinksResult:
        """Take new links into their table."""
        ...

    def dedup(self, context: StepContext) -> DedupResult:
        """Mark duplicates."""
        ...

    def index(self, context: StepContext) -> list[IndexResult]:
        """Bring changes into the index of words."""
        ...


class RoundsRunner:
    """Runs rounds; see `StepRunner`. It is a context, which ends its workers.

    Args:
        layout: The directory.
        steps: The steps with their options.
        stop: The request to end.
        listener: Receives the progress.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no batch crawl.
    """

    def __init__(
        self, layout: Layout, steps: RoundSteps, stop: StopSignal, listener: RoundsListener
    ) -> None:
        self._layout = layout
        self._steps = steps
        self._stop = stop
        self._listener = listener
        self._mark = RoundsMark(-1)
        self._step = ""
        self._totals = StepTotals()
        self._generated: GenerateResult | None = None
        self._resumed = False
        self._left: FetchSoFar | None = None
        self._fetching: tuple[int, str] | None = None
        self._engine = steps.engine()
        try:
            with self._open() as context:
                self._cycle = context.cycle
                self._plan = steps.plan(context.settings.cycle)
                if context.engine.name == "local" and not self._plan.dry:
                    # Before a list is made that could not be fetched.
                    require_scratch(self._layout, context.settings.cycle.scratch)
        except BaseException:
            self._engine.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()

    def newest(self) -> CycleVersion:
        """See `StepRunner`."""
        return self._cycle.newest()

    def now(self) -> int:
        """See `StepRunner`."""
        return self._steps.now()

    def inject(self, lists: Sequence[str]) -> None:
        """Inject seeds; without lists, the job's own list."""
        self._listener.begin("", INJECT)
        with self._open(self.now()) as context:
            result = self._steps.inject(context, lists)
        self._listener.finish(INJECT, result)

    def run(self) -> RoundsResult:
        """Run the rounds, and count the known URLs at the end.

        A `KeyboardInterrupt` ends a step at once: the next command resumes it.
        """
        try:
            end = self._run()
            counts = end.reason in _COUNTED and not self._plan.dry
            return self._result(end, self._count_known() if counts else None)
        except KeyboardInterrupt:
            return RoundsResult(why=ABORTED, interrupted=self._so_far())

    def _result(self, end: RoundsEnd, counts: KnownCounts | None) -> RoundsResult:
        return RoundsResult(
            why=end.reason,
            rounds=end.rounds,
            **self._totals._asdict(),
            known=counts.known if counts is not None else None,
            waiting=counts.waiting if counts is not None else None,
            interrupted=self._left,
            version=self.newest().number,
            generated=self._generated,
            resumed=self._resumed,
        )

    def _so_far(self) -> FetchSoFar | None:
        """Return the fetch that was cut off, with what the parts of its units hold.

        None if there is none, if it cannot be read now, or if the user interrupts that, too.
        """
        if self._fetching is None:
            return None
        try:
            totals = count_parts_so_far(self._cycle.storage, self._fetching[1])
        except (NacreError, KeyboardInterrupt):
            return None
        return FetchSoFar(*self._fetching, *totals)

    def _count_known(self) -> KnownCounts:
        self._step = ""  # the progress of these tasks is not reported
        with self._open() as context:
            view = TableView(
                self._cycle, self._cycle.newest(), self._engine, context.place, context.interval
            )
            return count_known_urls(view)

    def _run(self) -> RoundsEnd:
        file, plan = JournalFile(self._layout), self._plan
        interrupted = file.read()
        journal = begin(interrupted, plan.rounds, self.now(), {})
        if plan.dry:
            return self._dry_run(journal)
        if interrupted is not None and interrupted.step:
            self._resumed = True
            self._listener.note(f"resumes round {journal.round}, at {interrupted.step}")
        with rounds_mark(self._layout) as self._mark:
            return run_rounds(self, file, journal, self._stop, plan.steps, plan.once)

    def _dry_run(self, journal: RoundsJournal) -> RoundsEnd:
        """Report what the next round would list, or where it would resume; the journal stays."""
        version, plan = self.newest(), self._plan
        number, step = next_step(journal, version, plan.steps, plan.once)
        journal = msgspec.structs.replace(journal, round=number, step=step, clock=self.now())
        if step == SITEMAPS and not waiting_sitemaps(version):
            self.step(SITEMAPS, journal)
        elif step != GENERATE:
            self._listener.note(f"would resume round {number}, at {step}")
            return RoundsEnd("dry run", 0, version)
        due = self.step(GENERATE, journal)
        return RoundsEnd("dry run" if due else "nothing due", 0, version)

    def step(self, name: str, journal: RoundsJournal) -> bool:
        """See `StepRunner`."""
        rounds = f"/{journal.rounds}" if journal.rounds else ""
        self._listener.begin(f"round {journal.round}{rounds}", name)
        self._step = name
        if name == GENERATE:
            return self._generate(journal.clock)
        with self._open(journal.clock) as context:
            if name == FETCH:
                self._fetch(context, journal.round)
            else:
                self._listener.finish(name, self._work(name, context, journal.round))
        return True

    def _work(self, name: str, context: StepContext, number: int) -> object:
        """Do a step that is neither a generate nor a fetch."""
        if name == SITEMAPS:
            return self._steps.sitemaps(context, number)
        steps = self._steps
        work = {
            UPDATE: steps.update, LINKS: steps.links, DEDUP: steps.dedup, INDEX: steps.index,
        }  # fmt: skip
        return work[name](context)

    @contextmanager
    def _open(self, clock: int = 0) -> Iterator[StepContext]:
        """Open the directory for a step that reports its progress."""
        with self._steps.open(self._engine, clock, self._report) as context:
            counting = CountingEngine(context.engine, self._report, REPORTED_BY_FETCH)
            yield replace(context, engine=counting)

    def _generate(self, clock: int) -> bool:
        """Generate; while nothing is due, again, as long as rounds may wait for it."""
        most, waited = self._plan.until_due, 0.0
        while True:
            with self._open(clock) as context:
                result = self._steps.generate(context)
            self._generated = result
            if result.selected or waited >= most or self._stop.reason:
                break
            nap = _seconds_until(result.next_due, clock, most - waited)
            self._listener.waits(result)
            waited += self._sleep(nap)
            clock = self.now()
        self._listener.finish(GENERATE, result)
        return bool(result.selected)

    def _sleep(self, seconds: float) -> float:
        """Wait, unless rounds shall end; return the time that it took, s."""
        began = time.monotonic()
        while (remaining := began + seconds - time.monotonic()) > 0 and not self._stop.reason:
            time.sleep(min(remaining, _NAP))
        return time.monotonic() - began

    def _fetch(self, context: StepContext, number: int) -> None:
        """Fetch the segment that waits longest."""
        segment = waiting(context.cycle.newest(), GENERATED)[0]
        self._fetching = number, segment
        result = self._steps.fetch(context, segment, resumed=self._resumed)
        self._fetching = None
        if result.interrupted:
            self._left = FetchSoFar(number, segment, result.pages, result.warc_bytes)
        self._totals = self._totals.plus(result)
        self._listener.finish(FETCH, result)
        push_rounds(context.layout, context.settings, self._listener.note)

    def _report(self, kind: str, numbers: Mapping[str, Any]) -> None:
        if kind == FETCH:
            progress = fetch_step(self._step, numbers)
        elif kind == TASKS and self._step:
            finished, of, phase = (int(numbers[name]) for name in ("done", "of", "phase"))
            progress = StepProgress(self._step, finished, of, "tasks", phase, work=numbers["work"])
        else:
            return
        self._listener.progress(progress, numbers)
        self._mark.tell(progress)


def _seconds_until(due: int | None, clock: int, most: float) -> float:
    """Return the time until something is due, s; at most `most`."""
    if due is None:
        return most
    return min(max((due - clock) / 1000, _NAP), most)


TASKS = "tasks"
"""The name of its reports."""


class CountingEngine:
    """An engine that reports progress; see `TaskEngine`.

    Args:
        engine: Runs the tasks.
        report: Called with `TASKS`, and `phase` (calls of `map` with tasks so far), `done`, `of`,
            and `work` (the name of their function).
        unreported: Functions whose tasks are not reported, as their caller reports more.

    Attributes:
        name: The name of the engine.
        workers: The parallel tasks of the engine.
    """

    def __init__(
        self,
        engine: TaskEngine,
        report: Callable[[str, Mapping[str, int | str]], None],
        unreported: Container[object] = (),
    ) -> None:
        self.name = engine.name
        self.workers = engine.workers
        self._engine = engine
        self._report = report
        self._unreported = unreported
        self._phase = 0

    @property
    def scratch(self) -> str:
        """See `TaskEngine.scratch`."""
        return self._engine.scratch

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """See `TaskEngine.map`."""
        if not specs or function in self._unreported:  # a part without tasks is none
            return self._engine.map(function, specs, on_result)
        self._phase += 1
        phase, finished = self._phase, 0

        def tell() -> None:
            work = function.__name__
            self._report(TASKS, {"phase": phase, "done": finished, "of": len(specs), "work": work})

        def count_result(number: int, result: TaskResult) -> None:
            nonlocal finished
            finished += 1
            tell()
            if on_result is not None:
                on_result(number, result)

        tell()
        return self._engine.map(function, specs, count_result)

    def close(self) -> None:
        """See `TaskEngine.close`."""
        self._engine.close()
