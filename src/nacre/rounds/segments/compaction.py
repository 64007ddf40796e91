"""Compaction: write folds as new base files, and remove files that no version lists.

A bucket is merged if its differences exceed a quarter of its base, or 8 files. A step that reads
such a bucket merges it in its own commit; the command `compact` merges all. Neither changes a row.
A file is removed if no stored version lists it, and it is older than a day: a reader or a task of
another driver may still use it.
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
"""Folders for the temporary files of a step; a version may list files of the last folder."""
KEPT_FOR = 86_400_000
"""How long a file stays that no version lists, ms."""


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
        place: The work place of the task.
        table: The table.
        version: Number of the version to commit.
        buckets: The buckets, with their files.
        split: New number of buckets; 0 for no change.
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
    """Return whether a step that reads a bucket writes it as a new base."""
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
        work: The kernel and folder of the task.
        table: The table.
        bucket: Its files.
        version: Number of the version to commit.
    """
    kind = table_kind(table)
    path = _write_fold(work, kind, bucket)
    target = FilePlan(table, bucket.bucket, "base", version)
    added = tuple(_publish_ranges(work, path, target))
    return MergedBucket(
        added, frozenset(file.path for file in bucket.all), sum(file.rows for file in added)
    )


def compact_task(spec: CompactSpec) -> list[MergedBucket]:
    """Merge buckets, or divide them into a new number of buckets."""
    with spec.place.open() as work:
        if spec.split:
            return [_rebucket(work, spec)]
        return [merge_bucket(work, spec.table, bucket, spec.version) for bucket in spec.buckets]


def mergeable(cycle: Cycle, buckets: int = 0) -> dict[str, int]:
    """Return the number of buckets that `compact` would merge or divide, by table.

    Args:
        cycle: The versions.
        buckets: New number of buckets of every table; 0 for no change.

    Raises:
        JobError: The buckets cannot change now.
    """
    version = cycle.newest()
    if buckets:
        _require_divisible(version, buckets)
    numbers: dict[str, int] = {}
    for table, state in version.tables.items():
        divides = buckets not in (0, state.buckets)
        number = sum(1 for bucket in buckets_of(cycle, version, table) if bucket.deltas or divides)
        numbers |= {table: number} if number else {}
    return numbers


def compact(
    cycle: Cycle,
    engine: TaskEngine,
    place: TaskPlace,
    clock: int,
    *,
    keep: int,
    buckets: int = 0,
) -> CompactResult:
    """Merge every bucket that has differences, then remove files that no stored version lists.

    Args:
        cycle: The versions.
        engine: Runs the tasks.
        place: Where they work.
        clock: Now, ms.
        keep: Number of versions to keep.
        buckets: New number of buckets of every table; 0 for no change.

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
        merged_buckets = {(spec.table, bucket.bucket) for spec in specs for bucket in spec.buckets}
        merged.update(table for table, _ in merged_buckets)
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
    return sum(table.files for table in tables), sum(table.size for table in tables)


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
        for bucket in result:
            added.setdefault(spec.table, []).extend(bucket.added)
            dropped.setdefault(spec.table, set()).update(bucket.dropped)
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
    current = buckets_of(cycle, version, table)
    number = version.number + 1
    now = version.tables[table].buckets
    if not buckets or buckets == now:
        with_work = [bucket for bucket in current if bucket.deltas]
        group_buckets = in_range_tasks if table == CRAWLDB else in_tasks
        for group in group_buckets(with_work, tasks=workers):
            # A range of a bucket without differences stays as it is.
            if group[0].deltas:
                yield CompactSpec(place, table, number, group)
        return
    if buckets > now:
        for bucket in current:
            yield CompactSpec(place, table, number, (bucket,), buckets)
        return
    groups: dict[int, list[BucketFiles]] = {}
    for bucket in current:
        groups.setdefault(bucket.bucket * buckets // now, []).append(bucket)
    for group_of in groups.values():
        yield CompactSpec(place, table, number, tuple(group_of), buckets)


def _require_divisible(version: CycleVersion, buckets: int) -> None:
    if buckets < 1 or buckets & (buckets - 1) or buckets > 1 << 20:
        raise JobError(f"--buckets {buckets}: it takes a power of two, at most {1 << 20}")
    waiting = [name for name, state in version.segments.items() if state.state != "updated"]
    if waiting:
        raise JobError(
            f"--buckets: segment {waiting[0]} has lists or facts by the buckets of now; update it, "
            "or drop it, first"
        )


def _write_fold(work: TaskWork, kind: TableKind, bucket: BucketFiles) -> Path:
    """Write a local file with the rows of a bucket, as in a base."""
    local = local_bucket(work.storage, bucket, work.scratch)
    path = work.scratch / f"merged-{kind.name}-{bucket.bucket}.parquet"
    work.kernel.write(kind.merge(local), str(path), row_group=ROW_GROUP)
    return path


def _publish_ranges(work: TaskWork, path: Path, plan: FilePlan) -> Iterator[TableFile]:
    """Publish a base file, or the ranges of a large one."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    rows = pq.read_metadata(path).num_rows
    if rows <= FILE_ROWS:
        file = publish(work.storage, path, plan)
        if file is not None:
            yield file
        return
    parts = -(-rows // FILE_ROWS)
    for part in _split_rows(path, -(-rows // parts)):
        file = publish(work.storage, part, plan)
        if file is not None:
            yield file
    path.unlink()


def _split_rows(path: Path, size: int) -> Iterator[Path]:
    """Yield files of at most `size` rows, in the order of the rows."""
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetFile(path) as source:
        slices: list[Any] = []
        count = number = 0
        for batch in source.iter_batches(ROW_GROUP):
            at = 0
            while at < batch.num_rows:
                piece = batch.slice(at, size - count)
                slices.append(piece)
                at += piece.num_rows
                count += piece.num_rows
                if count == size:
                    yield _part(path, number, pa.Table.from_batches(slices))
                    slices, count, number = [], 0, number + 1
        if slices:
            yield _part(path, number, pa.Table.from_batches(slices))


def _part(path: Path, number: int, table: Any) -> Path:  # noqa: ANN401 - pyarrow has no types
    part = path.with_suffix(f".{number}.parquet")
    write_arrow(table, part)
    return part


# ---- another number of buckets


def _rebucket(work: TaskWork, spec: CompactSpec) -> MergedBucket:
    """Write the rows of buckets into the files of the new buckets."""
    kind = table_kind(spec.table)
    sets = [file for source in spec.buckets for file in source.sets]
    together = BucketFiles(
        spec.buckets[0].bucket,
        tuple(file for source in spec.buckets for file in source.base),
        tuple(sorted(sets, key=lambda file: file.seq)),
        tuple(file for source in spec.buckets for file in source.adds),
    )
    path = _write_fold(work, kind, together)
    added: list[TableFile] = []
    for bucket, part in _divide(path, kind, spec.split).items():
        added += _publish_ranges(work, part, FilePlan(spec.table, bucket, "base", spec.version))
    return MergedBucket(
        tuple(added),
        frozenset(file.path for file in together.all),
        sum(file.rows for file in added),
    )


def _divide(path: Path, kind: TableKind, buckets: int) -> dict[int, Path]:
    """Write a file for each bucket that has rows, in the order of the rows."""
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
    """Remove old versions, then files that no version lists.

    Only versions and files that are older than a day are removed, versions from the lowest on, so
    that a kill leaves no gap. Records are never removed: those of unfinished parts and dropped
    segments become orphans.

    Args:
        cycle: The versions.
        clock: Now, ms.
        keep: Least number of versions to keep.

    Returns:
        The files removed, without those of versions.
    """
    numbers = cycle.numbers()
    for number in numbers[: max(0, len(numbers) - max(keep, 1))]:
        if cycle.version(number + 1).committed > clock - KEPT_FOR:
            break
        cycle.storage.delete(version_name(number))
    removed = [file for file in _unused_files(cycle) if file.modified < clock - KEPT_FOR]
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


def _unused_files(cycle: Cycle) -> Iterator[StoredFile]:
    """Yield the files that no stored version needs; a segment without a fetch is in use."""
    numbers = cycle.numbers()
    named = {*_used_files(cycle, numbers), *_frozen_seed_files(cycle)}
    for folder in (FOLDER, MANIFESTS, *_OF_STEPS):
        yield from (file for file in cycle.storage.walk(folder) if file.name not in named)
    segments = {name for number in numbers for name in cycle.version(number).segments}
    waiting = {name for name, s in cycle.newest().segments.items() if s.state == "generated"}
    for file in cycle.storage.walk("segments"):
        segment = file.name.split("/")[1]
        is_record = file.name.endswith(RECORDS)
        if segment not in segments or (is_record and segment not in waiting):
            yield file


def _frozen_seed_files(cycle: Cycle) -> Iterator[str]:
    """Yield the files of seeds that units of waiting segments read."""
    for state in cycle.newest().segments.values():
        place = marked_seeds(state.more, "") if state.state == "generated" else None
        if place is None:
            continue
        yield place.table.manifest
        with suppress(MissingFileError):
            version = CycleVersion(tables={SEEDS: place.table})
            yield from (file.path for file in cycle.files(version, SEEDS))


def _used_files(cycle: Cycle, numbers: Iterable[int]) -> Iterator[str]:
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
