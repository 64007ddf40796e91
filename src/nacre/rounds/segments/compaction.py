"""Compaction: folds are written as new base files, and what no version names is removed.

A bucket is merged when its differences exceed a quarter of its base, or 8 files. A step that has
read it anyway does so in its own commit; the command `compact` merges all. Neither changes a row.
Files go when none of the kept versions names them, and they are older than a day: a reader or a
task of another driver may still use them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nacre.crawldb.seeds import SEEDS
from nacre.errors import JobError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.segments.parts import ARCHIVED, ORPHANS, RECORDS
from nacre.rounds.storage import MissingFileError, StoredFile, remove_empty_folders
from nacre.rounds.tables.seed_index import marked_seeds
from nacre.rounds.tables.tables import (
    CRAWLDB,
    FOLDER,
    ROW_GROUP,
    BucketFiles,
    FilePlan,
    TableKind,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_range_tasks,
    in_tasks,
    local_bucket,
    publish,
    table_kind,
    write_arrow,
)
from nacre.rounds.tables.versions import (
    ARCHIVE,
    MANIFESTS,
    Cycle,
    CycleChanges,
    CycleVersion,
    TableFile,
    version_name,
)

MERGE_FILES = 8
"""Differences of a bucket, in files for each of its base, beyond which it is merged."""
MERGE_SHARE = 0.25
"""Differences, in rows by those of the base, beyond which it is merged."""
FILE_ROWS = 2_000_000
"""Rows of a base file; a larger bucket has several, by ranges of the keys."""
_OF_STEPS = ("exchange", "probes", "seeds")
"""Folders for what a step needs while it runs; a version may name what lies in the last one."""
KEPT_FOR = 86_400_000
"""How long a file stays that no version names, ms."""


class MergedBucket(NamedTuple):
    """The merged files of a bucket: part of `CycleChanges`.

    Attributes:
        added: Its new base files.
        dropped: Names of the files that they replace.
        rows: Rows of the base.
    """

    added: tuple[TableFile, ...] = ()
    dropped: frozenset[str] = frozenset()
    rows: int = 0


class CompactSpec(NamedTuple):
    """One task: buckets of a table.

    Attributes:
        place: Where it works.
        table: The table.
        version: Number of the version that it is for.
        buckets: The buckets, with their files.
        split: Number of buckets from now on; 0: as it is.
    """

    place: TaskPlace
    table: str
    version: int
    buckets: tuple[BucketFiles, ...]
    split: int = 0


class CompactResult(NamedTuple):
    """The result of `compact`.

    Attributes:
        version: The newest version.
        merged: Buckets merged, by table.
        files_before: Files of the tables before.
        files_after: Files now.
        size_before: Bytes of them before.
        size_after: Bytes now.
        removed: Files removed from the storage.
        freed: Their bytes.
    """

    version: CycleVersion
    merged: Mapping[str, int]
    files_before: int
    files_after: int
    size_before: int
    size_after: int
    removed: int = 0
    freed: int = 0


def needs_merge(bucket: BucketFiles) -> bool:
    """Whether a step that reads a bucket writes it as a new base."""
    if not bucket.deltas:
        return False
    base = sum(file.rows for file in bucket.base)
    deltas = sum(file.rows for file in bucket.deltas)
    # Tasks that share a bucket write a file each.
    files = MERGE_FILES * max(1, len(bucket.base))
    return len(bucket.deltas) > files or deltas > base * MERGE_SHARE


def merge_bucket(work: TaskWork, table: str, bucket: BucketFiles, version: int) -> MergedBucket:
    """Write the fold of a bucket as its new base.

    Args:
        work: What the task works with.
        table: The table.
        bucket: Its files.
        version: Number of the version that it is for.
    """
    kind = table_kind(table)
    path = _folded(work, kind, bucket)
    target = FilePlan(table, bucket.bucket, "base", version)
    added = tuple(_published(work, path, target))
    return MergedBucket(
        added, frozenset(file.path for file in bucket.all), sum(file.rows for file in added)
    )


def compact_task(spec: CompactSpec) -> list[MergedBucket]:
    """Merge buckets, or divide them into the buckets that they become."""
    with spec.place.open() as work:
        if spec.split:
            return [_rebucketed(work, spec)]
        return [merge_bucket(work, spec.table, bucket, spec.version) for bucket in spec.buckets]


def mergeable(cycle: Cycle, buckets: int = 0) -> dict[str, int]:
    """The buckets that `compact` would merge, or divide anew, by table.

    Args:
        cycle: The versions.
        buckets: Number of buckets of every table from then on; 0: as they are.

    Raises:
        JobError: The buckets cannot change now.
    """
    version = cycle.newest()
    if buckets:
        _require_divisible(version, buckets)
    found: dict[str, int] = {}
    for table, state in version.tables.items():
        anew = buckets not in (0, state.buckets)
        number = sum(1 for one in buckets_of(cycle, version, table) if one.deltas or anew)
        found |= {table: number} if number else {}
    return found


def compact(
    cycle: Cycle,
    engine: TaskEngine,
    place: TaskPlace,
    clock: int,
    *,
    keep: int,
    buckets: int = 0,
) -> CompactResult:
    """Merge every bucket that has differences, then remove what no kept version names.

    Args:
        cycle: The versions.
        engine: Runs the tasks.
        place: Where they work.
        clock: Now, ms.
        keep: Versions that are kept.
        buckets: Number of buckets of every table from now on; 0: as they are.

    Raises:
        JobError: The buckets cannot change now.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    before = cycle.newest()
    if buckets:
        _require_divisible(before, buckets)
    specs = [
        spec
        for table in before.tables
        for spec in _specs(cycle, before, place, table, engine.workers, buckets)
    ]
    after = before
    merged: Counter[str] = Counter()
    if specs:
        results = engine.map(compact_task, specs)
        done = {(spec.table, one.bucket) for spec in specs for one in spec.buckets}
        merged.update(table for table, _ in done)
        after = cycle.commit(before, _changes(before, specs, results, clock, buckets))
    removed = remove_dropped(cycle, clock, keep=keep)
    (files_before, size_before), (files_after, size_after) = _sizes(before), _sizes(after)
    return CompactResult(
        version=after,
        merged=dict(merged),
        files_before=files_before,
        files_after=files_after,
        size_before=size_before,
        size_after=size_after,
        removed=len(removed),
        freed=sum(file.size for file in removed),
    )


def _sizes(version: CycleVersion) -> tuple[int, int]:
    tables = version.tables.values()
    return sum(one.files for one in tables), sum(one.size for one in tables)


def _changes(
    before: CycleVersion,
    specs: Sequence[CompactSpec],
    results: Sequence[list[MergedBucket]],
    clock: int,
    buckets: int,
) -> CycleChanges:
    added: dict[str, list[TableFile]] = {}
    dropped: dict[str, set[str]] = {}
    if buckets:
        dropped = {table: set() for table in before.tables}
    for spec, result in zip(specs, results, strict=True):
        for one in result:
            added.setdefault(spec.table, []).extend(one.added)
            dropped.setdefault(spec.table, set()).update(one.dropped)
    return CycleChanges(
        step="compact",
        clock=clock,
        options={"buckets": buckets} if buckets else {},
        counters={"rows": sum(file.rows for files in added.values() for file in files)},
        added=added,
        dropped=dropped,
        buckets=dict.fromkeys(dropped, buckets) if buckets else {},
    )


def _specs(
    cycle: Cycle,
    version: CycleVersion,
    place: TaskPlace,
    table: str,
    workers: int,
    buckets: int,
) -> Iterator[CompactSpec]:
    known = buckets_of(cycle, version, table)
    number = version.number + 1
    now = version.tables[table].buckets
    if not buckets or buckets == now:
        with_work = [bucket for bucket in known if bucket.deltas]
        grouped = in_range_tasks if table == CRAWLDB else in_tasks
        for group in grouped(with_work, tasks=workers):
            # Of a bucket with differences, a range without any stays as it is.
            if group[0].deltas:
                yield CompactSpec(place, table, number, group)
        return
    if buckets > now:
        for bucket in known:
            yield CompactSpec(place, table, number, (bucket,), buckets)
        return
    joined: dict[int, list[BucketFiles]] = {}
    for bucket in known:
        joined.setdefault(bucket.bucket * buckets // now, []).append(bucket)
    for group_of in joined.values():
        yield CompactSpec(place, table, number, tuple(group_of), buckets)


def _require_divisible(version: CycleVersion, buckets: int) -> None:
    if buckets < 1 or buckets & (buckets - 1) or buckets > 1 << 20:
        raise JobError(f"--buckets {buckets}: it takes a power of two, at most {1 << 20}")
    waiting = [name for name, one in version.segments.items() if one.state != "updated"]
    if waiting:
        raise JobError(
            f"--buckets: segment {waiting[0]} has lists or facts by the buckets of now; update it, "
            "or drop it, first"
        )


def _folded(work: TaskWork, kind: TableKind, bucket: BucketFiles) -> Path:
    """A local file with the rows of a bucket, as a base holds them."""
    local = local_bucket(work.storage, bucket, work.scratch)
    path = work.scratch / f"merged-{kind.name}-{bucket.bucket}.parquet"
    work.kernel.write(kind.merge(local), str(path), row_group=ROW_GROUP)
    return path


def _published(work: TaskWork, path: Path, plan: FilePlan) -> Iterator[TableFile]:
    """Send a base file, or the ranges of a large one."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    rows = pq.read_metadata(path).num_rows
    if rows <= FILE_ROWS:
        file = publish(work.storage, path, plan)
        if file is not None:
            yield file
        return
    parts = -(-rows // FILE_ROWS)
    for part in _in_ranges(path, -(-rows // parts)):
        file = publish(work.storage, part, plan)
        if file is not None:
            yield file
    path.unlink()


def _in_ranges(path: Path, size: int) -> Iterator[Path]:
    """Files of at most so many rows, in the order of the rows."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetFile(path) as source:
        held: list[Any] = []
        count = number = 0
        for batch in source.iter_batches(ROW_GROUP):
            at = 0
            while at < batch.num_rows:
                taken = batch.slice(at, size - count)
                held.append(taken)
                at += taken.num_rows
                count += taken.num_rows
                if count == size:
                    yield _part(path, number, pa.Table.from_batches(held))
                    held, count, number = [], 0, number + 1
        if held:
            yield _part(path, number, pa.Table.from_batches(held))


def _part(path: Path, number: int, table: Any) -> Path:  # noqa: ANN401 - pyarrow has no types
    part = path.with_suffix(f".{number}.parquet")
    write_arrow(table, part)
    return part


# ---- another number of buckets


def _rebucketed(work: TaskWork, spec: CompactSpec) -> MergedBucket:
    """The rows of buckets in the files of those that they become."""
    kind = table_kind(spec.table)
    sets = [file for one in spec.buckets for file in one.sets]
    together = BucketFiles(
        spec.buckets[0].bucket,
        tuple(file for one in spec.buckets for file in one.base),
        tuple(sorted(sets, key=lambda file: file.seq)),
        tuple(file for one in spec.buckets for file in one.adds),
    )
    path = _folded(work, kind, together)
    added: list[TableFile] = []
    for bucket, part in _divided(path, kind, spec.split).items():
        added += _published(work, part, FilePlan(spec.table, bucket, "base", spec.version))
    return MergedBucket(
        tuple(added),
        frozenset(file.path for file in together.all),
        sum(file.rows for file in added),
    )


def _divided(path: Path, kind: TableKind, buckets: int) -> dict[int, Path]:
    """A file for each bucket that has rows, each in the order of the rows."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.compute as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    writers: dict[int, Any] = {}
    paths: dict[int, Path] = {}
    with pq.ParquetFile(path) as source:
        for batch in source.iter_batches(ROW_GROUP):
            keys = batch.column(kind.keys[0]).to_pylist()
            of = pa.array([kind.bucket(key, buckets) for key in keys], pa.int32())
            for bucket in sorted(of.unique().to_pylist()):
                if bucket not in writers:
                    paths[bucket] = path.with_suffix(f".b{bucket}.parquet")
                    writers[bucket] = pq.ParquetWriter(
                        paths[bucket], source.schema_arrow, compression="zstd"
                    )
                writers[bucket].write_batch(batch.filter(pc.equal(of, bucket)))
    for writer in writers.values():
        writer.close()
    return paths


# ---- removing


def remove_dropped(cycle: Cycle, clock: int, *, keep: int) -> list[StoredFile]:
    """Remove versions beyond those that are kept, then files that no version names.

    Only what is older than a day goes: versions that were replaced before that, and files that were
    written before. Versions go from the lowest on, so that a kill leaves no hole. No record goes:
    those of parts that were never finished, and of segments that were given up, are orphans.

    Args:
        cycle: The versions.
        clock: Now, ms.
        keep: Versions that are kept at least.

    Returns:
        The files removed, without those of versions.
    """
    numbers = cycle.numbers()
    for number in numbers[: max(0, len(numbers) - max(keep, 1))]:
        if cycle.version(number + 1).committed > clock - KEPT_FOR:
            break
        cycle.storage.delete(version_name(number))
    removed = [file for file in _unnamed(cycle) if file.modified < clock - KEPT_FOR]
    records = [file.name for file in removed if file.name.endswith(RECORDS)]
    archived = set(cycle.storage.list(ARCHIVED)) if records else set()
    for name in records:
        base = name.rpartition("/")[2]
        if f"{ARCHIVED}/{base}" not in archived:
            cycle.storage.copy(name, f"{ORPHANS}/{base}")
    for file in removed:
        cycle.storage.delete(file.name)
    for folder in _OF_STEPS:
        remove_empty_folders(cycle.storage, folder, before=clock - KEPT_FOR)
    return removed


def _unnamed(cycle: Cycle) -> Iterator[StoredFile]:
    """The files that no kept version needs; a segment that waits for its fetch is in use."""
    numbers = cycle.numbers()
    named = {*_named(cycle, numbers), *_frozen(cycle)}
    for folder in (FOLDER, MANIFESTS, *_OF_STEPS):
        yield from (file for file in cycle.storage.walk(folder) if file.name not in named)
    segments = {name for number in numbers for name in cycle.version(number).segments}
    waiting = {name for name, one in cycle.newest().segments.items() if one.state == "generated"}
    for file in cycle.storage.walk("segments"):
        segment = file.name.split("/")[1]
        is_record = file.name.endswith(RECORDS)
        if segment not in segments or (is_record and segment not in waiting):
            yield file


def _frozen(cycle: Cycle) -> Iterator[str]:
    """The files of seeds that the units of segments ask which wait for their fetch."""
    for one in cycle.newest().segments.values():
        place = marked_seeds(one.more, "") if one.state == "generated" else None
        if place is None:
            continue
        yield place.table.manifest
        with suppress(MissingFileError):
            version = CycleVersion(tables={SEEDS: place.table})
            yield from (file.path for file in cycle.files(version, SEEDS))


def _named(cycle: Cycle, numbers: Iterable[int]) -> Iterator[str]:
    for number in numbers:
        version = cycle.version(number)
        yield from version.seeds
        for table, state in version.tables.items():
            yield state.manifest
            for file in cycle.files(version, table):
                yield file.path
        if version.archive is not None:
            yield version.archive.manifest
            for file in cycle.files(version, ARCHIVE):
                yield file.path
