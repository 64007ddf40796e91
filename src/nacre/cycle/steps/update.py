"""The step `update`: what was fetched goes into the table of URLs.

Source: Nutch, `CrawlDb` and its reducer (reference N 1.4). One reduce for each group of buckets:
visits become rows of groups of columns by the state machine, links to a URL become one row that is
added. The list of a unit has the row that each of its URLs had; only what was committed since is
looked at beside it, and other URLs (targets of redirects) are looked up. So the cost of the step
follows what was fetched, and not what is known.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.assembly.rule_checks import mime_rates
from nacre.crawldb.fold import fold_query, merge_query
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.revisits import RevisitSchedule, revisits_of
from nacre.crawldb.row import ADD_COLUMNS, Status, bucket_of, group_columns
from nacre.crawldb.scoring import virtual_share
from nacre.crawldb.settings import UpdateSettings
from nacre.crawldb.transition import (
    FetchOutcome,
    FinalVisit,
    StateChange,
    StateRow,
    transition,
)
from nacre.cycle.admission import Admission, all_seed_lines
from nacre.cycle.rounds import FETCHED, UPDATED, waiting
from nacre.cycle.seedlist import InjectedSeed, read_seed_list
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.inject import write_rows
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    LocalBucket,
    TaskPlace,
    TaskWork,
    added_files,
    buckets_of,
    local_bucket,
    publish,
)
from nacre.cycle.versions import CycleChanges, CycleVersion, SegmentState, TableFile
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.errors import JobError
from nacre.recrawl.planner.schedules.nutch import NutchRates
from nacre.recrawl.planner.schedules.timetable import ScheduleSettings

_GROUP_ROWS = 400_000
"""Visits and added rows of a task, as far as they lie in several buckets."""
_NEW = "new"
"""The old status of a URL that was not known."""

_STATE = tuple(column.name for column in group_columns("state"))
_CAPTURE = tuple(column.name for column in group_columns("capture"))
_LISTED = ("key", *_STATE, "leased")
_FACTS = (
    "key", "status", "reason", "time", "signature", "modified", "retry_after", "mime",
    "via", "path", "source", *_CAPTURE,
)  # fmt: skip


class UpdateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        additions: URLs that links name are added.
    """

    additions: bool = True


class UpdateResult(NamedTuple):
    """Counts of an update.

    Attributes:
        segments: The segments.
        visits: Final visits.
        not_attempted: URLs of the lists that were not attempted.
        links: Links, one for each page and target.
        targets: URLs that they lead to.
        transitions: Rows by old and new status, each by its name; `new` for a URL that was not
            known.
        version: The version; None where there was nothing to do.
    """

    segments: Sequence[str] = ()
    visits: int = 0
    not_attempted: int = 0
    links: int = 0
    targets: int = 0
    transitions: Mapping[tuple[str, str], int] = {}
    version: CycleVersion | None = None


class SegmentFacts(NamedTuple):
    """The files of a segment that an update reads.

    Attributes:
        name: The segment.
        parts: The folders of its parts.
    """

    name: str
    parts: tuple[str, ...]


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
        place: Where it works.
        version: Number of the version that it is for.
        buckets: The buckets with their files.
        segments: The segments.
        plan: The state machine.
        options: Options of the step.
        clock: The clock of the step, ms.
        gifts: Cash that the virtual page gives to seeds, by key, by bucket.
        dry: Count, and write nothing.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    segments: tuple[SegmentFacts, ...]
    plan: RevisitPlan
    options: UpdateOptions
    clock: int
    gifts: Mapping[int, Mapping[str, int]]
    dry: bool = False


class UpdatedFiles(NamedTuple):
    """Files and counts of a reduce.

    Attributes:
        files: By table.
        visits: Final visits.
        not_attempted: URLs that were not attempted.
        links: Links.
        targets: Rows that were added.
        transitions: By old and new status.
    """

    files: dict[str, list[TableFile]]
    visits: int
    not_attempted: int
    links: int
    targets: int
    transitions: dict[tuple[str, str], int]


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
    known: Mapping[str, Mapping[str, Any]],
    plan: RevisitPlan,
    clock: int,
    segments: Collection[str] = (),
) -> tuple[VisitRows, Counter[tuple[str, str]]]:
    """The rows of visits, and the matrix of transitions.

    Args:
        facts: One row for each URL, of the schema `crawldb.facts.VISITS`.
        known: The rows of these URLs before, as readers see them.
        plan: The state machine.
        clock: The clock of the step, ms.
        segments: The segments, whose leases end.
    """
    rows = VisitRows([], [], [], [], [], [])
    matrix: Counter[tuple[str, str]] = Counter()
    schedule = plan.revisits()
    for fact in facts:
        key = fact["key"]
        row = known.get(key)
        if row is not None and row["leased"] in segments:
            rows.lease.append({"key": key})
        old = None if row is None else StateRow(*(row[name] for name in _STATE))
        change = transition(old, _final_visit(fact), schedule, plan.update)
        if change.state is None:
            continue
        before = _NEW if old is None else Status(old.status).label
        matrix[before, Status(change.state.status).label] += 1
        _take(rows, fact, change, clock)
        if row is None:
            rows.add.append(_added(fact))
    return rows, matrix


def _final_visit(fact: Mapping[str, Any]) -> FinalVisit:
    return FinalVisit(
        status=int(fact["status"]),
        time=fact["time"] or 0,
        signature=fact["signature"],
        modified=fact["modified"] or 0,
        retry_after=fact["retry_after"],
        mime=fact["mime"] or "",
        reason=fact["reason"] or "",
    )


def _take(rows: VisitRows, fact: Mapping[str, Any], change: StateChange, clock: int) -> None:
    key = fact["key"]
    if change.state is not None:
        rows.state.append({"key": key, **change.state._asdict()})
    if change.outcome is not FetchOutcome.NOT_ATTEMPTED and fact["record_id"] is not None:
        rows.capture.append({"key": key, **{name: fact[name] for name in _CAPTURE}})
    if change.no_duplicate:
        rows.duplicate.append({"key": key, "dup_of": None})
    if change.purged:
        rows.purge.append({"key": key, "purged": clock})


def _added(fact: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a URL that was fetched and that no link names: the target of a redirect."""
    found = {name: fact[name] for name in ("key", "via", "path", "source")}
    return {**found, "score": 0, "cash": 0, "inlinks": 0, "first_seen": (fact["time"] or 0) // 1000}


# ---- the task


def update_task(spec: UpdateSpec) -> UpdatedFiles:
    """Reduce what was fetched for some buckets."""
    files: list[TableFile] = []
    matrix: Counter[tuple[str, str]] = Counter()
    visits = left = links = targets = 0
    with spec.place.open() as work:
        sources = _sources(work, spec)
        for bucket in spec.buckets:
            reduce = _BucketReduce(work, spec, bucket, sources)
            found = reduce.run()
            files += found.files.get(CRAWLDB, [])
            matrix.update(found.transitions)
            visits, left = visits + found.visits, left + found.not_attempted
            links, targets = links + found.links, targets + found.targets
    return UpdatedFiles({CRAWLDB: files}, visits, left, links, targets, dict(matrix))


class _FactSources(NamedTuple):
    """The files of facts, in SQL; "" where there are none."""

    visits: str
    adds: str


def _sources(work: TaskWork, spec: UpdateSpec) -> _FactSources:
    def local(names: Sequence[str]) -> str:
        paths = [str(localized(work.storage, name, work.scratch)) for name in names]
        return parquet(paths) if paths else ""

    parts = [part for segment in spec.segments for part in segment.parts]
    return _FactSources(
        local([f"{part}/visits.parquet" for part in parts]),
        local([f"{part}/adds.parquet" for part in parts]),
    )


class _BucketReduce:
    """The reduce of one bucket."""

    def __init__(
        self, work: TaskWork, spec: UpdateSpec, bucket: BucketFiles, sources: _FactSources
    ) -> None:
        self._work = work
        self._spec = spec
        self._bucket = bucket
        self._sources = sources
        self._local = local_bucket(work.storage, bucket, work.scratch)

    def run(self) -> UpdatedFiles:
        facts = self._facts()
        known = self._known([fact["key"] for fact in facts])
        names = {segment.name for segment in self._spec.segments}
        rows, matrix = visit_rows(facts, known, self._spec.plan, self._spec.clock, names)
        left = sum(1 for fact in facts if fact["reason"] is not None)
        links, targets, added = self._adds(rows.add)
        files = [] if self._spec.dry else [*self._written(rows), *added]
        return UpdatedFiles({CRAWLDB: files}, len(facts) - left, left, links, targets, dict(matrix))

    def _facts(self) -> list[dict[str, Any]]:
        """The last visit of each URL; one that was attempted counts more than one that was not."""
        if not self._sources.visits:
            return []
        columns = ", ".join(f'"{name}"' for name in _FACTS)
        order = "reason is null desc, time desc nulls last, status"
        found: list[dict[str, Any]] = self._work.kernel.arrow(
            f"select {columns} from {self._sources.visits} where bucket = {self._bucket.bucket} "
            f"qualify row_number() over (partition by key order by {order}) = 1 order by key"
        ).to_pylist()
        return found

    def _known(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The rows of some URLs, as readers see them."""
        if not keys:
            return {}
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._work.kernel.load("wanted", pa.table({"key": pa.array(keys, pa.string())}))
        if not self._bucket.all:
            return {}
        few = self._filtered(keys)
        query = fold_query(*few, interval=0, columns=_LISTED, order=False)
        found = self._work.kernel.arrow(query).to_pylist()
        return {row["key"]: row for row in found}

    def _filtered(self, keys: Sequence[str]) -> LocalBucket:
        """The files of the bucket with the rows of some keys alone."""
        first, last = quoted(min(keys)), quoted(max(keys))
        made = iter(range(len(self._bucket.all)))

        def few(path: str) -> str:
            target = str(self._work.scratch / f"few-{self._bucket.bucket}-{next(made)}.parquet")
            self._work.kernel.write(
                f"select f.* from {parquet([path])} f semi join wanted using (key) "
                f"where f.key between {first} and {last}",
                target,
            )
            return target

        local = self._local
        return LocalBucket(
            [few(path) for path in local.base],
            [(few(path), group) for path, group in local.sets],
            [few(path) for path in local.adds],
        )

    def _written(self, rows: VisitRows) -> Iterator[TableFile]:
        number, version = self._bucket.bucket, self._spec.version
        for group in ("state", "capture", "lease", "duplicate", "purge"):
            plan = FilePlan(CRAWLDB, number, "set", version, group)
            file = write_rows(self._work, plan, getattr(rows, group))
            if file is not None:
                yield file

    def _adds(self, more: Sequence[Mapping[str, Any]]) -> tuple[int, int, list[TableFile]]:
        """The links to URLs of the bucket in one row for each, and what else is added."""
        kernel, number = self._work.kernel, self._bucket.bucket
        columns = ", ".join(f'"{column.name}"' for column in ADD_COLUMNS)
        sources = []
        if self._sources.adds:
            sources.append(f"select {columns} from {self._sources.adds} where bucket = {number}")
        gifts = self._spec.gifts.get(number, {})
        own = [*more, *({"key": key, "cash": cash} for key, cash in sorted(gifts.items()))]
        if own:
            import pyarrow as pa  # noqa: PLC0415 - an extra

            from nacre.crawldb.row import ADD_SCHEMA  # noqa: PLC0415 - made of Arrow

            kernel.load("own", pa.Table.from_pylist(own, ADD_SCHEMA))
            sources.append(f"select {columns} from own")
        if not sources:
            return 0, 0, []
        path = self._work.scratch / f"adds-{number}.parquet"
        kept = "" if self._spec.options.additions else self._only_known()
        kernel.write(f"select * from ({' union all '.join(sources)}) a {kept}", str(path))
        links, targets = kernel.rows(
            f"select coalesce(sum(inlinks), 0)::BIGINT, count(distinct key) filter (inlinks > 0) "
            f"from {parquet([str(path)])}"
        )[0]
        if self._spec.dry:
            return links, targets, []
        names = [column.name for column in ADD_COLUMNS]
        merged = merge_query([], [], [str(path)], columns=names)
        target = self._work.scratch / f"added-{number}.parquet"
        kernel.write(f"select {columns} from ({merged}) order by key", str(target))
        plan = FilePlan(CRAWLDB, number, "add", self._spec.version)
        file = publish(self._work.storage, target, plan)
        return links, targets, [] if file is None else [file]

    def _only_known(self) -> str:
        """A condition that lets known URLs alone through, in SQL."""
        if not self._bucket.all:
            return "where false"
        query = fold_query(*self._local, interval=0, columns=("key",), order=False)
        return f"semi join ({query}) using (key)"


# ---- the driver


def update(
    context: StepContext, options: UpdateOptions, segments: Sequence[str] = ()
) -> UpdateResult:
    """Bring what was fetched into the table.

    Args:
        context: What the step works with.
        options: Options of the step.
        segments: The segments; none for all that were fetched and not updated.

    Raises:
        JobError: There is no such segment, or it was not fetched.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    names = _chosen(version, segments)
    if not names:
        return UpdateResult()
    facts = tuple(_facts_of(name, version.segments[name]) for name in names)
    plan = revisit_plan(context)
    gifts, rest = _virtual(context, version, names)
    specs = [
        UpdateSpec(
            context.place, version.number + 1, group, facts, plan, options, context.clock,
            {one.bucket: gifts[one.bucket] for one in group if one.bucket in gifts}, context.dry,
        )
        for group in _groups(context, version, facts, gifts)
    ]  # fmt: skip
    results = context.engine.map(update_task, specs)
    found = _summed(names, results)
    if context.dry:
        return found
    changes = CycleChanges(
        step="update",
        clock=context.clock,
        options={"segments": list(names), "additions": options.additions},
        counters=update_counters(found),
        added=added_files(one.files for one in results),
        segments=_updated(version, names, rest),
    )
    return found._replace(version=context.cycle.commit(version, changes))


def _chosen(version: CycleVersion, segments: Sequence[str]) -> list[str]:
    """The segments to update; those that are updated already are left out."""
    names = list(dict.fromkeys(segments)) or waiting(version, FETCHED)
    for name in names:
        state = version.segments.get(name)
        if state is None:
            known = ", ".join(sorted(version.segments)) or "none"
            raise JobError(f"there is no segment {name}; there are: {known}")
        if state.state not in (FETCHED, UPDATED):
            raise JobError(f"segment {name} is not fetched yet: `nacre cycle DIR fetch {name}`")
    return [name for name in names if version.segments[name].state == FETCHED]


def _facts_of(name: str, state: SegmentState) -> SegmentFacts:
    parts = tuple(part for _, parts in sorted(state.parts.items()) for part in parts)
    return SegmentFacts(name, parts)


def revisit_plan(context: StepContext) -> RevisitPlan:
    """The state machine of a job.

    Raises:
        ConfigError: The file of rates cannot be read.
    """
    settings = context.settings
    rates = mime_rates(settings, RuleFiles(context.layout.root))
    return RevisitPlan(settings.recrawl.schedule, dict(rates), settings.cycle.update)


def _groups(
    context: StepContext,
    version: CycleVersion,
    facts: Sequence[SegmentFacts],
    gifts: Mapping[int, object],
) -> list[tuple[BucketFiles, ...]]:
    """Buckets in tasks, by the rows that were fetched for them."""
    known = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
    rows = _rows_by_bucket(context, facts)
    rows.update(dict.fromkeys(gifts, 1))
    share = max(1, sum(rows.values()) // max(context.engine.workers, 1))
    most = min(_GROUP_ROWS, max(share, 20_000))
    groups: list[tuple[BucketFiles, ...]] = []
    group: list[BucketFiles] = []
    size = 0
    for bucket in sorted(rows):
        group.append(known.get(bucket, BucketFiles(bucket)))
        size += rows[bucket]
        if size >= most:
            groups.append(tuple(group))
            group, size = [], 0
    return [*groups, tuple(group)] if group else groups


def _rows_by_bucket(context: StepContext, facts: Sequence[SegmentFacts]) -> Counter[int]:
    """Rows of visits and added rows by bucket."""
    found: Counter[int] = Counter()
    names = [
        f"{part}/{kind}.parquet"
        for segment in facts
        for part in segment.parts
        for kind in ("visits", "adds")
    ]
    with context.place.open() as work:
        for name in names:
            source = parquet([str(localized(work.storage, name, work.scratch))])
            counted = work.kernel.rows(f"select bucket, count(*) from {source} group by 1")
            found.update(dict(counted))
    return found


def _virtual(
    context: StepContext, version: CycleVersion, names: Sequence[str]
) -> tuple[dict[int, dict[str, int]], int]:
    """What the virtual page of `opic` gives to each seed, by bucket and key; and what it keeps."""
    cash = sum(int(one.more.get("virtual", 0)) for one in version.segments.values())
    if not cash:
        return {}, 0
    settings, root = context.settings, context.layout.root
    lines = all_seed_lines(settings, root, context.cycle.storage, version)
    admission = Admission(settings, root, lines)
    seeds = {
        admission.key(admission.seed_form(one.seed).url)
        for one in read_seed_list(lines)
        if isinstance(one, InjectedSeed)
    }
    share, rest = virtual_share(cash, len(seeds))
    if not share:
        return {}, cash
    buckets = version.tables[CRAWLDB].buckets
    gifts: dict[int, dict[str, int]] = {}
    for key in seeds:
        gifts.setdefault(bucket_of(key, buckets), {})[key] = share
    return gifts, rest


def _updated(
    version: CycleVersion, names: Sequence[str], rest: int
) -> dict[str, SegmentState | None]:
    """The segments with their new states; the newest keeps what the virtual page keeps."""
    changed: dict[str, SegmentState | None] = {}
    for name, state in version.segments.items():
        if name in names or state.more.get("virtual"):
            more = {**state.more, "virtual": rest if name == max(names) else 0}
            new = UPDATED if name in names else state.state
            changed[name] = msgspec.structs.replace(state, state=new, more=more)
    return changed


def _summed(names: Sequence[str], results: Sequence[UpdatedFiles]) -> UpdateResult:
    matrix: Counter[tuple[str, str]] = Counter()
    for one in results:
        matrix.update(one.transitions)
    return UpdateResult(
        tuple(names),
        sum(one.visits for one in results),
        sum(one.not_attempted for one in results),
        sum(one.links for one in results),
        sum(one.targets for one in results),
        dict(matrix),
    )


def update_counters(found: UpdateResult) -> dict[str, Any]:
    """The counters that a version keeps of an update."""
    return {
        "visits": found.visits,
        "not_attempted": found.not_attempted,
        "links": found.links,
        "targets": found.targets,
        "transitions": [
            {"old": old, "new": new, "rows": rows}
            for (old, new), rows in sorted(found.transitions.items())
        ],
    }
