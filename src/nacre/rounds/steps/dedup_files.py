"""Add the buckets of URLs to rows of the tasks of `dedup`, and publish them as files."""

from nacre.crawldb.hosts import host_sql
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import bucket_of_host
from nacre.rounds.tables.tables import CRAWLDB, FilePlan, TaskWork, publish
from nacre.rounds.tables.versions import TableFile

SIGNATURES = "signatures"
"""The name of the table of signatures."""


def add_buckets(kernel: Kernel, table: str, buckets: int, column: str = "key") -> None:
    """Make `TABLE_in` from a table, with the column `bucket` of the URL in a column."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    hosts = [name for (name,) in kernel.rows(f"select distinct {host_sql(column)} from {table}")]
    numbers = [bucket_of_host(name, buckets) for name in hosts]
    kernel.load("hosts_in", pa.table({"host": pa.array(hosts, pa.string()), "bucket": numbers}))
    kernel.execute(
        f"create or replace temp table {table}_in as select t.*, h.bucket::INTEGER as bucket "
        f"from {table} t join hosts_in h on h.host = {host_sql(f't.{column}')}"
    )


def publish_sets(
    work: TaskWork,
    table: str,
    columns: str,
    order: str,
    where: tuple[str, int],
    *,
    dry: bool = False,
) -> list[TableFile]:
    """Write the rows of a table with `bucket` as sets of a table of the cycle, bucket by bucket."""
    name, version = where
    if dry:
        return []
    files = []
    for (bucket,) in work.kernel.rows(f"select distinct bucket from {table} order by 1"):
        path = work.scratch / f"{name}-{table}-{bucket}.parquet"
        work.kernel.write(
            f"select {columns} from {table} where bucket = {bucket} order by {order}", str(path)
        )
        group = "duplicate" if name == CRAWLDB else ""
        file = publish(work.storage, path, FilePlan(name, int(bucket), "set", version, group))
        files += [file] if file is not None else []
    return files
