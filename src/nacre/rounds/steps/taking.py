"""Import rows into our tables: those of another crawl, of Nutch, or of a job.

Exchanged files have the rows, with their bucket here and the `place` of their origin: of equal rows
the first place wins. Tasks over our buckets compare them with ours. The newest visit of a URL
counts; a repeated import changes nothing. Source: Nutch, `CrawlDbMerger` (reference N 1.1).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.dedup import signature_bucket_sql
from nacre.crawldb.fold import merge_query
from nacre.crawldb.hosts import HOST_COLUMNS
from nacre.crawldb.kernels import parquet
from nacre.crawldb.merging import (
    MERGED_GROUPS,
    added_rows,
    best_rows,
    set_rows,
    winners,
)
from nacre.crawldb.row import COLUMNS, Status
from nacre.crawldb.seeds import SEEDS
from nacre.rounds.journal import IMPORTED
from nacre.rounds.segments.seed_tasks import SeedChanges
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.host_rows import (
    HOSTS,
    host_buckets,
    load_hosts,
    select_buckets,
    write_hosts,
)
from nacre.rounds.steps.links import LINKS, bucket_ranges
from nacre.rounds.steps.seed_rows import next_state
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.storage import Storage, localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    added_files,
    buckets_of,
    local_bucket,
    publish,
    table_kind,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState, TableFile

SIGNATURES = "signatures"
_ROWS = 500_000
_FETCHED = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)})"


class OtherRows(NamedTuple):
    """The rows to import.

    Attributes:
        urls: Files of rows of URLs.
        hosts: Files of rows of hosts.
        links: Files of links, which fold with ours unchanged.
        total: Rows of URLs.
        archive: Their files of the archive.
        seeds: Their changes of the table of seeds.
        segments: Their segments.
        records: Folder for the files of the records of imported rows; "" for none.
    """

    urls: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    links: tuple[TableFile, ...] = ()
    total: int = 0
    archive: tuple[TableFile, ...] = ()
    seeds: SeedChanges = SeedChanges()
    segments: Mapping[str, SegmentState] = {}
    records: str = ""


class TakenRows(NamedTuple):
    """Counts of an import.

    Attributes:
        known: URLs of the import.
        new: URLs that were unknown here.
        newer: Known URLs with a later visit in the import.
        hosts: Hosts whose rows changed.
        version: The version; None if nothing was committed.
    """

    known: int = 0
    new: int = 0
    newer: int = 0
    hosts: int = 0
    version: CycleVersion | None = None


class CompareSpec(NamedTuple):
    """One task: some of our buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: Our buckets, with their files.
        hosts: The same buckets of the table of hosts.
        rows: Files of rows to import by table.
        signatures: Buckets of the table of signatures.
        dry: Count, and publish nothing.
        records: Name of the file for requested records; "" for none.
        facts: Files of imported visits, whose records are not requested again.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    rows: Mapping[str, tuple[str, ...]]
    signatures: int
    dry: bool = False
    records: str = ""
    facts: tuple[str, ...] = ()


class ComparedRows(NamedTuple):
    """The changes of some of our buckets.

    Attributes:
        known: Imported URLs in these buckets.
        new: URLs that were unknown.
        newer: Known URLs with a later visit.
        hosts: Rows of hosts that changed.
        added: New files by table.
        dropped: Names of files of hosts that were replaced.
        records: Number of requested records.
    """

    known: int
    new: int
    newer: int
    hosts: int
    added: dict[str, list[TableFile]]
    dropped: frozenset[str]
    records: int = 0


class TakenChanges(NamedTuple):
    """The changes by an import, for a commit.

    Attributes:
        result: Their counts.
        added: New files by table.
        dropped: Names of files of hosts that were replaced.
        records: Files of the requested records: `place`, `record_id`.
    """

    result: TakenRows
    added: dict[str, list[TableFile]]
    dropped: frozenset[str]
    records: tuple[str, ...]


def import_rows_sql(values: Mapping[str, str], source: str) -> str:
    """Return SQL of rows of URLs with all of our columns, sorted for `import_rows`.

    Args:
        values: SQL of columns by name, with `bucket` and `place`; other columns are null.
        source: The SQL after `from`.
    """
    picks = [f"({values[name]})::BIGINT as {name}" for name in ("bucket", "place")]
    for column in COLUMNS:
        value = values.get(column.name, "null")
        picks.append(f'({value})::{column.type} as "{column.name}"')
    return f"select {', '.join(picks)} from {source} order by bucket, key, place"


def buckets_here(context: StepContext, version: CycleVersion) -> int:
    """Return the number of buckets of our tables, also before the first table exists."""
    table = version.tables.get(CRAWLDB)
    return table.buckets if table else context.settings.cycle.buckets


def import_rows(
    context: StepContext,
    version: CycleVersion,
    rows: OtherRows,
    step: str,
    options: Mapping[str, Any],
) -> TakenRows:
    """Compare rows with ours, and commit the changes.

    Args:
        context: The context of the driver.
        version: The newest version.
        rows: The rows.
        step: Name of the step for the version.
        options: Its options for the version.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    return commit_rows(context, version, rows, compare_rows(context, version, rows), step, options)


def compare_rows(context: StepContext, version: CycleVersion, rows: OtherRows) -> TakenChanges:
    """Compare rows with ours, and write the changes.

    Args:
        context: The context of the driver.
        version: The newest version.
        rows: The rows.
    """
    buckets = buckets_here(context, version)
    by_number = {bucket.bucket: bucket for bucket in buckets_of(context.cycle, version, CRAWLDB)}
    of_hosts = host_buckets(context.cycle, version)
    signatures = version.tables.get(SIGNATURES)
    visits = _visits_of_others(version) if rows.records else ()
    specs = []
    for first, last in bucket_ranges(buckets, max(1, rows.total // _ROWS)):
        ours = tuple(by_number.get(n, BucketFiles(n)) for n in range(first, last + 1))
        specs.append(
            CompareSpec(
                context.place, version.number + 1, ours, select_buckets(of_hosts, ours),
                {CRAWLDB: rows.urls, HOSTS: rows.hosts},
                signatures.buckets if signatures else buckets, context.dry,
                f"{rows.records}/records-{first}.parquet" if rows.records else "", visits,
            )
        )  # fmt: skip
    compared = context.engine.map(compare_task, specs)
    result = TakenRows(
        sum(bucket.known for bucket in compared),
        sum(bucket.new for bucket in compared),
        sum(bucket.newer for bucket in compared),
        sum(bucket.hosts for bucket in compared),
    )
    added = {**added_files([bucket.added for bucket in compared]), LINKS: list(rows.links)}
    return TakenChanges(
        result,
        {table: files for table, files in added.items() if files},
        frozenset(name for bucket in compared for name in bucket.dropped),
        tuple(spec.records for spec, bucket in zip(specs, compared, strict=True) if bucket.records),
    )


def _visits_of_others(version: CycleVersion) -> tuple[str, ...]:
    """Return the files of imported visits; all other captures are in WARCs of this crawl."""
    imported = [(name, state) for name, state in version.segments.items() if IMPORTED in state.more]
    return tuple(file for name, state in imported for file in facts_of(name, state).files("visits"))


def commit_rows(
    context: StepContext,
    version: CycleVersion,
    rows: OtherRows,
    changes: TakenChanges,
    step: str,
    options: Mapping[str, Any],
) -> TakenRows:
    """Commit the changes, with files and segments of the import, if there are any.

    Args:
        context: The context of the driver.
        version: The version that the rows were compared with.
        rows: The rows.
        changes: Their changes.
        step: Name of the step for the version.
        options: Its options for the version.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    result, added = changes.result, changes.added
    if context.dry or not (added or rows.archive or rows.segments):
        return result
    dropped = {HOSTS: set(changes.dropped), SEEDS: set(rows.seeds.dropped)}
    if rows.seeds.added:
        added = {**added, SEEDS: list(rows.seeds.added)}
    fresh = {table for table in added if table not in version.tables}
    cycle_changes = CycleChanges(
        step=step,
        clock=context.clock,
        options=dict(options),
        counters={"known": result.known, "new": result.new, "newer": result.newer},
        added=added,
        dropped={table: names for table, names in dropped.items() if names},
        buckets=dict.fromkeys(fresh, buckets_here(context, version)),
        archive=list(rows.archive),
        segments=dict(rows.segments),
        # Another crawl judged these rows, with other seeds.
        seed_state=msgspec.structs.replace(next_state(version, rows.seeds), judged=-1),
    )
    return result._replace(version=context.cycle.commit(version, cycle_changes))


def files_by_bucket(
    work: TaskWork, storage: Storage, source: str, order: str, plan: FilePlan, *, dry: bool = False
) -> Iterator[TableFile]:
    """Yield files of the rows of a table of the kernel, one for each bucket.

    Args:
        work: The kernel and folder of the task.
        storage: The storage for the files.
        source: The table, with a column `bucket`, and optionally `place`.
        order: Columns that they are sorted by.
        plan: The plan of the files; the bucket is filled in.
        dry: Describe them, and publish nothing.
    """
    left_out = "bucket, place" if "place" in work.kernel.columns(f"from {source}") else "bucket"
    for (bucket,) in work.kernel.rows(f"select distinct bucket from {source} order by 1"):
        path = work.scratch / f"{plan.table}-{plan.kind}-{plan.group}-{bucket}.parquet"
        rows = f"select * exclude ({left_out}) from {source} where bucket = {bucket}"
        work.kernel.write(f"{rows} order by {order}", str(path))
        file = publish(storage, path, plan._replace(bucket=int(bucket)), dry=dry)
        if file is not None:
            yield file


def compare_task(spec: CompareSpec) -> ComparedRows:
    """Compare rows with ours, and write the changes."""
    with spec.place.open() as work:
        first, last = spec.buckets[0].bucket, spec.buckets[-1].bucket
        _load(work, "others", spec.rows[CRAWLDB], first, last)
        added: dict[str, list[TableFile]] = {CRAWLDB: [], SIGNATURES: []}
        _load_mine(work, spec)
        kernel = work.kernel
        kernel.execute(f"create temp table best as {best_rows('others')}")
        kernel.execute(f"create temp table wins as {winners('best', 'mine')}")
        kernel.execute("create temp table places as select key, bucket from best")
        if not spec.dry:
            added[CRAWLDB] += _write_rows(work, spec)
            added[SIGNATURES] += _write_signatures(work, spec)
        counts = kernel.rows(
            "select count(*), count(*) filter (not known), count(*) filter (known and wins) "
            "from wins"
        )
        total, new, newer = counts[0]
        hosts, dropped = _compare_hosts(work, spec, added)
        records = _send_records(work, spec) if spec.records else 0
        return ComparedRows(total, new, newer, hosts, added, dropped, records)


def _send_records(work: TaskWork, spec: CompareSpec) -> int:
    """Write the records of imported rows, without those that were imported already.

    The record of a row that was imported before may still be missing. An imported row may have
    another key than its visit, and so another bucket: the visits of all buckets are read.
    """
    ours = ""
    if spec.facts:
        visits = parquet([str(path) for path in local_facts(work.storage, spec.facts, work)])
        work.kernel.execute(
            f"create temp table came as select distinct v.record_id from {visits} v "
            "semi join best o on o.record_id = v.record_id"
        )
        ours = "anti join came v on v.record_id = o.record_id "
    return work.send(
        f"select distinct o.place, o.record_id from best o {ours}join wins w on w.key = o.key "
        "left join mine m on m.key = o.key "
        "where o.record_id is not null and (w.wins or m.record_id = o.record_id)",
        spec.records,
    )


def _load(work: TaskWork, name: str, files: Iterable[str], first: int, last: int) -> None:
    paths = [str(localize(work.storage, file, work.scratch)) for file in files]
    if not paths:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        schema = table_kind(CRAWLDB).schema()
        for column in ("place", "bucket"):
            schema = schema.append(pa.field(column, pa.int64()))
        work.kernel.load(name, schema.empty_table())
        return
    work.kernel.execute(
        f"create temp table {name} as select * from {parquet(paths)} "
        f"where bucket between {first} and {last}"
    )


def _load_mine(work: TaskWork, spec: CompareSpec) -> None:
    """Make the table `mine`: our rows of the imported keys."""
    kernel = work.kernel
    kernel.load("mine", table_kind(CRAWLDB).schema().empty_table())
    for bucket in spec.buckets:
        kernel.execute(
            "create or replace temp table wanted as select distinct key from others "
            f"where bucket = {bucket.bucket}"
        )
        if bucket.all and kernel.value("select count(*) from wanted"):
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = merge_query(*local, keys="wanted", order=False)
            kernel.execute(f"insert into mine by name {rows}")


def _write_rows(work: TaskWork, spec: CompareSpec) -> Iterator[TableFile]:
    kernel = work.kernel
    queries = {("add", ""): added_rows("others", "mine", "wins")}
    queries |= {("set", name): set_rows(name, "best", "mine", "wins") for name in MERGED_GROUPS}
    for (kind, group), query in queries.items():
        kernel.execute(
            f"create or replace temp table changes as select q.*, p.bucket from ({query}) q "
            "join places p on p.key = q.key"
        )
        plan = FilePlan(CRAWLDB, 0, kind, spec.version, group)
        yield from files_by_bucket(work, work.storage, "changes", "key", plan)


def _write_signatures(work: TaskWork, spec: CompareSpec) -> Iterator[TableFile]:
    """Write rows of signatures of pages with a newer imported visit, and remove old ones."""
    kernel = work.kernel
    condition = f"o.status in {_FETCHED} and o.signature is not null"
    kernel.execute(
        "create or replace temp table signed as select *, null::BIGINT as simhash, "
        f"{signature_bucket_sql('signature', spec.signatures)} as bucket from ("
        "select o.signature, o.key, true as live, o.last_time // 1000 as time from best o "
        f"join wins w using (key) where w.wins and {condition} union all "
        "select m.signature, m.key, false, m.last_time // 1000 from mine m join wins w using (key) "
        "join best o using (key) where w.wins and m.signature is not null and m.signature is "
        "distinct from o.signature)"
    )
    plan = FilePlan(SIGNATURES, 0, "set", spec.version)
    yield from files_by_bucket(work, work.storage, "signed", "signature, key", plan)


def _compare_hosts(
    work: TaskWork, spec: CompareSpec, added: dict[str, list[TableFile]]
) -> tuple[int, frozenset[str]]:
    """Import rows of hosts with a later visit; return their number, and replaced files."""
    if not spec.rows[HOSTS]:
        return 0, frozenset()
    first, last = spec.buckets[0].bucket, spec.buckets[-1].bucket
    _load(work, "other_hosts", spec.rows[HOSTS], first, last)
    count, dropped = 0, frozenset[str]()
    for bucket in spec.hosts:
        load_hosts(work, [bucket])
        picks = [f'o."{column.name}"' for column in HOST_COLUMNS]
        newest = "qualify row_number() over (partition by host order by time desc, place) = 1"
        rows = (
            f"select {', '.join(picks)} from (select * from other_hosts "
            f"where bucket = {bucket.bucket} {newest}) o left join hosts m on m.host = o.host "
            "where m.host is null or coalesce(o.time, 0) > coalesce(m.time, 0)"
        )
        written = write_hosts(work, bucket, rows, spec.version, dry=spec.dry)
        count += int(work.kernel.value("select count(*) from new_hosts"))
        added.setdefault(HOSTS, []).extend(written.added)
        dropped |= written.dropped
    return count, dropped
