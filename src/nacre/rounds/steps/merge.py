"""The step `merge`: what other directories of batch rounds know is brought into this one.

Tasks over the buckets of the others give each row the bucket that it has here, so that crawls with
any numbers of buckets are merged, and normalize and judge it where that is wanted. Tasks over our
buckets then compare these rows with ours. WARCs stay where they are, and are named for the captures
of the rows that are taken. Source: Nutch, `CrawlDbMerger`, `LinkDbMerger` (reference N 1.1).
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
from nacre.rounds.steps.merge_archive import taken_archive
from nacre.rounds.steps.seed_rows import synced
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
        warcs: WARC files of the others that were not named before.
        located: Captures that are found there now, and were not before.
        version: The version; None where nothing was committed.
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
        dry: Count, and publish nothing.
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
    dry: bool = False


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
    version = synced(context)
    versions = [_other_version(context.cycle, other) for other in others]
    buckets = buckets_here(context, version)
    folder = f"exchange/merge-{version.number + 1}-{secrets.token_hex(6)}"
    storage = context.cycle.storage
    try:
        rules = rules_of_step(context, version) if any(options) else None
        known = list(zip(others, versions, strict=True))
        specs = list(_gathering(context, known, buckets, folder, options))
        specs = [spec._replace(rules=rules, version=version.number + 1) for spec in specs]
        gathered = context.engine.map(gather_task, specs)
        made = list(zip(specs, gathered, strict=True))
        return _compared(context, version, known, made, folder)
    finally:
        remove_folder(storage, folder)


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
    for number, (other, version) in enumerate(others):
        theirs = context.place._replace(storage=other.storage.place)
        for table in _TABLES:
            if table not in version.tables:
                continue
            require_columns(other, version, table)
            groups = in_tasks(buckets_of(other, version, table), tasks=context.engine.workers)
            for at, group in enumerate(groups):
                yield GatherSpec(
                    context.place, theirs, number, table, group, buckets, 0,
                    f"{folder}/{table}-{number}-{at}.parquet", None, options, context.dry,
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
            files = tuple(files_by_bucket(work, mine, "placed", "dst, src", plan, dry=spec.dry))
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


def _compared(
    context: StepContext,
    version: CycleVersion,
    others: Sequence[tuple[Cycle, CycleVersion]],
    gathered: Sequence[tuple[GatherSpec, GatheredRows]],
    folder: str,
) -> MergeResult:
    refused: Counter[str] = Counter()
    for _, found in gathered:
        refused.update(found.refused)
    rows = OtherRows(
        tuple(spec.target for spec, _ in gathered if spec.table == CRAWLDB),
        tuple(spec.target for spec, _ in gathered if spec.table == HOSTS),
        tuple(file for _, found in gathered for file in found.files),
        sum(found.rows for spec, found in gathered if spec.table == CRAWLDB),
        records=folder,
    )
    changes = compare_rows(context, version, rows)
    archive = taken_archive(context, version, others, changes.records)
    rows = rows._replace(archive=archive.files, segments=archive.segments)
    options = {"others": sorted({spec.other.storage for spec, _ in gathered})}
    taken = commit_rows(context, version, rows, changes, "merge", options)
    links = sum(file.rows for file in rows.links)
    return MergeResult(
        taken.known, taken.new, taken.newer, dict(refused), links, taken.hosts,
        len(archive.files), archive.captures, taken.version,
    )  # fmt: skip
