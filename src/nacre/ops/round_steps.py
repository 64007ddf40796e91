"""The steps of rounds as a request wants them: each option is used here, in the step it changes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from nacre.config.extras import require_extra
from nacre.config.seed_file import seed_lines
from nacre.crawldb.settings import CycleDedupSettings, CycleSettings
from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.ops.round_requests import (
    GenerateRequest,
    LocalOptions,
    RoundsRequest,
    TimedRequest,
    UnitsRequest,
    duration_of,
    setup_of,
)
from nacre.ops.seed_input import seed_input, streamed_input
from nacre.rounds.engine import TaskEngine
from nacre.rounds.fetch_check import fetch_check
from nacre.rounds.journal import DEDUP, INDEX, LINKS, SITEMAPS, STEPS, StopSignal
from nacre.rounds.opening import begin_units, clock_of, engine_of, open_step
from nacre.rounds.runner import RoundPlan, RoundsListener
from nacre.rounds.segment_commands import set_on_segment
from nacre.rounds.steps.context import StepContext, Told
from nacre.rounds.steps.dedup import DedupResult, dedup
from nacre.rounds.steps.fetch import FetchOptions, SegmentFetch, fetch
from nacre.rounds.steps.generate import GenerateOptions, GenerateResult, generate
from nacre.rounds.steps.index import IndexResult, index
from nacre.rounds.steps.inject import InjectOptions, InjectResult, inject
from nacre.rounds.steps.links import LinksResult, links
from nacre.rounds.steps.sitemaps import SitemapOptions, SitemapsResult, sitemaps
from nacre.rounds.steps.update import UpdateOptions, UpdateResult, update
from nacre.rounds.tables.versions import state_of
from nacre.scope.seeds import SeedList
from nacre.search.writer_kinds import chosen_writers
from nacre.settings.sections import load_tables


def units_of(request: UnitsRequest, settings: CycleSettings, workers: int) -> int:
    """Return the units of a segment (pure).

    Args:
        request: The options.
        settings: The section `cycle`.
        workers: Number of parallel tasks.
    """
    return request.units or settings.generate.units or workers


def seconds_of(request: TimedRequest, settings: CycleSettings) -> float:
    """Return the longest fetch, s; 0: no limit (pure).

    Raises:
        ConfigError: The time limit is not a duration.
    """
    seconds = duration_of("time_limit", request.time_limit)
    return settings.fetch.time_limit if seconds is None else seconds


class RequestedSteps:
    """The steps of rounds as a request wants them; see `RoundSteps`.

    Args:
        layout: The directory.
        request: The options.
        local: The options of the user of this machine.
        stop: The wish to end.
        listener: Receives notes.

    Attributes:
        request: The options.

    Raises:
        ConfigError: An option or a library is missing or wrong.
    """

    def __init__(
        self, layout: Layout, request: RoundsRequest, local: LocalOptions, stop: StopSignal,
        listener: RoundsListener,
    ) -> None:  # fmt: skip
        self._layout = layout
        self.request = request
        self._setup = setup_of(request, local)
        self._stop = stop
        self._listener = listener
        duration_of("time_limit", request.time_limit)
        self._hosts = ""
        self._wait = duration_of("until_due", request.until_due)

    def engine(self) -> TaskEngine:
        """See `RoundSteps`."""
        settings = load_tables(self._layout, self._setup.assignments).settings
        engine = engine_of(self._setup, settings.cycle.tasks, self._listener.note)
        if not self._setup.dry:
            begin_units(engine)
        return engine

    def open(
        self, engine: TaskEngine, clock: int, on_progress: Told
    ) -> AbstractContextManager[StepContext]:
        """See `RoundSteps`."""
        setup = self._setup._replace(clock=clock or self._setup.clock)
        warn = self._listener.note
        return open_step(self._layout.root, setup, on_progress, engine=engine, warn=warn)

    def plan(self, settings: CycleSettings) -> RoundPlan:
        """See `RoundSteps`."""
        request = self.request
        deduplicates = request.dedup != "off" if request.dedup else settings.dedup.rounds
        indexes = settings.index.rounds if request.index is None else request.index
        self._hosts = request.sitemaps_from_hosts or settings.sitemaps.from_hosts
        if indexes:
            require_extra("an index needs", "search")
        steps = (
            *((SITEMAPS,) if self._hosts != "never" or request.sitemaps else ()),
            *(*STEPS, LINKS),
            *((DEDUP,) if deduplicates else ()),
            *((INDEX,) if indexes else ()),
        )
        once = () if self._hosts == "always" else (SITEMAPS,)
        dry = self._setup.dry
        return RoundPlan(request.rounds, steps, once, 0.0 if dry else self._wait or 0.0, dry)

    def now(self) -> int:
        """See `RoundSteps`."""
        return self._setup.clock or clock_of("")

    def inject(self, context: StepContext, lists: Sequence[str]) -> InjectResult:
        """See `RoundSteps`."""
        return inject_lists(context, lists, InjectOptions(), self._listener.note)

    def sitemaps(self, context: StepContext, number: int) -> SitemapsResult:
        """See `RoundSteps`."""
        request, settings = self.request, context.settings.cycle
        hosts = self._hosts == "always" or (self._hosts == "once" and number == 1)
        first = request.sitemaps if number == 1 else ()
        options = SitemapOptions(
            hosts=hosts,
            overwrite=settings.sitemaps.overwrite,
            filter=settings.sitemaps.filter,
            units=units_of(request, settings, context.engine.workers),
            parallel=request.parallel,
            time_limit=seconds_of(request, settings),
            stopped=self._is_interrupted,
        )
        return sitemaps(context, seed_input(first, [], []).lists if first else [], options)

    def generate(self, context: StepContext) -> GenerateResult:
        """See `RoundSteps`."""
        limits = self.request
        request = GenerateRequest(time_limit=limits.time_limit, units=limits.units, top=limits.top)
        return generate(context, generate_options(context, request), fetch_check(context))

    def fetch(self, context: StepContext, segment: str, *, resumed: bool) -> SegmentFetch:
        """See `RoundSteps`."""
        if resumed:
            set_values(context, segment, self._setup.assignments)
        options = FetchOptions(
            parallel=self.request.parallel,
            time_limit=seconds_of(self.request, context.settings.cycle),
            stopped=self._is_interrupted,
        )
        return fetch(context, segment, options)

    def update(self, context: StepContext) -> UpdateResult:
        """See `RoundSteps`."""
        return update(context, UpdateOptions(context.settings.cycle.update.additions))

    def links(self, context: StepContext) -> LinksResult:
        """See `RoundSteps`."""
        return links(context)

    def dedup(self, context: StepContext) -> DedupResult:
        """See `RoundSteps`."""
        return dedup(context, dedup_settings(context.settings.cycle.dedup, self.request.dedup))

    def index(self, context: StepContext) -> list[IndexResult]:
        """See `RoundSteps`."""
        return index_results(context)

    def _is_interrupted(self) -> bool:
        return bool(self._stop.signals)


# ---- what commands of single steps use, too


def inject_lists(
    context: StepContext, lists: Sequence[str], options: InjectOptions, note: Callable[[str], None]
) -> InjectResult:
    """Inject URLs and files of them; without any, the job's own list.

    Args:
        context: The context of the step.
        lists: URLs, and names of files.
        options: The options of the step.
        note: Receives a line about each file.

    Raises:
        ConfigError: A file cannot be read.
    """
    if not lists:
        named = context.settings.seeds
        file = named if isinstance(named, str) else ""
        own = SeedList(file, seed_lines(named, context.layout.root))
        return inject(context, [own], options, own=True)
    seeds = streamed_input(lists)
    for line in seeds.notes:
        note(line)
    return inject(context, seeds.lists, options)


def generate_options(context: StepContext, request: GenerateRequest) -> GenerateOptions:
    """Return the options of a generate; what the request leaves out is as the settings say."""
    settings = context.settings.cycle
    return GenerateOptions(
        settings.generate.top if request.top is None else request.top,
        units_of(request, settings, context.engine.workers),
        request.segments or settings.generate.segments,
        request.where,
        request.add_days,
        filter=not request.no_filter,
        normalize=not request.no_normalize,
        time_limit=seconds_of(request, settings),
    )


def set_values(context: StepContext, segment: str, assignments: Sequence[str]) -> None:
    """Apply the values of `--set` to a segment that waits for its fetch, too."""
    if assignments and state_of(context.cycle.newest(), segment).state == "generated":
        names = [assignment.partition("=")[0].strip() for assignment in assignments]
        set_on_segment(context, segment, names)


def dedup_settings(
    settings: CycleDedupSettings, group: str = "", order: str = "", *, canonical: bool = False
) -> CycleDedupSettings:
    """Return the settings, overridden by the options of a command.

    Args:
        settings: The section `cycle.dedup`.
        group: The pages that are compared; "" to use the settings.
        order: The criteria, separated by commas; "" to use the settings.
        canonical: Pages are copies of the page that they declare as canonical.

    Raises:
        ConfigError: An option has no such value.
    """
    from pydantic import ValidationError

    values = settings.model_dump()
    values |= {"group": group} if group else {}
    values |= {"order": [name.strip() for name in order.split(",")]} if order else {}
    values |= {"canonical": True} if canonical else {}
    try:
        return type(settings).model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--group" if first["loc"][0] == "group" else "--order"
        raise ConfigError(f"{name}: {first['msg']}, not {first['input']!r}") from None


def index_results(
    context: StepContext, writer: str = "", *, rebuild: bool = False
) -> list[IndexResult]:
    """Bring changes into the index of each writer, and return the results.

    Args:
        context: The context of the step.
        writer: Name of a writer; "" for all.
        rebuild: Begin with an empty index.
    """
    writers = chosen_writers(context.settings.cycle.index.writers, writer)
    folder = context.layout.index
    return [
        index(context, segment.make(folder), when=segment.when, rebuild=rebuild)
        for segment in writers
    ]
