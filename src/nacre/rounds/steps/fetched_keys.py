"""The keys that are fetched already of the hosts of a unit: a file beside its list.

Only `cycle.fetch.follow: embeds` has it: what a page embeds is fetched with it, unless an earlier
round has it.
"""

from collections.abc import Iterable, Sequence

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import host_sql
from nacre.crawldb.kernels import parquet
from nacre.crawldb.row import Status
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import BucketFiles, TaskWork, local_bucket


def write_fetched_keys(work: TaskWork, buckets: Iterable[BucketFiles], name: str) -> bool:
    """Write the keys of the hosts of all units of a task; False when there are none.

    Args:
        work: The work of the task, whose kernel has the tables `plans` and `listed`.
        buckets: The buckets of the task.
        name: Name of the file.
    """
    kernel = work.kernel
    kernel.execute("create temp table fetched (segment BIGINT, unit BIGINT, key VARCHAR)")
    for bucket in buckets:
        if not bucket.all:
            continue
        local = local_bucket(work.storage, bucket, work.scratch)
        rows = fold_query(*local, interval=0, columns=("status",), order=False)
        kernel.execute(
            f"insert into fetched select p.segment, p.unit, f.key from ({rows}) f "
            f"join plans p on p.host = {host_sql('f.key')} "
            f"where f.status <> {int(Status.UNFETCHED)} and not exists "
            "(select 1 from listed l where l.key = f.key and l.segment = p.segment)"
        )
    return bool(work.send("select * from fetched", name))


def write_unit_keys(work: TaskWork, sources: Sequence[str], mine: str, name: str) -> None:
    """Write those of one unit; nothing where there are none.

    Args:
        work: The work of the task.
        sources: The files of all tasks.
        mine: Condition on rows, in SQL.
        name: Name of the file.
    """
    if not sources:
        return
    paths = [str(localized(work.storage, source, work.scratch)) for source in sources]
    work.send(f"select distinct key from {parquet(paths)} where {mine} order by key", name)
