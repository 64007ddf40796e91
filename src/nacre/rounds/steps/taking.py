"""The taking of rows of others into our tables: those of another crawl, of Nutch, of a job.

The rows of others lie in files, with the bucket that they have here and the `place` of where they
come from: of equals the first one counts. Tasks over our buckets compare them with ours. The newest
visit of a URL counts; what is taken again changes nothing. Source: Nutch, `CrawlDbMerger`
(reference N 1.1).
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
from nacre.rounds.steps.host_rows import HOSTS, host_buckets, load_hosts, of_buckets, write_hosts
from nacre.rounds.steps.links import LINKS, bucket_ranges
from nacre.rounds.steps.seed_rows import state_with
from nacre.rounds.steps.update_tasks import facts_of, local_facts
from nacre.rounds.storage import Storage, localized
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
    """The rows of others, ready to be compared.

    Attributes:
        urls: Files of rows of URLs.
        hosts: Files of rows of hosts.
        links: Files of links, which fold with ours as they are.
        total: Rows of URLs.
        archive: Files of the archive that come with them.
        seeds: What seeds that come with them change in their table.
        segments: Segments that come with them.
        records: Folder for the files of the records of the rows that are taken; "": none is wanted.
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
    """Counts of what was taken.

    Attributes:
        known: URLs that the others know.
        new: Of these, those that were not known here.
        newer: Those that were known, and were visited later there.
        hosts: Hosts whose rows changed.
        version: The version; None where nothing was committed.
    """

    known: int = 0
    new: int = 0
    newer: int = 0
    hosts: int = 0
    version: CycleVersion | None = None


class CompareSpec(NamedTuple):
    """One task: some of our buckets.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        buckets: Our buckets, with their files.
        hosts: The same of the table of hosts.
        rows: Files of rows of the others by table.
        signatures: Buckets of the table of signatures.
        dry: Count, and publish nothing.
        records: Name of the file of records that are wanted; "": none is.
        facts: Files of the visits that came from others, whose records are not wanted.
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
        known: URLs of others there.
        new: Not known before.
        newer: Visited later by another.
        hosts: Rows of hosts that changed.
        added: New files by table.
        dropped: Names of files of hosts that were replaced.
        records: Records that are wanted.
    """

    known: int
    new: int
    newer: int
    hosts: int
    added: dict[str, list[TableFile]]
    dropped: frozenset[str]
    records: int = 0


class TakenChanges(NamedTuple):
    """The changes that rows of others make, ready for a commit.

    Attributes:
        result: Their counts.
        added: New files by table.
        dropped: Names of files of hosts that were replaced.
        records: Files of the records that are wanted: `place`, `record_id`.
    """

    result: TakenRows
    added: dict[str, list[TableFile]]
    dropped: frozenset[str]
    records: tuple[str, ...]


def other_rows_sql(values: Mapping[str, str], source: str) -> str:
    """SQL of rows of URLs of others with all columns of ours, sorted for `take_rows`.

    Args:
        values: SQL of columns by name, `bucket` and `place` among them; others are null.
        source: What stands behind `from`.
    """
    picks = [f"({values[name]})::BIGINT as {name}" for name in ("bucket", "place")]
    for column in COLUMNS:
        value = values.get(column.name, "null")
        picks.append(f'({value})::{column.type} as "{column.name}"')
    return f"select {', '.join(picks)} from {source} order by bucket, key, place"


def buckets_here(context: StepContext, version: CycleVersion) -> int:
    """The number of buckets of our tables, also before there is one."""
    known = version.tables.get(CRAWLDB)
    return known.buckets if known else context.settings.cycle.buckets


def take_rows(
    context: StepContext,
    version: CycleVersion,
    rows: OtherRows,
    step: str,
    options: Mapping[str, Any],
) -> TakenRows:
    """Compare the rows of others with ours, and commit what changes.

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
    """Compare the rows of others with ours, and write what changes.

    Args:
        context: The context of the driver.
        version: The newest version.
        rows: The rows.
    """
    buckets = buckets_here(context, version)
    known = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
    of_hosts = host_buckets(context.cycle, version)
    signatures = version.tables.get(SIGNATURES)
    visits = _visits_of_others(version) if rows.records else ()
    specs = []
    for first, last in bucket_ranges(buckets, max(1, rows.total // _ROWS)):
        mine = tuple(known.get(number, BucketFiles(number)) for number in range(first, last + 1))
        specs.append(
            CompareSpec(
                context.place, version.number + 1, mine, of_buckets(of_hosts, mine),
                {CRAWLDB: rows.urls, HOSTS: rows.hosts},
                signatures.buckets if signatures else buckets, context.dry,
                f"{rows.records}/records-{first}.parquet" if rows.records else "", visits,
            )
        )  # fmt: skip
    compared = context.engine.map(compare_task, specs)
    result = TakenRows(
        sum(one.known for one in compared),
        sum(one.new for one in compared),
        sum(one.newer for one in compared),
        sum(one.hosts for one in compared),
    )
    found = {**added_files([one.added for one in compared]), LINKS: list(rows.links)}
    return TakenChanges(
        result,
        {table: files for table, files in found.items() if files},
        frozenset(name for one in compared for name in one.dropped),
        tuple(spec.records for spec, one in zip(specs, compared, strict=True) if one.records),
    )


def _visits_of_others(version: CycleVersion) -> tuple[str, ...]:
    """Files of the visits that came from others; what we archived ourselves is in our own WARCs."""
    came = [(name, one) for name, one in version.segments.items() if IMPORTED in one.more]
    return tuple(file for name, one in came for file in facts_of(name, one).files("visits"))


def commit_rows(
    context: StepContext,
    version: CycleVersion,
    rows: OtherRows,
    changes: TakenChanges,
    step: str,
    options: Mapping[str, Any],
) -> TakenRows:
    """Commit what changes, with what comes with the rows; nothing where nothing changes.

    Args:
        context: The context of the driver.
        version: The version that the rows were compared with.
        rows: The rows.
        changes: What they change.
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
    made = CycleChanges(
        step=step,
        clock=context.clock,
        options=dict(options),
        counters={"known": result.known, "new": result.new, "newer": result.newer},
        added=added,
        dropped={table: names for table, names in dropped.items() if names},
        buckets=dict.fromkeys(fresh, buckets_here(context, version)),
        archive=list(rows.archive),
        segments=dict(rows.segments),
        # Others judged these rows, with other seeds.
        seed_state=msgspec.structs.replace(state_with(version, rows.seeds), judged=-1),
    )
    return result._replace(version=context.cycle.commit(version, made))


def files_by_bucket(
    work: TaskWork, storage: Storage, source: str, order: str, plan: FilePlan, *, dry: bool = False
) -> Iterator[TableFile]:
    """Files of the rows of a table of the kernel, one for each bucket.

    Args:
        work: What the task works with.
        storage: Where they go.
        source: The table, with a column `bucket`, and `place` where rows have one.
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
    """Compare the rows of others with ours, and write what changes."""
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
            added[CRAWLDB] += _written(work, spec)
            added[SIGNATURES] += _signatures(work, spec)
        counts = kernel.rows(
            "select count(*), count(*) filter (not known), count(*) filter (known and wins) "
            "from wins"
        )
        known, new, newer = counts[0]
        hosts, dropped = _compare_hosts(work, spec, added)
        records = _send_records(work, spec) if spec.records else 0
        return ComparedRows(known, new, newer, hosts, added, dropped, records)


def _send_records(work: TaskWork, spec: CompareSpec) -> int:
    """Write the records of the rows that are taken, without those that came already.

    Of a row that was taken before the record may still be wanted. A row that is taken may have
    another key than its visit, and so another bucket: the visits of all buckets are looked at.
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
    paths = [str(localized(work.storage, file, work.scratch)) for file in files]
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
    """Make the table `mine`: our rows of the keys of others."""
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


def _written(work: TaskWork, spec: CompareSpec) -> Iterator[TableFile]:
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


def _signatures(work: TaskWork, spec: CompareSpec) -> Iterator[TableFile]:
    """Rows of signatures of the pages that another crawl visited last, and of those they had."""
    kernel = work.kernel
    seen = f"o.status in {_FETCHED} and o.signature is not null"
    kernel.execute(
        "create or replace temp table signed as select *, null::BIGINT as simhash, "
        f"{signature_bucket_sql('signature', spec.signatures)} as bucket from ("
        "select o.signature, o.key, true as live, o.last_time // 1000 as time from best o "
        f"join wins w using (key) where w.wins and {seen} union all "
        "select m.signature, m.key, false, m.last_time // 1000 from mine m join wins w using (key) "
        "join best o using (key) where w.wins and m.signature is not null and m.signature is "
        "distinct from o.signature)"
    )
    plan = FilePlan(SIGNATURES, 0, "set", spec.version)
    yield from files_by_bucket(work, work.storage, "signed", "signature, key", plan)


def _compare_hosts(
    work: TaskWork, spec: CompareSpec, added: dict[str, list[TableFile]]
) -> tuple[int, frozenset[str]]:
    """Rows of hosts that another crawl visited later."""
    if not spec.rows[HOSTS]:
        return 0, frozenset()
    first, last = spec.buckets[0].bucket, spec.buckets[-1].bucket
    _load(work, "other_hosts", spec.rows[HOSTS], first, last)
    count, dropped = 0, frozenset[str]()
    for bucket in spec.hosts:
        load_hosts(work, [bucket])
        picks = [f'o."{one.name}"' for one in HOST_COLUMNS]
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
