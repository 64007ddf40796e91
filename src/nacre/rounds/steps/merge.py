"""The step `merge`: add the tables of other directories of batch rounds to this one.

Tasks over the buckets of the others compute the bucket of each row here, so that crawls with any
numbers of buckets are merged, and normalize and judge rows on request. Tasks over our buckets then
compare these rows with ours. WARCs stay where they are, and our archive lists those with captures
of the merged rows. Source: Nutch, `CrawlDbMerger`, `LinkDbMerger` (reference N 1.1).
"""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb.fold import merge_query
from nacre.crawldb.hosts import host_sql
from nacre.crawldb.row import bucket_of_host
from nacre.errors import JobError, URIError
from nacre.rounds.admission import Admission
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.host_rows import HOSTS
from nacre.rounds.steps.judging import RulesOfStep, rules_of_step
from nacre.rounds.steps.links import LINKS
from nacre.rounds.steps.merge_archive import import_captures
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.steps.taking import (
    OtherRows,
    buckets_here,
    commit_rows,
    compare_rows,
    files_by_bucket,
)
from nacre.rounds.storage import open_storage, remove_folder
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    local_bucket,
    table_kind,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion, TableFile
from nacre.uri.parse import parse

_TABLES = (CRAWLDB, HOSTS, LINKS)


class MergeOptions(NamedTuple):
    """The options of a merge.

    Attributes:
        filter: Skip URLs that the scope of this directory refuses.
        normalize: Apply the normalizers of this directory to URLs.
    """

    filter: bool = False
    normalize: bool = False


PLAIN = MergeOptions()
"""Rows are merged unchanged."""


class MergeResult(NamedTuple):
    """The outcome of a merge.

    Attributes:
        known: URLs of the other crawls.
        new: URLs that were unknown here.
        newer: Known URLs with a later visit in another crawl.
        refused: URLs that the scope refuses, by rule.
        links: Merged links.
        hosts: Hosts whose rows changed.
        warcs: WARC files that our archive did not list before.
        located: Captures whose place was unknown before.
        version: The version; None if nothing was committed.
    """

    known: int = 0
    new: int = 0
    newer: int = 0
    refused: Mapping[str, int] = {}
    links: int = 0
    hosts: int = 0
    warcs: int = 0
    located: int = 0
    version: CycleVersion | None = None


class GatherSpec(NamedTuple):
    """One task: buckets of a table of another crawl.

    Attributes:
        place: The work place in our storage.
        source: The work place in the storage of the other crawl.
        number: Number of the other crawl; of equal rows the first crawl wins.
        table: The table.
        files: The buckets, with their files.
        buckets: Number of our buckets.
        version: Number of the version to commit.
        target: Name of the file for the rows.
        rules: Rules that judge and normalize rows; None for neither.
        options: Whether to filter and to normalize.
        dry: Count, and publish nothing.
    """

    place: TaskPlace
    source: TaskPlace
    number: int
    table: str
    files: tuple[BucketFiles, ...]
    buckets: int
    version: int
    target: str
    rules: RulesOfStep | None
    options: MergeOptions
    dry: bool = False


class GatheredRows(NamedTuple):
    """The rows of some buckets of another crawl.

    Attributes:
        rows: Their number.
        refused: Rows that the scope refuses, by rule.
        files: Files of links, which need no second pass.
    """

    rows: int
    refused: dict[str, int]
    files: tuple[TableFile, ...] = ()


def merge(
    context: StepContext, crawls: Sequence[Cycle], options: MergeOptions = PLAIN
) -> MergeResult:
    """Merge the tables of other crawls into this one.

    Args:
        context: The context of the driver.
        crawls: The other crawls.
        options: The options of the merge.

    Raises:
        JobError: A crawl is empty, is this one, or its tables have other columns.
        StorageError: A newer Nacre made a crawl.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = sync_seeds(context)
    versions = [_other_version(context.cycle, crawl) for crawl in crawls]
    buckets = buckets_here(context, version)
    folder = f"exchange/merge-{version.number + 1}-{secrets.token_hex(6)}"
    storage = context.cycle.storage
    try:
        rules = rules_of_step(context, version) if any(options) else None
        pairs = list(zip(crawls, versions, strict=True))
        specs = list(_gather_specs(context, pairs, buckets, folder, options))
        specs = [spec._replace(rules=rules, version=version.number + 1) for spec in specs]
        gathered = context.engine.map(gather_task, specs)
        gathered_pairs = list(zip(specs, gathered, strict=True))
        return _compare(context, version, pairs, gathered_pairs, folder)
    finally:
        remove_folder(storage, folder)


def _other_version(own: Cycle, crawl: Cycle) -> CycleVersion:
    place = crawl.storage.place
    if place == own.storage.place:
        raise JobError(f"{place} is this crawl itself; name another directory")
    version = crawl.newest()
    if CRAWLDB not in version.tables:
        raise JobError(f"{place} has no table of URLs: nothing was committed there")
    return version


def require_columns(cycle: Cycle, version: CycleVersion, table: str) -> None:
    """Check that this Nacre knows the columns of a table.

    Args:
        cycle: The crawl.
        version: Its version.
        table: The table.

    Raises:
        JobError: A file has an unknown column, or another type; the message has both types.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    files = [file for file in cycle.files(version, table) if file.kind == "base"]
    files = files or [file for file in cycle.files(version, table) if not file.group]
    kind_of_table = table_kind(table)
    expected = {field.name: field.type for field in kind_of_table.schema()}
    for file in files[:1]:
        path = cycle.storage.local_path(file.path)
        schema = pq.read_schema(path) if path is not None else _remote_schema(cycle, file)
        actual = {field.name: field.type for field in schema}
        for name, kind in actual.items():
            if name not in kind_of_table.gone and not _is_same_type(kind, expected.get(name)):
                raise JobError(
                    f"{cycle.storage.place}: table {table} of version {version.number}, made by "
                    f"Nacre {version.nacre or '?'}, has the column {name!r} of type {kind}; here "
                    f"it is {expected.get(name, 'not known')}. Merge with the Nacre that made it, "
                    "or update both"
                )


def _remote_schema(cycle: Cycle, file: TableFile) -> Any:  # noqa: ANN401 - pyarrow has no types
    from io import BytesIO  # noqa: PLC0415 - for storages elsewhere

    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    return pq.read_schema(BytesIO(cycle.storage.read(file.path)))


def _is_same_type(actual: Any, expected: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether two types hold the same values; names within lists and maps may differ."""
    return expected is not None and (
        actual == expected or (actual.num_fields and actual.id == expected.id)
    )


# ---- the rows of others


def _gather_specs(
    context: StepContext,
    crawls: Sequence[tuple[Cycle, CycleVersion]],
    buckets: int,
    folder: str,
    options: MergeOptions,
) -> Iterator[GatherSpec]:
    for number, (crawl, version) in enumerate(crawls):
        theirs = context.place._replace(storage=crawl.storage.place)
        for table in _TABLES:
            if table not in version.tables:
                continue
            require_columns(crawl, version, table)
            groups = in_tasks(buckets_of(crawl, version, table), tasks=context.engine.workers)
            for at, group in enumerate(groups):
                yield GatherSpec(
                    context.place, theirs, number, table, group, buckets, 0,
                    f"{folder}/{table}-{number}-{at}.parquet", None, options, context.dry,
                )  # fmt: skip


def gather_task(spec: GatherSpec) -> GatheredRows:
    """Write the rows of another crawl with their buckets here."""
    refused: Counter[str] = Counter()
    with spec.source.open() as work:
        kernel = work.kernel
        kernel.execute(f"create temp table rows as {_rows_sql(work, spec)}")
        admission = None if spec.rules is None else spec.rules.admission(work.scratch)
        for column in {CRAWLDB: ("key",), LINKS: ("dst", "src"), HOSTS: ()}[spec.table]:
            if admission is not None:
                judged = column != "src"
                refused += _judge(work, column, admission, spec.options, judged=judged)
        first = table_kind(spec.table).keys[0]
        _load_buckets(work, first, spec)
        host = "r.host" if spec.table == HOSTS else host_sql(f"r.{first}")
        placed = (
            f"select b.bucket, {spec.number} as place, r.* from rows r "
            f"join host_buckets b on b.host = {host}"
        )
        count = int(kernel.value("select count(*) from rows"))
        if spec.table == LINKS:
            kernel.execute(f"create temp table placed as {placed}")
            # They fold with ours as they are.
            plan = FilePlan(LINKS, 0, "add", spec.version)
            mine = open_storage(spec.place.storage)
            files = tuple(files_by_bucket(work, mine, "placed", "dst, src", plan, dry=spec.dry))
            return GatheredRows(count, dict(refused), files)
        path = work.scratch / "gathered.parquet"
        kernel.write(f"{placed} order by b.bucket, r.{first}", str(path))
        open_storage(spec.place.storage).upload(path, spec.target)
        return GatheredRows(count, dict(refused))


def _rows_sql(work: TaskWork, spec: GatherSpec) -> str:
    """Return SQL of the rows of the buckets, without purged rows."""
    queries = []
    for bucket in spec.files:
        local = local_bucket(work.storage, bucket, work.scratch)
        if spec.table == CRAWLDB:
            rows = merge_query(*local, order=False)
            queries.append(f"select * from ({rows}) where purged is null or last_inlink > purged")
        else:
            queries.append(f"select * from ({table_kind(spec.table).merge(local)})")
    return " union all by name ".join(queries)


def _judge(
    work: TaskWork, column: str, admission: Admission, options: MergeOptions, *, judged: bool
) -> Counter[str]:
    """Normalize the URLs of a column, and remove rows that the scope refuses."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    own = column == "key"
    way = "path, via, source" if own else "null, null, null"
    url_rows = work.kernel.rows(f"select distinct {column}, {way} from rows")
    refused: Counter[str] = Counter()
    was, now = [], []
    for url, path, via, source in url_rows:
        normal: str | None = _normalize(url, admission) if options.normalize else url
        reason = "" if normal is not None else "uri.normalize"
        if normal is not None and options.filter and judged:
            hops = path if own else "L"
            reason = admission.refusal(normal, path=hops or "", via=via or "", source=source or "")
        if reason:
            refused[reason] += 1
        if reason or normal != url:
            was.append(url)
            now.append(None if reason else normal)
    work.kernel.load(
        "changed",
        pa.table({"was": pa.array(was, pa.string()), "url": pa.array(now, pa.string())}),
    )
    work.kernel.execute(
        f"delete from rows using changed c where c.was = rows.{column} and c.url is null"
    )
    work.kernel.execute(
        f"update rows set {column} = c.url from changed c where c.was = rows.{column}"
    )
    return refused


def _normalize(url: str, admission: Admission) -> str | None:
    """Return the key of a URL by the normalizers of this directory; None if they remove it."""
    try:
        normal: str | None = parse(url)
    except URIError:
        return None
    if normal is not None and admission.normalizing is not None:
        normal = admission.normalizing.link(normal, is_redirect=False)
    return None if normal is None else admission.key(normal)


def _load_buckets(work: TaskWork, first: str, spec: GatherSpec) -> None:
    import pyarrow as pa  # noqa: PLC0415 - an extra

    host = first if spec.table == HOSTS else host_sql(first)
    names = [name for (name,) in work.kernel.rows(f"select distinct {host} from rows")]
    numbers = [bucket_of_host(name, spec.buckets) for name in names]
    table = {"host": pa.array(names, pa.string()), "bucket": pa.array(numbers, pa.int32())}
    work.kernel.load("host_buckets", pa.table(table))


def _compare(
    context: StepContext,
    version: CycleVersion,
    crawls: Sequence[tuple[Cycle, CycleVersion]],
    gathered: Sequence[tuple[GatherSpec, GatheredRows]],
    folder: str,
) -> MergeResult:
    refused: Counter[str] = Counter()
    for _, gathered_rows in gathered:
        refused.update(gathered_rows.refused)
    rows = OtherRows(
        tuple(spec.target for spec, _ in gathered if spec.table == CRAWLDB),
        tuple(spec.target for spec, _ in gathered if spec.table == HOSTS),
        tuple(file for _, gathered_rows in gathered for file in gathered_rows.files),
        sum(gathered_rows.rows for spec, gathered_rows in gathered if spec.table == CRAWLDB),
        records=folder,
    )
    changes = compare_rows(context, version, rows)
    archive = import_captures(context, version, crawls, changes.records)
    rows = rows._replace(archive=archive.files, segments=archive.segments)
    options = {"others": sorted({spec.source.storage for spec, _ in gathered})}
    outcome = commit_rows(context, version, rows, changes, "merge", options)
    links = sum(file.rows for file in rows.links)
    return MergeResult(
        outcome.known, outcome.new, outcome.newer, dict(refused), links, outcome.hosts,
        len(archive.files), archive.captures, outcome.version,
    )  # fmt: skip
