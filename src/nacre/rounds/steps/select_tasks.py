"""The first pass of `generate` over the buckets that a task has.

A large bucket has a task for each range of its keys; `range_tasks` has what they need together.
`select_task` folds the few columns that the tests need, judges, refuses, and keeps the candidates,
of which `list_tasks` makes the lists.
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
from nacre.rounds.steps.domain_limits import TaskLimits
from nacre.rounds.steps.host_rows import (
    HOSTS,
    RANKED,
    load_hosts,
    load_ranked,
    write_hosts,
)
from nacre.rounds.steps.judging import JUDGED_BY, RulesOfStep, judge_rows
from nacre.rounds.steps.kept import KEPT_TABLE, KeepPlan, kept_query
from nacre.rounds.steps.seed_changes import ConcernedRows
from nacre.rounds.storage import localized
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
        place: Where it works.
        version: Number of the version that it is for.
        buckets: The buckets; a range of the keys of one stands alone.
        anew: Those of them, by number, that get a new base.
        hosts: Their files of hosts.
        ranks: Their files of ranks of hosts; () where nothing asks for ranks.
        keep: Which rows may be chosen, and which candidates are kept.
        sorted_by: Columns in the sort value.
        limits: Limits by domain.
        rules: Judges rows that other rules judged last; None: nothing is judged.
        counting: Tells the hosts that caps count URLs for; None: their own.
        interval: Interval of a row that has none, s.
        since: Rows that were found later are fresh, ms.
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
        counts: What its buckets have.
        exchange: Name of the file of candidates.
        kept: Candidates in it; 0: there is no such file.
        buckets: The buckets with their files as they are now.
        hosts: Their files of hosts.
        added: New files by table: bases, what was judged, hosts.
        dropped: Files that new ones replace, by table.
        judged: Rows that were judged.
        readmitted: Rows that rules let in again.
        newly_excluded: Rows that rules exclude and did not exclude before.
        capped: Candidates that caps and limits leave out. Where normalizers let hosts of several
            tasks count as one, only those that a task leaves out by itself.
    """

    counts: SelectCounts
    exchange: str
    kept: int
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
        exchanged = self._exchanged()
        return SelectedFiles(
            summed(counts),
            spec.exchange,
            exchanged,
            tuple(self._now(CRAWLDB, one) for one in spec.buckets),
            tuple(self._now("hosts", one) for one in spec.hosts),
            self._added,
            self._dropped,
            self._judged,
            self._readmitted,
            self._newly,
            self._capped,
        )

    def _bucket(self, place: int, columns: Sequence[str]) -> SelectCounts:
        """The bucket at a place of the spec."""
        spec, kernel = self._spec, self._kernel
        bucket, hosts = spec.buckets[place], spec.hosts[place]
        local = self._local(bucket)
        query = fold_query(*local, interval=spec.interval, columns=columns, order=False)
        kernel.execute(f"create or replace temp table seen as {query}")
        if spec.rules is not None:
            self._judge(spec.rules, bucket.bucket, local)
        load_hosts(self._work, [hosts])
        known = HOSTS
        if spec.ranks:
            load_ranked(self._work, [spec.ranks[place]])
            known = RANKED
        counted = None
        if spec.counting is not None:
            asked = self._asked(spec.counting)
            counted = lambda keys: [asked.counted_host(key) for key in keys]  # noqa: E731
        out = self._out() if bucket.within is not None else ""
        counts = refuse(kernel, "seen", spec.keep.options, spec.since, known, counted, out=out)
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

    def _out(self) -> str:
        """SQL of the hosts that have URLs in other lists, also those of other ranges."""
        if not self._spec.out:
            return "select null::VARCHAR as host limit 0"
        path = localized(self._work.storage, self._spec.out, self._work.scratch)
        return f"select host from {parquet([str(path)])}"

    def _local(self, bucket: BucketFiles) -> LocalBucket:
        """The files of a bucket, which gets a new base when its differences are many."""
        work = self._work
        # Of a bucket that gets a new base, a range without differences has one already.
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
        admission = self._asked(rules)
        query = fold_query(*local, interval=0, columns=JUDGED_BY, keys="unjudged", order=False)
        kernel.execute(f"create or replace temp table asked as {query}")
        found, rows = judge_rows(kernel, "asked", admission, rules.hash, every=True)
        kernel.execute(
            "update seen set excluded = asked.excluded from asked "
            "where asked.key = seen.key and asked.excluded is distinct from seen.excluded"
        )
        self._judged += found.asked
        self._readmitted += found.readmitted
        self._newly += found.newly_excluded
        if rows and not self._spec.dry:
            plan = FilePlan(CRAWLDB, bucket, "set", self._spec.version, "admission")
            self._added[CRAWLDB] += _published(self._work, rows, plan)

    def _asked(self, rules: RulesOfStep) -> Admission:
        """The rules, opened once."""
        if self._admission is None:
            self._admission = rules.admission(self._work.scratch)
        return self._admission

    def _exchanged(self) -> int:
        """Write the candidates that may be in a list: no task has more than all lists together."""
        is_range = any(one.within is not None for one in self._spec.buckets)
        rows, self._capped = kept_query(self._kernel, self._spec.keep, is_range=is_range)
        return self._work.send(rows, self._spec.exchange)

    def _now(self, table: str, bucket: BucketFiles) -> BucketFiles:
        """A bucket with the files that it has from now on."""
        dropped, number = self._dropped[table], bucket.bucket
        new = [file for file in self._added[table] if file.bucket == number]

        def of(kind: str, files: tuple[TableFile, ...]) -> tuple[TableFile, ...]:
            kept = [file for file in files if file.path not in dropped]
            return (*kept, *(file for file in new if file.kind == kind))

        return bucket._replace(
            base=of("base", bucket.base), sets=of("set", bucket.sets), adds=of("add", bucket.adds)
        )


def _published(work: TaskWork, query: str, plan: FilePlan) -> list[TableFile]:
    path = work.scratch / f"{plan.group}-{plan.bucket}.parquet"
    work.kernel.write(query, str(path))
    file = publish(work.storage, path, plan)
    return [file] if file is not None else []


def summed(counts: Sequence[SelectCounts]) -> SelectCounts:
    """The counts of several buckets together."""
    refused: Counter[str] = Counter()
    excluded: Counter[str] = Counter()
    for one in counts:
        refused.update(one.refused)
        excluded.update(one.excluded)
    due = [one.next_due for one in counts if one.next_due is not None]
    known, fresh = sum(one.known for one in counts), sum(one.fresh for one in counts)
    chosen = sum(one.due for one in counts)
    return SelectCounts(known, fresh, chosen, dict(refused), dict(excluded), min(due, default=None))
