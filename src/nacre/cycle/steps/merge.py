"""The step `merge`: what other directories of batch rounds know is brought into this one.

Tasks over the buckets of the others give each row the bucket that it has here, so that crawls with
any numbers of buckets are merged, and normalize and judge it where that is wanted. Tasks over our
buckets then compare these rows with ours. WARCs and segments stay where they are. Source: Nutch,
`CrawlDbMerger`, `LinkDbMerger` (reference N 1.1).
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb.dedup import signature_bucket_sql
from nacre.crawldb.fold import merge_query
from nacre.crawldb.hosts import HOST_COLUMNS, host_sql
from nacre.crawldb.kernels import parquet
from nacre.crawldb.merging import (
    MERGED_GROUPS,
    added_rows,
    best_rows,
    set_rows,
    winners,
)
from nacre.crawldb.row import Status, bucket_of_host
from nacre.cycle.admission import Admission
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.host_rows import HOSTS, host_buckets, load_hosts, of_buckets, write_hosts
from nacre.cycle.steps.judging import RulesOfStep, rules_of_step
from nacre.cycle.steps.links import LINKS, bucket_ranges
from nacre.cycle.storage import Storage, localized, open_storage
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    added_files,
    buckets_of,
    in_tasks,
    local_bucket,
    publish,
    table_kind,
)
from nacre.cycle.versions import Cycle, CycleChanges, CycleVersion, TableFile
from nacre.errors import JobError, URIError
from nacre.uri.parse import parse

SIGNATURES = "signatures"
_TABLES = (CRAWLDB, HOSTS, LINKS)
_ROWS = 500_000
_FETCHED = f"({int(Status.FETCHED)}, {int(Status.NOT_MODIFIED)})"


class MergeOptions(NamedTuple):
    """The options of a merge.

    Attributes:
        filter: Leave out what the scope of this directory refuses.
        normalize: Bring URLs into the form that this directory gives them.
    """

    filter: bool = False
    normalize: bool = False


PLAIN = MergeOptions()
"""Rows are taken as they are."""


class MergeResult(NamedTuple):
    """The outcome of a merge.

    Attributes:
        known: URLs that the others know.
        new: Of these, those that were not known here.
        newer: Those that were known, and were visited later there.
        refused: Those that the scope refuses, by rule.
        links: Links that were taken.
        hosts: Hosts whose rows changed.
        version: The version; None where nothing was committed.
    """

    known: int = 0
    new: int = 0
    newer: int = 0
    refused: Mapping[str, int] = {}
    links: int = 0
    hosts: int = 0
    version: CycleVersion | None = None


class GatherSpec(NamedTuple):
    """One task: buckets of a table of another crawl.

    Attributes:
        place: Our place.
        other: Theirs.
        number: Place of the other crawl among all; of equals the first one counts.
        table: The table.
        files: The buckets, with their files.
        buckets: Number of our buckets.
        version: Number of the version that it is for.
        target: Name of the file for the rows.
        rules: By which rows are judged and normalized; None: they are not.
        options: Which of both.
    """

    place: TaskPlace
    other: TaskPlace
    number: int
    table: str
    files: tuple[BucketFiles, ...]
    buckets: int
    version: int
    target: str
    rules: RulesOfStep | None
    options: MergeOptions


class GatheredRows(NamedTuple):
    """The rows of some buckets of another crawl.

    Attributes:
        rows: Their number.
        refused: Rows that the scope refuses, by rule.
        files: Files of links, which need no second look.
    """

    rows: int
    refused: dict[str, int]
    files: tuple[TableFile, ...] = ()


class CompareSpec(NamedTuple):
    """One task: some of our buckets.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        buckets: Our buckets, with their files.
        hosts: The same of the table of hosts.
        rows: Files of rows of the others by table.
        signatures: Buckets of the table of signatures.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    rows: Mapping[str, tuple[str, ...]]
    signatures: int


class ComparedRows(NamedTuple):
    """The changes of some of our buckets.

    Attributes:
        known: URLs of others there.
        new: Not known before.
        newer: Visited later by another.
        hosts: Rows of hosts that changed.
        added: New files by table.
        dropped: Names of files of hosts that were replaced.
    """

    known: int
    new: int
    newer: int
    hosts: int
    added: dict[str, list[TableFile]]
    dropped: frozenset[str]


def merge(
    context: StepContext, others: Sequence[Cycle], options: MergeOptions = PLAIN
) -> MergeResult:
    """Bring the tables of other crawls into this one.

    Args:
        context: The context of the driver.
        others: The other crawls.
        options: What is done with their rows.

    Raises:
        JobError: One has nothing, is this one, or its tables have other columns.
        StorageError: A newer Nacre made one.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    versions = [_other_version(context.cycle, other) for other in others]
    known = version.tables.get(CRAWLDB)
    buckets = known.buckets if known else context.settings.cycle.buckets
    folder = f"exchange/merge-{version.number + 1}-{secrets.token_hex(6)}"
    storage = context.cycle.storage
    try:
        rules = rules_of_step(context, version) if any(options) else None
        specs = list(
            _gathering(context, list(zip(others, versions, strict=True)), buckets, folder, options)
        )
        specs = [spec._replace(rules=rules, version=version.number + 1) for spec in specs]
        gathered = context.engine.map(gather_task, specs)
        return _compared(context, version, buckets, list(zip(specs, gathered, strict=True)))
    finally:
        for file in storage.walk(folder):
            storage.delete(file.name)


def _other_version(mine: Cycle, other: Cycle) -> CycleVersion:
    place = other.storage.place
    if place == mine.storage.place:
        raise JobError(f"{place} is this crawl itself; name another directory")
    version = other.newest()
    if CRAWLDB not in version.tables:
        raise JobError(f"{place} has no table of URLs: nothing was committed there")
    return version


def require_columns(cycle: Cycle, version: CycleVersion, table: str) -> None:
    """Compare the columns of a table with those that this Nacre knows.

    Args:
        cycle: The crawl.
        version: Its version.
        table: The table.

    Raises:
        JobError: A file has another column, or another type; the message names both.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    files = [file for file in cycle.files(version, table) if file.kind == "base"]
    files = files or [file for file in cycle.files(version, table) if not file.group]
    known = table_kind(table)
    wanted = {field.name: field.type for field in known.schema()}
    for file in files[:1]:
        path = cycle.storage.local_path(file.path)
        schema = pq.read_schema(path) if path is not None else _remote_schema(cycle, file)
        found = {field.name: field.type for field in schema}
        for name, kind in found.items():
            if name not in known.gone and not _alike(kind, wanted.get(name)):
                raise JobError(
                    f"{cycle.storage.place}: table {table} of version {version.number}, made by "
                    f"Nacre {version.nacre or '?'}, has the column {name!r} of type {kind}; here "
                    f"it is {wanted.get(name, 'not known')}. Merge with the Nacre that made it, or "
                    "update both"
                )


def _remote_schema(cycle: Cycle, file: TableFile) -> Any:  # noqa: ANN401 - pyarrow has no types
    from io import BytesIO  # noqa: PLC0415 - for storages elsewhere

    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    return pq.read_schema(BytesIO(cycle.storage.read(file.path)))


def _alike(found: Any, wanted: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Types that hold the same values: names within lists and maps do not matter."""
    return wanted is not None and (found == wanted or (found.num_fields and found.id == wanted.id))


# ---- the rows of others


def _gathering(
    context: StepContext,
    others: Sequence[tuple[Cycle, CycleVersion]],
    buckets: int,
    folder: str,
    options: MergeOptions,
) -> Iterator[GatherSpec]:
    memory = context.settings.cycle.memory
    for number, (other, version) in enumerate(others):
        for table in _TABLES:
            if table not in version.tables:
                continue
            require_columns(other, version, table)
            groups = in_tasks(buckets_of(other, version, table), tasks=context.engine.workers)
            for at, group in enumerate(groups):
                yield GatherSpec(
                    context.place, TaskPlace(other.storage.place, memory), number, table, group,
                    buckets, 0, f"{folder}/{table}-{number}-{at}.parquet", None, options,
                )  # fmt: skip


def gather_task(spec: GatherSpec) -> GatheredRows:
    """Give the rows of another crawl the buckets that they have here."""
    refused: Counter[str] = Counter()
    with spec.other.open() as work:
        kernel = work.kernel
        kernel.execute(f"create temp table rows as {_rows_of(work, spec)}")
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
            files = tuple(_by_bucket(work, mine, "placed", "dst, src", plan))
            return GatheredRows(count, dict(refused), files)
        path = work.scratch / "gathered.parquet"
        kernel.write(f"{placed} order by b.bucket, r.{first}", str(path))
        open_storage(spec.place.storage).upload(path, spec.target)
        return GatheredRows(count, dict(refused))


def _rows_of(work: TaskWork, spec: GatherSpec) -> str:
    """The rows of the buckets, as files hold them; what was purged is left out."""
    found = []
    for bucket in spec.files:
        local = local_bucket(work.storage, bucket, work.scratch)
        if spec.table == CRAWLDB:
            rows = merge_query(*local, order=False)
            found.append(f"select * from ({rows}) where purged is null or last_inlink > purged")
        else:
            found.append(f"select * from ({table_kind(spec.table).merge(local)})")
    return " union all by name ".join(found)


def _judge(
    work: TaskWork, column: str, admission: Admission, options: MergeOptions, *, judged: bool
) -> Counter[str]:
    """Normalize the URLs of a column, and remove rows that the scope refuses."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    own = column == "key"
    way = "path, via, source" if own else "null, null, null"
    asked = work.kernel.rows(f"select distinct {column}, {way} from rows")
    refused: Counter[str] = Counter()
    was, now = [], []
    for url, path, via, source in asked:
        normal: str | None = _normal(url, admission) if options.normalize else url
        why = "" if normal is not None else "uri.normalize"
        if normal is not None and options.filter and judged:
            hops = path if own else "L"
            why = admission.refusal(normal, path=hops or "", via=via or "", source=source or "")
        if why:
            refused[why] += 1
        if why or normal != url:
            was.append(url)
            now.append(None if why else normal)
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


def _normal(url: str, admission: Admission) -> str | None:
    """The key of a URL by the normalizers of this directory; None where they leave nothing."""
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


def _by_bucket(
    work: TaskWork, storage: Storage, source: str, order: str, plan: FilePlan
) -> Iterator[TableFile]:
    """Files of the rows of a table of the kernel, one for each bucket.

    Args:
        work: What the task works with.
        storage: Where they go.
        source: The table, with a column `bucket`, and `place` where rows have one.
        order: Columns that they are sorted by.
        plan: The plan of the files; the bucket is filled in.
    """
    left_out = "bucket, place" if "place" in work.kernel.columns(f"from {source}") else "bucket"
    for (bucket,) in work.kernel.rows(f"select distinct bucket from {source} order by 1"):
        path = work.scratch / f"{plan.table}-{plan.kind}-{plan.group}-{bucket}.parquet"
        rows = f"select * exclude ({left_out}) from {source} where bucket = {bucket}"
        work.kernel.write(f"{rows} order by {order}", str(path))
        file = publish(storage, path, plan._replace(bucket=int(bucket)))
        if file is not None:
            yield file


# ---- compared with ours


def _compared(
    context: StepContext,
    version: CycleVersion,
    buckets: int,
    gathered: Sequence[tuple[GatherSpec, GatheredRows]],
) -> MergeResult:
    names: dict[str, list[str]] = {CRAWLDB: [], HOSTS: []}
    for spec, _ in gathered:
        if spec.table in names:
            names[spec.table].append(spec.target)
    rows = {table: tuple(of) for table, of in names.items()}
    total = sum(found.rows for spec, found in gathered if spec.table == CRAWLDB)
    known = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
    of_hosts = host_buckets(context.cycle, version)
    signatures = version.tables.get(SIGNATURES)
    specs = []
    for first, last in bucket_ranges(buckets, max(1, total // _ROWS)):
        mine = tuple(known.get(number, BucketFiles(number)) for number in range(first, last + 1))
        specs.append(
            CompareSpec(
                context.place, version.number + 1, mine, of_buckets(of_hosts, mine), rows,
                signatures.buckets if signatures else buckets,
            )
        )  # fmt: skip
    compared = context.engine.map(compare_task, specs)
    refused: Counter[str] = Counter()
    for _, found in gathered:
        refused.update(found.refused)
    links = [file for _, found in gathered for file in found.files]
    result = MergeResult(
        sum(one.known for one in compared),
        sum(one.new for one in compared),
        sum(one.newer for one in compared),
        dict(refused),
        sum(file.rows for file in links),
        sum(one.hosts for one in compared),
    )
    if context.dry:
        return result
    added = added_files([one.added for one in compared])
    added |= {LINKS: links} if links else {}
    added = {table: files for table, files in added.items() if files}
    dropped = {name for one in compared for name in one.dropped}
    fresh = {table for table in added if table not in version.tables}
    changes = CycleChanges(
        step="merge",
        clock=context.clock,
        options={"others": sorted({spec.other.storage for spec, _ in gathered})},
        counters={"known": result.known, "new": result.new, "newer": result.newer},
        added=added,
        dropped={HOSTS: dropped} if dropped else {},
        buckets=dict.fromkeys(fresh, buckets),
    )
    if not added:
        return result
    return result._replace(version=context.cycle.commit(version, changes))


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
        added[CRAWLDB] += _written(work, spec)
        added[SIGNATURES] += _signatures(work, spec)
        counts = kernel.rows(
            "select count(*), count(*) filter (not known), count(*) filter (known and wins) "
            "from wins"
        )
        known, new, newer = counts[0]
        hosts, dropped = _compare_hosts(work, spec, added)
        return ComparedRows(known, new, newer, hosts, added, dropped)


def _load(work: TaskWork, name: str, files: Iterable[str], first: int, last: int) -> None:
    paths = [str(localized(work.storage, file, work.scratch)) for file in files]
    if not paths:
        raise JobError("there is nothing to compare")
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
            "join (select distinct key, bucket from others) p on p.key = q.key"
        )
        plan = FilePlan(CRAWLDB, 0, kind, spec.version, group)
        yield from _by_bucket(work, work.storage, "changes", "key", plan)


def _signatures(work: TaskWork, spec: CompareSpec) -> Iterator[TableFile]:
    """Rows of signatures of the pages that another crawl visited last, and of those they had."""
    kernel = work.kernel
    seen = f"o.status in {_FETCHED} and o.signature is not null"
    kernel.execute(
        "create or replace temp table signed as select *, "
        f"{signature_bucket_sql('signature', spec.signatures)} as bucket from ("
        "select o.signature, o.key, true as live, o.last_time // 1000 as time from best o "
        f"join wins w using (key) where w.wins and {seen} union all "
        "select m.signature, m.key, false, m.last_time // 1000 from mine m join wins w using (key) "
        "join best o using (key) where w.wins and m.signature is not null and m.signature is "
        "distinct from o.signature)"
    )
    plan = FilePlan(SIGNATURES, 0, "set", spec.version)
    yield from _by_bucket(work, work.storage, "signed", "signature, key", plan)


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
        written = write_hosts(work, bucket, rows, spec.version)
        count += int(work.kernel.value("select count(*) from new_hosts"))
        added.setdefault(HOSTS, []).extend(written.added)
        dropped |= written.dropped
    return count, dropped
