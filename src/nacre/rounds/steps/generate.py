"""The step `generate`: choose the URLs to fetch next, as lists for units.

It drives `select_tasks` and `list_tasks`. Source: Nutch, `Generator` (N 1.6); all buckets count.
"""

import contextlib
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.row import status_of
from nacre.crawldb.scoring import sort_columns, sort_sql
from nacre.crawldb.select import (
    NOWHERE,
    Place,
    SelectOptions,
    bracket,
    check_cap,
    names_rank,
    row_where,
)
from nacre.crawldb.units import HostWork, PackedUnits
from nacre.errors import ConfigError, JobError, Problem
from nacre.rounds.admission import counts_other_hosts
from nacre.rounds.segments.compaction import needs_merge
from nacre.rounds.segments.segment_files import record_segments
from nacre.rounds.segments.unit_list import write_choice
from nacre.rounds.steps.context import HostCheck, StepContext, any_hosts
from nacre.rounds.steps.host_rows import HOSTS, host_buckets, rank_buckets, select_buckets
from nacre.rounds.steps.judging import rules_of_step
from nacre.rounds.steps.limits import (
    DividedLimits,
    KeepPlan,
    divide_limits,
    fetch_spacing,
    pack_hosts,
    time_marks,
    units_at_once,
)
from nacre.rounds.steps.list_tasks import (
    HostPlan,
    LeasedFiles,
    LeaseSpec,
    ListSpec,
    LookSpec,
    MeasuredHost,
    lease_task,
    list_task,
    measure_task,
    merge_looks,
    probe_task,
)
from nacre.rounds.steps.range_tasks import find_busy_hosts, gather_ranges
from nacre.rounds.steps.seed_rows import freeze_segment, sync_seeds
from nacre.rounds.steps.select_tasks import SelectedFiles, SelectSpec, select_task, sum_counts
from nacre.rounds.storage import AlreadyThereError, Storage, remove_folder
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of, in_range_tasks
from nacre.rounds.tables.versions import (
    CycleChanges,
    CycleVersion,
    SeedTableState,
    SegmentState,
    TableFile,
)

_MOST_PROBES = 40
_MOST_DAYS = 36_500.0
"""Most days by which the clock may be ahead or behind."""
_JUDGED = ("judged", "newly_excluded", "readmitted")
_CLAIM = "made-by-one-step"
"""File of a segment that claims its folder for one step of one driver."""


class GenerateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        top: URLs of each segment, the best first; 0: all due URLs.
        units: Units of each segment; at least 1.
        segments: Segments.
        where: A further SQL condition over the columns; "" for only that of the settings.
        add_days: Days by which the clock is ahead.
        filter: Judge rows again that other rules judged last.
        normalize: Caps count a URL for its normalized host.
        time_limit: Longest fetch, s; further URLs stay due. 0: no limit.
    """

    top: int = 50_000
    units: int = 1
    segments: int = 1
    where: str = ""
    add_days: float = 0.0
    filter: bool = True
    normalize: bool = True
    time_limit: float = 0.0


class GenerateResult(NamedTuple):
    """Counts of the generated URLs, and of the refused ones.

    Attributes:
        known: Known URLs.
        fresh: Known URLs that no generate has read yet.
        due: Candidates: due and not refused.
        refused: Refusals by reason, in the order of the tests.
        excluded: Refusals by rules: by file and line, or by name of the rule.
        next_due: When the next URL becomes due, ms since the epoch; None for none.
        segments: The new segments.
        selected: URLs of their lists.
        units: Units of all segments.
        at_once: Parallel units of a segment; 0: all.
        longest: Expected time of the fetch, s.
        slowest: The host that determines it; "" for none.
        slowest_urls: URLs of this host.
        slowest_delay: Expected time from one fetch of this host to the next, s.
        cut: URLs that stay due because their hosts need longer than the time limit.
        cut_hosts: Number of these hosts.
        capped: Candidates that caps and limits of hosts and domains exclude.
        beyond: Candidates that are not among the best `top`.
        judged: Known URLs that were judged again, because other rules had judged them last.
        newly_excluded: Judged URLs that rules newly exclude.
        readmitted: Judged URLs that are no longer excluded.
        version: The version; None if nothing was committed.
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
    at_once: int = 0
    longest: float = 0.0
    slowest: str = ""
    slowest_urls: int = 0
    slowest_delay: float = 0.0
    cut: int = 0
    cut_hosts: int = 0
    capped: int = 0
    beyond: int = 0
    judged: int = 0
    newly_excluded: int = 0
    readmitted: int = 0
    version: CycleVersion | None = None


# ---- the driver


def generate(
    context: StepContext, options: GenerateOptions, check_hosts: HostCheck = any_hosts
) -> GenerateResult:
    """Choose the URLs to fetch next, and write the lists.

    Args:
        context: The context of the driver.
        options: The options of the choice.
        check_hosts: Called with the hosts of the lists before these are written.

    Raises:
        JobError: Nothing was injected yet.
        UserSqlError: A condition is invalid.
        ConfigError: From `check_hosts`.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = sync_seeds(context)
    if CRAWLDB not in version.tables:
        root = context.layout.root
        raise JobError(f"{root} knows no URLs yet: `nacre cycle {root} -s URL` brings seeds in")
    return _Generating(context, options, version, check_hosts).run()


class _Generating:
    """One generate."""

    def __init__(
        self,
        context: StepContext,
        options: GenerateOptions,
        version: CycleVersion,
        check_hosts: HostCheck,
    ) -> None:
        self._check_hosts = check_hosts
        self._context = context
        self._options = options
        self._version = version
        self._number = version.number + 1
        self._folder = f"exchange/generate-{self._number}-{secrets.token_hex(6)}"
        self._select = select_options(context, options)
        self._rules = 0
        self._ranked = False

    def run(self) -> GenerateResult:
        try:
            return self._run()
        finally:
            remove_folder(self._context.cycle.storage, self._folder)

    def _run(self) -> GenerateResult:
        self._check_sql()
        selected, looks = self._select_candidates()
        counts = sum_counts([part.counts for part in selected])
        result = GenerateResult(
            counts.known, counts.fresh, counts.due, counts.refused, counts.excluded,
            counts.next_due, capped=sum(part.capped for part in selected),
            judged=sum(part.judged for part in selected),
            newly_excluded=sum(part.newly_excluded for part in selected),
            readmitted=sum(part.readmitted for part in selected),
        )  # fmt: skip
        if not looks:
            return self._discard(result, selected)
        ends: list[Place | None] = []
        counts_kept = [part.candidates for part in selected if part.candidates]
        wide = looks if len(looks) == 1 else merge_looks(looks, counts_kept)
        while len(ends) < self._options.segments:
            ends.append(self._end(wide, tuple(ends), sum(counts_kept)))
            if ends[-1] is None and not self._select.capped:
                break
        looks = [look._replace(ends=tuple(ends)) for look in looks]
        measured = self._context.engine.map(measure_task, looks)
        packs = self._pack(measured, len(ends))
        if not packs:
            return self._discard(result, selected)
        hosts = dict.fromkeys(part.host for found_hosts in measured for part in found_hosts)
        self._check_hosts(hosts)
        result = _with_units(result, packs, units_at_once(self._context.engine))
        beyond = result.due - result.selected - result.cut - result.capped
        result = result._replace(beyond=max(0, beyond))
        if self._context.dry:
            return result
        return self._write_lists(result, selected, looks, measured, packs)

    def _check_sql(self) -> None:
        """Check conditions of users, before anything is read."""
        generate = self._context.settings.cycle.generate
        conditions = [text for text in (generate.where, self._options.where) if text]
        if not conditions and not generate.max_count_where:
            return
        with self._context.place.open() as work:
            sql = [f"({row_where(work.kernel, text)}\n)" for text in conditions]
            self._select = self._select._replace(where_sql=" and ".join(sql))
            if generate.max_count_where:
                check_cap(work.kernel, generate.max_count_where)
            self._ranked = names_rank(work.kernel, self._select)

    def _discard(self, result: GenerateResult, selected: Sequence[SelectedFiles]) -> GenerateResult:
        """Remove the files of the first pass: there is nothing to commit."""
        for files_of_task in selected:
            for file in (file for files in files_of_task.added.values() for file in files):
                self._context.cycle.storage.delete(file.path)
        return result

    def _select_candidates(self) -> tuple[list[SelectedFiles], list[LookSpec]]:
        """Run the first pass; return its results, and the specs of the next passes."""
        context, options = self._context, self._options
        rules = rules_of_step(context, self._version) if options.filter else None
        counting = None
        if options.normalize and self._select.capped and counts_other_hosts(context.settings):
            counting = rules or rules_of_step(context, self._version)
        self._rules = rules.hash if rules is not None else 0
        since = self._last_generate()
        limits = DividedLimits((), 1)
        if self._select.limits:
            whole = f"{self._folder}/limits.parquet" if counting is not None else ""
            limits = divide_limits(context, self._version.tables[CRAWLDB].buckets, whole)
        sorted_by = sort_columns(context.settings.cycle.scoring)
        keep = KeepPlan(
            self._select, options.top * options.segments, options.segments, counting is not None
        )
        ranks = rank_buckets(context.cycle, self._version)
        specs = [
            SelectSpec(
                context.place, self._number, group, anew, hosts,
                select_buckets(ranks, group) if self._ranked else (), keep, sorted_by,
                limits.of(part.bucket for part in group), rules,
                counting, context.interval, since, f"{self._folder}/kept-{number}.parquet",
                f"{self._folder}/tallies-{number}.parquet", out, context.dry,
            )
            for number, (group, anew, hosts, out) in enumerate(self._tasks())
        ]  # fmt: skip
        selected = context.engine.map(select_task, specs)
        selected = gather_ranges(context.engine, specs, selected, self._folder)
        partition = context.settings.cycle.generate.partition
        looks = [
            LookSpec(
                context.place, (part.exchange,), self._select, part.buckets, part.hosts,
                context.interval, partition, (),
            )
            for part in selected
            if part.candidates
        ]  # fmt: skip
        if counting is not None and looks:
            looks = [_merge_looks(looks)]
        return selected, looks

    def _tasks(
        self,
    ) -> list[tuple[tuple[BucketFiles, ...], frozenset[int], tuple[BucketFiles, ...], str]]:
        """Return tasks: buckets or ranges, those with a new base, their hosts, and busy hosts."""
        context = self._context
        buckets = buckets_of(context.cycle, self._version, CRAWLDB)
        hosts_by_bucket = host_buckets(context.cycle, self._version)
        merged = frozenset(bucket.bucket for bucket in buckets if needs_merge(bucket))
        out = find_busy_hosts(
            context.engine, context.place, buckets, self._select.clock, self._folder
        )
        groups = in_range_tasks(buckets, context.engine.workers)
        return [
            (
                g,
                merged.intersection(bucket.bucket for bucket in g),
                select_buckets(hosts_by_bucket, g),
                out.get(g[0].bucket, ""),
            )
            for g in groups
        ]

    def _last_generate(self) -> int:
        """Return the clock of the last generate, ms since the epoch; 0 before the first."""
        states = self._version.segments.values()
        return max((int(state.more.get("clock", 0)) for state in states), default=0)

    def _end(
        self, looks: Sequence[LookSpec], ends: tuple[Place | None, ...], chosen: int
    ) -> Place | None:
        """Return the place where the next list ends; None if it takes all candidates."""
        top = self._options.top
        if not top or (chosen <= top and not ends):
            return None
        now = NOWHERE
        for _ in range(_MOST_PROBES):
            specs = [look._replace(ends=ends, between=now) for look in looks]
            now = bracket(self._context.engine.map(probe_task, specs), top, now)
            if now.is_exact:
                return now.lower
        raise RuntimeError("the end of a list was not found")

    def _pack(self, measured: Sequence[Sequence[MeasuredHost]], segments: int) -> list[PackedUnits]:
        """Pack the hosts of each list into units."""
        context, options = self._context, self._options
        works: list[list[HostWork]] = [[] for _ in range(segments)]
        for measured_host in (measured_host for hosts in measured for measured_host in hosts):
            work = HostWork(
                measured_host.host,
                measured_host.urls,
                _spacing(context, measured_host),
                measured_host.group,
            )
            works[measured_host.segment].append(work)
        return [
            pack_hosts(context, measured_host, options.units, options.time_limit)
            for measured_host in works
            if measured_host
        ]

    def _write_lists(
        self,
        result: GenerateResult,
        selected: Sequence[SelectedFiles],
        looks: Sequence[LookSpec],
        measured: Sequence[Sequence[MeasuredHost]],
        packs: Sequence[PackedUnits],
    ) -> GenerateResult:
        context = self._context
        names = new_segments(context.cycle.storage, context.clock, len(packs))
        until = context.clock + round(context.settings.cycle.generate.lease * 1000)
        embeds = context.settings.cycle.fetch.follow == "embeds"
        shares = [
            (share, tuple(_plans(context, found_hosts, packs)))
            for look, found_hosts in zip(looks, measured, strict=True)
            if found_hosts
            for share in _split_look(look)
        ]
        specs = [
            LeaseSpec(
                look, plans, names, until, self._number,
                f"{self._folder}/listed-{number}.parquet", f"{self._folder}/hosts-{number}.parquet",
                f"{self._folder}/fetched-{number}.parquet" if embeds else "",
            )
            for number, (look, plans) in enumerate(shares)
        ]  # fmt: skip
        leases = context.engine.map(lease_task, specs)
        sources = tuple(spec.exchange for spec in specs)
        hosts = tuple(spec.hosts for spec, part in zip(specs, leases, strict=True) if part.hosts)
        keys = tuple(spec.fetched for spec, part in zip(specs, leases, strict=True) if part.fetched)
        lists = [
            ListSpec(
                context.place, sources, hosts, number, unit,
                list_name(names[number], unit), list_name(names[number], unit, HOSTS),
                keys, list_name(names[number], unit, "fetched"),
            )
            for number, part in enumerate(packs)
            for unit in range(len(part.seconds))
        ]  # fmt: skip
        rows = context.engine.map(list_task, lists)
        urls: Counter[int] = Counter()
        for spec, count in zip(lists, rows, strict=True):
            urls[spec.segment] += count
        segments = {
            name: self._segment(pack, urls[number], until)
            for number, (name, pack) in enumerate(zip(names, packs, strict=True))
        }
        cuts = [part.most for part in packs]
        ends = [self._find_end(number, leases) for number in range(len(names))]
        write_choice(context.cycle.storage, self._select, ends, names, cuts)
        version = self._commit(result, selected, leases, segments)
        return result._replace(segments=names, selected=sum(rows), version=version)

    def _segment(self, pack: PackedUnits, urls: int, until: int) -> SegmentState:
        """Return the state of a new segment of `urls` URLs, leased until a time, ms."""
        return SegmentState(
            state="generated", units=len(pack.seconds), urls=urls, until=until,
            more={
                "clock": self._context.clock, **time_marks(self._context, pack),
                "rules": self._rules, "version": self._number,
            },
        )  # fmt: skip

    def _find_end(self, number: int, leases: Sequence[LeasedFiles]) -> Place | None:
        """Return the place where a full list ended; None if it has all candidates."""
        chosen = [end for leased in leases for end in leased.chosen if end[0] == number]
        is_full = sum(rows for _, rows, _ in chosen) >= self._options.top > 0
        return min(place for *_, place in chosen) if is_full and chosen else None

    def _commit(
        self,
        result: GenerateResult,
        selected: Sequence[SelectedFiles],
        leases: Sequence[LeasedFiles],
        segments: Mapping[str, SegmentState],
    ) -> CycleVersion:
        context = self._context
        frozen = {name: self._freeze(name, state) for name, state in segments.items()}
        recorded = record_segments(context.engine, context.cycle.storage, frozen, {})
        added: dict[str, list[TableFile]] = {CRAWLDB: [], HOSTS: []}
        dropped: dict[str, set[str]] = {CRAWLDB: set(), HOSTS: set()}
        for table in added:
            for part in selected:
                added[table] += part.added[table]
                dropped[table] |= part.dropped[table]
        added[CRAWLDB] += [file for part in leases for file in part.leases]
        fresh = added[HOSTS] and HOSTS not in self._version.tables
        changes = CycleChanges(
            step="generate",
            clock=context.clock,
            options={name: value for name, value in self._options._asdict().items() if value},
            counters=generate_counters(result),
            added={table: files for table, files in added.items() if files},
            dropped=dropped,
            buckets={HOSTS: self._version.tables[CRAWLDB].buckets} if fresh else {},
            segments=dict(recorded),
            seed_state=self._seed_state(),
        )
        return context.cycle.commit(self._version, changes)

    def _freeze(self, name: str, state: SegmentState) -> SegmentState:
        """Write the settings of a segment; return its state."""
        marks = freeze_segment(self._context, self._version, name)
        return msgspec.structs.replace(state, more={**state.more, **marks})

    def _seed_state(self) -> SeedTableState:
        """Return the state of seeds: all rows were judged with the current seeds, if `filter`."""
        state = self._version.seed_state
        if not self._options.filter:
            return state
        return msgspec.structs.replace(state, judged=self._version.number)


def _merge_looks(looks: Sequence[LookSpec]) -> LookSpec:
    """Merge the specs of all tasks, so that caps hold for hosts of different buckets."""
    return looks[0]._replace(
        exchange=tuple(name for look in looks for name in look.exchange),
        buckets=tuple(bucket for look in looks for bucket in look.buckets),
        hosts=tuple(bucket for look in looks for bucket in look.hosts),
    )


def _split_look(look: LookSpec) -> list[LookSpec]:
    """Split the spec of a divided bucket by range: its rows are wide, and read by tasks."""
    if len(look.buckets) < 2 or len({bucket.bucket for bucket in look.buckets}) > 1:
        return [look]
    return [
        look._replace(buckets=(bucket,), hosts=look.hosts if bucket.is_first else ())
        for bucket in look.buckets
    ]


def select_options(context: StepContext, options: GenerateOptions) -> SelectOptions:
    """Return the conditions on rows, by settings and options.

    Raises:
        ConfigError: A setting has an unknown status, or the clock is too far ahead.
    """
    if not abs(options.add_days) <= _MOST_DAYS:  # NaN fails, too
        option = f"--add-days {options.add_days:g}"
        raise ConfigError([Problem("", option, f"days, at most {_MOST_DAYS:,.0f}", "--add-days 7")])
    generate, schedule = context.settings.cycle.generate, context.settings.recrawl.schedule
    pulls = schedule.kind.startswith("nutch-")
    conditions = [f"({text}\n)" for text in (generate.where, options.where) if text]
    try:
        status = int(status_of(generate.status)) if generate.status else 0
    except ValueError as error:
        raise ConfigError([Problem("cycle.generate.status", str(error))]) from None
    return SelectOptions(
        now=context.clock + round(options.add_days * 86_400_000),
        clock=context.clock,
        sort=sort_sql(context.settings.cycle.scoring),
        interval_max=round(schedule.nutch.interval_max) if pulls else 0,
        where=" and ".join(conditions),
        status=status,
        min_sort=generate.min_score,
        max_interval=round(generate.max_interval),
        cap_by=generate.count,
        max_count=generate.max_count,
        cap_where=generate.max_count_where,
        limits=bool(generate.limits),
    )


def _spacing(context: StepContext, measured: MeasuredHost) -> float:
    return fetch_spacing(context.settings.politeness, measured.delay, measured.latency)


def _plans(
    context: StepContext, hosts: Sequence[MeasuredHost], packs: Sequence[PackedUnits]
) -> list[HostPlan]:
    return [
        HostPlan(
            measured.segment,
            measured.host,
            packs[measured.segment].unit_of[measured.host],
            _spacing(context, measured),
            packs[measured.segment].most.get(measured.host, 0),
        )
        for measured in hosts
    ]


def _with_units(
    result: GenerateResult, packs: Sequence[PackedUnits], at_once: int
) -> GenerateResult:
    slowest = max(
        (pack.longest for pack in packs if pack.longest is not None), key=lambda pack: pack.seconds
    )
    return result._replace(
        selected=sum(pack.urls for pack in packs),
        units=sum(len(pack.seconds) for pack in packs),
        at_once=at_once if any(len(pack.seconds) > at_once for pack in packs) else 0,
        longest=sum(pack.whole for pack in packs),
        slowest=slowest.name,
        slowest_urls=slowest.urls,
        slowest_delay=slowest.delay,
        cut=sum(pack.cut for pack in packs),
        cut_hosts=sum(len(pack.most) for pack in packs),
    )


def generate_counters(result: GenerateResult) -> dict[str, Any]:
    """Return the counters that a version stores for a generate."""
    return {
        "known": result.known,
        "due": result.due,
        "selected": result.selected,
        "refused": dict(result.refused),
        "excluded": dict(result.excluded),
        "cut": result.cut,
        "capped": result.capped,
        "beyond": result.beyond,
        **({name: getattr(result, name) for name in _JUDGED} if result.judged else {}),
    }


def new_segments(storage: Storage, clock: int, number: int) -> tuple[str, ...]:
    """Begin segments, whose names are the clock, `20261122T101500.123Z`, a millisecond apart.

    Each is claimed: no other driver writes into its folder, and it has no files of a step that was
    killed before its commit.
    """
    names: list[str] = []
    while len(names) < number:
        moment = datetime.fromtimestamp(clock // 1000, UTC)
        name = f"{moment:%Y%m%dT%H%M%S}.{clock % 1000:03d}Z"
        with contextlib.suppress(AlreadyThereError):
            storage.create(f"segments/{name}/{_CLAIM}", b"")
            names.append(name)
        clock += 1
    return tuple(names)


def list_name(segment: str, unit: int, kind: str = "lists") -> str:
    """Return the name of the list of a unit, or of its hosts; names count from 1."""
    return f"segments/{segment}/{kind}/u{unit + 1:04d}.parquet"
