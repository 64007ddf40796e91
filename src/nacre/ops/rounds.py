"""The operations that run batch rounds and single steps; `round_requests` has their options."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, NamedTuple

import msgspec

from nacre.errors import ConfigError, JobError
from nacre.messages import message
from nacre.ops.fields import (
    LineText,
    LineTexts,
    Rounds,
    ShortText,
    ShortTexts,
    Typed,
    option_of,
)
from nacre.ops.operation import ROUNDS as ROUNDS_AT_REST
from nacre.ops.operation import Operation, OperationContext, Q, R
from nacre.ops.round_requests import (
    NO_LOCAL,
    NO_RUN,
    GenerateRequest,
    LocalOptions,
    RoundsRequest,
    StepRequest,
    TimedRequest,
    UnitsRequest,
    duration_of,
    setup_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager

    from nacre.machine.layout import Layout
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.runner import RoundsListener, RoundsResult
    from nacre.rounds.steps.context import StepContext
    from nacre.rounds.steps.fetch import SegmentFetch
    from nacre.rounds.steps.generate import GenerateResult
    from nacre.rounds.steps.given import GivenResult
    from nacre.rounds.steps.index import IndexResult
    from nacre.rounds.steps.inject import InjectResult
    from nacre.rounds.steps.refilter import RefilterResult
    from nacre.rounds.steps.sitemaps import SitemapsResult
    from nacre.rounds.steps.update import UpdateResult
    from nacre.rounds.tables.readers import TableView
    from nacre.search.document import SearchDocument
    from nacre.search.writer_kinds import WriterSettings


def require_no_stop(stop: "StopSignal", layout: "Layout") -> None:
    """Refuse to begin rounds that the file `control/stop` would end at once.

    Raises:
        JobError: The file exists.
    """
    if stop.reason:
        raise JobError(
            message(
                "ops.control-file",
                "{control} is there, so that no round begins: remove it",
                control=layout.control / "stop",
            )
        )


def run_rounds(
    context: OperationContext,
    request: RoundsRequest,
    local: LocalOptions = NO_LOCAL,
    listener: "RoundsListener | None" = None,
    stop: "StopSignal | None" = None,
    *,
    seeds: "Sequence[str] | None" = None,
) -> "RoundsResult":
    """Run rounds; a round that was interrupted is finished first.

    Args:
        context: The job.
        request: The options.
        local: The options of the user of this machine.
        listener: Receives the progress; None for no listener.
        stop: Signals a request to end; None to check the file `control/stop`.
        seeds: URLs and files of them that are injected first; () for the job's own list, None for
            no inject.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no batch crawl, or the file `control/stop` exists.
        StorageError: The storage cannot be read or written.
    """
    from nacre.ops.round_steps import RequestedSteps
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.runner import SILENT, RoundsRunner

    layout, listener = context.layout, listener or SILENT
    stop = stop or StopSignal(layout)
    require_no_stop(stop, layout)
    steps = RequestedSteps(layout, request, local, stop, listener)
    with RoundsRunner(layout, steps, stop, listener) as runner:
        if seeds is not None:
            runner.inject(seeds)
        return runner.run()


ROUNDS: Final[Operation[RoundsRequest, Any]] = Operation(
    "cycle",
    "Crawl in rounds: generate a list, fetch it, update the table; again and again.",
    RoundsRequest, msgspec.Struct, run_rounds, frozenset((ROUNDS_AT_REST,)),
    detail="A round that was interrupted is continued at the step that it was in. `nacre cycle DIR "
    "STEP` does one step.",
)  # fmt: skip


# ---- single steps

LOCAL: Final = ("master", "at", "dry_run")
"""The options of steps that only a user of this machine has."""
Segment = Annotated[ShortText, Typed("SEGMENT", is_argument=True)]
Segments = Annotated[ShortTexts, Typed("SEGMENT", is_argument=True)]


def open_for_step(
    context: OperationContext, request: msgspec.Struct, *, writes: bool = True
) -> "AbstractContextManager[StepContext]":
    """Open the directory of an operation for a step; see `open_step`.

    Raises:
        ConfigError: A setting, an option or a library is missing or wrong.
        JobError: The directory is no job, or is running.
        StorageError: Nothing can be written into the storage.
    """
    from nacre.rounds.opening import open_step

    run = context.step or NO_RUN
    if isinstance(request, TimedRequest):
        duration_of("time_limit", request.time_limit)
    setup = setup_of(request, run.local)
    return open_step(context.layout.root, setup, run.report, writes=writes, warn=run.warn)


@contextmanager
def open_tables(
    context: OperationContext, request: msgspec.Struct, version: int = 0, *, by_arrow: bool = True
) -> "Iterator[TableView]":
    """Open the tables of the directory of an operation.

    Args:
        context: The job.
        request: The options.
        version: The version; 0: the newest.
        by_arrow: Load Arrow, for rows in its format.

    Raises:
        ConfigError: A setting or an option is wrong; settings of no use to readers are not read.
        JobError: The directory is no job, or is running, or has no such version.
    """
    from nacre.rounds.opening import engine_of, open_versions, require_executors, warn_of_buckets
    from nacre.rounds.tables.readers import TableView
    from nacre.rounds.tables.tables import TaskPlace, kernel_manifest

    run = context.step or NO_RUN
    _, loaded, cycle = open_versions(context.layout.root)
    cycle = cycle if by_arrow else cycle.with_reader(kernel_manifest)
    rounds, revisits = loaded.settings.cycle, loaded.settings.recrawl.schedule.nutch
    engine = engine_of(setup_of(request, run.local), rounds.tasks, run.warn)
    try:
        require_executors(engine, cycle.storage.place)
        warn_of_buckets(cycle, loaded, run.warn)
        chosen = cycle.version(version) if version else cycle.newest()
        place = TaskPlace(cycle.storage.place, rounds.memory)
        yield TableView(cycle, chosen, engine, place, round(revisits.interval))
    finally:
        engine.close()


def step_operation(
    name: str, summary: str, request: type[Q], run: Callable[[OperationContext, Q], Any],
    detail: str = "", local: tuple[str, ...] = LOCAL,
) -> Operation[Q, Any]:  # fmt: skip
    """Return an operation on a batch crawl at rest.

    Its result is a type of `rounds`, whose modules load the libraries of tables.
    """
    states = frozenset((ROUNDS_AT_REST,))
    return Operation(name, summary, request, object, run, states, detail=detail, local=local)


class InjectRequest(StepRequest, frozen=True):
    """The options of an inject.

    Attributes:
        lists: Seeds, or files of seeds with metadata after tabs; default: the job's own list.
        overwrite: Seeds replace the stored rows of their URLs.
        update: Known rows keep their state and take metadata, score and interval.
        no_filter: Take seeds that filters refuse, too.
        no_normalize: Leave seeds as they are written.
        refilter: Judge and normalize all known URLs, too.
    """

    lists: Annotated[LineTexts, Typed("URL|FILE", is_argument=True)] = ()
    overwrite: bool = False
    update: bool = False
    no_filter: bool = False
    no_normalize: bool = False
    refilter: bool = False


class FilteredStep(NamedTuple, Generic[R]):
    """The result of a step that may judge all known URLs, too.

    Attributes:
        result: The result of the step.
        refilter: The result for the known URLs; None if they were not judged.
    """

    result: R
    refilter: "RefilterResult | None"


def _inject(context: OperationContext, request: InjectRequest) -> "FilteredStep[InjectResult]":
    from nacre.ops.round_steps import inject_lists
    from nacre.rounds.steps.inject import InjectOptions

    options = InjectOptions(
        request.overwrite, request.update, filter=not request.no_filter,
        normalize=not request.no_normalize,
    )  # fmt: skip
    warn = (context.step or NO_RUN).warn
    with open_for_step(context, request) as step:
        result = inject_lists(step, request.lists, options, warn)
        again = _refilter(step, filters=request.refilter, normalizes=request.refilter)
    return FilteredStep(result, again)


def _refilter(step: "StepContext", *, filters: bool, normalizes: bool) -> "RefilterResult | None":
    """Judge and normalize all known URLs; None if neither is requested."""
    from nacre.rounds.steps.refilter import RefilterOptions, refilter

    if not filters and not normalizes:
        return None
    return refilter(step, RefilterOptions(filter=filters, normalize=normalizes))


_CHOICE: Final = (
    "top", "segments", "where", "add_days", "no_filter", "no_normalize", "time_limit",
)  # fmt: skip
"""Options of a generate that choose among known URLs."""


def require_one_source(request: GenerateRequest, typed: "Collection[str]" = ()) -> None:
    """Refuse options that choose among known URLs beside URLs that are named (pure).

    Args:
        request: The options.
        typed: Fields that were typed, also with their default value.

    Raises:
        ConfigError: Options of the one are given with the other.
    """
    for field in msgspec.structs.fields(GenerateRequest):
        is_set = field.name in typed or getattr(request, field.name) != field.default
        if request.urls and field.name in _CHOICE and is_set:
            raise ConfigError(
                f"{option_of(field)} chooses among known URLs, and --urls names them: give one of "
                "them"
            )
    if not request.urls and (request.filter_urls or request.normalize_urls):
        name = "--filter" if request.filter_urls else "--normalize"
        raise ConfigError(
            f"{name} is for the URLs of --urls; `generate` asks changed rules about known URLs "
            "anyway, and `inject --refilter` normalizes them, too"
        )


def _generate(
    context: OperationContext, request: GenerateRequest
) -> "GenerateResult | GivenResult":
    from nacre.ops.round_steps import generate_options
    from nacre.rounds.fetch_check import fetch_check
    from nacre.rounds.steps.generate import generate

    require_one_source(request, (context.step or NO_RUN).typed)
    if request.urls:
        return _list_urls(context, request)
    with open_for_step(context, request) as step:
        return generate(step, generate_options(step, request), fetch_check(step))


def _list_urls(context: OperationContext, request: GenerateRequest) -> "GivenResult":
    """List the URLs of `--urls`."""
    from nacre.ops.round_steps import units_of
    from nacre.ops.seed_input import seed_input
    from nacre.rounds.fetch_check import fetch_check
    from nacre.rounds.steps.given import GivenOptions, generate_given

    urls = seed_input(request.urls, [], [], "URL")
    for note in urls.notes:
        (context.step or NO_RUN).warn(note)
    with open_for_step(context, request) as step:
        options = GivenOptions(
            units_of(request, step.settings.cycle, step.engine.workers),
            filter=request.filter_urls, normalize=request.normalize_urls,
        )  # fmt: skip
        return generate_given(step, urls.lists, options, fetch_check(step))


class FetchStepRequest(TimedRequest, frozen=True):
    """The options of a fetch.

    Attributes:
        segment: Default: the one that waits longest.
        parallel: Parallel fetches in a unit.
    """

    segment: Segment = ""
    parallel: Annotated[Rounds, Typed("N")] = 0


class WaitingSegment(NamedTuple):
    """A segment that a fetch would work on.

    Attributes:
        segment: Its name.
        state: Its state.
        urls: URLs in its lists.
        units: Its lists.
        until: Until when its URLs are leased, ms since the epoch; 0 for no lease.
    """

    segment: str
    state: str
    urls: int
    units: int
    until: int


def _fetch(
    context: OperationContext, request: FetchStepRequest
) -> "SegmentFetch | WaitingSegment | None":
    """Fetch the lists of a segment; None if no segment waits."""
    from nacre.ops.round_steps import seconds_of, set_values
    from nacre.rounds.journal import GENERATED, waiting
    from nacre.rounds.pushing import push_rounds
    from nacre.rounds.steps.fetch import FetchOptions, fetch
    from nacre.rounds.tables.versions import state_of

    run = context.step or NO_RUN
    with open_for_step(context, request) as step:
        segment = request.segment or next(iter(waiting(step.cycle.newest(), GENERATED)), "")
        if not segment:
            return None
        if step.dry:
            state = state_of(step.cycle.newest(), segment)
            return WaitingSegment(segment, state.state, state.urls, state.units, state.until)
        options = FetchOptions(
            parallel=request.parallel, time_limit=seconds_of(request, step.settings.cycle),
            stopped=run.is_stopped,
        )  # fmt: skip
        set_values(step, segment, request.set)
        result = fetch(step, segment, options)
        push_rounds(step.layout, step.settings, run.notify)
    return result


class UpdateRequest(StepRequest, frozen=True):
    """The options of an update.

    Attributes:
        segments: Default: all that were fetched.
        no_additions: Add no URLs: neither those that links name, nor visited ones.
        filter_known: Then ask changed rules about all known URLs.
        normalize_known: Then bring all known URLs into their normal form.
    """

    segments: Segments = ()
    no_additions: bool = False
    filter_known: Annotated[bool, Typed("", option="--filter")] = False
    normalize_known: Annotated[bool, Typed("", option="--normalize")] = False


def _update(context: OperationContext, request: UpdateRequest) -> "FilteredStep[UpdateResult]":
    from nacre.rounds.steps.update import UpdateOptions, update

    with open_for_step(context, request) as step:
        additions = step.settings.cycle.update.additions and not request.no_additions
        result = update(step, UpdateOptions(additions), request.segments)
        filters, normalizes = request.filter_known, request.normalize_known
        again = _refilter(step, filters=filters, normalizes=normalizes)
    return FilteredStep(result, again)


class SitemapsRequest(UnitsRequest, frozen=True):
    """The options of a fetch of sitemaps.

    Attributes:
        lists: Sitemaps, or files of their URLs; default: those that robots.txt of all known hosts
            name.
        overwrite: Known URLs take priority, changefreq and lastmod of a sitemap of their domain.
        no_filter: Take URLs that the scope refuses, too.
        no_normalize: Leave URLs as sitemaps have them.
    """

    lists: Annotated[LineTexts, Typed("URL|FILE", is_argument=True)] = ()
    overwrite: bool = False
    no_filter: bool = False
    no_normalize: bool = False


def _sitemaps(context: OperationContext, request: SitemapsRequest) -> "SitemapsResult":
    from nacre.ops.round_steps import seconds_of, units_of
    from nacre.ops.seed_input import seed_input
    from nacre.rounds.steps.sitemaps import SitemapOptions, sitemaps

    lists = seed_input(request.lists, [], []).lists if request.lists else []
    with open_for_step(context, request) as step:
        settings = step.settings.cycle
        options = SitemapOptions(
            hosts=not lists,
            overwrite=request.overwrite or settings.sitemaps.overwrite,
            filter=settings.sitemaps.filter and not request.no_filter,
            normalize=not request.no_normalize,
            units=units_of(request, settings, step.engine.workers),
            time_limit=seconds_of(request, settings),
            stopped=(context.step or NO_RUN).is_stopped,
        )
        return sitemaps(step, lists, options)


class IndexRequest(StepRequest, frozen=True):
    """The options of an update of the index of words.

    Attributes:
        rebuild: Rebuild the index from the archive, as after a change of settings; the old index
            stays until the new one is complete. Nothing is fetched.
        writer: Use only this writer of cycle.index.writers; default: all writers.
        check: Only show the document of this page, and the writers that would receive it.
    """

    rebuild: bool = False
    writer: Annotated[ShortText, Typed("NAME")] = ""
    check: Annotated[LineText, Typed("URL")] = ""


class CheckedDocument(NamedTuple):
    """The document that an index would receive for a page.

    Attributes:
        url: The page.
        document: Its document, or the reason why it has none.
        writers: The writers that would receive it.
    """

    url: str
    document: "SearchDocument | str"
    writers: "Sequence[WriterSettings]"


def _index(
    context: OperationContext, request: IndexRequest
) -> "Sequence[IndexResult] | CheckedDocument":
    from nacre.ops.round_steps import index_results
    from nacre.rounds.page_check import checked_document
    from nacre.rounds.typed_keys import key_of
    from nacre.search.writer_kinds import chosen_writers

    with open_for_step(context, request) as step:
        if not request.check:
            return index_results(step, request.writer, rebuild=request.rebuild)
        writers = chosen_writers(step.settings.cycle.index.writers, request.writer)
        url, key = key_of(step.settings, request.check, step.layout.root)
        return CheckedDocument(url, checked_document(step, key), writers)


INJECT: Final = step_operation(
    "inject", "Bring seeds into the table of URLs.", InjectRequest, _inject,
    "A line is a URL; behind tabs may stand metadata, `nutch.score=`, `nutch.fetchInterval=` and "
    "`nutch.fetchInterval.fixed=` among them.",
)  # fmt: skip
SITEMAPS: Final = step_operation(
    "sitemaps", "Fetch sitemaps, and bring the URLs that they list into the table.",
    SitemapsRequest, _sitemaps,
)  # fmt: skip
GENERATE: Final = step_operation(
    "generate", "Choose the next URLs to fetch, the best first, and write a list for each unit.",
    GenerateRequest, _generate,
)  # fmt: skip
FETCH: Final = step_operation(
    "fetch", "Fetch the lists of a segment. What was interrupted goes on where it was.",
    FetchStepRequest, _fetch,
)  # fmt: skip
UPDATE: Final = step_operation(
    "update", "Merge fetch results into the table of URLs.", UpdateRequest, _update
)
INDEX: Final = step_operation(
    "index",
    "Bring pages that changed into the index of words, and take out those that are gone.",
    IndexRequest, _index, "`nacre search DIR WORDS` looks in it.",
)  # fmt: skip
