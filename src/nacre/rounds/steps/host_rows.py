"""Load the rows of hosts into a kernel, and write changed rows as files.

The rows of a host are in the bucket of its URLs. A step that changes rows writes a `set` file, or a
new base if there are many files.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from nacre.crawldb.hosts import HOST_COLUMNS, no_hosts, ranked_hosts
from nacre.crawldb.kernels import parquet
from nacre.crawldb.rank import rank_table
from nacre.engine.prerequisites import HostAnswer
from nacre.rounds.segments.compaction import needs_merge
from nacre.rounds.tables.tables import (
    BucketFiles,
    FilePlan,
    TaskWork,
    buckets_of,
    local_bucket,
    local_file,
    publish,
    table_kind,
)
from nacre.rounds.tables.versions import Cycle, CycleVersion, TableFile
from nacre.uri.domain import registered_domain

HOSTS = "hosts"
"""The name of the table of hosts."""
RANKED = "ranked_hosts"
"""The name of the table of hosts with their ranks in a kernel."""
_RANKS = rank_table("host")

_COLUMNS = ", ".join(f'"{column.name}"' for column in HOST_COLUMNS)


class WrittenHosts(NamedTuple):
    """The files of new host rows, and the names of the files that they replace."""

    added: tuple[TableFile, ...] = ()
    dropped: frozenset[str] = frozenset()


def host_buckets(cycle: Cycle, version: CycleVersion) -> dict[int, BucketFiles]:
    """Return the buckets of the table of hosts that have files."""
    if HOSTS not in version.tables:
        return {}
    return {bucket.bucket: bucket for bucket in buckets_of(cycle, version, HOSTS)}


def rank_buckets(cycle: Cycle, version: CycleVersion) -> dict[int, BucketFiles]:
    """Return the buckets of the table of ranks of hosts that have files."""
    if _RANKS not in version.tables:
        return {}
    return {bucket.bucket: bucket for bucket in buckets_of(cycle, version, _RANKS)}


def select_buckets(
    by_number: Mapping[int, BucketFiles], buckets: Iterable[BucketFiles]
) -> tuple[BucketFiles, ...]:
    """Return the buckets of hosts, or of their ranks, for buckets of the CrawlDb; may be empty."""
    return tuple(by_number.get(bucket.bucket, BucketFiles(bucket.bucket)) for bucket in buckets)


def load_hosts(work: TaskWork, buckets: Sequence[BucketFiles], *, among: str = "") -> None:
    """Make the table `hosts` of a kernel: the rows of some buckets.

    Args:
        work: The kernel and folder of the task.
        buckets: The buckets.
        among: A table of the kernel with the column `host` of the rows to load; "" for all.
    """
    work.kernel.execute(f"create or replace temp table hosts as {no_hosts()}")
    # Buckets have different hosts, so their files are read together, in fold order.
    parts: dict[int, list[str]] = {}
    for bucket in buckets:
        for file in bucket.base:
            parts.setdefault(0, []).append(local_file(work.storage, file, work.scratch))
        for number, file in enumerate(bucket.sets, 1):
            parts.setdefault(number, []).append(local_file(work.storage, file, work.scratch))
    if not parts:
        return
    condition = f" where host in (select host from {among})" if among else ""

    def rows(columns: str) -> str:
        return " union all ".join(
            f"select {number} as n, {columns} from {parquet(paths, by_name=True)}{condition}"
            for number, paths in parts.items()
        )

    newest = f"select host, max(n) as n from ({rows('host')}) group by host"
    only = f" semi join ({newest}) using (host, n)" if len(parts) > 1 else ""
    work.kernel.execute(f"insert into hosts select {_COLUMNS} from ({rows(_COLUMNS)}){only}")


def load_ranked(work: TaskWork, buckets: Sequence[BucketFiles]) -> None:
    """Make the table `ranked_hosts` of a kernel: its table `hosts`, with ranks.

    Args:
        work: The kernel and folder of the task.
        buckets: The files of the ranks.
    """
    merge = table_kind(_RANKS).merge
    queries = [
        f"select node, rank from ({merge(local_bucket(work.storage, bucket, work.scratch))})"
        for bucket in buckets
        if bucket.all
    ]
    ranks = (
        " union all ".join(queries) or "select null::VARCHAR as node, null::BIGINT as rank limit 0"
    )
    work.kernel.execute(
        f"create or replace temp table {RANKED} as {ranked_hosts(HOSTS, f'({ranks})')}"
    )


def write_hosts(
    work: TaskWork, bucket: BucketFiles, rows: str, version: int, *, dry: bool = False
) -> WrittenHosts:
    """Write the rows that differ from the table `hosts`, which has the rows of the bucket.

    Args:
        work: The kernel and folder of the task.
        bucket: The files of hosts of the bucket.
        rows: SQL of new rows.
        version: Number of the version to commit.
        dry: Make the table `new_hosts` of changed rows, and publish nothing.
    """
    kernel = work.kernel
    kernel.execute(
        f"create or replace temp table new_hosts as select {_COLUMNS} from ({rows}) "
        f"except select {_COLUMNS} from hosts"
    )
    if dry or not kernel.value("select count(*) from new_hosts"):
        return WrittenHosts()
    kind, query, dropped = "set", "from new_hosts", frozenset[str]()
    if not bucket.base or needs_merge(bucket):
        kind, dropped = "base", frozenset(file.path for file in bucket.all)
        query = (
            "select * from new_hosts union all select * from hosts o "
            "where not exists (select 1 from new_hosts n where n.host = o.host)"
        )
    path = work.scratch / f"hosts-{bucket.bucket}.parquet"
    kernel.write(f"select * from ({query}) order by host", str(path))
    file = publish(work.storage, path, FilePlan(HOSTS, bucket.bucket, kind, version))
    return WrittenHosts((file,) if file is not None else (), dropped)


def group_of(host: str, partition: str, answer: bytes | None) -> str:
    """Return the group of a host, whose hosts share a unit; "" if it has no group.

    Args:
        host: The host.
        partition: `host`, `domain` or `address` (`cycle.generate.partition`).
        answer: The known addresses of the host, as units store them; None if unknown.
    """
    if partition == "domain":
        return registered_domain(host)
    if partition == "address" and answer:
        addresses = msgspec.msgpack.decode(answer, type=HostAnswer).addresses
        return min(addresses, default="")
    return ""
