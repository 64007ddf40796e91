"""The first pass of `generate` over the buckets that a task has.

A large bucket has a task for each range of its keys; `range_tasks` exchanges data between them.
`select_task` folds the few columns that the tests need, judges, refuses, and writes the candidates,
from which `list_tasks` makes the lists.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import counted_hosts, host_tallies
from nacre.crawldb.kernels import parquet
from nacre.crawldb.select import (
    SelectCounts,
    needed_columns,
    refuse,
)
from nacre.rounds.admission import Admission
from nacre.rounds.segments.compaction import merge_bucket
from nacre.rounds.steps.host_rows import (
    HOSTS,
    RANKED,
    load_hosts,
    load_ranked,
    write_hosts,
)
from nacre.rounds.steps.judging import JUDGED_BY, RulesOfStep, judge_rows
from nacre.rounds.steps.limits import KEPT_TABLE, KeepPlan, TaskLimits, kept_query
from nacre.rounds.steps.seed_changes import ConcernedRows
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    LocalBucket,
    TaskPlace,
    TaskWork,
    local_bucket,
    local_file,
    publish,
)
from nacre.rounds.tables.versions import TableFile

CANDIDATE = "key, host, counted, domain, sort, tie, host_most, domain_most, hosts_most"
"""Columns of the candidates of a bucket."""


class SelectSpec(NamedTuple):
    """The first pass over some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: The buckets, or one range of keys of a bucket.
        anew: Numbers of the buckets that get a new base.
        hosts: Their files of hosts.
        ranks: Their files of ranks of hosts; () if ranks are not needed.
        keep: The conditions on rows, and the limits of candidates.
        sorted_by: Columns in the sort value.
        limits: Limits by domain.
        rules: Rules for rows that other rules judged last; None to judge no row.
        counting: Rules for the hosts that caps count URLs for; None for their own.
        interval: Interval of a row that has none, s.
        since: Rows that were found later are fresh, ms since the epoch.
        exchange: Name of the file for the candidates.
        tallies: Name of the file for the counts by host of a range of keys.
        out: Name of the file of hosts that have URLs in other lists, for a range; "" for none.
        dry: Write nothing into the tables.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    anew: frozenset[int]
    hosts: tuple[BucketFiles, ...]
    ranks: tuple[BucketFiles, ...]
    keep: KeepPlan
    sorted_by: tuple[str, ...]
    limits: TaskLimits
    rules: RulesOfStep | None
    counting: RulesOfStep | None
    interval: int
    since: int
    exchange: str
    tallies: str
    out: str
    dry: bool


class SelectedFiles(NamedTuple):
    """Files and counts of the first pass.

    Attributes:
        counts: Counts of its buckets.
        exchange: Name of the file of candidates.
        candidates: Candidates in it; 0 if there is no such file.
        buckets: The buckets with their current files.
        hosts: Their files of hosts.
        added: New files by table: bases, judged rows, hosts.
        dropped: Files that new ones replace, by table.
        judged: Rows that were judged.
        readmitted: Rows that rules readmit.
        newly_excluded: Rows that rules newly exclude.
        capped: Candidates that caps and limits exclude. If normalizers count hosts of several tasks
            together, only those that a task excludes by itself.
    """

    counts: SelectCounts
    exchange: str
    candidates: int
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    added: dict[str, list[TableFile]]
    dropped: dict[str, set[str]]
    judged: int = 0
    readmitted: int = 0
    newly_excluded: int = 0
    capped: int = 0


def select_task(spec: SelectSpec) -> SelectedFiles:
    """Fold, judge and refuse the rows of some buckets; the candidates go to an exchanged file."""
    options = spec.keep.options
    with spec.place.open() as work:
        if options.where or options.cap_where:
            work.kernel.bound()
        return _Selecting(work, spec).run()


class _Selecting:
    """The first pass of a task."""

    def __init__(self, work: TaskWork, spec: SelectSpec) -> None:
        self._work = work
        self._spec = spec
        self._kernel = work.kernel
        self._admission: Admission | None = None
        self._concerned: ConcernedRows | None = None
        self._added: dict[str, list[TableFile]] = {CRAWLDB: [], "hosts": []}
        self._dropped: dict[str, set[str]] = {CRAWLDB: set(), "hosts": set()}
        self._judged = self._readmitted = self._newly = self._capped = 0

    def run(self) -> SelectedFiles:
        spec, kernel = self._spec, self._kernel
        kernel.execute(KEPT_TABLE)
        if spec.keep.options.limits:
            spec.limits.load(self._work)
        columns = needed_columns(kernel, spec.keep.options, spec.sorted_by)
        counts = [self._bucket(place, columns) for place in range(len(spec.buckets))]
        exchanged = self._send_candidates()
        return SelectedFiles(
            sum_counts(counts),
            spec.exchange,
            exchanged,
            tuple(self._updated_bucket(CRAWLDB, bucket) for bucket in spec.buckets),
            tuple(self._updated_bucket("hosts", bucket) for bucket in spec.hosts),
            self._added,
            self._dropped,
            self._judged,
            self._readmitted,
            self._newly,
            self._capped,
        )

    def _bucket(self, place: int, columns: Sequence[str]) -> SelectCounts:
        """Select candidates of the bucket at a place of the spec."""
        spec, kernel = self._spec, self._kernel
        bucket, hosts = spec.buckets[place], spec.hosts[place]
        local = self._local_files(bucket)
        query = fold_query(*local, interval=spec.interval, columns=columns, order=False)
        kernel.execute(f"create or replace temp table seen as {query}")
        if spec.rules is not None:
            self._judge(spec.rules, bucket.bucket, local)
        load_hosts(self._work, [hosts])
        host_table = HOSTS
        if spec.ranks:
            load_ranked(self._work, [spec.ranks[place]])
            host_table = RANKED
        counted = None
        if spec.counting is not None:
            admission = self._open_rules(spec.counting)
            counted = lambda keys: [admission.counted_host(key) for key in keys]  # noqa: E731
        out = self._busy_hosts_sql() if bucket.within is not None else ""
        counts = refuse(kernel, "seen", spec.keep.options, spec.since, host_table, counted, out=out)
        kernel.execute(f"insert into kept select {bucket.bucket}, {CANDIDATE} from candidates")
        if spec.dry:
            return counts
        if bucket.within is not None:
            path = self._work.scratch / "tallies.parquet"
            kernel.write(host_tallies("seen"), str(path))
            self._work.storage.upload(path, spec.tallies)
            return counts
        rows = counted_hosts("hosts", "seen", changed=True)
        written = write_hosts(self._work, hosts, rows, spec.version)
        self._added["hosts"] += written.added
        self._dropped["hosts"] |= written.dropped
        return counts

    def _busy_hosts_sql(self) -> str:
        """Return SQL of the hosts with URLs in other lists, including those of other ranges."""
        if not self._spec.out:
            return "select null::VARCHAR as host limit 0"
        path = localize(self._work.storage, self._spec.out, self._work.scratch)
        return f"select host from {parquet([str(path)])}"

    def _local_files(self, bucket: BucketFiles) -> LocalBucket:
        """Return the files of a bucket, which gets a new base if it has many differences."""
        work = self._work
        # A range without differences already has a base, even if its bucket gets a new one.
        if self._spec.dry or bucket.bucket not in self._spec.anew or not bucket.deltas:
            return local_bucket(work.storage, bucket, work.scratch)
        merged = merge_bucket(work, CRAWLDB, bucket, self._spec.version)
        self._added[CRAWLDB] += merged.added
        self._dropped[CRAWLDB] |= merged.dropped
        paths = [local_file(work.storage, file, work.scratch) for file in merged.added]
        return LocalBucket(paths, [], [])

    def _judge(self, rules: RulesOfStep, bucket: int, local: LocalBucket) -> None:
        """Judge the rows of `seen` that other rules judged last."""
        kernel = self._kernel
        kernel.execute(
            "create or replace temp table unjudged as select key from seen "
            f"where rules is distinct from {rules.hash}"
        )
        if self._concerned is None:
            self._concerned = ConcernedRows(self._work, rules)
        if self._concerned.find(bucket, local, "unjudged"):
            kernel.execute(
                "create or replace temp table unjudged as select distinct key from unjudged"
            )
        if not kernel.value("select count(*) from unjudged"):
            return
        admission = self._open_rules(rules)
        query = fold_query(*local, interval=0, columns=JUDGED_BY, keys="unjudged", order=False)
        kernel.execute(f"create or replace temp table asked as {query}")
        judged, rows = judge_rows(kernel, "asked", admission, rules.hash, every=True)
        kernel.execute(
            "update seen set excluded = asked.excluded from asked "
            "where asked.key = seen.key and asked.excluded is distinct from seen.excluded"
        )
        self._judged += judged.judged
        self._readmitted += judged.readmitted
        self._newly += judged.newly_excluded
        if rows and not self._spec.dry:
            plan = FilePlan(CRAWLDB, bucket, "set", self._spec.version, "admission")
            self._added[CRAWLDB] += _publish_rows(self._work, rows, plan)

    def _open_rules(self, rules: RulesOfStep) -> Admission:
        """Open rules once."""
        if self._admission is None:
            self._admission = rules.admission(self._work.scratch)
        return self._admission

    def _send_candidates(self) -> int:
        """Write the candidates that may be in a list; return their number."""
        is_range = any(bucket.within is not None for bucket in self._spec.buckets)
        rows, self._capped = kept_query(self._kernel, self._spec.keep, is_range=is_range)
        return self._work.send(rows, self._spec.exchange)

    def _updated_bucket(self, table: str, bucket: BucketFiles) -> BucketFiles:
        """Return a bucket with its new files."""
        dropped, number = self._dropped[table], bucket.bucket
        new = [file for file in self._added[table] if file.bucket == number]

        def of(kind: str, files: tuple[TableFile, ...]) -> tuple[TableFile, ...]:
            remaining = [file for file in files if file.path not in dropped]
            return (*remaining, *(file for file in new if file.kind == kind))

        return bucket._replace(
            base=of("base", bucket.base), sets=of("set", bucket.sets), adds=of("add", bucket.adds)
        )


def _publish_rows(work: TaskWork, query: str, plan: FilePlan) -> list[TableFile]:
    path = work.scratch / f"{plan.group}-{plan.bucket}.parquet"
    work.kernel.write(query, str(path))
    file = publish(work.storage, path, plan)
    return [file] if file is not None else []


def sum_counts(counts: Sequence[SelectCounts]) -> SelectCounts:
    """Return the sum of the counts of several buckets."""
    refused: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for part in counts:
        refused.update(part.refused)
        excluded.update(part.excluded)
    due = [part.next_due for part in counts if part.next_due is not None]
    total, fresh = sum(part.known for part in counts), sum(part.fresh for part in counts)
    chosen = sum(part.due for part in counts)
    return SelectCounts(total, fresh, chosen, dict(refused), dict(excluded), min(due, default=None))
