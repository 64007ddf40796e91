"""Tasks of `generate` that exchange data between the ranges of keys of a bucket.

A host may have URLs in several ranges. Before the first pass `out_task` finds the hosts of a bucket
that have URLs in other lists; after it `gather_task` merges the candidates and the counts by host
of all ranges. So lists and counts equal those of an undivided bucket.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query, leased_query
from nacre.crawldb.hosts import host_sql, summed_hosts
from nacre.crawldb.kernels import parquet
from nacre.rounds.engine import TaskEngine
from nacre.rounds.steps.host_rows import HOSTS, WrittenHosts, load_hosts, write_hosts
from nacre.rounds.steps.limits import KEPT_TABLE, KeepPlan, kept_query
from nacre.rounds.steps.select_tasks import SelectedFiles, SelectSpec, sum_counts
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    TaskPlace,
    TaskWork,
    key_ranges,
    local_bucket,
)


class OutSpec(NamedTuple):
    """One task: find hosts that have URLs in other lists.

    Attributes:
        place: The work place of the task.
        bucket: The bucket.
        clock: Leases that end later than this count, ms.
        exchange: Name of the file for the hosts.
    """

    place: TaskPlace
    bucket: BucketFiles
    clock: int
    exchange: str


def out_task(spec: OutSpec) -> bool:
    """Write the hosts of a bucket that have URLs in other lists; return False for none."""
    with spec.place.open() as work:
        kernel = work.kernel
        local = local_bucket(work.storage, spec.bucket, work.scratch)
        leased = leased_query(local.base, local.sets, spec.clock)
        kernel.execute(f"create temp table leased as {leased}")
        if not kernel.value("select count(*) from leased"):
            return False
        # Purged rows do not count.
        rows = fold_query(*local, interval=0, columns=("leased_until",), keys="leased", order=False)
        rows_written = work.send(
            f"select distinct {host_sql('key')} as host from ({rows}) "
            f"where leased_until > {spec.clock}",
            spec.exchange,
        )
        return bool(rows_written)


def find_busy_hosts(
    engine: TaskEngine, place: TaskPlace, buckets: Sequence[BucketFiles], clock: int, folder: str
) -> dict[int, str]:
    """Write the hosts with URLs in other lists, for divided buckets; return files by bucket.

    Args:
        engine: Runs the tasks.
        place: The work place of the tasks.
        buckets: All buckets.
        clock: Leases that end later than this count, ms.
        folder: Folder of the files.
    """
    specs = [
        OutSpec(place, b, clock, f"{folder}/out-{b.bucket}.parquet")
        for b in buckets
        if len(key_ranges(b)) > 1
    ]
    have_rows = engine.map(out_task, specs)
    return {
        spec.bucket.bucket: spec.exchange for spec, h in zip(specs, have_rows, strict=True) if h
    }


class GatherRangesSpec(NamedTuple):
    """The candidates and counts of all ranges of a bucket.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        candidates: Files of candidates.
        tallies: Files of counts by host; () in a dry run.
        hosts: The files of hosts of the bucket.
        keep: The limits.
        exchange: Name of the file for the candidates.
    """

    place: TaskPlace
    version: int
    candidates: tuple[str, ...]
    tallies: tuple[str, ...]
    hosts: BucketFiles
    keep: KeepPlan
    exchange: str


class GatheredFiles(NamedTuple):
    """Files and counts of a bucket.

    Attributes:
        candidates: Candidates in the exchanged file.
        capped: Further candidates that caps and limits exclude.
        hosts: New files of hosts.
    """

    candidates: int
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
        if not spec.candidates:
            return GatheredFiles(0, 0, hosts)
        work.kernel.execute(KEPT_TABLE)
        work.kernel.execute(f"insert into kept by name from {_source(work, spec.candidates)}")
        query, capped = kept_query(work.kernel, spec.keep)
        return GatheredFiles(work.send(query, spec.exchange), capped, hosts)


def _source(work: TaskWork, names: Sequence[str]) -> str:
    return parquet([str(localize(work.storage, name, work.scratch)) for name in names])


def gather_ranges(
    engine: TaskEngine, specs: Sequence[SelectSpec], selected: Sequence[SelectedFiles], folder: str
) -> list[SelectedFiles]:
    """Merge the results of the first pass of all ranges of each divided bucket.

    Args:
        engine: Runs the tasks.
        specs: The tasks of the first pass.
        selected: Their results.
        folder: Folder of the files.
    """
    ranges: dict[int, list[tuple[SelectSpec, SelectedFiles]]] = {}
    gathered_files: list[SelectedFiles] = []
    for spec, files_of_task in zip(specs, selected, strict=True):
        if spec.buckets[0].within is None:
            gathered_files.append(files_of_task)
        else:
            ranges.setdefault(spec.buckets[0].bucket, []).append((spec, files_of_task))
    gathers = [
        GatherRangesSpec(
            f.place, f.version,
            tuple(files_of_task.exchange for _, files_of_task in parts if files_of_task.candidates),
            () if f.dry else tuple(spec.tallies for spec, _ in parts),
            f.hosts[0], f.keep, f"{folder}/gathered-{b}.parquet",
        )
        for b, parts in ranges.items()
        for f in [parts[0][0]]
    ]  # fmt: skip
    results = engine.map(gather_task, gathers)
    for gather, of_bucket, parts in zip(gathers, results, ranges.values(), strict=True):
        gathered_files.append(
            _join(gather, of_bucket, [files_of_task for _, files_of_task in parts])
        )
    return gathered_files


def _join(
    spec: GatherRangesSpec, gathered: GatheredFiles, parts: Sequence[SelectedFiles]
) -> SelectedFiles:
    """Join the results of all ranges of a bucket."""
    base = tuple(file for file in spec.hosts.base if file.path not in gathered.hosts.dropped)
    sets = tuple(file for file in spec.hosts.sets if file.path not in gathered.hosts.dropped)
    new = gathered.hosts.added
    hosts = spec.hosts._replace(
        base=(*base, *(file for file in new if file.kind == "base")),
        sets=(*sets, *(file for file in new if file.kind == "set")),
    )
    return SelectedFiles(
        sum_counts([part.counts for part in parts]),
        spec.exchange,
        gathered.candidates,
        tuple(bucket for part in parts for bucket in part.buckets),
        (hosts,),
        {
            CRAWLDB: [file for part in parts for file in part.added[CRAWLDB]],
            HOSTS: list(gathered.hosts.added),
        },
        {
            CRAWLDB: {name for part in parts for name in part.dropped[CRAWLDB]},
            HOSTS: set(gathered.hosts.dropped),
        },
        sum(part.judged for part in parts),
        sum(part.readmitted for part in parts),
        sum(part.newly_excluded for part in parts),
        gathered.capped + sum(part.capped for part in parts),
    )
