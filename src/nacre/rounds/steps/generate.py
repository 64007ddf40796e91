"""The step `generate`: the URLs that are fetched next, as lists for units.

Source: Nutch, `Generator` (reference N 1.6), with counts over all buckets and not for each reducer.
The tasks are in `select_tasks` and `list_tasks`; this is their driver.
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
from nacre.rounds.segments.list_choice import write_choice
from nacre.rounds.segments.segment_files import recorded_all
from nacre.rounds.steps.context import HostCheck, StepContext, any_hosts
from nacre.rounds.steps.domain_limits import DividedLimits, divided_limits
from nacre.rounds.steps.fetch_time import fetch_spacing, packed, time_marks, units_at_once
from nacre.rounds.steps.freezing import freeze_segment
from nacre.rounds.steps.host_rows import HOSTS, host_buckets, of_buckets, rank_buckets
from nacre.rounds.steps.judging import rules_of_step
from nacre.rounds.steps.kept import KeepPlan
from nacre.rounds.steps.list_tasks import (
    HostPlan,
    LeasedFiles,
    LeaseSpec,
    ListSpec,
    LookSpec,
    MeasuredHost,
    lease_task,
    list_task,
    look_task,
    measure_task,
    wide_looks,
)
from nacre.rounds.steps.range_tasks import gathered, hosts_out
from nacre.rounds.steps.seed_rows import synced
from nacre.rounds.steps.select_tasks import SelectedFiles, SelectSpec, select_task, summed
from nacre.rounds.storage import AlreadyThereError, Storage, remove_folder
from nacre.rounds.tables.tables import CRAWLDB, BucketFiles, buckets_of, in_range_tasks
from nacre.rounds.tables.versions import (
    CycleChanges,
    CycleVersion,
    SeedTableState,
    SegmentState,
    TableFile,
)

_LOOKS = 40
_FARTHEST = 36_500.0
"""Days by which the clock may be ahead or behind."""
_JUDGED = ("judged", "newly_excluded", "readmitted")
_CLAIM = "made-by-one-step"
"""File of a segment that says that its folder belongs to one step of one driver."""


class GenerateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        top: URLs of each segment, the best first; 0: all that are due.
        units: Units of each segment; at least 1.
        segments: Segments.
        where: An expression over the columns, in SQL; "" for none beside that of the settings.
        add_days: Days by which the clock is ahead.
        filter: Rules judge what other rules judged last.
        normalize: Caps count a URL for the host that normalizers make.
        time_limit: Longest fetch, s; what needs longer stays due. 0: no limit.
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
        at_once: Units of a segment that run at the same time; 0: all.
        longest: Expected time of the fetch, s.
        slowest: The host that decides it; "" for none.
        slowest_urls: Its URLs.
        slowest_delay: Expected time from one of its fetches to the next, s.
        cut: URLs that stay due because their hosts need longer than the time limit.
        cut_hosts: Those hosts.
        capped: Candidates that caps and limits of hosts and domains leave out.
        beyond: Candidates that are not among the best `top`.
        judged: Known URLs that were judged anew, because other rules had judged them last.
        newly_excluded: Of these, the ones that rules exclude and did not exclude before.
        readmitted: Of these, the ones that were excluded and are not any more.
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
    """Choose what is fetched next, and write the lists.

    Args:
        context: What the step works with.
        options: What is chosen.
        check_hosts: Is called with the hosts of the lists before these are written.

    Raises:
        JobError: Nothing was injected yet.
        UserSqlError: A condition is none.
        ConfigError: Of `check_hosts`.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = synced(context)
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
        selected, looks = self._selected()
        counts = summed([one.counts for one in selected])
        found = GenerateResult(
            counts.known, counts.fresh, counts.due, counts.refused, counts.excluded,
            counts.next_due, capped=sum(one.capped for one in selected),
            judged=sum(one.judged for one in selected),
            newly_excluded=sum(one.newly_excluded for one in selected),
            readmitted=sum(one.readmitted for one in selected),
        )  # fmt: skip
        if not looks:
            return self._nothing(found, selected)
        ends: list[Place | None] = []
        kept = [one.kept for one in selected if one.kept]
        wide = looks if len(looks) == 1 else wide_looks(looks, kept)
        while len(ends) < self._options.segments:
            ends.append(self._end(wide, tuple(ends), sum(kept)))
            if ends[-1] is None and not self._select.capped:
                break
        looks = [look._replace(ends=tuple(ends)) for look in looks]
        measured = self._context.engine.map(measure_task, looks)
        packs = self._packed(measured, len(ends))
        if not packs:
            return self._nothing(found, selected)
        hosts = dict.fromkeys(one.host for found_hosts in measured for one in found_hosts)
        self._check_hosts(hosts)
        found = _with_units(found, packs, units_at_once(self._context.engine))
        left = found.due - found.selected - found.cut - found.capped
        found = found._replace(beyond=max(0, left))
        if self._context.dry:
            return found
        return self._committed(found, selected, looks, measured, packs)

    def _check_sql(self) -> None:
        """Check what users wrote, before anything is read."""
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

    def _nothing(self, found: GenerateResult, selected: Sequence[SelectedFiles]) -> GenerateResult:
        """Remove what the first pass wrote: there is nothing to commit."""
        for one in selected:
            for file in (file for files in one.added.values() for file in files):
                self._context.cycle.storage.delete(file.path)
        return found

    def _selected(self) -> tuple[list[SelectedFiles], list[LookSpec]]:
        """The first pass, and what the others are given of its candidates."""
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
            limits = divided_limits(context, self._version.tables[CRAWLDB].buckets, whole)
        sorted_by = sort_columns(context.settings.cycle.scoring)
        keep = KeepPlan(
            self._select, options.top * options.segments, options.segments, counting is not None
        )
        ranks = rank_buckets(context.cycle, self._version)
        specs = [
            SelectSpec(
                context.place, self._number, group, anew, hosts,
                of_buckets(ranks, group) if self._ranked else (), keep, sorted_by,
                limits.of(one.bucket for one in group), rules,
                counting, context.interval, since, f"{self._folder}/kept-{number}.parquet",
                f"{self._folder}/tallies-{number}.parquet", out, context.dry,
            )
            for number, (group, anew, hosts, out) in enumerate(self._tasks())
        ]  # fmt: skip
        selected = context.engine.map(select_task, specs)
        selected = gathered(context.engine, specs, selected, self._folder)
        partition = context.settings.cycle.generate.partition
        looks = [
            LookSpec(
                context.place, (one.exchange,), self._select, one.buckets, one.hosts,
                context.interval, partition, (),
            )
            for one in selected
            if one.kept
        ]  # fmt: skip
        if counting is not None and looks:
            looks = [_together(looks)]
        return selected, looks

    def _tasks(
        self,
    ) -> list[tuple[tuple[BucketFiles, ...], frozenset[int], tuple[BucketFiles, ...], str]]:
        """Buckets and ranges in tasks, those with a new base, their hosts, and what is out."""
        context = self._context
        buckets = buckets_of(context.cycle, self._version, CRAWLDB)
        known = host_buckets(context.cycle, self._version)
        anew = frozenset(one.bucket for one in buckets if needs_merge(one))
        out = hosts_out(context.engine, context.place, buckets, self._select.clock, self._folder)
        groups = in_range_tasks(buckets, context.engine.workers)
        return [
            (
                group,
                anew.intersection(one.bucket for one in group),
                of_buckets(known, group),
                out.get(group[0].bucket, ""),
            )
            for group in groups
        ]

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
        self, measured: Sequence[Sequence[MeasuredHost]], segments: int
    ) -> list[PackedUnits]:
        """The hosts of each list in units."""
        context, options = self._context, self._options
        works: list[list[HostWork]] = [[] for _ in range(segments)]
        for one in (one for found in measured for one in found):
            work = HostWork(one.host, one.urls, _spacing(context, one), one.group)
            works[one.segment].append(work)
        return [packed(context, one, options.units, options.time_limit) for one in works if one]

    def _committed(
        self,
        found: GenerateResult,
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
            for share in _by_range(look)
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
        hosts = tuple(spec.hosts for spec, one in zip(specs, leases, strict=True) if one.hosts)
        keys = tuple(spec.fetched for spec, one in zip(specs, leases, strict=True) if one.fetched)
        lists = [
            ListSpec(
                context.place, sources, hosts, number, unit,
                list_name(names[number], unit), list_name(names[number], unit, HOSTS),
                keys, list_name(names[number], unit, "fetched"),
            )
            for number, one in enumerate(packs)
            for unit in range(len(one.seconds))
        ]  # fmt: skip
        rows = context.engine.map(list_task, lists)
        urls: Counter[int] = Counter()
        for spec, count in zip(lists, rows, strict=True):
            urls[spec.segment] += count
        segments = {
            name: self._segment(pack, urls[number], until)
            for number, (name, pack) in enumerate(zip(names, packs, strict=True))
        }
        cuts = [one.most for one in packs]
        ends = [self._ended(number, leases) for number in range(len(names))]
        write_choice(context.cycle.storage, self._select, ends, names, cuts)
        version = self._commit(found, selected, leases, segments)
        return found._replace(segments=names, selected=sum(rows), version=version)

    def _segment(self, pack: PackedUnits, urls: int, until: int) -> SegmentState:
        """The state of a new segment of so many URLs, leased until a time, ms."""
        return SegmentState(
            state="generated", units=len(pack.seconds), urls=urls, until=until,
            more={
                "clock": self._context.clock,
                **time_marks(self._context, pack),
                "rules": self._rules,
                "version": self._number,
            },
        )  # fmt: skip

    def _ended(self, number: int, leases: Sequence[LeasedFiles]) -> Place | None:
        """The place where a list ended for its length; None: all candidates were taken."""
        chosen = [end for one in leases for end in one.chosen if end[0] == number]
        is_full = sum(rows for _, rows, _ in chosen) >= self._options.top > 0
        return min(place for *_, place in chosen) if is_full and chosen else None

    def _commit(
        self,
        found: GenerateResult,
        selected: Sequence[SelectedFiles],
        leases: Sequence[LeasedFiles],
        segments: Mapping[str, SegmentState],
    ) -> CycleVersion:
        context = self._context
        frozen = {name: self._frozen(name, state) for name, state in segments.items()}
        made = recorded_all(context.engine, context.cycle.storage, frozen, {})
        added: dict[str, list[TableFile]] = {CRAWLDB: [], HOSTS: []}
        dropped: dict[str, set[str]] = {CRAWLDB: set(), HOSTS: set()}
        for table in added:
            for one in selected:
                added[table] += one.added[table]
                dropped[table] |= one.dropped[table]
        added[CRAWLDB] += [file for one in leases for file in one.leases]
        fresh = added[HOSTS] and HOSTS not in self._version.tables
        changes = CycleChanges(
            step="generate",
            clock=context.clock,
            options={name: value for name, value in self._options._asdict().items() if value},
            counters=generate_counters(found),
            added={table: files for table, files in added.items() if files},
            dropped=dropped,
            buckets={HOSTS: self._version.tables[CRAWLDB].buckets} if fresh else {},
            segments=dict(made),
            seed_state=self._seed_state(),
        )
        return context.cycle.commit(self._version, changes)

    def _frozen(self, name: str, state: SegmentState) -> SegmentState:
        """The state of a segment whose settings are written."""
        marks = freeze_segment(self._context, self._version, name)
        return msgspec.structs.replace(state, more={**state.more, **marks})

    def _seed_state(self) -> SeedTableState:
        """What is known of seeds: all rows were judged with those of now, unless nobody asked."""
        state = self._version.seed_state
        if not self._options.filter:
            return state
        return msgspec.structs.replace(state, judged=self._version.number)


def _together(looks: Sequence[LookSpec]) -> LookSpec:
    """One look at the candidates of all tasks: caps then hold for hosts of different buckets."""
    return looks[0]._replace(
        exchange=tuple(name for one in looks for name in one.exchange),
        buckets=tuple(bucket for one in looks for bucket in one.buckets),
        hosts=tuple(bucket for one in looks for bucket in one.hosts),
    )


def _by_range(look: LookSpec) -> list[LookSpec]:
    """The look of a divided bucket for each range: its rows are wide, and read by tasks."""
    if len(look.buckets) < 2 or len({one.bucket for one in look.buckets}) > 1:
        return [look]
    return [
        look._replace(buckets=(one,), hosts=look.hosts if one.is_first else ())
        for one in look.buckets
    ]


def select_options(context: StepContext, options: GenerateOptions) -> SelectOptions:
    """The conditions on rows, by settings and options.

    Raises:
        ConfigError: A setting names a status that does not exist, or the clock is too far ahead.
    """
    if not abs(options.add_days) <= _FARTHEST:  # what is no number is not less either
        said = f"--add-days {options.add_days:g}"
        raise ConfigError([Problem("", said, f"days, at most {_FARTHEST:,.0f}", "--add-days 7")])
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


def _spacing(context: StepContext, one: MeasuredHost) -> float:
    return fetch_spacing(context.settings.politeness, one.delay, one.latency)


def _plans(
    context: StepContext, hosts: Sequence[MeasuredHost], packs: Sequence[PackedUnits]
) -> list[HostPlan]:
    return [
        HostPlan(
            one.segment,
            one.host,
            packs[one.segment].unit_of[one.host],
            _spacing(context, one),
            packs[one.segment].most.get(one.host, 0),
        )
        for one in hosts
    ]


def _with_units(
    found: GenerateResult, packs: Sequence[PackedUnits], at_once: int
) -> GenerateResult:
    slowest = max(
        (one.longest for one in packs if one.longest is not None), key=lambda one: one.seconds
    )
    return found._replace(
        selected=sum(one.urls for one in packs),
        units=sum(len(one.seconds) for one in packs),
        at_once=at_once if any(len(one.seconds) > at_once for one in packs) else 0,
        longest=sum(one.whole for one in packs),
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
        "capped": found.capped,
        "beyond": found.beyond,
        **({name: getattr(found, name) for name in _JUDGED} if found.judged else {}),
    }


def new_segments(storage: Storage, clock: int, number: int) -> tuple[str, ...]:
    """Begin segments, whose names are the clock, `20261122T101500.123Z`, a millisecond apart.

    Each is claimed: no other driver writes into its folder, and there is nothing in it of a step
    that was killed before it committed.
    """
    found: list[str] = []
    while len(found) < number:
        moment = datetime.fromtimestamp(clock // 1000, UTC)
        name = f"{moment:%Y%m%dT%H%M%S}.{clock % 1000:03d}Z"
        with contextlib.suppress(AlreadyThereError):
            storage.create(f"segments/{name}/{_CLAIM}", b"")
            found.append(name)
        clock += 1
    return tuple(found)


def list_name(segment: str, unit: int, kind: str = "lists") -> str:
    """Name of the list of a unit, or of its hosts; units count from 1."""
    return f"segments/{segment}/{kind}/u{unit + 1:04d}.parquet"
