"""The task of `update`: convert fetch results of some buckets to rows of their tables.

The state machine converts visits to rows of groups of columns, links to a URL become one `add` row,
and rows of hosts get the facts of hosts. The list of a unit has the former row of each of its URLs:
only later commits are read in addition. Other URLs, such as targets of redirects, are looked up.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query, sum_adds_sql
from nacre.crawldb.hosts import visited_hosts
from nacre.crawldb.kernels import parquet
from nacre.crawldb.revisits import RevisitSchedule, revisits_of
from nacre.crawldb.row import ADD_COLUMNS, COLUMNS, Status, group_columns
from nacre.crawldb.settings import UpdateSettings
from nacre.crawldb.transition import (
    FetchOutcome,
    FinalVisit,
    StateChange,
    StateRow,
    transition,
)
from nacre.planner.schedules.nutch import NutchRates
from nacre.planner.schedules.timetable import ScheduleSettings
from nacre.rounds.segments.export import depth_of_path
from nacre.rounds.segments.seed_tasks import pages_sql
from nacre.rounds.steps.host_rows import HOSTS, WrittenHosts, load_hosts, write_hosts
from nacre.rounds.steps.inject_rows import write_rows
from nacre.rounds.storage import Storage, localize
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    local_bucket,
    publish,
)
from nacre.rounds.tables.versions import SegmentState, TableFile

_NEW = "new"
"""The old status of a new URL."""

_STATE = tuple(column.name for column in group_columns("state"))
_CAPTURE = tuple(column.name for column in group_columns("capture"))
_LISTED = ("key", *_STATE, "leased")
_FACTS = (
    "key", "url", "status", "reason", "time", "signature", "modified", "retry_after", "mime",
    "via", "path", "source", "redirect", "new_seed",
    "soft_404", "parse_failed", *_CAPTURE,
)  # fmt: skip


class FetchedFacts(NamedTuple):
    """The files of the facts of a segment.

    Attributes:
        segment: The segment.
        lists: Names of its lists.
        parts: Folders of its parts.
        version: Number of the version that made its lists; 0 if unknown.
    """

    segment: str
    lists: tuple[str, ...]
    parts: tuple[str, ...]
    version: int = 0

    def files(self, name: str) -> list[str]:
        """Return the names of the files of a kind of fact, such as `visits`."""
        return [f"{part}/{name}.parquet" for part in self.parts]


def facts_of(segment: str, state: SegmentState) -> FetchedFacts:
    """Return the files of the facts of a fetched segment."""
    units = sorted(state.parts)
    return FetchedFacts(
        segment,
        tuple(f"segments/{segment}/lists/{unit}.parquet" for unit in units),
        tuple(part for unit in units for part in state.parts[unit]),
        int(state.more.get("version", 0)),
    )


def local_facts(storage: Storage, names: Sequence[str], work: TaskWork) -> list[str]:
    """Return the local paths of files of facts, which are localized."""
    return [str(localize(storage, name, work.scratch)) for name in names]


class RevisitPlan(NamedTuple):
    """The settings of a state machine, for its tasks.

    Attributes:
        schedule: When pages are visited again.
        rates: Rates by media type.
        update: The section `cycle.update`.
    """

    schedule: ScheduleSettings
    rates: dict[str, NutchRates]
    update: UpdateSettings

    def revisits(self) -> RevisitSchedule:
        """The schedule."""
        return revisits_of(self.schedule, self.rates)


class UpdateSpec(NamedTuple):
    """The reduce of some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        buckets: The buckets with their files, or one range of keys of a bucket.
        segments: The segments.
        plan: The state machine.
        additions: Add unknown URLs: targets of links, and visited URLs.
        clock: The clock of the
            step, ms.
        gift: Cash that the virtual page gives to each seed, in 2^-32.
        seeds: Files of the table of seeds by bucket; {} without gifts.
        hosts: Files of hosts by bucket.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    segments: tuple[FetchedFacts, ...]
    plan: RevisitPlan
    additions: bool
    clock: int
    gift: int
    seeds: Mapping[int, BucketFiles]
    hosts: Mapping[int, BucketFiles]
    dry: bool = False


class UpdatedFiles(NamedTuple):
    """Files and counts of a reduce.

    Attributes:
        files: New files by table.
        dropped: Names of files that new ones replace, by table.
        visits: Final visits.
        not_attempted: URLs that were not attempted.
        links: Links.
        targets: Rows that were added.
        transitions: By old and new status.
        moved: Redirect targets of seeds: the URL, and the seed in its line.
        purged: Purged rows.
        refused: Cash of links to URLs that are not added, in 2^-32: the virtual page gets it.
        unknown: Ignored visits of URLs that are unknown and not added.
    """

    files: dict[str, list[TableFile]]
    dropped: dict[str, set[str]]
    visits: int
    not_attempted: int
    links: int
    targets: int
    transitions: dict[tuple[str, str], int]
    moved: tuple[tuple[str, str], ...] = ()
    purged: int = 0
    refused: int = 0
    unknown: int = 0


# ---- visits


class VisitRows(NamedTuple):
    """The rows that visits write, by group; each list is sorted as the visits are."""

    state: list[dict[str, Any]]
    capture: list[dict[str, Any]]
    lease: list[dict[str, Any]]
    duplicate: list[dict[str, Any]]
    purge: list[dict[str, Any]]
    add: list[dict[str, Any]]


def visit_rows(
    facts: Sequence[Mapping[str, Any]],
    rows_before: Mapping[str, Mapping[str, Any]],
    plan: RevisitPlan,
    clock: int,
    segments: Collection[str] = (),
) -> tuple[VisitRows, Counter[tuple[str, str]]]:
    """Return the rows of visits, and the matrix of transitions.

    Args:
        facts: One row for each URL, of the schema `crawldb.facts.VISITS`.
        rows_before: The rows of these URLs before, as readers see them.
        plan: The state machine.
        clock: The clock of the step, ms.
        segments: The segments, whose leases end.
    """
    rows = VisitRows([], [], [], [], [], [])
    matrix: Counter[tuple[str, str]] = Counter()
    schedule = plan.revisits()
    for fact in facts:
        key = fact["key"]
        row = rows_before.get(key)
        if row is not None and row["leased"] in segments:
            rows.lease.append({"key": key})
        old = None if row is None else StateRow(*(row[name] for name in _STATE))
        change = transition(old, _final_visit(fact, plan.update), schedule, plan.update)
        if change.state is None:
            continue
        before = _NEW if old is None else Status(old.status).label
        matrix[before, Status(change.state.status).label] += 1
        _add_change(rows, fact, change, clock)
        if row is None:
            rows.add.append(_new_row(fact))
    return rows, matrix


def _final_visit(fact: Mapping[str, Any], settings: UpdateSettings) -> FinalVisit:
    return FinalVisit(
        status=int(fact["status"]),
        time=fact["time"] or 0,
        signature=fact["signature"],
        modified=fact["modified"] or 0,
        retry_after=fact["retry_after"],
        mime=fact["mime"] or "",
        soft_404=bool(fact["soft_404"]),
        parse_failed=settings.failed_parse and bool(fact["parse_failed"]),
        reason=fact["reason"] or "",
    )


def _add_change(rows: VisitRows, fact: Mapping[str, Any], change: StateChange, clock: int) -> None:
    key = fact["key"]
    if change.state is not None:
        rows.state.append({"key": key, **change.state._asdict()})
    if change.outcome is not FetchOutcome.NOT_ATTEMPTED and fact["record_id"] is not None:
        rows.capture.append({"key": key, **{name: fact[name] for name in _CAPTURE}})
    if change.no_duplicate:
        rows.duplicate.append({"key": key, "dup_of": None})
    if change.purged:
        rows.purge.append({"key": key, "purged": clock})


def _new_row(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a fetched URL without a link to it: the target of a redirect."""
    row = {name: fact[name] for name in ("key", "url", "via", "path", "source")}
    depth = depth_of_path(fact["path"] or "")
    first_seen = (fact["time"] or 0) // 1000
    return {**row, "score": 0, "cash": 0, "inlinks": 0, "depth": depth, "first_seen": first_seen}


def _moved_seeds(facts: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Return the redirect targets of seeds: the URL, and the seed in its line."""
    return tuple(
        (fact["redirect"], fact["source"] or "")
        for fact in facts
        if fact["new_seed"] and fact["redirect"]
    )


# ---- the task


def update_task(spec: UpdateSpec) -> UpdatedFiles:
    """Reduce the fetch results of some buckets."""
    files: dict[str, list[TableFile]] = {CRAWLDB: [], HOSTS: []}
    dropped: dict[str, set[str]] = {HOSTS: set()}
    matrix: Counter[tuple[str, str]] = Counter()
    visits = not_attempted = links = targets = purged = refused = unknown = 0
    moved: list[tuple[str, str]] = []
    with spec.place.open() as work:
        sources = _sources(work, spec)
        for bucket in spec.buckets:
            reduced = _BucketReduce(work, spec, bucket, sources).run()
            for table, added in reduced.files.items():
                files[table] += added
            for table, gone in reduced.dropped.items():
                dropped[table] |= gone
            matrix.update(reduced.transitions)
            moved += reduced.moved
            purged, refused = purged + reduced.purged, refused + reduced.refused
            visits, not_attempted = visits + reduced.visits, not_attempted + reduced.not_attempted
            unknown += reduced.unknown
            links, targets = links + reduced.links, targets + reduced.targets
    return UpdatedFiles(
        files, dropped, visits, not_attempted, links, targets, dict(matrix), tuple(moved), purged,
        refused, unknown,
    )  # fmt: skip


class _FactSources(NamedTuple):
    """The files of facts, in SQL; "" for none."""

    visits: str
    adds: str
    hosts: str
    lists: str


def _sources(work: TaskWork, spec: UpdateSpec) -> _FactSources:
    def local(names: Sequence[str]) -> str:
        return parquet(local_facts(work.storage, names, work)) if names else ""

    def there(names: Sequence[str]) -> list[str]:
        stored = {file for name in names for file in work.storage.list(name.rpartition("/")[0])}
        return [name for name in names if name in stored]

    def of(kind: str) -> list[str]:
        return [name for segment in spec.segments for name in segment.files(kind)]

    # Without the version of each list later commits are unknown: then lists are not used.
    have_versions = all(segment.version for segment in spec.segments)
    lists = [name for segment in spec.segments for name in segment.lists] if have_versions else []
    return _FactSources(
        local(of("visits")), local(of("adds")), local(there(of("hosts"))), local(there(lists))
    )


class _BucketReduce:
    """The reduce of one bucket, or of a range of its keys."""

    def __init__(
        self, work: TaskWork, spec: UpdateSpec, bucket: BucketFiles, sources: _FactSources
    ) -> None:
        self._work = work
        self._spec = spec
        self._bucket = bucket
        self._sources = sources
        self._local = local_bucket(work.storage, bucket, work.scratch)
        self._refused = 0
        within = bucket.within
        self._mine = f"bucket = {bucket.bucket}"
        self._mine += f" and {within.condition()}" if within is not None else ""

    def run(self) -> UpdatedFiles:
        all_facts = self._last_facts()
        rows_before = self._rows_before([fact["key"] for fact in all_facts])
        # A row of any group makes a URL known: without additions, unknown URLs get no row.
        facts = [fact for fact in all_facts if self._spec.additions or fact["key"] in rows_before]
        unknown = len(all_facts) - len(facts)
        names = {segment.segment for segment in self._spec.segments}
        rows, matrix = visit_rows(facts, rows_before, self._spec.plan, self._spec.clock, names)
        skipped = sum(1 for fact in facts if fact["reason"] is not None)
        links, targets, added = self._write_adds(rows.add)
        if self._spec.dry:
            moved = _moved_seeds(facts)
            return UpdatedFiles(
                {}, {}, len(facts) - skipped, skipped, links, targets, dict(matrix), moved,
                len(rows.purge), unknown=unknown,
            )  # fmt: skip
        hosts = self._write_hosts()
        files = {CRAWLDB: [*self._write(rows), *added], HOSTS: list(hosts.added)}
        dropped = {HOSTS: set(hosts.dropped)}
        return UpdatedFiles(
            files, dropped, len(facts) - skipped, skipped, links, targets, dict(matrix),
            _moved_seeds(facts), len(rows.purge), self._refused, unknown,
        )  # fmt: skip

    def _write_hosts(self) -> WrittenHosts:
        """Write the rows of hosts with the facts of units."""
        number = self._bucket.bucket
        if not self._sources.hosts or not self._bucket.is_first:
            return WrittenHosts()
        host_files = self._spec.hosts.get(number, BucketFiles(number))
        facts = f"(select * from {self._sources.hosts} where bucket = {number})"
        load_hosts(self._work, [host_files])
        rows = visited_hosts("hosts", facts)
        return write_hosts(self._work, host_files, rows, self._spec.version)

    def _last_facts(self) -> list[dict[str, Any]]:
        """Return the last visit of each URL; attempted visits win."""
        if not self._sources.visits:
            return []
        columns = ", ".join(f'"{name}"' for name in _FACTS)
        order = "reason is null desc, time desc nulls last, status"
        rows: list[dict[str, Any]] = self._work.kernel.arrow(
            f"select {columns} from {self._sources.visits} where {self._mine} "
            f"qualify row_number() over (partition by key order by {order}) = 1 order by key"
        ).to_pylist()
        return rows

    def _rows_before(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the former rows of some URLs, as readers see them."""
        if not keys or not self._bucket.all:
            return {}
        rows = self._rows_of_lists(keys)
        missing = [key for key in keys if key not in rows]
        if missing:
            self._load_keys(missing)
            query = fold_query(
                *self._local, interval=0, columns=_LISTED, keys="wanted", order=False
            )
            rows |= self._rows(query)
        return rows

    def _rows_of_lists(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the rows of the lists, with later commits; {} if those are unknown.

        Most visits are of listed URLs, so the cost depends on the visits, not on the table.
        """
        list_version = min((segment.version for segment in self._spec.segments), default=0)
        if not self._sources.lists or any(file.seq > list_version for file in self._bucket.base):
            return {}
        self._load_keys(keys)
        path = self._work.scratch / f"listed-{self._bucket.bucket}.parquet"
        columns = ", ".join(f'"{column.name}"' for column in COLUMNS)
        self._work.kernel.write(
            f"select {columns} from (select f.*, row_number() over (partition by f.key) as n from "
            f"{self._sources.lists} f semi join wanted using (key)) where n = 1",
            str(path),
        )
        since = [
            (local, file.group)
            for file, (local, _) in zip(self._bucket.sets, self._local.sets, strict=True)
            if file.seq >= list_version
        ]
        query = fold_query([str(path)], since, interval=0, columns=_LISTED, keys="wanted")
        listed = {
            key for (key,) in self._work.kernel.rows(f"select key from {parquet([str(path)])}")
        }
        # Sets also have rows of URLs that no list has.
        return {key: row for key, row in self._rows(query).items() if key in listed}

    def _load_keys(self, keys: Sequence[str]) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._work.kernel.load("wanted", pa.table({"key": pa.array(keys, pa.string())}))

    def _rows(self, query: str) -> dict[str, dict[str, Any]]:
        return {row["key"]: row for row in self._work.kernel.arrow(query).to_pylist()}

    def _write(self, rows: VisitRows) -> Iterator[TableFile]:
        number, version = self._bucket.bucket, self._spec.version
        for group in ("state", "capture", "lease", "duplicate", "purge"):
            plan = FilePlan(CRAWLDB, number, "set", version, group)
            file = write_rows(self._work, plan, getattr(rows, group))
            if file is not None:
                yield file

    def _write_adds(self, more: Sequence[Mapping[str, Any]]) -> tuple[int, int, list[TableFile]]:
        """Write one row for the links to each URL of the bucket, and other additions."""
        kernel, number = self._work.kernel, self._bucket.bucket
        columns = ", ".join(f'"{column.name}"' for column in ADD_COLUMNS)
        sources = []
        if self._sources.adds:
            sources.append(f"select {columns} from {self._sources.adds} where {self._mine}")
        if number in self._spec.seeds:
            sources.append(self._gifts_sql(self._spec.seeds[number]))
        own = list(more)
        if own:
            import pyarrow as pa  # noqa: PLC0415 - an extra

            from nacre.crawldb.row import ADD_SCHEMA  # noqa: PLC0415 - made of Arrow

            kernel.load("own", pa.Table.from_pylist(own, ADD_SCHEMA))
            sources.append(f"select {columns} from own")
        if not sources:
            return 0, 0, []
        condition = "" if self._spec.additions else self._only_known_sql()
        source = " union all ".join(sources)
        merged = sum_adds_sql(f"(select * from ({source}) a {condition})")
        target = self._work.scratch / f"added-{number}.parquet"
        kernel.write(merged, str(target))
        links, targets = kernel.rows(
            "select coalesce(sum(inlinks), 0)::BIGINT, count(*) filter (inlinks > 0) "
            f"from {parquet([str(target)])}"
        )[0]
        if condition:
            total, added = (
                int(kernel.value(f"select coalesce(sum(cash), 0) from {rows}"))
                for rows in (f"({source})", parquet([str(target)]))
            )
            self._refused = total - added
        if self._spec.dry:
            return links, targets, []
        plan = FilePlan(CRAWLDB, number, "add", self._spec.version)
        file = publish(self._work.storage, target, plan)
        return links, targets, [] if file is None else [file]

    def _gifts_sql(self, seeds: BucketFiles) -> str:
        """Return SQL of the gifts of the virtual page to the seeds of the bucket."""
        within = self._bucket.within
        where = "true" if within is None else within.condition("page")
        pages = f"select page from ({pages_sql(self._work, seeds)}) where {where}"
        values = {"key": "page", "cash": str(self._spec.gift)}
        columns = ", ".join(
            f'({values.get(c.name, "null")})::{c.type} as "{c.name}"' for c in ADD_COLUMNS
        )
        return f"select {columns} from ({pages})"

    def _only_known_sql(self) -> str:
        """Return an SQL condition for known URLs."""
        if not self._bucket.all:
            return "where false"
        query = fold_query(*self._local, interval=0, columns=("key",), order=False)
        return f"semi join ({query}) using (key)"
