"""The tasks of `generate`: four passes over the buckets that a task has.

A large bucket has a task for each range of its keys; `range_tasks` has what they need together.
`select_task` folds the few columns that the tests need, judges, refuses, and keeps the candidates;
`look_task` tells where they lie in the order; `measure_task` counts what was chosen by host, when
it is known where each list ends; `lease_task` writes the leases and the whole rows of what was
chosen, which it folds for those keys alone; `list_task` writes the lists.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from nacre.crawldb.fold import fold_query
from nacre.crawldb.hosts import HOST_COLUMNS, counted_hosts, host_tallies
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import COLUMNS
from nacre.crawldb.select import (
    NOWHERE,
    Bracket,
    OrderPoints,
    Place,
    SelectCounts,
    SelectOptions,
    needed_columns,
    number_candidates,
    order_points,
    refuse,
)
from nacre.cycle.admission import Admission
from nacre.cycle.compaction import merge_bucket
from nacre.cycle.steps.domain_limits import TaskLimits
from nacre.cycle.steps.fetched_keys import write_fetched_keys, write_unit_keys
from nacre.cycle.steps.host_rows import (
    HOSTS,
    RANKED,
    group_of,
    load_hosts,
    load_ranked,
    write_hosts,
)
from nacre.cycle.steps.judging import JUDGED_BY, RulesOfStep, judge_rows
from nacre.cycle.steps.kept import KEPT_TABLE, KeepPlan, kept_query
from nacre.cycle.steps.seed_changes import ConcernedRows
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
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
from nacre.cycle.versions import TableFile

_COLUMNS = ", ".join(f'"{column.name}"' for column in COLUMNS)
_HOST_COLUMNS = ", ".join(f'h."{column.name}"' for column in HOST_COLUMNS)
_LOOK_ROWS = 1_000_000
_CANDIDATE = "key, host, counted, domain, sort, tie, host_most, domain_most, hosts_most"


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
        kernel.execute(f"insert into kept select {bucket.bucket}, {_CANDIDATE} from candidates")
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


class LookSpec(NamedTuple):
    """A look at the candidates of a task.

    Attributes:
        place: Where it works.
        exchange: The files of the candidates; all rows of a host and of a domain are in one.
        options: For the caps.
        buckets: The buckets, with their files as they are now.
        hosts: Their files of hosts.
        interval: Interval of a row that has none, s.
        partition: `host`, `domain` or `address`: what is never in two units.
        ends: Where the lists end that are known.
        between: The bracket to look at.
    """

    place: TaskPlace
    exchange: tuple[str, ...]
    options: SelectOptions
    buckets: tuple[BucketFiles, ...]
    hosts: tuple[BucketFiles, ...]
    interval: int
    partition: str
    ends: tuple[Place | None, ...]
    between: Bracket = NOWHERE


def _load_candidates(work: TaskWork, spec: LookSpec) -> None:
    """Make `candidates` of exchanged files, with their buckets."""
    paths = [str(localized(work.storage, name, work.scratch)) for name in spec.exchange]
    # Caps ask for all columns several times; without them a view reads what is asked for.
    kind = "table" if spec.options.capped else "view"
    work.kernel.execute(
        f"create or replace temp {kind} candidates as select {_CANDIDATE}, bucket "
        f"from {parquet(paths)}"
    )


def wide_looks(looks: Sequence[LookSpec], kept: Sequence[int]) -> list[LookSpec]:
    """Look at the candidates of several tasks at once: a kernel takes longer to open than to look.

    Args:
        looks: Those of the tasks.
        kept: Their candidates.
    """
    found: list[LookSpec] = []
    size = _LOOK_ROWS
    for look, rows in zip(looks, kept, strict=True):
        if size + rows > _LOOK_ROWS:
            found.append(look._replace(buckets=(), hosts=()))
            size = rows
        else:
            found[-1] = found[-1]._replace(exchange=found[-1].exchange + look.exchange)
            size += rows
    return found


def look_task(spec: LookSpec) -> OrderPoints:
    """The places of the candidates of a task."""
    with spec.place.open() as work:
        _load_candidates(work, spec)
        table = number_candidates(work.kernel, spec.options, spec.ends)
        return order_points(work.kernel, table, spec.between)


class MeasuredHost(NamedTuple):
    """A host with its URLs in a list.

    Attributes:
        segment: The list, from 0.
        host: The host.
        urls: Its URLs there.
        delay: The politeness delay that was learned, s; 0: none.
        latency: Time of a fetch of it, s; 0: not known.
        group: Hosts of a group are in one unit; "" for none.
    """

    segment: int
    host: str
    urls: int
    delay: float
    latency: float
    group: str


def measure_task(spec: LookSpec) -> list[MeasuredHost]:
    """The URLs of each host in each list, counted."""
    with spec.place.open() as work:
        _load_candidates(work, spec)
        number_candidates(work.kernel, spec.options, spec.ends)
        load_hosts(work, spec.hosts, among="chosen")
        rows = work.kernel.rows(
            "select c.segment, c.host, c.urls, coalesce(h.delay, 0), "
            "coalesce(h.latency, 0) / 1000, h.answer from "
            "(select segment, host, count(*) as urls from chosen group by all) c "
            "left join hosts h using (host) order by 1, 2"
        )
        kind = spec.partition
        return [
            MeasuredHost(segment, host, urls, delay, latency, group_of(host, kind, answer))
            for segment, host, urls, delay, latency, answer in rows
        ]


class HostPlan(NamedTuple):
    """The place of a host in a list.

    Attributes:
        segment: The list, from 0.
        host: The host.
        unit: Its unit, from 0.
        delay: Expected time from one fetch to the next, s.
        most: URLs that are kept, the best first; 0: all.
    """

    segment: int
    host: str
    unit: int
    delay: float
    most: int = 0


class LeaseSpec(NamedTuple):
    """The third pass over the candidates of a task.

    Attributes:
        look: The candidates, and where each list ends.
        plans: What becomes of their hosts.
        segments: Names of the segments.
        until: When the leases end, ms.
        version: Number of the version that it is for.
        exchange: Name of the file for what goes to units.
        hosts: Name of the file for what is known of their hosts.
        fetched: Name of the file for what is fetched already of these hosts; "" for none.
    """

    look: LookSpec
    plans: tuple[HostPlan, ...]
    segments: tuple[str, ...]
    until: int
    version: int
    exchange: str
    hosts: str
    fetched: str = ""


class LeasedFiles(NamedTuple):
    """The leases of a task.

    Attributes:
        leases: Their files.
        hosts: Something is known of its hosts.
        chosen: Of each list that has some: its number from 0, its candidates of the task, and the
            place of the last of them.
        fetched: There is a file of what is fetched already.
    """

    leases: tuple[TableFile, ...]
    hosts: bool
    chosen: tuple[tuple[int, int, Place], ...] = ()
    fetched: bool = False


def lease_task(spec: LeaseSpec) -> LeasedFiles:
    """Write leases by bucket, and the rows of the lists for their units."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.look.place.open() as work:
        kernel = work.kernel
        _load_candidates(work, spec.look)
        number_candidates(kernel, spec.look.options, spec.look.ends)
        columns = zip(*spec.plans, strict=True)
        kernel.load("plans", pa.table(dict(zip(HostPlan._fields, map(list, columns), strict=True))))
        own = _own(spec.look.buckets)
        # The turn of a URL counts those of its host in all ranges of keys.
        kernel.execute(
            "create temp table listed as select * from (select c.key, c.sort, c.tie, c.segment, "
            "c.bucket, p.unit, p.delay, row_number() over (partition by c.segment, c.host "
            "order by c.sort desc, c.tie desc) as turn from chosen c join plans p "
            f"using (segment, host) qualify p.most = 0 or turn <= p.most) where {own}"
        )
        path = work.scratch / "listed.parquet"
        kernel.write(_listed_rows(work, spec), str(path))
        work.storage.upload(path, spec.exchange)
        load_hosts(work, spec.look.hosts, among="plans")
        known = work.send(
            f"select p.segment, p.unit, {_HOST_COLUMNS} from plans p join hosts h using (host) "
            "where h.time is not null",
            spec.hosts,
        )
        chosen = kernel.rows(
            "select segment, count(*), min((sort, tie)) from chosen "
            f"where {own} group by 1 order by 1"
        )
        last = ((number, rows, Place(*end)) for number, rows, end in chosen)
        fetched = bool(spec.fetched) and write_fetched_keys(work, spec.look.buckets, spec.fetched)
        return LeasedFiles(tuple(_leases(work, spec)), bool(known), tuple(last), fetched)


def _own(buckets: Sequence[BucketFiles]) -> str:
    """SQL that is true for the candidates whose rows and leases are those of a task."""
    return " or ".join(
        "true" if one.within is None else f"(bucket = {one.bucket} and {one.within.condition()})"
        for one in buckets
    )


def _listed_rows(work: TaskWork, spec: LeaseSpec) -> str:
    """SQL of the whole rows of what is listed, with their units."""
    kernel = work.kernel
    columns = ", ".join(f'"{column.name}" {column.type}' for column in COLUMNS)
    kernel.execute(f"create temp table whole ({columns})")
    for bucket in spec.look.buckets:
        kernel.execute(
            "create or replace temp table wanted as select key from listed "
            f"where bucket = {bucket.bucket}"
        )
        if kernel.value("select count(*) from wanted"):
            local = local_bucket(work.storage, bucket, work.scratch)
            rows = fold_query(*local, interval=spec.look.interval, keys="wanted", order=False)
            kernel.execute(f"insert into whole {rows}")
    return (
        "select l.segment, l.unit, l.delay, l.turn, l.sort, l.tie, r.* from whole r "
        "join listed l using (key)"
    )


def _leases(work: TaskWork, spec: LeaseSpec) -> list[TableFile]:
    names = " ".join(
        f"when {number} then {quoted(name)}" for number, name in enumerate(spec.segments)
    )
    found = []
    for (bucket,) in work.kernel.rows("select distinct bucket from listed order by 1"):
        path = work.scratch / f"lease-{bucket}.parquet"
        work.kernel.write(
            f"select key, case segment {names} end as leased, {spec.until}::BIGINT as "
            f"leased_until from listed where bucket = {bucket} order by key",
            str(path),
        )
        plan = FilePlan(CRAWLDB, int(bucket), "set", spec.version, "lease")
        file = publish(work.storage, path, plan)
        found += [file] if file is not None else []
    return found


class ListSpec(NamedTuple):
    """The list of one unit.

    Attributes:
        place: Where it works.
        sources: The files of the third pass.
        hosts: Its files of hosts.
        segment: The segment, from 0.
        unit: The unit, from 0.
        name: Name of the list.
        known: Name of the file of what is known of its hosts.
        fetched: The files of what is fetched already of hosts.
        keys: Name of the file of those of its own hosts.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    hosts: tuple[str, ...]
    segment: int
    unit: int
    name: str
    known: str
    fetched: tuple[str, ...] = ()
    keys: str = ""


def list_task(spec: ListSpec) -> int:
    """Write the list of a unit, in rounds over its hosts by sort value; how many URLs it has."""
    with spec.place.open() as work:
        paths = [str(localized(work.storage, name, work.scratch)) for name in spec.sources]
        path = work.scratch / "list.parquet"
        mine = f"segment = {spec.segment} and unit = {spec.unit}"
        # Whole rows are wide: they are sorted once, and numbered as they come.
        written = work.kernel.write(
            f'select {_COLUMNS}, row_number() over () - 1 as "order", delay from (select * from '
            f"{parquet(paths)} where {mine} order by turn, sort desc, tie desc)",
            str(path),
        )
        work.storage.upload(path, spec.name)
        write_unit_keys(work, spec.fetched, mine, spec.keys)
        if spec.hosts:
            paths = [str(localized(work.storage, name, work.scratch)) for name in spec.hosts]
            work.send(
                f"select {_HOST_COLUMNS} from {parquet(paths)} h where {mine} order by host",
                spec.known,
            )
        return written.rows
