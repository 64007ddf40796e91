"""Runs rounds from the command line: the new directory, signals, progress, exit code."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from nacre.cli.cycle.display import StepDisplay, display_of
from nacre.cli.cycle.index_step import index_numbers, index_results
from nacre.cli.cycle.opening import (
    CommonOptions,
    ListLimits,
    begin_units,
    clock_of,
    engine_of,
    opened,
    signals_to,
)
from nacre.cli.cycle.sitemaps import sitemaps_numbers, sitemaps_text, tell_unread
from nacre.cli.cycle.steps import inject_lists, set_given
from nacre.cli.cycle.table_steps import (
    dedup_numbers,
    dedup_settings,
    dedup_text,
    links_numbers,
    links_text,
)
from nacre.cli.cycle.texts import (
    FetchSoFar,
    fetch_numbers,
    fetch_progress_text,
    fetch_text,
    generate_numbers,
    generate_text,
    inject_numbers,
    inject_text,
    rounds_text,
    so_far_text,
    tell_malformed,
    update_numbers,
    update_text,
)
from nacre.cli.installing import require_extra
from nacre.cli.new_job import make_job, options_of
from nacre.cli.output import program, say, say_json, tell, typed
from nacre.cli.search import index_text
from nacre.cli.seed_input import seed_input
from nacre.core.states import ExitCode
from nacre.crawldb.settings import CycleSettings
from nacre.cycle.engine.counting import TASKS, CountingEngine
from nacre.cycle.fetch_check import fetch_check
from nacre.cycle.parts_so_far import kept_so_far
from nacre.cycle.pushing import push_rounds
from nacre.cycle.readers import KnownCounts, TableView, known_urls
from nacre.cycle.rounds import (
    DEDUP,
    FETCH,
    GENERATE,
    GENERATED,
    INDEX,
    LINKS,
    SITEMAPS,
    STEPS,
    UPDATE,
    JournalFile,
    RoundsEnd,
    RoundsJournal,
    StopWish,
    begin,
    next_step,
    run_rounds,
    waiting,
    waiting_sitemaps,
)
from nacre.cycle.rounds_mark import RoundsMark, StepProgress, fetch_step, rounds_mark
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.dedup import dedup
from nacre.cycle.steps.fetch import TOLD_BY_FETCH, FetchOptions, SegmentFetch, fetch
from nacre.cycle.steps.generate import GenerateOptions, GenerateResult, generate
from nacre.cycle.steps.inject import InjectOptions
from nacre.cycle.steps.links import links
from nacre.cycle.steps.sitemaps import SitemapOptions, sitemaps
from nacre.cycle.steps.update import UpdateOptions, update
from nacre.cycle.unit_folder import require_scratch
from nacre.cycle.versions import CycleVersion
from nacre.errors import JobError, NacreError
from nacre.job.sentence_words import progress_words
from nacre.settings.sections import load_tables
from nacre.store.layout import Layout

_NAP = 1.0
"""Seconds between two looks while nothing is due."""


@dataclass(frozen=True)
class CycleCommandLine:
    """The options of `nacre cycle DIR`.

    Attributes:
        directory: The directory.
        common: Options that every step has.
        seeds: Of `-s`: URLs and files.
        rounds: Rounds; 0: until nothing is due.
        limits: Limits of the lists.
        until_due: How long to wait for something to be due, s; 0: not at all.
        parallel: Fetches at the same time; 0: as the settings say.
        dedup: Pages that are compared: `none`, `host`, `domain`; `off`: no dedup; "": as the
            settings say.
        sitemaps: URLs of sitemaps and files of them.
        from_hosts: `never`, `once` or `always`; "": as the settings say.
        index: Whether a round ends with the index; None: as the settings say.
        new: Options of `nacre new`, by parameter.
    """

    directory: Path
    common: CommonOptions
    seeds: Sequence[str] = ()
    rounds: int = 1
    limits: ListLimits = field(default_factory=ListLimits)
    until_due: float = 0.0
    parallel: int = 0
    dedup: str = ""
    sitemaps: Sequence[str] = ()
    from_hosts: str = ""
    index: bool | None = None
    new: Mapping[str, Any] = field(default_factory=dict)


def run_cycle(line: CycleCommandLine, *, quiet: bool, as_json: bool) -> int:
    """Run rounds, show them, and say what to do next; the exit code."""
    layout = Layout(line.directory)
    made = not layout.config.exists()
    if made:
        _make(line)
    elif without := _without_effect(line.new):
        tell(
            f"nacre: {line.directory} is there already, so these options change nothing: "
            f"{', '.join(without)}. Edit its crawl.yaml, or say --set path=value"
        )
    stop = StopWish(layout)
    if stop.why:
        tell(f"nacre: {layout.control / 'stop'} is there, so that no round begins: remove it")
        return ExitCode.STOPPED
    display = display_of(quiet=quiet, as_json=as_json)
    with signals_to(stop):
        runner = RoundsOnScreen(line, display, stop)
        try:
            if line.seeds:
                runner.inject(() if made else line.seeds)
            end = runner.run()
            counts = end.why in _COUNTED and not line.common.dry
            known = runner.known() if counts else None
        except KeyboardInterrupt:
            kept = f" {so_far_text(left)};" if (left := runner.so_far()) else ""
            display.note(f"ended at once;{kept} the same command goes on with the step")
            return ExitCode.INTERRUPTED
        finally:
            runner.close()
    _say_end(runner, end, known, line, as_json=as_json)
    code = _CODES[end.why]
    if end.why == "nothing due" and end.rounds:
        code = ExitCode.FINISHED
    return ExitCode.FAULTS if runner.faults and code is ExitCode.FINISHED else code


_COUNTED = ("done", "nothing due")
"""Ends after which known URLs are counted: who interrupts rounds wants no more work."""

_CODES = {
    "done": ExitCode.FINISHED,
    "dry run": ExitCode.FINISHED,
    "nothing due": ExitCode.NOTHING_DUE,
    "interrupted": ExitCode.INTERRUPTED,
    "stopped": ExitCode.STOPPED,
}


_FOR_ALL = frozenset(("parallel", "assignments"))
"""Parameters of a new directory that hold for rounds of any."""


def _without_effect(new: Mapping[str, Any]) -> list[str]:
    """The options of a new directory that were given, as they are typed."""
    given = [name for name in new if name not in _FOR_ALL and new[name] not in (None, [], ())]
    return [f"--{name.replace('_', '-')}" for name in given]


def _make(line: CycleCommandLine) -> None:
    """Make the directory, as `nacre new` does.

    Raises:
        ConfigError: Settings or seeds are wrong.
        JobError: There are no seeds to begin with.
    """
    where = line.directory
    if line.common.dry:
        raise JobError(f"{where} is not a job, and --dry-run makes none: leave --dry-run out")
    if not line.seeds:
        raise JobError(
            f"{where} is not a job: `nacre cycle {where} -s URL` makes it and begins with URL"
        )
    assignments = list(line.common.assignments) or None
    params = {**line.new, "assignments": assignments, "urls": list(line.seeds)}
    make_job(options_of(params), line.directory)


class RoundsOnScreen:
    """The steps of rounds for the command line; see `RoundsRunner`.

    Args:
        line: The options of the command.
        display: Shows the steps.
        stop: The wish to end.

    Attributes:
        generated: The last generate of this command; None before the first.
        pages: Pages that were fetched.
        bytes: Their bytes in the archive.
        faults: URLs that ended by an error of Nacre itself.
        resumed: It went on with a round that was interrupted.
        left: The fetch that was interrupted; None for none.
    """

    def __init__(self, line: CycleCommandLine, display: StepDisplay, stop: StopWish) -> None:
        self._line = line
        self._display = display
        self._stop = stop
        self._layout = Layout(line.directory)
        tables = load_tables(self._layout, line.common.assignments).settings
        self._engine = engine_of(line.common, tables.cycle.tasks)
        if not line.common.dry:
            begin_units(self._engine)
        with self._open() as context:
            self._cycle = context.cycle
            if context.engine.name == "local" and not line.common.dry:
                # Before a list is made that could not be fetched.
                require_scratch(self._layout, context.settings.cycle.scratch)
            self._steps = steps_of(context.settings.cycle, line)
            if INDEX in self._steps:
                require_extra("an index needs", "search")
            self._from_hosts = line.from_hosts or context.settings.cycle.sitemaps.from_hosts
        self._mark = RoundsMark(-1)
        self._at = ""
        self.generated: GenerateResult | None = None
        self.pages = 0
        self.bytes = 0
        self.faults = 0
        self.resumed = False
        self.left: FetchSoFar | None = None
        self._fetching: tuple[int, str] | None = None

    def so_far(self) -> FetchSoFar | None:
        """The fetch that is cut off, with what the parts of its units hold; None for none.

        None also where that cannot be read now, or who waits for it does not want to.
        """
        if self._fetching is None:
            return None
        try:
            held = kept_so_far(self._cycle.storage, self._fetching[1])
        except (NacreError, KeyboardInterrupt):
            return None
        return FetchSoFar(*self._fetching, *held)

    def known(self) -> KnownCounts:
        """The URLs that are known now, counted."""
        self._at = ""  # no step: of these tasks nothing is told
        with self._open() as context:
            view = TableView(
                self._cycle, self._cycle.newest(), self._engine, context.place, context.interval
            )
            return known_urls(view)

    def close(self) -> None:
        """End the workers."""
        self._engine.close()

    def newest(self) -> CycleVersion:
        """See `RoundsRunner`."""
        return self._cycle.newest()

    def now(self) -> int:
        """See `RoundsRunner`."""
        return clock_of(self._line.common.at)

    def inject(self, lists: Sequence[str]) -> None:
        """Bring seeds in; without any, the job's own list."""
        self._display.step("", "inject")
        with self._open(self.now()) as context:
            result = inject_lists(context, lists, InjectOptions())
        tell_malformed(result)
        self._display.done(inject_numbers(result), inject_text(result))

    def run(self) -> RoundsEnd:
        """Do the rounds."""
        file = JournalFile(self._layout)
        left = file.read()
        journal = begin(left, self._line.rounds, self.now(), {})
        once = () if self._from_hosts == "always" else (SITEMAPS,)
        if self._line.common.dry:
            return self._dry_run(journal, once)
        if left is not None and left.step:
            self.resumed = True
            self._display.note(f"goes on with round {journal.round}, at {left.step}")
        with rounds_mark(self._layout) as self._mark:
            return run_rounds(self, file, journal, self._stop, self._steps, once)

    def _dry_run(self, journal: RoundsJournal, once: Collection[str]) -> RoundsEnd:
        """Say what the next round would list, or where it would go on; the journal stays."""
        version = self._cycle.newest()
        number, step = next_step(journal, version, self._steps, once)
        journal = msgspec.structs.replace(journal, round=number, step=step, clock=self.now())
        if step == SITEMAPS and not waiting_sitemaps(version):
            self.step(SITEMAPS, journal)
        elif step != GENERATE:
            self._display.note(f"would go on with round {number}, at {step}")
            return RoundsEnd("dry run", 0, version)
        due = self.step(GENERATE, journal)
        return RoundsEnd("dry run" if due else "nothing due", 0, version)

    def step(self, name: str, journal: RoundsJournal) -> bool:
        """See `RoundsRunner`."""
        rounds = f"/{journal.rounds}" if journal.rounds else ""
        self._display.step(f"round {journal.round}{rounds}", name)
        self._at = name
        if name == GENERATE:
            return self._generate(journal.clock)
        with self._open(journal.clock) as context:
            if name == SITEMAPS:
                return self._sitemaps(context, journal.round)
            if name == FETCH:
                return self._fetch(context, journal.round)
            work = {
                UPDATE: self._update, LINKS: self._links, INDEX: self._index,
            }  # fmt: skip
            return work.get(name, self._dedup)(context)

    @contextmanager
    def _open(self, clock: int = 0) -> Iterator[StepContext]:
        """The directory, ready for a step that tells how far it is."""
        common, told = self._line.common, self._told
        directory = self._line.directory
        with opened(directory, common, told, engine=self._engine, clock=clock) as context:
            counting = CountingEngine(context.engine, told, TOLD_BY_FETCH)
            yield replace(context, engine=counting)

    def _generate(self, clock: int) -> bool:
        """Generate; while nothing is due, again, as long as the command waits for it."""
        line, waited = self._line, 0.0
        while True:
            with self._open(clock) as context:
                own, limits = context.settings.cycle, line.limits
                options = GenerateOptions(
                    limits.top_of(own),
                    limits.units_of(own, context.engine.workers),
                    limits.segments_of(own),
                    time_limit=limits.seconds_of(own),
                )
                found = generate(context, options, fetch_check(context))
            self.generated = found
            if found.selected or waited >= line.until_due or self._stop.why or line.common.dry:
                break
            nap = _seconds_until(found.next_due, clock, line.until_due - waited)
            self._display.progress(generate_numbers(found), generate_text(found))
            waited += self._sleep(nap)
            clock = self.now()
        self._display.done(generate_numbers(found), generate_text(found))
        return bool(found.selected)

    def _sleep(self, seconds: float) -> float:
        """Wait, unless somebody wants it to end; how long it was."""
        began = time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0 and not self._stop.why:
            time.sleep(min(left, _NAP))
        return time.monotonic() - began

    def _fetch(self, context: StepContext, number: int) -> bool:
        """Fetch the segment that waits longest."""
        segment = waiting(context.cycle.newest(), GENERATED)[0]
        line = self._line
        options = FetchOptions(
            parallel=line.parallel,
            time_limit=line.limits.seconds_of(context.settings.cycle),
            stopped=lambda: bool(self._stop.signals),
        )
        if self.resumed:
            set_given(context, segment, line.common.assignments)
        self._fetching = number, segment
        found = fetch(context, segment, options)
        self._fetching = None
        if found.interrupted:
            self.left = FetchSoFar(number, segment, found.pages, found.warc_bytes)
        self._add(found)
        self._display.done(fetch_numbers(found), fetch_text(found))
        push_rounds(context.layout, context.settings, self._display.note)
        return True

    def _sitemaps(self, context: StepContext, number: int) -> bool:
        """Read the sitemaps of the command in its first round, and those of hosts."""
        line, settings = self._line, context.settings.cycle
        hosts = self._from_hosts == "always" or (self._from_hosts == "once" and number == 1)
        named = seed_input(list(line.sitemaps), [], []).lists if line.sitemaps else []
        options = SitemapOptions(
            hosts=hosts,
            overwrite=settings.sitemaps.overwrite,
            filter=settings.sitemaps.filter,
            units=line.limits.units_of(settings, context.engine.workers),
            parallel=line.parallel,
            time_limit=line.limits.seconds_of(settings),
            stopped=lambda: bool(self._stop.signals),
        )
        found = sitemaps(context, named if number == 1 else [], options)
        tell_unread(found)
        self._display.done(sitemaps_numbers(found), sitemaps_text(found))
        return True

    def _add(self, fetch: SegmentFetch) -> None:
        if not fetch.interrupted and not fetch.done_before:
            self.pages += fetch.pages
            self.faults += fetch.faults
            self.bytes += fetch.warc_bytes

    def _update(self, context: StepContext) -> bool:
        found = update(context, UpdateOptions(context.settings.cycle.update.additions))
        self._display.done(update_numbers(found), update_text(found))
        return True

    def _links(self, context: StepContext) -> bool:
        found = links(context)
        self._display.done(links_numbers(found), links_text(found))
        return True

    def _dedup(self, context: StepContext) -> bool:
        settings = context.settings.cycle.dedup
        found = dedup(context, dedup_settings(settings, self._line.dedup, "", canonical=False))
        self._display.done(dedup_numbers(found), dedup_text(found))
        return True

    def _index(self, context: StepContext) -> bool:
        results = index_results(context)
        texts = [index_text(result, named=len(results) > 1) for result in results]
        self._display.done({"writers": list(map(index_numbers, results))}, "; ".join(texts))
        return True

    def _told(self, what: str, numbers: Mapping[str, Any]) -> None:
        if what == FETCH:
            progress = fetch_step(self._at, numbers)
            text = fetch_progress_text(numbers)
        elif what == TASKS and self._at:
            done, of, phase = (int(numbers[name]) for name in ("done", "of", "phase"))
            progress = StepProgress(self._at, done, of, "tasks", phase, work=numbers["work"])
            text = progress_words(msgspec.to_builtins(progress))
        else:
            return
        self._display.progress(numbers, text)
        self._mark.tell(progress)


def steps_of(settings: CycleSettings, line: CycleCommandLine) -> tuple[str, ...]:
    """The steps of a round.

    Args:
        settings: The section `cycle`.
        line: The options of the command, which come first.
    """
    deduplicates = line.dedup != "off" if line.dedup else settings.dedup.rounds
    indexes = settings.index.rounds if line.index is None else line.index
    hosts = (line.from_hosts or settings.sitemaps.from_hosts) != "never"
    return (
        *((SITEMAPS,) if hosts or line.sitemaps else ()),
        *(*STEPS, LINKS),
        *((DEDUP,) if deduplicates else ()),
        *((INDEX,) if indexes else ()),
    )


def _seconds_until(due: int | None, clock: int, most: float) -> float:
    """How long to wait until something is due, s; at most `most`."""
    if due is None:
        return most
    return min(max((due - clock) / 1000, _NAP), most)


def _say_end(
    runner: RoundsOnScreen,
    end: RoundsEnd,
    known: KnownCounts | None,
    line: CycleCommandLine,
    *,
    as_json: bool,
) -> None:
    version = runner.newest()
    numbers = {
        "why": end.why,
        "rounds": end.rounds,
        "pages": runner.pages,
        "warc_bytes": runner.bytes,
        "known": known.known if known is not None else None,
        "waiting": known.waiting if known is not None else None,
        "interrupted": runner.left._asdict() if runner.left is not None else None,
        "version": version.number,
        "generate": generate_numbers(runner.generated) if runner.generated else None,
    }
    if as_json:
        say_json(numbers)
        return
    command, place = program(), typed(line.directory)
    if line.common.dry:
        say("nothing was changed")
        return
    say(rounds_text(end, runner.pages, runner.bytes, runner.generated, known, runner.left))
    if runner.resumed and end.why == "done" and runner.generated is None:
        say("This was the rest of a round that was interrupted; no other round was begun.")
    if end.why in ("interrupted", "stopped"):
        say(f"Go on: {command} cycle {place} --rounds {line.rounds}")
        return
    say(f"Look:   {command} cycle {place} readdb --stats")
    say(f"Why:    {command} cycle {place} explain URL")
    search = f"{command} search {place} WORDS"
    made = Layout(line.directory).search.is_dir()
    say(f"Search: {search}" if made else f"Search: {command} cycle {place} index && {search}")
    say(f"Go on:  {command} cycle {place} --rounds 1")
