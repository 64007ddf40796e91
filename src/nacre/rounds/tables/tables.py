"""Files of a table: the files of a bucket at a version, and how a task makes a file.

A table is log-structured: a row is folded from a `base` file and the `set` and `add` files that
were committed since (`nacre.crawldb.fold`). A task opens its `TaskPlace`, writes a Parquet file
into the scratch folder there, and `publish` describes it and sends it to the storage.
"""

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.dedup import signature_bucket, signature_schema
from nacre.crawldb.fold import KeyRange, merge_query
from nacre.crawldb.hosts import GONE_HOST_COLUMNS, host_schema
from nacre.crawldb.indexed import indexed_schema
from nacre.crawldb.kernels import Kernel, KernelError, parquet, quoted
from nacre.crawldb.links import link_schema, merge_links
from nacre.crawldb.rank import LEVELS, rank_bucket, rank_schema, rank_table
from nacre.crawldb.row import COLUMNS, arrow_schema, bucket_of, bucket_of_host
from nacre.crawldb.seeds import SEEDS, merged_seeds, seed_bucket, seed_schema
from nacre.errors import ConfigError, DamageError, StorageError
from nacre.machine.layout import storage_folder
from nacre.machine.local_files import HeldFolder
from nacre.rounds.storage import Storage, file_sha256, localize, open_storage
from nacre.rounds.tables.versions import ARCHIVE, OUTSIDE, Cycle, CycleVersion, TableFile

MEMORY = 600 * 10**6
"""Memory of a kernel in bytes; a kernel that needs more spills to disk."""

CRAWLDB = "crawldb"
"""The name of the table of URLs."""

FOLDER = "tables"
ROW_GROUP = 32_768
"""Rows of a group in a file, which a reader of one key has to decompress."""

_FETCH_TIME = "fetch_time"


class TaskPlace(NamedTuple):
    """The place where a task reads and writes; part of its spec.

    Attributes:
        storage: The argument of `open_storage`.
        memory: Bytes of its kernel.
        scratch: Folder for temporary files; "" for the temporary folder of the system. With one,
            the tasks of a process share a database.
    """

    storage: str
    memory: int = MEMORY
    scratch: str = ""

    @contextmanager
    def open(self) -> "Iterator[TaskWork]":
        """Yield the storage, a kernel and an empty folder, which is removed at the end."""
        storage = open_storage(self.storage)
        root = storage.local_path(FOLDER)
        # A folder in the temporary folder is locked, else the next start of a job would remove it.
        temporary = None if self.scratch else HeldFolder("task-")
        scratch = (
            temporary.path
            if temporary
            else Path(tempfile.mkdtemp(prefix="task-", dir=self.scratch))
        )
        folders = [str(root.parent)] if root is not None else []
        base = self.scratch or str(scratch)
        again = bool(self.scratch)
        try:
            with Kernel(self.memory, 1, scratch=base, directories=folders, again=again) as kernel:
                yield TaskWork(storage, kernel, scratch)
        finally:
            if temporary is not None:
                temporary.close()
            shutil.rmtree(scratch, ignore_errors=True)


class TaskWork(NamedTuple):
    """The connection and files that a task works with.

    Attributes:
        storage: The storage of the tables.
        kernel: Its kernel.
        scratch: Its folder.
    """

    storage: Storage
    kernel: Kernel
    scratch: Path

    def send(self, query: str, name: str) -> int:
        """Write the rows of a query, if any, as a file of the storage; return their number.

        Args:
            query: SQL.
            name: Name of the file.
        """
        path = self.scratch / f"sent-{name.rpartition('/')[2]}"
        rows = self.kernel.write(query, str(path)).rows
        if rows:
            self.storage.upload(path, name)
        return rows


class BucketFiles(NamedTuple):
    """The files of one bucket, or of a range of its keys, in fold order.

    Attributes:
        bucket: Its number.
        base: `base` files; if there are several, each has a range of the keys.
        sets: `set` files.
        adds: `add` files.
        within: The range of keys (`key_ranges`); None for all keys.
    """

    bucket: int
    base: tuple[TableFile, ...] = ()
    sets: tuple[TableFile, ...] = ()
    adds: tuple[TableFile, ...] = ()
    within: KeyRange | None = None

    @property
    def all(self) -> tuple[TableFile, ...]:
        """All files."""
        return (*self.base, *self.sets, *self.adds)

    @property
    def deltas(self) -> tuple[TableFile, ...]:
        """The files since the base."""
        return (*self.sets, *self.adds)

    @property
    def is_first(self) -> bool:
        """Whether it is a whole bucket, or the first range of one."""
        return self.within is None or not self.within.low


class LocalBucket(NamedTuple):
    """Local files of a bucket: the arguments of `crawldb.fold.fold_query`."""

    base: list[str]
    sets: list[tuple[str, str]]
    adds: list[str]
    within: KeyRange | None = None


class TableKind(NamedTuple):
    """The description of a table.

    Attributes:
        name: Its name.
        keys: Columns that identify a row; a file is sorted by them, bytewise.
        merge: Returns SQL that folds the files of a bucket into the rows of a base.
        bucket: Returns the bucket of a value of the first key, for a number of buckets.
        schema: Returns the schema of its rows in Arrow.
        gone: Former columns that old files may have; `merge` omits them.
    """

    name: str
    keys: tuple[str, ...]
    merge: Callable[[LocalBucket], str]
    bucket: Callable[[Any, int], int]
    schema: Callable[[], Any]
    gone: tuple[str, ...] = ()


def table_kind(name: str) -> TableKind:
    """Return the description of a table, by its name.

    Raises:
        ConfigError: There is no such table.
    """
    if name not in KINDS:
        raise ConfigError(f"there is no table {name!r}; one of: {', '.join(KINDS)}")
    return KINDS[name]


def _merge_rows_sql(local: LocalBucket) -> str:
    return merge_query(*local)


def _merge_links_sql(local: LocalBucket) -> str:
    return merge_links(local.base, local.adds)


def _merge_seeds_sql(local: LocalBucket) -> str:
    return merged_seeds([*local.base, *local.adds])


def newest_rows(*keys: str, gone: Sequence[str] = ()) -> Callable[[LocalBucket], str]:
    """Return the fold of a table whose rows are replaced: the last row of a key wins.

    Args:
        keys: Columns that identify a row.
        gone: Former columns of files, which are omitted.
    """
    listed = ", ".join(f'"{key}"' for key in keys)
    without = ", ".join(quoted(name) for name in ("n", *gone))

    def merge(local: LocalBucket) -> str:
        # Bases have different keys, and every set comes after them.
        parts = [f"select 0 as n, * from {parquet(local.base)}"] if local.base else []
        parts += [
            f"select {number} as n, * from {parquet([path])}"
            for number, (path, _) in enumerate(local.sets, 1)
        ]
        rows = " union all by name ".join(parts)
        newest = f"qualify row_number() over (partition by {listed} order by n desc) = 1"
        columns = f"columns(lambda name: name not in ({without}))"
        return f"select {columns} from ({rows}) {newest} order by {listed}"

    return merge


KINDS = {
    CRAWLDB: TableKind(
        CRAWLDB, ("key",), _merge_rows_sql, bucket_of, lambda: arrow_schema(COLUMNS)
    ),
    "hosts": TableKind(
        "hosts",
        ("host",),
        newest_rows("host", gone=GONE_HOST_COLUMNS),
        bucket_of_host,
        host_schema,
        GONE_HOST_COLUMNS,
    ),
    "signatures": TableKind(
        "signatures",
        ("signature", "key"),
        newest_rows("signature", "key"),
        signature_bucket,
        signature_schema,
    ),
    "links": TableKind("links", ("dst", "src"), _merge_links_sql, bucket_of, link_schema),
    **{
        rank_table(level): TableKind(
            rank_table(level), ("node",), newest_rows("node"), rank_bucket, rank_schema
        )
        for level in LEVELS
    },
    "indexed": TableKind(
        "indexed", ("key", "writer"), newest_rows("key", "writer"), bucket_of, indexed_schema
    ),
    SEEDS: TableKind(SEEDS, ("key", "text"), _merge_seeds_sql, seed_bucket, seed_schema),
}
"""The tables by name."""


_MANIFEST_MEMORY = 100 * 10**6


def kernel_manifest(data: bytes) -> list[TableFile]:
    """Read a manifest with a kernel; see `versions.read_manifest`.

    For readers that only use SQL: importing Arrow takes 0.15 s of CPU.

    Raises:
        DamageError: It is no manifest.
    """
    folder = HeldFolder("manifest-")
    path = folder.path / "manifest.parquet"
    try:
        path.write_bytes(data)
        with Kernel(_MANIFEST_MEMORY, directories=[str(folder.path)]) as kernel:
            source = f"read_parquet({quoted(str(path))}, file_row_number = true)"
            query = f"select * exclude (file_row_number) from {source} order by file_row_number"
            names, rows = kernel.columns(query), kernel.rows(query)
        return [msgspec.convert(dict(zip(names, row, strict=True)), TableFile) for row in rows]
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    except (KernelError, msgspec.ValidationError) as error:
        raise DamageError(f"a manifest cannot be read: {error}") from error
    finally:
        folder.close()


def buckets_of(cycle: Cycle, version: CycleVersion, table: str) -> list[BucketFiles]:
    """Return the buckets of a table that have files, ascending."""
    by_bucket: dict[int, list[TableFile]] = {}
    for file in cycle.files(version, table):
        by_bucket.setdefault(file.bucket, []).append(file)
    return [
        BucketFiles(
            bucket,
            tuple(file for file in files if file.kind == "base"),
            tuple(file for file in files if file.kind == "set"),
            tuple(file for file in files if file.kind == "add"),
        )
        for bucket, files in sorted(by_bucket.items())
    ]


def in_tasks(
    buckets: Sequence[BucketFiles], rows: int = 500_000, tasks: int = 1
) -> list[tuple[BucketFiles, ...]]:
    """Group buckets into tasks, so that small ones share a task.

    Args:
        buckets: The buckets to process.
        rows: A task gets another bucket while it has fewer rows than this.
        tasks: Least number of tasks, if there are enough buckets with more than a few rows.
    """
    total = sum(file.rows for bucket in buckets for file in bucket.all)
    limit = min(rows, max(20_000, total // max(tasks, 1)))
    grouped: list[tuple[BucketFiles, ...]] = []
    group: list[BucketFiles] = []
    size = 0
    for bucket in buckets:
        group.append(bucket)
        size += sum(file.rows for file in bucket.all)
        if size >= limit:
            grouped.append(tuple(group))
            group, size = [], 0
    if group:
        grouped.append(tuple(group))
    return grouped


def key_ranges(bucket: BucketFiles, most: int = 0) -> tuple[BucketFiles, ...]:
    """Divide a bucket of the CrawlDb into ranges of keys, by its base files.

    The ranges have all keys, and each has the files with any of its keys.

    Args:
        bucket: The bucket.
        most: Most ranges; 0: as many as base files.
    """
    base = sorted(bucket.base, key=lambda file: file.first.encode())
    overlap = any(left.last.encode() >= right.first.encode() for left, right in pairwise(base))
    size = max(1, -(-len(base) // most)) if most else 1
    shares = [tuple(base[at : at + size]) for at in range(0, len(base), size)]
    if len(shares) < 2 or overlap:
        return (bucket,)
    bounds = ["", *(files[0].first for files in shares[1:]), ""]
    return tuple(
        _in_range(bucket, files, KeyRange(low, high))
        for files, (low, high) in zip(shares, pairwise(bounds), strict=True)
    )


def _in_range(bucket: BucketFiles, base: tuple[TableFile, ...], within: KeyRange) -> BucketFiles:
    low, high = (bound.encode() for bound in within)

    def of(files: tuple[TableFile, ...]) -> tuple[TableFile, ...]:
        return tuple(
            file
            for file in files
            if file.last.encode() >= low and (not high or file.first.encode() < high)
        )

    return BucketFiles(bucket.bucket, base, of(bucket.sets), of(bucket.adds), within)


def in_range_tasks(buckets: Sequence[BucketFiles], tasks: int = 1) -> list[tuple[BucketFiles, ...]]:
    """Group buckets of the CrawlDb like `in_tasks`, but with a task for each key range.

    Args:
        buckets: The buckets to process.
        tasks: See `in_tasks`.
    """
    divided = [key_ranges(bucket) for bucket in buckets]
    whole = [ranges[0] for ranges in divided if len(ranges) == 1]
    alone: list[tuple[BucketFiles, ...]] = [
        (part,) for ranges in divided if len(ranges) > 1 for part in ranges
    ]
    return [*alone, *in_tasks(whole, tasks=tasks)]


def local_bucket(storage: Storage, bucket: BucketFiles, scratch: Path) -> LocalBucket:
    """Localize the files of a bucket for a kernel.

    Raises:
        DamageError: A file does not have its committed size.
    """
    return LocalBucket(
        [local_file(storage, file, scratch) for file in bucket.base],
        [(local_file(storage, file, scratch), file.group) for file in bucket.sets],
        [local_file(storage, file, scratch) for file in bucket.adds],
        bucket.within,
    )


def local_file(storage: Storage, file: TableFile, scratch: Path) -> str:
    """Return the local path of a file, fetched if needed; its size is compared."""
    path = localize(storage, file.path, scratch)
    size = path.stat().st_size if path.exists() else None
    if size != file.size:
        fault = "it is missing" if size is None else f"it has {size} bytes instead of {file.size}"
        raise DamageError(
            f"{storage.place}/{file.path}: {fault}. `storage check` lists all that is damaged, "
            "with `--repair` it goes back to a version whose files are whole."
        )
    return str(path)


def archived_warcs(cycle: Cycle, version: CycleVersion) -> dict[str, TableFile]:
    """Return the WARCs of a cycle by name, including those of imported jobs and merged crawls."""
    files = cycle.files(version, ARCHIVE)
    return {file.path.rpartition("/")[2]: file for file in files if file.kind in {"warc", OUTSIDE}}


def local_warc(storage: Storage, file: TableFile, scratch: Path) -> Path:
    """Return the local path of a WARC, also of another crawl.

    A WARC of a job may still be open: its name then ends in `.open`. A WARC in an object store is
    fetched.
    """
    if file.kind != OUTSIDE:
        return localize(storage, file.path, scratch)
    remote = remote_warc(file)
    if remote is not None:
        return localize(*remote, scratch)
    path = Path(file.path)
    still_open = path.with_name(f"{path.name}.open")
    return still_open if still_open.is_file() and not path.is_file() else path


def remote_warc(file: TableFile) -> tuple[Storage, str] | None:
    """Return the storage of a WARC of another crawl and its name in it; None for a path."""
    place = remote_place(file)
    return None if place is None else (open_storage(place[0]), place[1])


def remote_place(file: TableFile) -> tuple[str, str] | None:
    """Return the place of the storage of a WARC of another crawl and its name; None for a path."""
    if storage_folder(file.path) is not None:
        return None
    place, _, name = file.path.rpartition(f"/{ARCHIVE}/")
    return place, f"{ARCHIVE}/{name}"


class FilePlan(NamedTuple):
    """The plan of a file that a task writes.

    Attributes:
        table: Name of its table.
        bucket: Its bucket.
        kind: `base`, `set` or `add`.
        version: Number of the version to commit; only for its name.
        group: The group of columns of a `set`.
    """

    table: str
    bucket: int
    kind: str
    version: int
    group: str = ""

    def name(self) -> str:
        """Return a name that no other attempt has."""
        sort = self.group or self.kind
        file = f"{self.version:010d}-{sort}-{secrets.token_hex(6)}.parquet"
        return f"{FOLDER}/{self.table}/b{self.bucket:05d}/{file}"


def publish(storage: Storage, path: Path, plan: FilePlan, *, dry: bool = False) -> TableFile | None:
    """Describe a Parquet file that is sorted by `key`, and upload it.

    The storage may use the local file itself: do not write to it any more.

    Args:
        storage: The storage.
        path: The file.
        plan: The plan of the file.
        dry: Describe it, and upload nothing.

    Returns:
        Its row for the manifest; None if it has no rows, and nothing was uploaded.
    """
    described = describe(path, plan)
    if described is not None and not dry:
        storage.upload(path, described.path)
    return described


def describe(path: Path, plan: FilePlan) -> TableFile | None:
    """Return the row of a local Parquet file for the manifest; None if it has no rows."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        if not metadata.num_rows:
            return None
        key = "key" if "key" in file.schema_arrow.names else file.schema_arrow.names[0]
        first = file.read_row_group(0, [key]).column(0)[0].as_py()
        last = file.read_row_group(metadata.num_row_groups - 1, [key]).column(0)[-1].as_py()
        return TableFile(
            path=plan.name(),
            bucket=plan.bucket,
            kind=plan.kind,
            group=plan.group,
            rows=metadata.num_rows,
            size=path.stat().st_size,
            first=_text(first),
            last=_text(last),
            min_fetch_time=_least(metadata, _FETCH_TIME),
            sha256=file_sha256(path),
        )


def write_arrow(table: Any, path: Path) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write a sorted Arrow table as Parquet (zstd)."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    pq.write_table(table, path, compression="zstd", row_group_size=ROW_GROUP)


def copy_statement(query: str, path: Path | str) -> str:
    """Return SQL that writes the rows of a query, in their order, as Parquet (zstd)."""
    target = str(path).replace("'", "''")
    return (
        f"COPY ({query}) TO '{target}' "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
    )


def added_files(results: Iterable[Mapping[str, Sequence[TableFile]]]) -> dict[str, list[TableFile]]:
    """Return the files of all tasks by table, in the order of the tasks: `CycleChanges.added`."""
    by_table: dict[str, list[TableFile]] = {}
    for result in results:
        for table, files in result.items():
            by_table.setdefault(table, []).extend(files)
    return by_table


def _least(metadata: Any, column: str) -> int | None:  # noqa: ANN401 - pyarrow has no types
    """Return the least value of a column by the statistics of row groups; None if incomplete."""
    values = []
    for statistics in _statistics(metadata, column):
        if statistics is None or not statistics.has_min_max:
            return None
        values.append(int(statistics.min_raw))
    return min(values, default=None)


def _statistics(metadata: Any, column: str) -> Iterator[Any]:  # noqa: ANN401 - likewise
    names = [metadata.schema.column(i).name for i in range(metadata.num_columns)]
    if column not in names:
        return
    for group in range(metadata.num_row_groups):
        yield metadata.row_group(group).column(names.index(column)).statistics


def _text(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
