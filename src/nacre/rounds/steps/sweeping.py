"""The task of `update` that reads all rows, to find orphans and rows to purge.

It only runs with scoring `orphan`, `cycle.update.purge_gone` or `purge_orphans`. A row that was
visited or linked in the same update does not change. Sources: Nutch, `OrphanScoringFilter`,
`CrawlDbFilter`, which purges by the status before the update, too.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import Status, group_columns
from nacre.crawldb.scoring import Scoring, orphan_sql
from nacre.crawldb.settings import UpdateSettings
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    local_file,
    publish,
)
from nacre.rounds.tables.versions import TableFile

_STATE = tuple(column.name for column in group_columns("state"))


class SweepSpec(NamedTuple):
    """The sweep of some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: The buckets with their files before the update.
        new: The files of the update by bucket.
        orphans: SQL of the status of a row without links; "" for none.
        purged: Statuses whose rows are purged.
        clock: The clock of the step, ms.
        dry: Count, and write nothing.
        facts: In a dry run, the files of facts with the keys that an update would touch.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    new: Mapping[int, Sequence[TableFile]]
    orphans: str
    purged: tuple[int, ...]
    clock: int
    dry: bool = False
    facts: tuple[str, ...] = ()


class SweptFiles(NamedTuple):
    """The files of a sweep, numbers of rows by old and new status, and of purged rows."""

    files: list[TableFile]
    transitions: dict[tuple[str, str], int]
    purged: int


def sweeps(settings: UpdateSettings, scoring: Sequence[Scoring], clock: int) -> SweepSpec | None:
    """Return a sweep without its place and buckets; None if no setting needs it.

    Args:
        settings: `cycle.update`.
        scoring: Kinds of score.
        clock: The clock of the step, ms.
    """
    purged = [
        *([int(Status.GONE)] if settings.purge_gone else []),
        *([int(Status.ORPHAN)] if settings.purge_orphans else []),
    ]
    orphans = orphan_sql(scoring, clock)
    if not orphans and not purged:
        return None
    return SweepSpec(TaskPlace(""), 0, (), {}, orphans, tuple(purged), clock)


def sweep_task(spec: SweepSpec) -> SweptFiles:
    """Sweep the rows of some buckets."""
    files: list[TableFile] = []
    matrix: Counter[tuple[str, str]] = Counter()
    purged = 0
    with spec.place.open() as work:
        for bucket in spec.buckets:
            _load(work, spec, bucket)
            purge = _purge(spec)
            if purge:
                purged += int(work.kernel.value(f"select count(*) from ({purge})"))
                files += _write(work, spec, bucket, "purge", purge)
            if spec.orphans:
                counted = f"select old, status, count(*) from ({_ORPHANED}) group by all"
                for old, new, rows in work.kernel.rows(counted):
                    matrix[Status(old).label, Status(new).label] += rows
                columns = ", ".join(f'"{name}"' for name in ("key", *_STATE))
                files += _write(work, spec, bucket, "state", f"select {columns} from ({_ORPHANED})")
    return SweptFiles(files, dict(matrix), purged)


_ORPHANED = (
    "select * exclude (now, status), status as old, now as status from looked where now is not "
    f"null and now <> status and status not in ({int(Status.DUPLICATE)}, {int(Status.ORPHAN)}) "
    "and not purging"
)
"""Rows whose status changes: duplicates and orphans stay so until a visit."""


def _load(work: TaskWork, spec: SweepSpec, bucket: BucketFiles) -> None:
    """Make the table `looked`: rows that the update did not touch, with their new status."""
    local = local_bucket(work.storage, bucket, work.scratch)
    columns = [*(_STATE if spec.orphans else ("status",)), "last_inlink"]
    query = fold_query(*local, interval=0, columns=columns, order=False)
    statuses = ", ".join(map(str, spec.purged))
    purging = f"status in ({statuses})" if statuses else "false"
    paths = [
        local_file(work.storage, file, work.scratch) for file in spec.new.get(bucket.bucket, ())
    ]
    paths += [str(localize(work.storage, name, work.scratch)) for name in spec.facts]
    touched = f"where key not in (select key from {parquet(paths)})" if paths else ""
    work.kernel.execute(
        f"create or replace temp table looked as select *, {spec.orphans or 'null'} as now, "
        f"{purging} as purging from ({query}) {touched}"
    )


def _purge(spec: SweepSpec) -> str:
    if not spec.purged:
        return ""
    return f"select key, {spec.clock}::BIGINT as purged from looked where purging"


def _write(
    work: TaskWork, spec: SweepSpec, bucket: BucketFiles, group: str, query: str
) -> list[TableFile]:
    if spec.dry:
        return []
    path = work.scratch / f"swept-{group}-{bucket.bucket}.parquet"
    work.kernel.write(f"{query} order by key", str(path))
    plan = FilePlan(CRAWLDB, bucket.bucket, "set", spec.version, group)
    file = publish(work.storage, path, plan)
    return [] if file is None else [file]
