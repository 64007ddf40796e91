"""The operations that read batch rounds: rows of tables, segments, hosts, links, pages."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from nacre.config.secret import allow_unread_secrets
from nacre.errors import ConfigError, JobError, NacreError
from nacre.ops.fields import LARGEST, LineText, LineTexts, ShortText, Typed, Whole
from nacre.ops.operation import OperationContext
from nacre.ops.round_requests import NO_RUN, StepRequest, TablesRequest
from nacre.ops.rounds import Segments, open_for_step, open_tables, step_operation

if TYPE_CHECKING:
    from nacre.crawldb.settings import LinkDbSettings
    from nacre.rounds.explain import UrlExplanation
    from nacre.rounds.link_rows import PageLink
    from nacre.rounds.page_check import CheckedPage
    from nacre.rounds.segment_commands import SegmentContents, SegmentRow
    from nacre.rounds.segment_slices import SliceResult
    from nacre.rounds.segments.orphans import OrphanSalvage
    from nacre.rounds.steps.context import StepContext
    from nacre.rounds.tables.readers import TableStats, TableView
    from nacre.rounds.tables.versions import CycleVersion

AtVersion = Annotated[Whole, Typed("N")]
DumpFile = Annotated[Path | None, Typed("FILE")]


class WrittenRows(NamedTuple):
    """Rows that were written into a file.

    Attributes:
        number: Their number.
        path: The file.
    """

    number: int
    path: Path


class ReadDbRequest(TablesRequest, frozen=True):
    """The options of a reader of the table of URLs.

    Attributes:
        stats: Print totals.
        sort: With --stats: by host, too.
        url: Print the row of a URL.
        top: Print the URLs of the best scores.
        least: With --top: the least score.
        dump: Write rows to FILE, by its suffix .jsonl, .csv or .parquet.
        status: With --dump: such as db_gone, or 3.
        regex: With --dump: what the URL matches.
        where: With --dump: a condition.
        retry: With --dump: failures in a row.
        sample: With --dump: a share.
        version: Read this version; 0: the newest.
    """

    stats: bool = False
    sort: bool = False
    url: Annotated[LineText, Typed("URL")] = ""
    top: Annotated[Whole, Typed("N")] = 0
    least: Annotated[float, Meta(ge=-LARGEST, le=LARGEST), Typed("S", option="--min")] = 0.0
    dump: DumpFile = None
    status: Annotated[ShortText, Typed("NAME")] = ""
    regex: Annotated[LineText, Typed("REGEX")] = ""
    where: Annotated[LineText, Typed("SQL")] = ""
    retry: Annotated[Annotated[int, Meta(ge=-LARGEST, le=LARGEST)] | None, Typed("N")] = None
    sample: Annotated[float, Meta(ge=0, le=1), Typed("F")] = 1.0
    version: AtVersion = 0


class BestUrls(NamedTuple):
    """The URLs of the best scores.

    Attributes:
        rows: The score of each, and its key.
    """

    rows: "Sequence[tuple[float, str]]"


def _read_db(
    context: OperationContext, request: ReadDbRequest
) -> "TableStats | BestUrls | WrittenRows | dict[str, Any]":
    from nacre.rounds.tables.readers import RowFilter, dump_rows, table_stats, top_rows
    from nacre.rounds.tables.row_files import write_batches

    chosen = RowFilter(request.status, request.regex, request.where, request.sample, request.retry)
    _require_one(request, is_filtered=chosen != RowFilter())
    by_arrow = bool(request.url) or request.dump is not None
    with open_tables(context, request, request.version, by_arrow=by_arrow) as view:
        if request.stats:
            return table_stats(view, by_host=request.sort)
        if request.url:
            return _find_url(context, view, request.url)
        if request.dump is None:
            return BestUrls(top_rows(view, request.top, request.least))
        return WrittenRows(write_batches(dump_rows(view, chosen), request.dump), request.dump)


def _require_one(request: ReadDbRequest, *, is_filtered: bool) -> None:
    """Raise ConfigError unless exactly one option is given; filters are only for a dump."""
    dumps = request.dump is not None
    if sum((dumps, request.stats, bool(request.url), bool(request.top))) != 1:
        raise ConfigError("say one of --stats, --url, --top and --dump")
    if is_filtered and not dumps:
        raise ConfigError(
            "--status, --regex, --where, --retry and --sample choose rows of --dump; counts of "
            'chosen rows are a query, such as sql "select status, count(*) from crawldb group by 1"'
        )


def _find_url(context: OperationContext, view: "TableView", url: str) -> dict[str, Any]:
    from nacre.rounds.tables.readers import find_row
    from nacre.rounds.typed_keys import key_of
    from nacre.settings.load import load_job

    layout = context.layout
    plain, key = key_of(load_job(layout).settings, url, layout.root)
    row = find_row(view, plain, key)
    if row is None:
        raise JobError(f"{plain} is not known; `nacre cycle DIR inject URL` would add it")
    return row


class SqlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options of a query.

    Attributes:
        query: One query that reads.
        out: Write the rows to FILE, by its suffix .jsonl, .csv or .parquet.
        version: Read this version; 0: the newest.
    """

    query: Annotated[LineText, Typed("QUERY", is_argument=True)]
    out: DumpFile = None
    version: AtVersion = 0


class QueryRows(NamedTuple):
    """The rows of a query.

    Attributes:
        names: The columns.
        rows: The rows.
        none: What to print if there are none; "" for the columns.
    """

    names: "Sequence[str]"
    rows: "Sequence[Mapping[str, Any]]"
    none: str = ""


def _ask(context: OperationContext, request: SqlRequest) -> QueryRows | WrittenRows:
    return _rows_of(context, request)


def _rows_of(
    context: OperationContext, request: SqlRequest, recount: str | None = None, none: str = ""
) -> QueryRows | WrittenRows:
    """Return the rows of a query, or write them to a file.

    Args:
        context: The job.
        request: The query.
        recount: See `readers.sql`.
        none: What to print without rows.

    Raises:
        UserSqlError: The query is invalid.
    """
    from nacre.rounds.tables.readers import sql
    from nacre.rounds.tables.row_files import write_batches

    with (
        open_tables(context, request, request.version) as view,
        sql(view, request.query, recount=recount) as (names, batches),
    ):
        if request.out is not None:
            return WrittenRows(write_batches(batches, request.out), request.out)
        rows = [row for batch in batches for row in batch.to_pylist()]
        return QueryRows(names, rows, none)


class ExplainRowRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options of an explanation.

    Attributes:
        url: The URL.
    """

    url: Annotated[LineText, Typed("URL", is_argument=True)]


def _explain(context: OperationContext, request: ExplainRowRequest) -> "UrlExplanation":
    from nacre.rounds.explain import explain_url
    from nacre.rounds.typed_keys import key_of

    with allow_unread_secrets(), open_for_step(context, request, writes=False) as step:
        plain, key = key_of(step.settings, request.url, step.layout.root)
        return explain_url(step, plain, key)


class ParseCheckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The options of a check of a page.

    Attributes:
        url: The URL of the page.
        set: Set any other setting.
    """

    url: Annotated[LineText, Typed("URL", is_argument=True)]
    set: Annotated[LineTexts, Typed("PATH=VALUE")] = ()


def _check_page(context: OperationContext, request: ParseCheckRequest) -> "CheckedPage":
    from nacre.machine.layout import Layout
    from nacre.rounds.page_check import SETTINGS, check_page

    @contextmanager
    def opening(directory: Path) -> "Iterator[StepContext]":
        setup = StepRequest(set=(*request.set, *SETTINGS))
        with open_for_step(context._replace(layout=Layout(directory)), setup) as step:
            yield step

    context.layout.require()
    page = check_page(context.layout, request.url, opening)
    if page is None:
        raise JobError(
            f"{request.url} was not tried: `nacre cycle {context.layout.root} explain URL` shows "
            "which rule or setting refuses it"
        )
    return page


class ReadSegmentsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a reader of segments.

    Attributes:
        segments: Default: all.
        listed: Print what each segment has: visits, pages, links, first and last time.
        url: Only the visits of this URL.
        dump: Write all columns, with the length of each WARC record, to FILE, by its suffix .jsonl,
            .csv or .parquet.
        as_json: Print JSON.
    """

    segments: Segments = ()
    listed: Annotated[bool, Typed("", option="--list")] = False
    url: Annotated[LineText, Typed("URL")] = ""
    dump: DumpFile = None
    as_json: Annotated[bool, Typed("", option="--json")] = False


class ListedSegments(NamedTuple):
    """The contents of segments.

    Attributes:
        contents: One entry for each segment.
    """

    contents: "Sequence[SegmentContents]"


def _read_segments(
    context: OperationContext, request: ReadSegmentsRequest
) -> ListedSegments | QueryRows | WrittenRows:
    from nacre.rounds.segment_commands import index_files, segment_contents, visits_of
    from nacre.rounds.segments.parts import with_parts_so_far
    from nacre.rounds.tables.row_files import plain_row, write_batches
    from nacre.rounds.typed_keys import key_of

    names, dump = request.segments, request.dump
    if request.listed and (request.url or dump is not None):
        raise ConfigError("--list prints counts, without --url and --dump")
    with open_for_step(context, request, writes=False) as step, step.place.open() as work:
        version = with_parts_so_far(work.storage, step.cycle.newest(), names)
        if request.listed:
            return ListedSegments(segment_contents(work, version, names))
        key = key_of(step.settings, request.url, step.layout.root)[1] if request.url else ""
        is_whole = request.as_json or dump is not None
        indexes = index_files(step.cycle, version, names) if is_whole else []
        batches = visits_of(work, version, names, key, indexes)
        if dump is not None:
            return WrittenRows(write_batches(batches, dump), dump)
        rows = [plain_row(row) for batch in batches for row in batch.to_pylist()]
        return QueryRows((), rows, "no visit")


class ReadHostsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a reader of the table of hosts.

    Attributes:
        host: Only this host, with all columns.
        where: Only hosts for which this is true.
        as_json: Print JSON.
    """

    host: Annotated[ShortText, Typed("HOST")] = ""
    where: Annotated[LineText, Typed("SQL")] = ""
    as_json: Annotated[bool, Typed("", option="--json")] = False


def _read_hosts(context: OperationContext, request: ReadHostsRequest) -> QueryRows | WrittenRows:
    from nacre.crawldb.hosts import RANK, add_functions
    from nacre.crawldb.kernels import Kernel, quoted
    from nacre.crawldb.select import check_hosts, true_sql
    from nacre.crawldb.user_sql import names_in
    from nacre.rounds.opening import open_versions

    host, where = request.host.strip().lower(), request.where
    is_whole = is_ranked = bool(request.host) or request.as_json
    if where:
        with Kernel() as kernel:
            add_functions(kernel)
            check_hosts(kernel, where)
            is_ranked = is_ranked or RANK.name in names_in(kernel, where)
    columns = "*" if is_whole else "host, fetched, unfetched, gone, visits, delay"
    conditions = [f"host = {quoted(host)}"] if host else []
    conditions += [true_sql(where)] if where else []
    condition = f" where {' and '.join(conditions)}" if conditions else ""
    _, _, cycle = open_versions(context.layout.root)
    newest = cycle.newest()
    if "hosts" not in newest.tables:
        raise JobError("there is no table of hosts yet: `update` makes it")
    source = _with_ranks(newest.tables) if is_ranked else "hosts"
    query = f"select {columns} from {source}{condition} order by host"  # noqa: S608 - it only reads
    # A step has changed rows since `generate` counted the URLs of hosts.
    recount = host if newest.step != "generate" else None
    none = "no host that is known fulfils the condition" if where else ""
    none = f"the host {host} is not known" if host and not where else none
    return _rows_of(context, SqlRequest(query=query), recount, none)


def _with_ranks(tables: Collection[str]) -> str:
    """Return SQL after `from` for the hosts with their ranks, if any."""
    from nacre.crawldb.hosts import RANK, ranked_hosts
    from nacre.crawldb.rank import rank_table

    if rank_table("host") not in tables:
        return f'(select *, null::{RANK.type} as "{RANK.name}" from hosts)'  # noqa: S608 - names of ours
    return f"({ranked_hosts('hosts', rank_table('host'), add_hosts=False)})"


class ReadLinksRequest(TablesRequest, frozen=True):
    """The options of a reader of links.

    Attributes:
        url: The page.
        out: Print the links on the page instead of those to it.
    """

    url: Annotated[LineText, Typed("URL")] = ""
    out: bool = False


class LinksOfPage(NamedTuple):
    """The links of a page.

    Attributes:
        key: Key of the page.
        links: The links.
        settings: Which links the table has.
    """

    key: str
    links: "Sequence[PageLink]"
    settings: "LinkDbSettings"


def _read_links(context: OperationContext, request: ReadLinksRequest) -> LinksOfPage:
    from nacre.rounds.link_rows import in_links, out_links
    from nacre.rounds.typed_keys import key_of
    from nacre.settings.load import load_job

    if not request.url:
        raise ConfigError("name the page: `readlinks --url URL`")
    with open_tables(context, request) as view:
        settings = load_job(context.layout).settings
        key = key_of(settings, request.url, context.layout.root)[1]
        rules = settings.cycle.links
        links = out_links(view, key) if request.out else in_links(view, key, rules)
    return LinksOfPage(key, links, rules)


class SegmentsRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a change of segments.

    Attributes:
        action: `drop SEGMENT…` gives segments up; `set SEGMENT NAME=VALUE…` changes settings of one
            that waits for its fetch; `slice N` divides those that wait for their fetch into
            segments of at most N URLs; `salvage` takes the records of attempts that lost into the
            archive.
        names: The segments, with settings; or a number.
    """

    action: Annotated[ShortText, Typed("[list|drop|set|slice|salvage]", is_argument=True)] = "list"
    names: Annotated[LineTexts, Typed("[SEGMENT|N]", is_argument=True)] = ()


class ChangedSegment(NamedTuple):
    """A segment with other settings.

    Attributes:
        segment: Its name.
        settings: Paths of the settings.
        version: The version; None if nothing was committed.
    """

    segment: str
    settings: "Sequence[str]"
    version: "CycleVersion | None"


class DroppedSegments(NamedTuple):
    """Segments that were given up.

    Attributes:
        versions: The version that gave each one up; None in a dry run.
    """

    versions: "Mapping[str, CycleVersion | None]"


_WORDS: Final = {
    "list": "`segments list`",
    "drop": "`segments drop SEGMENT…`",
    "set": "`segments set SEGMENT NAME=VALUE…`",
    "slice": "`segments slice N`",
    "salvage": "`segments salvage`",
}


def _change_segments(
    context: OperationContext, request: SegmentsRequest
) -> "list[SegmentRow] | ChangedSegment | DroppedSegments | SliceResult | OrphanSalvage":
    from nacre.rounds.segment_commands import segment_rows
    from nacre.rounds.segment_slices import slice_segments
    from nacre.rounds.segments.orphans import salvage_orphans

    action, words = request.action, request.names
    _require_words(request)
    setup = StepRequest(set=words[1:] if action == "set" else ())
    with open_for_step(context, setup, writes=action != "list") as step:
        if action == "set":
            return _set_on_segment(step, words[0], words[1:])
        if action == "drop":
            return _drop_segments(context, step, words)
        if action == "slice":
            return slice_segments(step, int(words[0]))
        if action == "salvage":
            return salvage_orphans(step.cycle, step.engine, step.place, step.clock, dry=step.dry)
        return segment_rows(step.cycle.newest())


def _require_words(request: SegmentsRequest) -> None:
    """Refuse an action with other words than it takes (pure).

    Raises:
        ConfigError: With all actions.
    """
    action, words = request.action, request.names
    is_valid = {
        "drop": bool(words),
        "set": len(words) > 1,
        "slice": len(words) == 1 and words[0].isdecimal(),
    }
    if action not in _WORDS or not is_valid.get(action, not words):
        typed = " ".join(["segments", action, *words])
        raise ConfigError(f"{typed}: {', '.join(_WORDS.values())}")


def _drop_segments(
    context: OperationContext, step: "StepContext", names: Sequence[str]
) -> DroppedSegments:
    """Give segments up, each once; report those before a segment that cannot be given up."""
    from nacre.rounds.segment_commands import drop_segment

    versions = dict[str, "CycleVersion | None"]()
    try:
        for name in dict.fromkeys(names):
            versions[name] = drop_segment(step, name)
    except NacreError:
        for name, version in versions.items():
            if version is not None:
                (context.step or NO_RUN).warn(f"{name} is given up in version {version.number}")
        raise
    return DroppedSegments(versions)


def _set_on_segment(step: "StepContext", name: str, values: Sequence[str]) -> ChangedSegment:
    from nacre.rounds.segment_commands import set_on_segment
    from nacre.rounds.segments.frozen_settings import OF_JOB

    paths = [value.partition("=")[0].strip() for value in values]
    for path in paths:
        if path.partition(".")[0] in OF_JOB:
            raise ConfigError(
                f"{path} is a setting of the job, which each step reads: `nacre set {path}=…`"
            )
    return ChangedSegment(name, paths, set_on_segment(step, name, paths))


READ_DB: Final = step_operation(
    "readdb", "Read the table of URLs, as Nutch's command of this name does.",
    ReadDbRequest, _read_db, local=("master",),
)  # fmt: skip
SQL: Final = step_operation(
    "sql", "Ask all tables in SQL: `select status, count(*) from crawldb group by 1`.",
    SqlRequest, _ask, local=(),
)  # fmt: skip
EXPLAIN: Final = step_operation(
    "explain",
    "Explain a URL: each version that touched it, and why it is not in the last list.",
    ExplainRowRequest, _explain, local=(),
)  # fmt: skip
PARSE_CHECK: Final = step_operation(
    "parsechecker",
    "Fetch and parse one page with the settings of DIR; print its links, and keep nothing.",
    ParseCheckRequest, _check_page, local=(),
)  # fmt: skip
READ_SEGMENTS: Final = step_operation(
    "readseg",
    "Read the visits of segments, also those that an interrupted fetch has so far.",
    ReadSegmentsRequest, _read_segments, local=(),
)  # fmt: skip
READ_HOSTS: Final = step_operation(
    "readhosts", "Read the table of hosts; URLs by status are counted as they are now.",
    ReadHostsRequest, _read_hosts, local=(),
)  # fmt: skip
READ_LINKS: Final = step_operation(
    "readlinks", "Read the links to a page with their texts, or those on it.",
    ReadLinksRequest, _read_links,
    "Links that the newest version of their page lacks come last, with the time of their last "
    "sight.",
    local=("master",),
)  # fmt: skip
SEGMENTS: Final = step_operation(
    "segments",
    "List the segments, change one, give some up, divide long ones, or salvage records.",
    SegmentsRequest, _change_segments, local=("at", "dry_run"),
)  # fmt: skip
