"""The operations on tables of batch rounds: steps, imports, exports, versions, storage."""

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from nacre.errors import ConfigError
from nacre.ops.fields import Natural, ShortText, Typed, Whole
from nacre.ops.operation import OperationContext
from nacre.ops.round_requests import NO_RUN, StepRequest, TablesRequest
from nacre.ops.rounds import Segments, open_for_step, open_tables, step_operation
from nacre.report.formatting import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nacre.job.receiving import ReceivedUrls
    from nacre.rounds.check import StorageCheck
    from nacre.rounds.moving.job_import import JobImport
    from nacre.rounds.moving.nutch_import import ImportResult
    from nacre.rounds.moving.nutch_segments import SegmentsResult
    from nacre.rounds.segments.compaction import CompactResult
    from nacre.rounds.steps.dedup import DedupResult
    from nacre.rounds.steps.links import LinksResult
    from nacre.rounds.steps.merge import MergeResult
    from nacre.rounds.steps.parse import ParseResult
    from nacre.rounds.steps.rank import RankedNode, RankResult
    from nacre.rounds.tables.flat_table import FlatResult
    from nacre.rounds.tables.versions import Cycle, CycleVersion


class LinksRequest(StepRequest, frozen=True):
    """The options of a step for links.

    Attributes:
        rebuild: Take the links of all segments again, by the settings of now.
    """

    rebuild: bool = False


def _links(context: OperationContext, request: LinksRequest) -> "LinksResult":
    from nacre.rounds.steps.links import links

    with open_for_step(context, request) as step:
        return links(step, rebuild=request.rebuild)


class ParseRequest(StepRequest, frozen=True, kw_only=True):
    """The options of a parse.

    Attributes:
        segments: Which ones.
    """

    segments: Segments


def _parse(context: OperationContext, request: ParseRequest) -> "ParseResult":
    from nacre.rounds.steps.parse import parse

    with open_for_step(context, request) as step:
        parts: dict[str, list[str]] = {name: [] for name in request.segments}
        return parse(step.cycle, step.engine, step.place, step.clock, parts, dry=step.dry)


class DedupRequest(StepRequest, frozen=True):
    """The options of a search for duplicates.

    Attributes:
        group: Compare pages of the same host or domain only: host, domain; none: all. Default:
            cycle.dedup.group.
        order: The criteria, separated by commas: score, fetchTime, httpsOverHttp, urlLength.
            Default: cycle.dedup.order.
        canonical: Pages are copies of the page that they declare as canonical.
        near: Pages with almost the same text are copies; cycle.dedup.near lets units make
            the simhashes that this needs.
    """

    group: Annotated[ShortText, Typed("NAME")] = ""
    order: Annotated[ShortText, Typed("LIST")] = ""
    canonical: bool = False
    near: bool = False


def _dedup(context: OperationContext, request: DedupRequest) -> "DedupResult":
    from nacre.ops.round_steps import dedup_settings
    from nacre.rounds.steps.dedup import dedup

    with open_for_step(context, request) as step:
        settings = dedup_settings(
            step.settings.cycle.dedup, request.group, request.order, canonical=request.canonical
        )
        if request.near and not settings.near:
            (context.step or NO_RUN).warn(
                "pages that were fetched without `cycle.dedup.near: true` have no simhash: --near "
                "cannot compare them"
            )
        settings = settings.model_copy(update={"near": request.near or settings.near})
        return dedup(step, settings)


class RankRequest(StepRequest, frozen=True):
    """The options of a computation of ranks.

    Attributes:
        level: Whose ranks; default: host.
        iterations: How often they are computed.
        damping: Share that links give.
        per_domain: Of a page one link to each domain; with --level page.
        apply: Make the ranks the scores of URLs: for `scoring: rank`.
        show: Print the best N of the last computation, and compute nothing.
    """

    level: Annotated[Literal["host", "domain", "page"], Typed("")] = "host"
    iterations: Annotated[Natural, Typed("N")] = 10
    damping: Annotated[float, Meta(ge=0, le=1), Typed("D")] = 0.85
    per_domain: bool = False
    apply: bool = False
    show: Annotated[Whole, Typed("N")] = 0


class BestNodes(NamedTuple):
    """The hosts, domains or pages with the best ranks.

    Attributes:
        level: Their kind.
        nodes: The nodes, the best first.
    """

    level: str
    nodes: "Sequence[RankedNode]"


def _rank(context: OperationContext, request: RankRequest) -> "RankResult | BestNodes":
    from nacre.rounds.steps.rank import RankOptions, best_nodes, rank

    if request.show:
        with open_tables(context, request) as view:
            return BestNodes(request.level, best_nodes(view, request.level, request.show))
    options = RankOptions(
        request.level, request.iterations, request.damping, request.per_domain, request.apply
    )
    with open_for_step(context, request) as step:
        return rank(step, options)


PARSE: Final = step_operation(
    "parse", "Make the facts of fetched segments again, out of their WARC files.",
    ParseRequest, _parse,
    "Links are taken while a page is fetched. This is for facts that were damaged.",
)  # fmt: skip
LINKS: Final = step_operation(
    "links", "Take the links of fetched segments into the table of links.", LinksRequest, _links
)
DEDUP: Final = step_operation(
    "dedup", "Mark pages with the same content as duplicates of the best one.",
    DedupRequest, _dedup,
)  # fmt: skip
RANK: Final = step_operation(
    "rank", "Compute how important hosts, domains or pages are by the links to them.",
    RankRequest, _rank,
    "Each iteration is kept, so that a command that was interrupted goes on behind the last one.",
)  # fmt: skip


class MergeRequest(StepRequest, frozen=True, kw_only=True):
    """The options of a merge.

    Attributes:
        directories: Their directories.
        filtered: Leave out what the scope of DIR refuses.
        normalize: Bring URLs into the form that DIR gives them.
    """

    directories: Annotated[tuple[Path, ...], Typed("OTHER_DIR", is_argument=True)]
    filtered: Annotated[bool, Typed("", option="--filter")] = False
    normalize: bool = False


def _merge(context: OperationContext, request: MergeRequest) -> "MergeResult":
    from nacre.machine.layout import Layout
    from nacre.rounds.steps.merge import MergeOptions, merge
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.load import load_job

    with open_for_step(context, request) as step:
        layouts = [Layout(path) for path in request.directories]
        cycles = [
            Cycle.open(layout.root, load_job(layout).settings.cycle.storage) for layout in layouts
        ]
        return merge(step, cycles, MergeOptions(request.filtered, request.normalize))


class ImportRequest(StepRequest, frozen=True, kw_only=True):
    """The options of an import.

    Attributes:
        source: The directory of a continuous crawl; or a CrawlDb, LinkDb, HostDb or segments of
            Nutch, or the directory that has them.
        filtered: Leave out what the scope of DIR refuses.
        normalize: Bring URLs into the form that DIR gives them.
        salvage: Leave out records that cannot be read, and go on behind them.
    """

    source: Annotated[Path, Typed("JOB|NUTCH_DIR", is_argument=True)]
    filtered: Annotated[bool, Typed("", option="--filter")] = False
    normalize: bool = False
    salvage: bool = False


class NutchImport(NamedTuple):
    """The results of an import from Nutch.

    Attributes:
        tables: That of its tables; None if there are none.
        segments: That of its segments; None if there are none.
    """

    tables: "ImportResult | None"
    segments: "SegmentsResult | None"


class ImportedJob(NamedTuple):
    """The result of an import of a continuous crawl.

    Attributes:
        result: The counts.
        is_planned: The directory would be made, with the configuration of the job.
    """

    result: "JobImport"
    is_planned: bool


def _import(context: OperationContext, request: ImportRequest) -> NutchImport | ImportedJob:
    from nacre.rounds.moving.nutch_import import NutchOptions, import_nutch, nutch_places
    from nacre.rounds.moving.nutch_segments import import_segments, segment_places

    if (request.source / "crawl.yaml").is_file():
        return _import_job(context, request)
    places = nutch_places(request.source)
    with open_for_step(context, request) as step:
        result = segments = None
        if any((places.crawldb, places.linkdb, places.hostdb)):
            options = NutchOptions(request.filtered, request.normalize, request.salvage)
            result = import_nutch(step, places, options)
        if places.segments is not None and not (step.dry and result is not None):
            paths = segment_places(places.segments)
            segments = import_segments(step, paths, salvage=request.salvage)
    return NutchImport(result, segments)


def _import_job(context: OperationContext, request: ImportRequest) -> ImportedJob:
    from nacre.inspect.stored_job import require_store
    from nacre.machine.layout import Layout
    from nacre.rounds.moving.job_import import import_job

    require_store(Layout(request.source))
    with _open_configured(context, request.source) as configured:
        is_planned = configured.layout.root != context.layout.root
        with open_for_step(configured, request) as step:
            return ImportedJob(import_job(step, Layout(request.source)), is_planned)


@contextmanager
def _open_configured(context: OperationContext, source: Path) -> "Iterator[OperationContext]":
    """Give a directory the configuration of a job if it has none; of a dry run a copy."""
    from nacre.machine.layout import Layout
    from nacre.rounds.moving.job_export import copy_configuration
    from nacre.rounds.opening import leave_browser_out

    target = context.layout.root
    if target.exists() and any(target.iterdir()):
        yield context
    elif not (context.step or NO_RUN).local.dry_run:
        copy_configuration(source, target)
        leave_browser_out(context.layout)
        yield context
    else:
        with TemporaryDirectory(prefix="import-") as folder:
            layout = Layout(Path(folder))
            copy_configuration(source, layout.root)
            leave_browser_out(layout)
            yield context._replace(layout=layout)


class ExportTablesRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options of an export.

    Attributes:
        target: What is made of it.
        seeds: Write a seed list for Nutch into FILE; -: to stdout.
        parquet: Keep a table of all URLs for other engines in FOLDER: Parquet, one row a URL. Only
            what changed since the last export is written.
    """

    target: Annotated[Path, Typed("JOB|FILE|FOLDER", is_argument=True)]
    seeds: Annotated[bool, Typed("", option="--nutch-seeds")] = False
    parquet: bool = False


class WrittenSeeds(NamedTuple):
    """A seed list for Nutch that was written.

    Attributes:
        number: Its lines.
    """

    number: int


def _export(
    context: OperationContext, request: ExportTablesRequest
) -> "Iterator[str] | WrittenSeeds | FlatResult | ReceivedUrls":
    """Export URLs; a seed list for stdout is returned line by line."""
    import asyncio

    from nacre.machine.layout import Layout
    from nacre.rounds.moving.job_export import export_job
    from nacre.rounds.opening import clock_of
    from nacre.rounds.tables.flat_table import export_flat
    from nacre.settings.load import load_job

    if request.seeds and request.parquet:
        raise ConfigError("--nutch-seeds makes a file, and --parquet a folder: give one of them")
    if request.seeds:
        lines = _seed_lines(context, request)
        return lines if str(request.target) == "-" else _write_seeds(lines, request.target)
    with open_tables(context, request) as view:
        if request.parquet:
            return export_flat(view, request.target)
        settings = load_job(context.layout).settings
        target = Layout(request.target)
        return asyncio.run(export_job(view, settings, context.layout, target, clock_of("")))


def _seed_lines(context: OperationContext, request: ExportTablesRequest) -> "Iterator[str]":
    from nacre.rounds.moving.nutch_rows import nutch_seeds

    with open_tables(context, request) as view:
        yield from nutch_seeds(view)


def _write_seeds(lines: "Iterator[str]", target: Path) -> WrittenSeeds:
    number = 0
    temporary = target.with_name(f".{target.name}.new")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for number, line in enumerate(lines, 1):  # noqa: B007 - their number in the end
                file.write(f"{line}\n")
        temporary.replace(target)
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}") from error
    return WrittenSeeds(number)


class VersionsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a list of versions.

    Attributes:
        action: `restore N` goes back to version N.
        number: The version to go back to.
        files: Print the files of a table of the newest version.
    """

    action: Annotated[ShortText, Typed("[restore]", is_argument=True)] = ""
    number: Annotated[Whole, Typed("[N]", is_argument=True)] = 0
    files: Annotated[ShortText, Typed("TABLE")] = ""


class VersionRestore(NamedTuple):
    """A version that the newest one has the state of.

    Attributes:
        restored: Its number.
        version: The new version; None if nothing was committed.
    """

    restored: int
    version: "CycleVersion | None"


class TablePaths(NamedTuple):
    """The files of a table.

    Attributes:
        paths: Their paths, or their places in the storage.
    """

    paths: "Sequence[str]"


def _versions(
    context: OperationContext, request: VersionsRequest
) -> "VersionRestore | TablePaths | list[CycleVersion]":
    from nacre.rounds.opening import open_versions, warn_of_buckets

    if request.action and request.action != "restore":
        raise ConfigError(f"{request.action!r}: `versions`, or `versions restore N`")
    if request.action and request.number:
        return _restore(context, request)
    _, loaded, cycle = open_versions(context.layout.root)
    if request.action:
        earlier = _earlier_versions(cycle)
        raise ConfigError(f"`versions restore N` needs the number of a version: {earlier}")
    warn_of_buckets(cycle, loaded, (context.step or NO_RUN).warn)
    if request.files:
        return TablePaths(_table_paths(cycle, request.files))
    return [cycle.version(number) for number in cycle.numbers()]


def _restore(context: OperationContext, request: VersionsRequest) -> VersionRestore:
    from nacre.rounds.check import require_whole, restore_whole

    number = request.number
    with open_for_step(context, request) as step:
        arguments = (step.cycle, step.engine, step.place, number)
        if step.dry:
            require_whole(*arguments)
            return VersionRestore(number, None)
        return VersionRestore(number, restore_whole(*arguments, step.clock))


_NAMED: Final = 10
"""Versions that a message lists."""


def _earlier_versions(cycle: "Cycle") -> str:
    """Return the versions that can be restored, the newest first."""
    newest = cycle.newest().number
    numbers = sorted((number for number in cycle.numbers() if number < newest), reverse=True)
    items = [cycle.version(number) for number in numbers[:_NAMED]]
    texts = [f"{item.number} ({item.step} of {time_text(item.clock)})" for item in items]
    more = [f"{len(numbers) - _NAMED:,} more (`versions`)"] if len(numbers) > _NAMED else []
    return ", ".join([*texts, *more]) or "there is none to go back to"


def _table_paths(cycle: "Cycle", table: str) -> list[str]:
    from nacre.rounds.tables.versions import OUTSIDE

    version = cycle.newest()
    names = [*version.tables, *(["archive"] if version.archive else [])]
    if table not in names:
        raise ConfigError(f"--files {table}: there is {', '.join(names) or 'no table yet'}")
    paths = []
    for file in cycle.files(version, table):
        path = file.path if file.kind == OUTSIDE else cycle.storage.local_path(file.path)
        paths.append(str(path or f"{cycle.storage.place}/{file.path}"))
    return paths


class HashRequest(TablesRequest, frozen=True):
    """The options of a hash.

    Attributes:
        table: The table.
        facts: Leave out times, durations and places in WARCs.
    """

    table: Annotated[ShortText, Typed("[TABLE]", is_argument=True)] = "crawldb"
    facts: bool = False


class HashedTable(NamedTuple):
    """The hash of a table.

    Attributes:
        table: The table.
        facts: Times, durations and places in WARCs are left out.
        sha256: The hash.
    """

    table: str
    facts: bool
    sha256: str


def _hash(context: OperationContext, request: HashRequest) -> HashedTable:
    from nacre.rounds.tables.hashing import table_hash

    with open_tables(context, request) as view:
        digest = table_hash(view, request.table, facts=request.facts)
    return HashedTable(request.table, request.facts, digest)


class CompactRequest(StepRequest, frozen=True):
    """The options of a compaction.

    Attributes:
        buckets: Divide the tables into so many.
    """

    buckets: Annotated[Whole, Typed("N")] = 0


class PlannedMerges(NamedTuple):
    """The buckets that a compaction would merge.

    Attributes:
        merged: Their number, by table.
    """

    merged: "Mapping[str, int]"


def _compact(context: OperationContext, request: CompactRequest) -> "CompactResult | PlannedMerges":
    from nacre.rounds.segments.compaction import compact, mergeable

    with open_for_step(context, request) as step:
        if step.dry:
            return PlannedMerges(mergeable(step.cycle, request.buckets))
        keep = step.settings.cycle.keep_versions
        arguments = (step.cycle, step.engine, step.place, step.clock)
        return compact(*arguments, keep=keep, buckets=request.buckets)


class StorageRequest(TablesRequest, frozen=True, kw_only=True):
    """The options of a check of the storage.

    Attributes:
        action: Compare every file.
        repair: Make damaged facts and indexes again of the WARCs, and damaged buckets of tables of
            facts; for a damaged version go back to the newest one whose tables are whole.
    """

    action: Annotated[ShortText, Typed("check", is_argument=True)]
    repair: bool = False


def _check_storage(context: OperationContext, request: StorageRequest) -> "StorageCheck":
    from nacre.rounds.check import check_storage
    from nacre.rounds.steps.update import revisit_plan

    if request.action != "check":
        raise ConfigError(f"{request.action!r}: `storage check`")
    with open_for_step(context, request, writes=request.repair) as step:
        return check_storage(
            step.cycle, step.engine, step.place, step.clock, repair=request.repair, dry=step.dry,
            plan=revisit_plan(step) if request.repair else None,
        )  # fmt: skip


MERGE: Final = step_operation(
    "merge",
    "Bring the URLs, links and hosts of other batch crawls into the tables of this one.",
    MergeRequest, _merge,
    "Of a URL that several know, the newest visit counts. The archive of DIR lists the WARC "
    "files with their captures, which stay where they are. To merge again changes "
    "nothing.",
)  # fmt: skip
EXPORT: Final = step_operation(
    "export", "Make a continuous crawl JOB of what DIR knows, a seed list for Nutch, or a flat "
    "table.",
    ExportTablesRequest, _export,
    "JOB gets the configuration and all URLs: those that were fetched as known, the others "
    "waiting, in the order of their scores, and of equal scores in that in which they were found.",
    local=(),
)  # fmt: skip
IMPORT: Final = step_operation(
    "import", "Bring what a continuous crawl or Apache Nutch knows into DIR.",
    ImportRequest, _import,
    "Of a URL that is known here, too, the newest visit counts; to import again what did not "
    "change changes nothing. The WARC files of JOB are named in the archive of DIR, and stay where "
    "they are. Java is not needed. A DIR that is not there gets the configuration of JOB, without "
    "a browser.",
)  # fmt: skip
VERSIONS: Final = step_operation(
    "versions", "List the versions, or go back to one.", VersionsRequest, _versions,
    local=("at", "dry_run"),
)  # fmt: skip
HASH: Final = step_operation(
    "hash", "Print a hash of a table: equal for the same rows, whatever files they are in.",
    HashRequest, _hash, local=("master",),
)  # fmt: skip
COMPACT: Final = step_operation(
    "compact", "Merge the files of all tables, and remove what no kept version needs.",
    CompactRequest, _compact,
)  # fmt: skip
STORAGE: Final = step_operation(
    "storage",
    "Compare every file of the newest version with its digest, and the cash with the seeds.",
    StorageRequest, _check_storage,
)  # fmt: skip
