"""The step `generate`: which URLs are fetched next, as lists for units.

Source: Nutch, `Generator` (reference N 1.6), with counts over all buckets and not for each reducer.
Four passes, each a map over tasks: `select` folds the buckets, judges and refuses, and keeps the
candidates; `measure` counts what was chosen by host, once the place in the order is known from
which on URLs are taken; `lease` writes the leases and what goes to each unit; `list` writes the
lists. Only the first reads the table.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from nacre.crawldb.fold import fold_query, seen_query
from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.row import COLUMNS, status_of
from nacre.crawldb.scoring import sort_sql
from nacre.crawldb.select import (
    NOWHERE,
    Bracket,
    OrderPoints,
    Place,
    SelectCounts,
    SelectOptions,
    bracket,
    check_where,
    number_candidates,
    order_points,
    refuse,
)
from nacre.crawldb.units import HostWork, PackedUnits, pack
from nacre.cycle.admission import Admission, all_seed_lines
from nacre.cycle.compaction import merge_bucket, needs_merge
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.judging import RulesOfStep, judge_rows, rules_of_step
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    local_bucket,
    local_file,
    publish,
)
from nacre.cycle.unit import freeze
from nacre.cycle.versions import CycleChanges, CycleVersion, SegmentState, TableFile
from nacre.errors import ConfigError, JobError, Problem

LATENCY = 0.2
"""Expected time of a fetch itself, s; a guess that decides only how long a list seems to take."""
_LOOKS = 40
_COLUMNS = ", ".join(f'"{column.name}"' for column in COLUMNS)


class GenerateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        top: URLs of each segment, the best first; 0: all that are due.
        units: Units of each segment; at least 1.
        segments: Segments.
        where: An expression over the columns, in SQL; "" for none beside that of the settings.
        add_days: Days by which the clock is ahead.
        filter: Rules judge what other rules judged last.
        time_limit: Longest fetch, s; what needs longer stays due. 0: no limit.
    """

    top: int = 50_000
    units: int = 1
    segments: int = 1
    where: str = ""
    add_days: float = 0.0
    filter: bool = True
    time_limit: float = 0.0


class GenerateResult(NamedTuple):
    """Counts of what was generated, and of why the rest was not.

    Attributes:
        known: URLs that are known.
        fresh: Of these, the ones that no generate has seen yet.
        due: Candidates: due and refused by nothing.
        refused: Refusals by reason, in the order of the tests.
        excluded: Refusals by rules: by file and line, or by name of the rule.
        next_due: When the first of those becomes due that are not, ms; None for none.
        segments: The new segments.
        selected: URLs of their lists.
        units: Units of all segments.
        longest: Expected time of the longest unit, s.
        slowest: The host that decides it; "" for none.
        slowest_urls: Its URLs.
        slowest_delay: Time between two of its fetches, s.
        cut: URLs that stay due because their hosts need longer than the time limit.
        cut_hosts: Those hosts.
        version: The version; None where nothing was committed.
    """

    known: int = 0
    fresh: int = 0
    due: int = 0
    refused: Mapping[str, int] = {}
    excluded: Mapping[str, int] = {}
    next_due: int | None = None
    segments: Sequence[str] = ()
    selected: int = 0
    units: int = 0
    longest: float = 0.0
    slowest: str = ""
    slowest_urls: int = 0
    slowest_delay: float = 0.0
    cut: int = 0
    cut_hosts: int = 0
    version: CycleVersion | None = None


# ---- the tasks


class SelectSpec(NamedTuple):
    """The first pass over some buckets.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        buckets: The buckets.
        options: Which rows may be chosen.
        rules: Judges rows that other rules judged last; None: nothing is judged.
        interval: Interval of a row that has none, s.
        since: Rows that were found later are fresh, ms.
        most: Candidates that the task keeps, the best first; 0: all.
        segments: Lists that are made.
        exchange: Name of the file for them.
        dry: Write nothing into the table.
    """

    place: TaskPlace
    version: int
    buckets: tuple[BucketFiles, ...]
    options: SelectOptions
    rules: RulesOfStep | None
    interval: int
    since: int
    most: int
    segments: int
    exchange: str
    dry: bool


class SelectedFiles(NamedTuple):
    """Files and counts of the first pass.

    Attributes:
        counts: What its buckets have.
        kept: Candidates in the exchanged file.
        added: New base files, and what was judged.
        dropped: Files that the new base files replace.
        judged: Rows that were judged.
        readmitted: Rows that rules let in again.
    """

    counts: SelectCounts
    kept: int
    added: tuple[TableFile, ...]
    dropped: frozenset[str]
    judged: int = 0
    readmitted: int = 0


def select_task(spec: SelectSpec) -> SelectedFiles:
    """Fold, judge and refuse the rows of some buckets; the candidates go to an exchanged file."""
    counts: list[SelectCounts] = []
    added: list[TableFile] = []
    dropped: set[str] = set()
    judged = readmitted = 0
    with spec.place.open() as work:
        _empty_candidates(work)
        admission: Admission | None = None
        for bucket in spec.buckets:
            query = _seen(work, spec, bucket, added, dropped)
            work.kernel.execute(f"create or replace temp table seen as {query}")
            if spec.rules is not None:
                if admission is None:
                    admission = spec.rules.admission(work.scratch)
                found, rows = judge_rows(work.kernel, "seen", admission, spec.rules.hash)
                judged, readmitted = judged + found.asked, readmitted + found.readmitted
                if rows and not spec.dry:
                    plan = FilePlan(CRAWLDB, bucket.bucket, "set", spec.version, "admission")
                    added += _published(work, rows, plan)
            counts.append(refuse(work.kernel, "seen", spec.options, spec.since))
            work.kernel.execute(
                f"insert into kept select c.host, c.cap, c.sort, c.tie, {bucket.bucket} as bucket, "
                f"r.* from candidates c join seen r using (key)"
            )
        kept = _exchange(work, spec)
    total = _summed(counts)
    return SelectedFiles(total, kept, tuple(added), frozenset(dropped), judged, readmitted)


def _empty_candidates(work: TaskWork) -> None:
    columns = ", ".join(f'"{one.name}" {one.type}' for one in COLUMNS)
    work.kernel.execute(
        "create temp table kept (host VARCHAR, cap VARCHAR, sort DOUBLE, tie UBIGINT, "
        f"bucket INTEGER, {columns})"
    )


def _seen(
    work: TaskWork, spec: SelectSpec, bucket: BucketFiles, added: list[TableFile], dropped: set[str]
) -> str:
    """SQL of the rows of a bucket, which gets a new base when its differences are many."""
    if spec.dry or not needs_merge(bucket):
        local = local_bucket(work.storage, bucket, work.scratch)
        return fold_query(*local, interval=spec.interval, order=False)
    merged = merge_bucket(work, CRAWLDB, bucket, spec.version)
    added += merged.added
    dropped |= merged.dropped
    paths = [local_file(work.storage, file, work.scratch) for file in merged.added]
    return seen_query(f"(select * from {parquet(paths)})", interval=spec.interval)


def _published(work: TaskWork, query: str, plan: FilePlan) -> list[TableFile]:
    path = work.scratch / f"{plan.group}-{plan.bucket}.parquet"
    work.kernel.write(query, str(path))
    file = publish(work.storage, path, plan)
    return [file] if file is not None else []


def _exchange(work: TaskWork, spec: SelectSpec) -> int:
    """Write the candidates that may be in a list: no task has more than all lists together."""
    best = f"order by sort desc, tie desc limit {spec.most}" if spec.most else ""
    cap = spec.options.max_count
    if cap and spec.most:
        order = "row_number() over (partition by cap order by sort desc, tie desc)"
        best = f"qualify {order} <= {cap * spec.segments} {best}"
    path = work.scratch / "kept.parquet"
    written = work.kernel.write(f"select * from kept {best}", str(path))
    if written.rows:
        work.storage.upload(path, spec.exchange)
    return written.rows


def _summed(counts: Sequence[SelectCounts]) -> SelectCounts:
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
        exchange: The file of the candidates.
        options: For the cap.
        ends: Where the lists end that are known.
        between: The bracket to look at.
    """

    place: TaskPlace
    exchange: str
    options: SelectOptions
    ends: tuple[Place | None, ...]
    between: Bracket = NOWHERE


def _load_candidates(work: TaskWork, name: str) -> str:
    """Make the table `candidates` of an exchanged file; its local path, in SQL."""
    source = parquet([str(localized(work.storage, name, work.scratch))])
    work.kernel.execute(
        f"create or replace temp table candidates as select key, host, cap, sort, tie from {source}"
    )
    return source


def look_task(spec: LookSpec) -> OrderPoints:
    """The places of the candidates of a task."""
    with spec.place.open() as work:
        _load_candidates(work, spec.exchange)
        table = number_candidates(work.kernel, spec.options, spec.ends)
        return order_points(work.kernel, table, spec.between)


def measure_task(spec: LookSpec) -> list[tuple[int, str, int]]:
    """The URLs of each host in each list, counted: segment, host, URLs."""
    with spec.place.open() as work:
        _load_candidates(work, spec.exchange)
        number_candidates(work.kernel, spec.options, spec.ends)
        return work.kernel.rows(
            "select segment, host, count(*) from chosen group by all order by all"
        )


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
    """

    look: LookSpec
    plans: tuple[HostPlan, ...]
    segments: tuple[str, ...]
    until: int
    version: int
    exchange: str


def lease_task(spec: LeaseSpec) -> list[TableFile]:
    """Write leases by bucket, and the rows of the lists for their units."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    with spec.look.place.open() as work:
        kernel = work.kernel
        source = _load_candidates(work, spec.look.exchange)
        number_candidates(kernel, spec.look.options, spec.look.ends)
        columns = zip(*spec.plans, strict=True)
        kernel.load("plans", pa.table(dict(zip(HostPlan._fields, map(list, columns), strict=True))))
        kernel.execute(
            "create temp table listed as select c.key, c.segment, p.unit, p.delay from chosen c "
            "join plans p using (segment, host) qualify p.most = 0 or row_number() over "
            "(partition by c.segment, c.host order by c.sort desc, c.tie desc) <= p.most"
        )
        path = work.scratch / "listed.parquet"
        kernel.write(
            f"select l.segment, l.unit, l.delay, r.* from {source} r join listed l using (key) "
            "order by segment, unit",
            str(path),
        )
        work.storage.upload(path, spec.exchange)
        return [file for file in _leases(work, spec, source) if file is not None]


def _leases(work: TaskWork, spec: LeaseSpec, source: str) -> "list[TableFile | None]":
    names = " ".join(
        f"when {number} then {quoted(name)}" for number, name in enumerate(spec.segments)
    )
    work.kernel.execute(
        f"create temp table leases as select l.key, case l.segment {names} end as leased, "
        f"{spec.until}::BIGINT as leased_until, r.bucket from listed l join {source} r using (key)"
    )
    found: list[TableFile | None] = []
    for (bucket,) in work.kernel.rows("select distinct bucket from leases order by 1"):
        path = work.scratch / f"lease-{bucket}.parquet"
        work.kernel.write(
            f"select key, leased, leased_until from leases where bucket = {bucket} order by key",
            str(path),
        )
        plan = FilePlan(CRAWLDB, int(bucket), "set", spec.version, "lease")
        found.append(publish(work.storage, path, plan))
    return found


class ListSpec(NamedTuple):
    """The list of one unit.

    Attributes:
        place: Where it works.
        sources: The files of the third pass.
        segment: The segment, from 0.
        unit: The unit, from 0.
        name: Name of the list.
    """

    place: TaskPlace
    sources: tuple[str, ...]
    segment: int
    unit: int
    name: str


def list_task(spec: ListSpec) -> int:
    """Write the list of a unit, in rounds over its hosts by sort value; how many URLs it has."""
    with spec.place.open() as work:
        paths = [str(localized(work.storage, name, work.scratch)) for name in spec.sources]
        path = work.scratch / "list.parquet"
        turn = "row_number() over (partition by host order by sort desc, tie desc)"
        written = work.kernel.write(
            f"select {_COLUMNS}, row_number() over (order by turn, sort desc, tie desc) - 1 as "
            f'"order", delay from (select *, {turn} as turn from {parquet(paths)} where '
            f"segment = {spec.segment} and unit = {spec.unit}) order by turn, sort desc, tie desc",
            str(path),
        )
        work.storage.upload(path, spec.name)
        return written.rows


# ---- the driver


def generate(context: StepContext, options: GenerateOptions) -> GenerateResult:
    """Choose what is fetched next, and write the lists.

    Args:
        context: What the step works with.
        options: What is chosen.

    Raises:
        JobError: Nothing was injected yet.
        UserSqlError: A condition is none.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    if CRAWLDB not in version.tables:
        root = context.layout.root
        raise JobError(f"{root} knows no URLs yet: `nacre cycle {root} -s URL` brings seeds in")
    return _Generating(context, options, version).run()


class _Generating:
    """One generate."""

    def __init__(
        self, context: StepContext, options: GenerateOptions, version: CycleVersion
    ) -> None:
        self._context = context
        self._options = options
        self._version = version
        self._number = version.number + 1
        self._folder = f"exchange/generate-{self._number}-{secrets.token_hex(6)}"
        self._select = select_options(context, options)
        self._rules = 0

    def run(self) -> GenerateResult:
        try:
            return self._run()
        finally:
            storage = self._context.cycle.storage
            for file in storage.walk(self._folder):
                storage.delete(file.name)

    def _run(self) -> GenerateResult:
        conditions = [self._context.settings.cycle.generate.where, self._options.where]
        if any(conditions):
            with self._context.place.open() as work:
                for text in filter(None, conditions):
                    check_where(work.kernel, text)
        selected, looks = self._selected()
        counts = _summed([one.counts for one in selected])
        found = GenerateResult(
            counts.known, counts.fresh, counts.due, counts.refused, counts.excluded,
            counts.next_due,
        )  # fmt: skip
        if not looks:
            for file in (file for one in selected for file in one.added):
                self._context.cycle.storage.delete(file.path)
            return found
        ends: list[Place | None] = []
        while len(ends) < self._options.segments:
            ends.append(self._end(looks, tuple(ends), sum(one.kept for one in selected)))
            if ends[-1] is None and not self._select.max_count:
                break
        looks = [look._replace(ends=tuple(ends)) for look in looks]
        measured = self._context.engine.map(measure_task, looks)
        packs = self._packed(measured, len(ends))
        found = _with_units(found, packs)
        if self._context.dry:
            return found
        return self._committed(found, selected, looks, measured, packs)

    def _selected(self) -> tuple[list[SelectedFiles], list[LookSpec]]:
        """The first pass, and what the others are given of its candidates."""
        context, options = self._context, self._options
        buckets = buckets_of(context.cycle, self._version, CRAWLDB)
        rules = rules_of_step(context, self._version) if options.filter else None
        self._rules = rules.hash if rules is not None else 0
        since = self._last_generate()
        specs = [
            SelectSpec(
                context.place, self._number, group, self._select, rules, context.interval, since,
                options.top * options.segments, options.segments,
                f"{self._folder}/kept-{number}.parquet", context.dry,
            )
            for number, group in enumerate(in_tasks(buckets, tasks=context.engine.workers))
        ]  # fmt: skip
        selected = context.engine.map(select_task, specs)
        looks = [
            LookSpec(context.place, spec.exchange, self._select, ())
            for spec, one in zip(specs, selected, strict=True)
            if one.kept
        ]
        return selected, looks

    def _last_generate(self) -> int:
        """The clock of the last generate, ms; 0 before the first."""
        states = self._version.segments.values()
        return max((int(one.more.get("clock", 0)) for one in states), default=0)

    def _end(
        self, looks: Sequence[LookSpec], ends: tuple[Place | None, ...], kept: int
    ) -> Place | None:
        """The place where the next list ends; None: it takes all that is left."""
        top = self._options.top
        if not top or (kept <= top and not ends):
            return None
        now = NOWHERE
        for _ in range(_LOOKS):
            specs = [look._replace(ends=ends, between=now) for look in looks]
            now = bracket(self._context.engine.map(look_task, specs), top, now)
            if now.found:
                return now.lower
        raise RuntimeError("the end of a list was not found")

    def _packed(
        self, measured: Sequence[Sequence[tuple[int, str, int]]], segments: int
    ) -> list[PackedUnits]:
        """The hosts of each list in units."""
        delay = expected_delay(self._context)
        works: list[list[HostWork]] = [[] for _ in range(segments)]
        for found in measured:
            for segment, host, urls in found:
                works[segment].append(HostWork(host, urls, delay))
        return [pack(one, self._options.units, self._options.time_limit) for one in works if one]

    def _committed(
        self,
        found: GenerateResult,
        selected: Sequence[SelectedFiles],
        looks: Sequence[LookSpec],
        measured: Sequence[Sequence[tuple[int, str, int]]],
        packs: Sequence[PackedUnits],
    ) -> GenerateResult:
        context = self._context
        names = segment_names(context.clock, len(packs), self._version)
        until = context.clock + round(context.settings.cycle.generate.lease * 1000)
        delay = expected_delay(context)
        specs = [
            LeaseSpec(
                look, tuple(_plans(hosts, packs, delay)), names, until, self._number,
                f"{self._folder}/listed-{number}.parquet",
            )
            for number, (look, hosts) in enumerate(zip(looks, measured, strict=True))
        ]  # fmt: skip
        leases = context.engine.map(lease_task, specs)
        sources = tuple(spec.exchange for spec in specs)
        lists = [
            ListSpec(context.place, sources, number, unit, list_name(names[number], unit))
            for number, one in enumerate(packs)
            for unit in range(len(one.seconds))
        ]
        rows = context.engine.map(list_task, lists)
        urls: Counter[int] = Counter()
        for spec, count in zip(lists, rows, strict=True):
            urls[spec.segment] += count
        segments = {
            name: SegmentState(
                state="generated", units=len(packs[number].seconds), urls=urls[number], until=until,
                more={
                    "clock": context.clock,
                    "seconds": max(packs[number].seconds),
                    "rules": self._rules,
                },
            )
            for number, name in enumerate(names)
        }  # fmt: skip
        version = self._commit(found, selected, leases, segments)
        return found._replace(segments=names, selected=sum(rows), version=version)

    def _commit(
        self,
        found: GenerateResult,
        selected: Sequence[SelectedFiles],
        leases: Sequence[Sequence[TableFile]],
        segments: Mapping[str, SegmentState],
    ) -> CycleVersion:
        context = self._context
        for name in segments:
            self._freeze(name)
        files = [file for one in selected for file in one.added]
        files += [file for one in leases for file in one]
        changes = CycleChanges(
            step="generate",
            clock=context.clock,
            options={name: value for name, value in self._options._asdict().items() if value},
            counters=generate_counters(found),
            added={CRAWLDB: files},
            dropped={CRAWLDB: {name for one in selected for name in one.dropped}},
            segments=dict(segments),
        )
        return context.cycle.commit(self._version, changes)

    def _freeze(self, segment: str) -> None:
        """Write the settings and seeds that the units of a segment have."""
        context = self._context
        storage, settings = context.cycle.storage, context.settings
        lines = all_seed_lines(settings, context.layout.root, storage, self._version)
        freeze(context.layout, context.loaded, lines, storage, segment)


def select_options(context: StepContext, options: GenerateOptions) -> SelectOptions:
    """The conditions on rows, by settings and options.

    Raises:
        ConfigError: A setting names a status that does not exist.
    """
    generate, schedule = context.settings.cycle.generate, context.settings.recrawl.schedule
    pulls = schedule.kind.startswith("nutch-")
    conditions = [f"({text}\n)" for text in (generate.where, options.where) if text]
    try:
        status = int(status_of(generate.status)) if generate.status else 0
    except ValueError as error:
        raise ConfigError([Problem("cycle.generate.status", str(error))]) from None
    return SelectOptions(
        now=context.clock + round(options.add_days * 86_400_000),
        sort=sort_sql(context.settings.cycle.scoring),
        interval_max=round(schedule.nutch.interval_max) if pulls else 0,
        where=" and ".join(conditions),
        status=status,
        min_sort=generate.min_score,
        max_interval=round(generate.max_interval),
        cap_by=generate.count,
        max_count=generate.max_count,
    )


def expected_delay(context: StepContext) -> float:
    """Expected time from one fetch of a host to the next, s."""
    polite = context.settings.politeness
    if polite.delay is not None:
        return max(polite.delay, LATENCY / polite.in_flight if not polite.delay else 0.0)
    return min(max(LATENCY * polite.delay_factor, polite.min_delay), polite.max_delay)


def _plans(
    hosts: Sequence[tuple[int, str, int]], packs: Sequence[PackedUnits], delay: float
) -> list[HostPlan]:
    return [
        HostPlan(
            segment, host, packs[segment].unit_of[host], delay, packs[segment].most.get(host, 0)
        )
        for segment, host, _ in hosts
    ]


def _with_units(found: GenerateResult, packs: Sequence[PackedUnits]) -> GenerateResult:
    slowest = max(
        (one.longest for one in packs if one.longest is not None), key=lambda one: one.seconds
    )
    return found._replace(
        selected=sum(one.urls for one in packs),
        units=sum(len(one.seconds) for one in packs),
        longest=sum(max(one.seconds) for one in packs),
        slowest=slowest.name,
        slowest_urls=slowest.urls,
        slowest_delay=slowest.delay,
        cut=sum(one.cut for one in packs),
        cut_hosts=sum(len(one.most) for one in packs),
    )


def generate_counters(found: GenerateResult) -> dict[str, Any]:
    """The counters that a version keeps of a generate."""
    return {
        "known": found.known,
        "due": found.due,
        "selected": found.selected,
        "refused": dict(found.refused),
        "excluded": dict(found.excluded),
        "cut": found.cut,
    }


def segment_names(clock: int, number: int, version: CycleVersion) -> tuple[str, ...]:
    """Names of new segments: the clock, `20261122T101500.123Z`, a millisecond apart."""
    found: list[str] = []
    while len(found) < number:
        moment = datetime.fromtimestamp(clock // 1000, UTC)
        name = f"{moment:%Y%m%dT%H%M%S}.{clock % 1000:03d}Z"
        if name not in version.segments:
            found.append(name)
        clock += 1
    return tuple(found)


def list_name(segment: str, unit: int) -> str:
    """Name of the list of a unit; units count from 1."""
    return f"segments/{segment}/lists/u{unit + 1:04d}.parquet"
