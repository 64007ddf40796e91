"""Files of a table: which ones a bucket has at a version, and how a task makes one.

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
from nacre.rounds.storage import Storage, file_sha256, localized, open_storage
from nacre.rounds.tables.versions import ARCHIVE, OUTSIDE, Cycle, CycleVersion, TableFile
from nacre.store.layout import storage_folder
from nacre.store.local_files import HeldFolder

MEMORY = 600 * 10**6
"""Bytes of a kernel before it spills."""

CRAWLDB = "crawldb"
"""The name of the table of URLs."""

FOLDER = "tables"
ROW_GROUP = 32_768
"""Rows of a group in a file: what a reader of one key has to unpack."""

_FETCH_TIME = "fetch_time"


class TaskPlace(NamedTuple):
    """The place where a task reads and writes; part of its spec.

    Attributes:
        storage: What `open_storage` takes.
        memory: Bytes of its kernel.
        scratch: Folder for what it keeps while it works; "" for the temporary folder. With one, the
            tasks of a process share a database.
    """

    storage: str
    memory: int = MEMORY
    scratch: str = ""

    @contextmanager
    def open(self) -> "Iterator[TaskWork]":
        """The storage, a kernel and an empty folder, which is removed in the end."""
        storage = open_storage(self.storage)
        root = storage.local_path(FOLDER)
        # One in the temporary folder is held, else the next start of a job would remove it.
        held = None if self.scratch else HeldFolder("task-")
        scratch = held.path if held else Path(tempfile.mkdtemp(prefix="task-", dir=self.scratch))
        folders = [str(root.parent)] if root is not None else []
        base = self.scratch or str(scratch)
        again = bool(self.scratch)
        try:
            with Kernel(self.memory, 1, scratch=base, directories=folders, again=again) as kernel:
                yield TaskWork(storage, kernel, scratch)
        finally:
            if held is not None:
                held.close()
            shutil.rmtree(scratch, ignore_errors=True)


class TaskWork(NamedTuple):
    """The connection and files that a task works with.

    Attributes:
        storage: Where the tables lie.
        kernel: Its kernel.
        scratch: Its folder.
    """

    storage: Storage
    kernel: Kernel
    scratch: Path

    def send(self, query: str, name: str) -> int:
        """Write the rows of a query as a file of the storage, where there are any; their number.

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
        base: `base` files; with several each has a range of the keys.
        sets: `set` files.
        adds: `add` files.
        within: The range that is meant (`key_ranges`); None: all keys.
    """

    bucket: int
    base: tuple[TableFile, ...] = ()
    sets: tuple[TableFile, ...] = ()
    adds: tuple[TableFile, ...] = ()
    within: KeyRange | None = None

    @property
    def all(self) -> tuple[TableFile, ...]:
        """All of them."""
        return (*self.base, *self.sets, *self.adds)

    @property
    def deltas(self) -> tuple[TableFile, ...]:
        """Those since the base."""
        return (*self.sets, *self.adds)

    @property
    def is_first(self) -> bool:
        """Whether it is a whole bucket, or the first range of one."""
        return self.within is None or not self.within.low


class LocalBucket(NamedTuple):
    """The same files where a kernel can read them: the arguments of `crawldb.fold.fold_query`."""

    base: list[str]
    sets: list[tuple[str, str]]
    adds: list[str]
    within: KeyRange | None = None


class TableKind(NamedTuple):
    """The description of a table.

    Attributes:
        name: Its name.
        keys: Columns that identify a row; a file is sorted by them, bytewise.
        merge: SQL that folds the files of a bucket into rows as a base holds them.
        bucket: Bucket of a value of the first key, of so many.
        schema: Makes the schema of its rows in Arrow.
        gone: Columns that files of earlier versions may have besides; `merge` leaves them out.
    """

    name: str
    keys: tuple[str, ...]
    merge: Callable[[LocalBucket], str]
    bucket: Callable[[Any, int], int]
    schema: Callable[[], Any]
    gone: tuple[str, ...] = ()


def table_kind(name: str) -> TableKind:
    """The description of a table, by its name.

    Raises:
        ConfigError: There is no such table.
    """
    if name not in KINDS:
        raise ConfigError(f"there is no table {name!r}; one of: {', '.join(KINDS)}")
    return KINDS[name]


def _merged_rows(local: LocalBucket) -> str:
    return merge_query(*local)


def _merged_links(local: LocalBucket) -> str:
    return merge_links(local.base, local.adds)


def _merged_seeds(local: LocalBucket) -> str:
    return merged_seeds([*local.base, *local.adds])


def newest_rows(*keys: str, gone: Sequence[str] = ()) -> Callable[[LocalBucket], str]:
    """The fold of a table whose rows are replaced as a whole: the last one of a key counts.

    Args:
        keys: Columns that identify a row.
        gone: Columns that are left out where a file has them.
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
        kept = f"columns(lambda name: name not in ({without}))"
        return f"select {kept} from ({rows}) {newest} order by {listed}"

    return merge


KINDS = {
    CRAWLDB: TableKind(CRAWLDB, ("key",), _merged_rows, bucket_of, lambda: arrow_schema(COLUMNS)),
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
    "links": TableKind("links", ("dst", "src"), _merged_links, bucket_of, link_schema),
    **{
        rank_table(level): TableKind(
            rank_table(level), ("node",), newest_rows("node"), rank_bucket, rank_schema
        )
        for level in LEVELS
    },
    "indexed": TableKind(
        "indexed", ("key", "writer"), newest_rows("key", "writer"), bucket_of, indexed_schema
    ),
    SEEDS: TableKind(SEEDS, ("key", "text"), _merged_seeds, seed_bucket, seed_schema),
}
"""The tables by name."""


_MANIFEST_MEMORY = 100 * 10**6


def kernel_manifest(data: bytes) -> list[TableFile]:
    """The files of a manifest, as `versions.read_manifest` has them, read by a kernel.

    It is for who reads tables by SQL alone: Arrow takes 0.15 s of CPU before it reads anything.

    Raises:
        DamageError: It is none.
    """
    held = HeldFolder("manifest-")
    path = held.path / "manifest.parquet"
    try:
        path.write_bytes(data)
        with Kernel(_MANIFEST_MEMORY, directories=[str(held.path)]) as kernel:
            source = f"read_parquet({quoted(str(path))}, file_row_number = true)"
            query = f"select * exclude (file_row_number) from {source} order by file_row_number"
            names, rows = kernel.columns(query), kernel.rows(query)
        return [msgspec.convert(dict(zip(names, row, strict=True)), TableFile) for row in rows]
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    except (KernelError, msgspec.ValidationError) as error:
        raise DamageError(f"a manifest cannot be read: {error}") from error
    finally:
        held.close()


def buckets_of(cycle: Cycle, version: CycleVersion, table: str) -> list[BucketFiles]:
    """The buckets of a table that have files, ascending."""
    found: dict[int, list[TableFile]] = {}
    for file in cycle.files(version, table):
        found.setdefault(file.bucket, []).append(file)
    return [
        BucketFiles(
            bucket,
            tuple(file for file in files if file.kind == "base"),
            tuple(file for file in files if file.kind == "set"),
            tuple(file for file in files if file.kind == "add"),
        )
        for bucket, files in sorted(found.items())
    ]


def in_tasks(
    buckets: Sequence[BucketFiles], rows: int = 500_000, tasks: int = 1
) -> list[tuple[BucketFiles, ...]]:
    """Buckets grouped into tasks, so that small ones share one.

    Args:
        buckets: Those with work.
        rows: A task gets another bucket while it has fewer rows than this.
        tasks: Tasks wanted at least, as far as there are buckets with more than a few rows.
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
    """The ranges of keys of a bucket of the CrawlDb, by its base files; with one file itself.

    Together they have all keys, and each has the files that hold any of its keys.

    Args:
        bucket: The bucket.
        most: Ranges at most; 0: as many as base files.
    """
    base = sorted(bucket.base, key=lambda file: file.first.encode())
    overlap = any(one.last.encode() >= two.first.encode() for one, two in pairwise(base))
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
    """Buckets of the CrawlDb in tasks as `in_tasks` has them, but each key range is one of its own.

    Args:
        buckets: Those with work.
        tasks: See `in_tasks`.
    """
    divided = [key_ranges(bucket) for bucket in buckets]
    whole = [ranges[0] for ranges in divided if len(ranges) == 1]
    alone: list[tuple[BucketFiles, ...]] = [
        (one,) for ranges in divided if len(ranges) > 1 for one in ranges
    ]
    return [*alone, *in_tasks(whole, tasks=tasks)]


def local_bucket(storage: Storage, bucket: BucketFiles, scratch: Path) -> LocalBucket:
    """Bring the files of a bucket to where a kernel can read them.

    Raises:
        DamageError: A file has not the size that was committed.
    """
    return LocalBucket(
        [local_file(storage, file, scratch) for file in bucket.base],
        [(local_file(storage, file, scratch), file.group) for file in bucket.sets],
        [local_file(storage, file, scratch) for file in bucket.adds],
        bucket.within,
    )


def local_file(storage: Storage, file: TableFile, scratch: Path) -> str:
    """The local path of a file, fetched where needed; its size is compared, see `local_bucket`."""
    path = localized(storage, file.path, scratch)
    size = path.stat().st_size if path.exists() else None
    if size != file.size:
        said = "it is missing" if size is None else f"it has {size} bytes instead of {file.size}"
        raise DamageError(
            f"{storage.place}/{file.path}: {said}. `storage check` lists all that is damaged, "
            "with `--repair` it goes back to a version whose files are whole."
        )
    return str(path)


def archived_warcs(cycle: Cycle, version: CycleVersion) -> dict[str, TableFile]:
    """The WARCs of a cycle by name, those of imported jobs and merged crawls too."""
    files = cycle.files(version, ARCHIVE)
    return {one.path.rpartition("/")[2]: one for one in files if one.kind in {"warc", OUTSIDE}}


def local_warc(storage: Storage, file: TableFile, scratch: Path) -> Path:
    """The local path of a WARC; of one of another crawl that which it has now.

    One of a job was open when it was named, and may be so still: its name then ends in `.open`. One
    in an object store is brought here.
    """
    if file.kind != OUTSIDE:
        return localized(storage, file.path, scratch)
    remote = remote_warc(file)
    if remote is not None:
        return localized(*remote, scratch)
    path = Path(file.path)
    still_open = path.with_name(f"{path.name}.open")
    return still_open if still_open.is_file() and not path.is_file() else path


def remote_warc(file: TableFile) -> tuple[Storage, str] | None:
    """The storage of a WARC of another crawl and its name there; None where that is no URL."""
    place = remote_place(file)
    return None if place is None else (open_storage(place[0]), place[1])


def remote_place(file: TableFile) -> tuple[str, str] | None:
    """The place of the storage of a WARC of another crawl and its name there; None for a path."""
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
        version: Number of the version that it is for; only in its name.
        group: Of a `set`: its group of columns.
    """

    table: str
    bucket: int
    kind: str
    version: int
    group: str = ""

    def name(self) -> str:
        """A name that no other attempt has."""
        sort = self.group or self.kind
        file = f"{self.version:010d}-{sort}-{secrets.token_hex(6)}.parquet"
        return f"{FOLDER}/{self.table}/b{self.bucket:05d}/{file}"


def publish(storage: Storage, path: Path, plan: FilePlan, *, dry: bool = False) -> TableFile | None:
    """Describe a Parquet file that is sorted by `key`, and send it to the storage.

    The local file is the storage's from then on: do not write to it.

    Args:
        storage: Where it goes.
        path: The file.
        plan: The plan of it.
        dry: Describe it, and send nothing.

    Returns:
        Its row for the manifest; None when it has no rows, and nothing was sent.
    """
    described = describe(path, plan)
    if described is not None and not dry:
        storage.upload(path, described.path)
    return described


def describe(path: Path, plan: FilePlan) -> TableFile | None:
    """The row of a local Parquet file for the manifest; None when it has no rows."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    with pq.ParquetFile(path) as file:
        known = file.metadata
        if not known.num_rows:
            return None
        key = "key" if "key" in file.schema_arrow.names else file.schema_arrow.names[0]
        first = file.read_row_group(0, [key]).column(0)[0].as_py()
        last = file.read_row_group(known.num_row_groups - 1, [key]).column(0)[-1].as_py()
        return TableFile(
            path=plan.name(),
            bucket=plan.bucket,
            kind=plan.kind,
            group=plan.group,
            rows=known.num_rows,
            size=path.stat().st_size,
            first=_text(first),
            last=_text(last),
            min_fetch_time=_least(known, _FETCH_TIME),
            sha256=file_sha256(path),
        )


def write_arrow(table: Any, path: Path) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write an Arrow table, sorted already, as Parquet (zstd)."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    pq.write_table(table, path, compression="zstd", row_group_size=ROW_GROUP)


def copy_statement(query: str, path: Path | str) -> str:
    """The SQL that writes the rows of a query, in their order, as Parquet (zstd)."""
    target = str(path).replace("'", "''")
    return (
        f"COPY ({query}) TO '{target}' "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
    )


def added_files(results: Iterable[Mapping[str, Sequence[TableFile]]]) -> dict[str, list[TableFile]]:
    """The files of all tasks by table, in the order of the tasks: `CycleChanges.added`."""
    found: dict[str, list[TableFile]] = {}
    for result in results:
        for table, files in result.items():
            found.setdefault(table, []).extend(files)
    return found


def _least(metadata: Any, column: str) -> int | None:  # noqa: ANN401 - pyarrow has no types
    """Least value of a column by the statistics of its row groups; None without all of them."""
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
