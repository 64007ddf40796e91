"""Host rows in steps: those of some buckets in a kernel, and new ones as files.

The rows of a host lie in the bucket of its URLs. A step that changes some writes a `set` file, or a
new base where there are many already.
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
"""The name of a table of a kernel: hosts with their ranks."""
_RANKS = rank_table("host")

_COLUMNS = ", ".join(f'"{column.name}"' for column in HOST_COLUMNS)


class WrittenHosts(NamedTuple):
    """The files of new host rows, and the names of those that they replace."""

    added: tuple[TableFile, ...] = ()
    dropped: frozenset[str] = frozenset()


def host_buckets(cycle: Cycle, version: CycleVersion) -> dict[int, BucketFiles]:
    """The buckets of the table of hosts that have files."""
    if HOSTS not in version.tables:
        return {}
    return {one.bucket: one for one in buckets_of(cycle, version, HOSTS)}


def rank_buckets(cycle: Cycle, version: CycleVersion) -> dict[int, BucketFiles]:
    """The buckets of the table of ranks of hosts that have files."""
    if _RANKS not in version.tables:
        return {}
    return {one.bucket: one for one in buckets_of(cycle, version, _RANKS)}


def of_buckets(
    known: Mapping[int, BucketFiles], buckets: Iterable[BucketFiles]
) -> tuple[BucketFiles, ...]:
    """The files of hosts, or of their ranks, of some buckets of the CrawlDb; there may be none."""
    return tuple(known.get(one.bucket, BucketFiles(one.bucket)) for one in buckets)


def load_hosts(work: TaskWork, buckets: Sequence[BucketFiles], *, among: str = "") -> None:
    """Make the table `hosts` of a kernel: the rows of some buckets.

    Args:
        work: What the task works with.
        buckets: The buckets.
        among: A table of the kernel whose column `host` names the wanted rows; "" for all.
    """
    work.kernel.execute(f"create or replace temp table hosts as {no_hosts()}")
    # Buckets have different hosts, so that their files are read together, in fold order.
    parts: dict[int, list[str]] = {}
    for bucket in buckets:
        for file in bucket.base:
            parts.setdefault(0, []).append(local_file(work.storage, file, work.scratch))
        for number, file in enumerate(bucket.sets, 1):
            parts.setdefault(number, []).append(local_file(work.storage, file, work.scratch))
    if not parts:
        return
    wanted = f" where host in (select host from {among})" if among else ""

    def rows(columns: str) -> str:
        return " union all ".join(
            f"select {number} as n, {columns} from {parquet(paths, by_name=True)}{wanted}"
            for number, paths in parts.items()
        )

    newest = f"select host, max(n) as n from ({rows('host')}) group by host"
    only = f" semi join ({newest}) using (host, n)" if len(parts) > 1 else ""
    work.kernel.execute(f"insert into hosts select {_COLUMNS} from ({rows(_COLUMNS)}){only}")


def load_ranked(work: TaskWork, buckets: Sequence[BucketFiles]) -> None:
    """Make the table `ranked_hosts` of a kernel: its table `hosts`, with ranks.

    Args:
        work: What the task works with.
        buckets: The files of the ranks.
    """
    merge = table_kind(_RANKS).merge
    found = [
        f"select node, rank from ({merge(local_bucket(work.storage, one, work.scratch))})"
        for one in buckets
        if one.all
    ]
    ranks = (
        " union all ".join(found) or "select null::VARCHAR as node, null::BIGINT as rank limit 0"
    )
    work.kernel.execute(
        f"create or replace temp table {RANKED} as {ranked_hosts(HOSTS, f'({ranks})')}"
    )


def write_hosts(
    work: TaskWork, bucket: BucketFiles, rows: str, version: int, *, dry: bool = False
) -> WrittenHosts:
    """Write what differs from the table `hosts`, which has the rows of the bucket.

    Args:
        work: What the task works with.
        bucket: The files of hosts of the bucket.
        rows: SQL of new rows.
        version: Number of the version that it is for.
        dry: Make the table `new_hosts` of what differs, and publish nothing.
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
    """The group of a host whose hosts are in one unit; "" where it is one of its own.

    Args:
        host: The host.
        partition: `host`, `domain` or `address` (`cycle.generate.partition`).
        answer: The addresses that are known of it, as units keep them.
    """
    if partition == "domain":
        return registered_domain(host)
    if partition == "address" and answer:
        addresses = msgspec.msgpack.decode(answer, type=HostAnswer).addresses
        return min(addresses, default="")
    return ""
