"""Tasks on the table of seeds: add rows, count pages, look pages up."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.seeds import (
    GONE,
    LISTED,
    SEED_COLUMNS,
    SEEDS,
    merged_seeds,
    same_row,
    seed_schema,
)
from nacre.rounds.segments.compaction import needs_merge
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    ROW_GROUP,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_file,
    publish,
)
from nacre.rounds.tables.versions import TableFile

_COLUMNS = ", ".join(f'"{column.name}"' for column in SEED_COLUMNS)
_FRESH = "seed_rows"


class SeedSpec(NamedTuple):
    """One task: add rows of seeds to some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        rows: The exchanged file with the rows; "" for none.
        buckets: The buckets, with their files.
        whole: The rows are the whole list of the job: rows that it lost are removed.
    """

    place: TaskPlace
    version: int
    rows: str
    buckets: tuple[BucketFiles, ...]
    whole: bool


class SeedChanges(NamedTuple):
    """The changes of the table of seeds.

    Attributes:
        added: New files.
        dropped: Names of files that they replace.
        new: Number of new rows.
        gone: Number of removed rows.
        own: New and removed rows of seeds with a scope.
        directives: New and removed lines with + or -.
    """

    added: tuple[TableFile, ...] = ()
    dropped: frozenset[str] = frozenset()
    new: int = 0
    gone: int = 0
    own: int = 0
    directives: int = 0


def sum_changes(results: Iterable[SeedChanges]) -> SeedChanges:
    """Return the sum of the changes of several tasks."""
    total = SeedChanges()
    for part in results:
        total = SeedChanges(
            (*total.added, *part.added), total.dropped | part.dropped, total.new + part.new,
            total.gone + part.gone, total.own + part.own, total.directives + part.directives,
        )  # fmt: skip
    return total


def seed_task(spec: SeedSpec) -> SeedChanges:
    """Write the new rows; remove rows that the job's own list lost."""
    with spec.place.open() as work:
        return sum_changes(_change_bucket(work, spec, bucket) for bucket in spec.buckets)


def _change_bucket(work: TaskWork, spec: SeedSpec, bucket: BucketFiles) -> SeedChanges:
    kernel = work.kernel
    _load_rows(work, spec, bucket.bucket)
    merged = ""
    gone = 0
    if bucket.all:
        paths = [local_file(work.storage, file, work.scratch) for file in bucket.all]
        merged = merged_seeds(paths)
        same = same_row("k", "f")
        if spec.whole:
            kernel.execute(
                f"create or replace temp table gone_rows as select k.* from ({merged}) k "
                f"anti join {_FRESH} f on {same} "
                f"where k.origin = {quoted(LISTED)} and not starts_with(k.key, {quoted(GONE)})"
            )
            gone = int(kernel.value("select count(*) from gone_rows"))
        kernel.execute(
            f"delete from {_FRESH} f using (select key, text, scope, depth, origin from "
            f"{parquet(paths)}) k where {same}"
        )
    new = int(kernel.value(f"select count(*) from {_FRESH}"))
    if not new and not gone:
        return SeedChanges()
    counts = _kinds(work, with_gone=bool(gone))
    added, is_base = _write(work, spec, bucket, merged, gone)
    dropped = frozenset(file.path for file in bucket.all) if is_base else frozenset[str]()
    return SeedChanges(tuple(added), dropped, new, gone, *counts)


def _load_rows(work: TaskWork, spec: SeedSpec, bucket: int) -> None:
    """Make the table of the rows of a bucket, each once."""
    kernel = work.kernel
    if not spec.rows:
        kernel.load(_FRESH, seed_schema().empty_table())
        return
    path = localize(work.storage, spec.rows, work.scratch)
    columns = ", ".join(
        f"{spec.version}::BIGINT as since" if column.name == "since" else f'"{column.name}"'
        for column in SEED_COLUMNS
    )
    kernel.execute(
        f"create or replace temp table {_FRESH} as select distinct {columns} from "
        f"{parquet([str(path)])} where bucket = {bucket}"
    )


def _kinds(work: TaskWork, *, with_gone: bool) -> tuple[int, int]:
    """Return the numbers of rows of seeds with a scope, and of directives."""
    also = " union all select key from gone_rows" if with_gone else ""
    [(own, directives)] = work.kernel.rows(
        "select count(*) filter (starts_with(key, '=')), "
        "count(*) filter (starts_with(key, '+') or starts_with(key, '-')) "
        f"from (select key from {_FRESH}{also})"
    )
    return int(own), int(directives)


def _write(
    work: TaskWork, spec: SeedSpec, bucket: BucketFiles, merged: str, gone: int
) -> tuple[list[TableFile], bool]:
    """Write the rows as a new file, or with all other rows as a base; return whether a base."""
    path = work.scratch / f"seeds-{bucket.bucket}.parquet"
    plan = FilePlan(SEEDS, bucket.bucket, "add", spec.version)
    fresh = f"select {_COLUMNS} from {_FRESH}"
    order = "order by key, text, scope, depth, origin"
    # The new file counts, though a merged bucket does not need it.
    rows = int(work.kernel.value(f"select count(*) from {_FRESH}"))
    more = TableFile(path="", kind="add", rows=rows)
    is_base = bool(gone) or (
        bool(bucket.all) and needs_merge(bucket._replace(adds=(*bucket.adds, more)))
    )
    if is_base:
        query = f"select {_COLUMNS} from ({merged}) k"
        if gone:
            query += f" anti join gone_rows f on {same_row('k', 'f')}"
            marks = _COLUMNS.replace('"key"', f"{quoted(GONE)} || key as key", 1)
            marks = marks.replace('"since"', f"{spec.version}::BIGINT as since")
            marks = marks.replace('"page"', "null::VARCHAR as page")
            query += f" union all select {marks} from gone_rows"
        fresh, plan = f"{query} union all {fresh}", plan._replace(kind="base")
    work.kernel.write(f"select * from ({fresh}) {order}", str(path), row_group=ROW_GROUP)
    file = publish(work.storage, path, plan)
    return ([] if file is None else [file]), is_base


class PagesSpec(NamedTuple):
    """One task: the pages of the seeds of some buckets.

    Attributes:
        place: The work place of the task.
        buckets: The buckets of the table of seeds.
        among: Pages to look up; () counts all.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    among: tuple[str, ...] = ()


def pages_sql(work: TaskWork, bucket: BucketFiles) -> str:
    """Return SQL of the pages of the seeds of a bucket, each once: `page`.

    Args:
        work: The kernel and folder of the task.
        bucket: The bucket, which has files.
    """
    paths = [local_file(work.storage, file, work.scratch) for file in bucket.all]
    return f"select distinct page from {parquet(paths)} where page is not null"


def count_pages_task(spec: PagesSpec) -> int:
    """Count the pages of seeds."""
    with spec.place.open() as work:
        return sum(
            int(work.kernel.value(f"select count(*) from ({pages_sql(work, bucket)})"))
            for bucket in spec.buckets
        )


def find_pages_task(spec: PagesSpec) -> set[str]:
    """Return those of some pages that are pages of seeds."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    pages: set[str] = set()
    with spec.place.open() as work:
        work.kernel.load("among", pa.table({"page": pa.array(spec.among, pa.string())}))
        for bucket in spec.buckets:
            query = f"select page from ({pages_sql(work, bucket)}) semi join among using (page)"
            pages.update(page for (page,) in work.kernel.rows(query))
    return pages


def seed_buckets(buckets: Sequence[BucketFiles], numbers: Iterable[int]) -> list[BucketFiles]:
    """Return the buckets of these numbers that have files, ascending."""
    chosen = set(numbers)
    return [bucket for bucket in buckets if bucket.bucket in chosen]
