"""Tasks of `generate` for what the ranges of keys of a bucket need of one another.

A host may have URLs in several ranges. Before the first pass `out_task` finds the hosts of a bucket
that have URLs in other lists; after it `gather_task` makes one of the candidates and of the counts
by host of all ranges. So lists and counts are those of a bucket that is not divided.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query, leased_query
from nacre.crawldb.hosts import host_sql, summed_hosts
from nacre.crawldb.kernels import parquet
from nacre.rounds.engine import TaskEngine
from nacre.rounds.steps.host_rows import HOSTS, WrittenHosts, load_hosts, write_hosts
from nacre.rounds.steps.kept import KEPT_TABLE, KeepPlan, kept_query
from nacre.rounds.steps.select_tasks import SelectedFiles, SelectSpec, summed
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    key_ranges,
    local_bucket,
)


class OutSpec(NamedTuple):
    """A look for hosts that have URLs in other lists.

    Attributes:
        place: Where it works.
        bucket: The bucket.
        clock: Leases that end later than this count, ms.
        exchange: Name of the file for them.
    """

    place: TaskPlace
    bucket: BucketFiles
    clock: int
    exchange: str


def out_task(spec: OutSpec) -> bool:
    """Write the hosts of a bucket that have URLs in other lists; False: there are none."""
    with spec.place.open() as work:
        kernel = work.kernel
        local = local_bucket(work.storage, spec.bucket, work.scratch)
        leased = leased_query(local.base, local.sets, spec.clock)
        kernel.execute(f"create temp table leased as {leased}")
        if not kernel.value("select count(*) from leased"):
            return False
        # Rows that were purged are not seen.
        rows = fold_query(*local, interval=0, columns=("leased_until",), keys="leased", order=False)
        found = work.send(
            f"select distinct {host_sql('key')} as host from ({rows}) "
            f"where leased_until > {spec.clock}",
            spec.exchange,
        )
        return bool(found)


def hosts_out(
    engine: TaskEngine, place: TaskPlace, buckets: Sequence[BucketFiles], clock: int, folder: str
) -> dict[int, str]:
    """Names of the files of hosts with URLs in other lists, by bucket; of divided buckets alone.

    Args:
        engine: Runs the tasks.
        place: Where they work.
        buckets: All buckets.
        clock: Leases that end later than this count, ms.
        folder: Folder of the files.
    """
    specs = [
        OutSpec(place, bucket, clock, f"{folder}/out-{bucket.bucket}.parquet")
        for bucket in buckets
        if len(key_ranges(bucket)) > 1
    ]
    found = engine.map(out_task, specs)
    return {
        spec.bucket.bucket: spec.exchange for spec, any_ in zip(specs, found, strict=True) if any_
    }


class GatherRangesSpec(NamedTuple):
    """The candidates and counts of all ranges of a bucket.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        kept: Files of candidates.
        tallies: Files of counts by host; () in a dry run.
        hosts: The files of hosts of the bucket.
        keep: The limits.
        exchange: Name of the file for the candidates.
    """

    place: TaskPlace
    version: int
    kept: tuple[str, ...]
    tallies: tuple[str, ...]
    hosts: BucketFiles
    keep: KeepPlan
    exchange: str


class GatheredFiles(NamedTuple):
    """Files and counts of a bucket.

    Attributes:
        kept: Candidates in the exchanged file.
        capped: Candidates that caps and limits leave out, beside those that a range left out.
        hosts: New files of hosts.
    """

    kept: int
    capped: int
    hosts: WrittenHosts


def gather_task(spec: GatherRangesSpec) -> GatheredFiles:
    """Make one file of candidates, and the rows of hosts."""
    with spec.place.open() as work:
        hosts = WrittenHosts()
        if spec.tallies:
            load_hosts(work, [spec.hosts])
            rows = summed_hosts("hosts", _source(work, spec.tallies), changed=True)
            hosts = write_hosts(work, spec.hosts, rows, spec.version)
        if not spec.kept:
            return GatheredFiles(0, 0, hosts)
        work.kernel.execute(KEPT_TABLE)
        work.kernel.execute(f"insert into kept by name from {_source(work, spec.kept)}")
        query, capped = kept_query(work.kernel, spec.keep)
        return GatheredFiles(work.send(query, spec.exchange), capped, hosts)


def _source(work: TaskWork, names: Sequence[str]) -> str:
    return parquet([str(localized(work.storage, name, work.scratch)) for name in names])


def gathered(
    engine: TaskEngine, specs: Sequence[SelectSpec], selected: Sequence[SelectedFiles], folder: str
) -> list[SelectedFiles]:
    """The results of the first pass, one for each divided bucket instead of one for each range.

    Args:
        engine: Runs the tasks.
        specs: The tasks of the first pass.
        selected: Their results.
        folder: Folder of the files.
    """
    ranges: dict[int, list[tuple[SelectSpec, SelectedFiles]]] = {}
    found: list[SelectedFiles] = []
    for spec, one in zip(specs, selected, strict=True):
        if spec.buckets[0].within is None:
            found.append(one)
        else:
            ranges.setdefault(spec.buckets[0].bucket, []).append((spec, one))
    gathers = [
        GatherRangesSpec(
            first.place, first.version,
            tuple(one.exchange for _, one in parts if one.kept),
            () if first.dry else tuple(spec.tallies for spec, _ in parts),
            first.hosts[0], first.keep, f"{folder}/gathered-{bucket}.parquet",
        )
        for bucket, parts in ranges.items()
        for first in [parts[0][0]]
    ]  # fmt: skip
    results = engine.map(gather_task, gathers)
    for gather, of_bucket, parts in zip(gathers, results, ranges.values(), strict=True):
        found.append(_joined(gather, of_bucket, [one for _, one in parts]))
    return found


def _joined(
    spec: GatherRangesSpec, gathered: GatheredFiles, parts: Sequence[SelectedFiles]
) -> SelectedFiles:
    """The results of all ranges of a bucket in one."""
    base = tuple(file for file in spec.hosts.base if file.path not in gathered.hosts.dropped)
    sets = tuple(file for file in spec.hosts.sets if file.path not in gathered.hosts.dropped)
    new = gathered.hosts.added
    hosts = spec.hosts._replace(
        base=(*base, *(file for file in new if file.kind == "base")),
        sets=(*sets, *(file for file in new if file.kind == "set")),
    )
    return SelectedFiles(
        summed([one.counts for one in parts]),
        spec.exchange,
        gathered.kept,
        tuple(bucket for one in parts for bucket in one.buckets),
        (hosts,),
        {
            CRAWLDB: [file for one in parts for file in one.added[CRAWLDB]],
            HOSTS: list(gathered.hosts.added),
        },
        {
            CRAWLDB: {name for one in parts for name in one.dropped[CRAWLDB]},
            HOSTS: set(gathered.hosts.dropped),
        },
        sum(one.judged for one in parts),
        sum(one.readmitted for one in parts),
        sum(one.newly_excluded for one in parts),
        gathered.capped + sum(one.capped for one in parts),
    )
