"""The step `update`: what was fetched goes into the table of URLs.

Source: Nutch, `CrawlDb` and its reducer (reference N 1.4). One reduce for each group of buckets is
in `update_tasks`. The cost of the step follows what was fetched, and not what is known.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nacre.assembly.rule_checks import mime_rates
from nacre.crawldb.kernels import parquet
from nacre.crawldb.scoring import virtual_share
from nacre.crawldb.seeds import SEEDS
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.seeding.seeds import Seed, seed_as_line
from nacre.errors import JobError
from nacre.rounds.admission import Admission
from nacre.rounds.journal import FETCHED, SITEMAPS, UPDATED, waiting
from nacre.rounds.segments.seed_tasks import SeedChanges
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.host_rows import HOSTS, host_buckets
from nacre.rounds.steps.seed_rows import (
    count_pages,
    pages_among,
    rows_of_seed,
    seed_changes,
    seed_view,
    state_with,
    synced,
)
from nacre.rounds.steps.sweeping import SweptFiles, sweep_task, sweeps
from nacre.rounds.steps.update_tasks import (
    FetchedFacts,
    RevisitPlan,
    UpdatedFiles,
    UpdateSpec,
    facts_of,
    update_task,
)
from nacre.rounds.storage import localized
from nacre.rounds.tables.seedlist import ONE
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    added_files,
    buckets_of,
    in_range_tasks,
    key_ranges,
)
from nacre.rounds.tables.versions import (
    Cycle,
    CycleChanges,
    CycleVersion,
    SeedTableState,
    SegmentState,
    TableFile,
)

_GROUP_ROWS = 400_000
"""Visits and added rows of a task, as far as they lie in several buckets or ranges of keys."""
_LEAST_ROWS = 20_000
"""As many of a task at least, where others wait for work."""
_FEW_SEEDS = 10_000
"""Seeds that the virtual page gives to with each update, however little."""
_LEAST_SHARE = ONE >> 7
"""The least gift to each of more seeds, in 2^-32."""


class UpdateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        additions: URLs that are not known are added: those that links name, and visited ones.
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
        purged: Rows that are forgotten.
        moved: URLs that are seeds from now on, because seeds redirect to them.
        unknown: Visits of URLs that are not known and not added, which are left out.
        done_before: Segments that were asked for and are in the table already, each with the
            version of its update; 0 where none of the kept ones is that.
        version: The version; None where there was nothing to do.
    """

    segments: Sequence[str] = ()
    visits: int = 0
    not_attempted: int = 0
    links: int = 0
    targets: int = 0
    transitions: Mapping[tuple[str, str], int] = {}
    purged: int = 0
    moved: Sequence[str] = ()
    unknown: int = 0
    done_before: Mapping[str, int] = {}
    version: CycleVersion | None = None


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
    before = _done_before(context.cycle, [name for name in segments if name not in names])
    if not names:
        return UpdateResult(done_before=before)
    version = synced(context)
    facts = tuple(facts_of(name, version.segments[name]) for name in names)
    plan = revisit_plan(context)
    gift, rest = _virtual(context, version, names)
    givers = buckets_of(context.cycle, version, SEEDS) if gift else []
    seeds = {one.bucket: one for one in givers}
    hosts = host_buckets(context.cycle, version)
    specs = [
        UpdateSpec(
            context.place, version.number + 1, group, facts, plan, options.additions, context.clock,
            gift, {one.bucket: seeds[one.bucket] for one in group if one.bucket in seeds},
            {one.bucket: hosts[one.bucket] for one in group if one.bucket in hosts}, context.dry,
        )
        for group in _groups(context, version, facts, seeds)
    ]  # fmt: skip
    results = context.engine.map(update_task, specs)
    moved = _moved_seeds(context, version, {pair for one in results for pair in one.moved})
    lines = [seed_as_line(seed) for seed in moved]
    swept = _swept(context, version, results, facts)
    found = _summed(names, results, swept)._replace(moved=lines, done_before=before)
    if context.dry:
        return found
    added = added_files(one.files for one in results)
    added[CRAWLDB] = [*added.get(CRAWLDB, ()), *(file for one in swept for file in one.files)]
    came = _seed_changes(context, version, moved)
    added[SEEDS] = list(came.added)
    changes = CycleChanges(
        step="update",
        clock=context.clock,
        options={"segments": list(names), "additions": options.additions},
        counters=update_counters(found),
        added={table: files for table, files in added.items() if files},
        dropped={
            HOSTS: {name for one in results for name in one.dropped[HOSTS]},
            **({SEEDS: set(came.dropped)} if came.dropped else {}),
        },
        buckets=_fresh_buckets(version, added),
        segments=_updated(version, names, rest + sum(one.refused for one in results)),
        seed_state=_seed_state(version, names, came),
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
        if SITEMAPS in state.more:
            raise JobError(
                f"segment {name} has sitemaps, which `nacre cycle DIR sitemaps` reads: no pages"
            )
        if state.state not in (FETCHED, UPDATED):
            raise JobError(f"segment {name} is not fetched yet: `nacre cycle DIR fetch {name}`")
    return [name for name in names if version.segments[name].state == FETCHED]


def _done_before(cycle: Cycle, names: Sequence[str]) -> dict[str, int]:
    """The versions that brought segments into the table; 0 where it is none of the kept ones."""
    found = dict.fromkeys(names, 0)
    for number in reversed(cycle.numbers() if names else []):
        version = cycle.version(number)
        if version.step == "update":
            found |= {
                name: number for name in version.options.get("segments", ()) if found.get(name) == 0
            }
    return found


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
    facts: Sequence[FetchedFacts],
    gifts: Mapping[int, object],
) -> list[tuple[BucketFiles, ...]]:
    """Buckets in tasks, by the rows that were fetched for them."""
    known = {one.bucket: one for one in buckets_of(context.cycle, version, CRAWLDB)}
    rows = _rows_by_bucket(context, facts)
    rows.update(dict.fromkeys(gifts, 1))
    share = max(1, sum(rows.values()) // max(context.engine.workers, 1))
    most = min(_GROUP_ROWS, max(share, _LEAST_ROWS))
    groups: list[tuple[BucketFiles, ...]] = []
    group: list[BucketFiles] = []
    size = 0
    for bucket in sorted(rows):
        files = known.get(bucket, BucketFiles(bucket))
        ranges = key_ranges(files, -(-rows[bucket] // most))
        if len(ranges) > 1:
            groups += [(one,) for one in ranges]
            continue
        group.append(files)
        size += rows[bucket]
        if size >= most:
            groups.append(tuple(group))
            group, size = [], 0
    return [*groups, tuple(group)] if group else groups


def _rows_by_bucket(context: StepContext, facts: Sequence[FetchedFacts]) -> Counter[int]:
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


def _virtual(context: StepContext, version: CycleVersion, names: Sequence[str]) -> tuple[int, int]:
    """The gift of the virtual page of `opic` to each seed, and what it keeps.

    Where there are many seeds, it keeps its cash until the gifts are worth the rows of all of them:
    else each small round would write one for each seed.
    """
    # What others gave that are not updated yet is still in the rows of their pages.
    cash = sum(
        int(one.more.get("virtual", 0))
        for name, one in version.segments.items()
        if name in names or one.state == UPDATED
    )
    if not cash:
        return 0, 0
    seeds = count_pages(context, version)
    share, rest = virtual_share(cash, seeds)
    if not share or (seeds > _FEW_SEEDS and share < _LEAST_SHARE):
        return 0, cash
    return share, rest


def _moved_seeds(
    context: StepContext, version: CycleVersion, moved: Collection[tuple[str, str]]
) -> list[Seed]:
    """The new seeds: where seeds redirect to, as the scope of a site that moved goes on.

    A seed with a scope of its own shares it with them.

    Args:
        context: What the step works with.
        version: The version that it begins with.
        moved: The URL, and the seed in its line.
    """
    if not moved:
        return []
    view = seed_view(context, version)
    with context.place.open() as work:
        kept = view.open(work.scratch)
        admission = Admission(context.settings, context.layout.root, view.lines, kept)
        forms = [(admission.redirect_form(url), source) for url, source in sorted(moved)]
        keys = {normal: admission.key(normal) for normal, _ in forms if normal}
        known = pages_among(context, version, sorted(set(keys.values())))
        known |= admission.pages_of(view.lines)
        found = []
        for normal, source in forms:
            if not normal or keys[normal] in known:
                continue
            known.add(keys[normal])
            places = admission.rules.scope_state.own.get(source)
            seed = Seed(normal, normal)
            found.append(seed._replace(own=places.own, of=source) if places else seed)
    return found


def _seed_changes(
    context: StepContext, version: CycleVersion, moved: Sequence[Seed]
) -> SeedChanges:
    """Bring new seeds into their table."""
    if not moved:
        return SeedChanges()
    admission = Admission(context.settings, context.layout.root, ())
    rows = (row for seed in moved for row in rows_of_seed(seed, admission.key(seed.url)))
    return seed_changes(context, version, rows)


def _seed_state(version: CycleVersion, names: Sequence[str], came: SeedChanges) -> SeedTableState:
    """What is known of seeds from now on: links were judged with those of when they were listed."""
    state = state_with(version, came)
    # Without a number, links have no hash of rules either, and are judged for that.
    marks = (version.segments[name].more.get("version") for name in names)
    listed = [int(mark) - 1 for mark in marks if mark is not None]
    return msgspec.structs.replace(state, judged=min([state.judged, *listed]))


def _fresh_buckets(version: CycleVersion, added: Mapping[str, object]) -> dict[str, int]:
    """The buckets of tables that get their first files."""
    buckets = version.tables[CRAWLDB].buckets
    fresh = (table for table in (HOSTS, SEEDS) if added.get(table))
    return {table: buckets for table in fresh if table not in version.tables}


def _updated(
    version: CycleVersion, names: Sequence[str], rest: int
) -> dict[str, SegmentState | None]:
    """The segments with their new states; the newest keeps what the virtual page keeps."""
    changed: dict[str, SegmentState | None] = {}
    for name, state in version.segments.items():
        if name in names or (state.state == UPDATED and state.more.get("virtual")):
            more = {**state.more, "virtual": rest if name == max(names) else 0}
            new = UPDATED if name in names else state.state
            changed[name] = msgspec.structs.replace(state, state=new, more=more)
    return changed


def _swept(
    context: StepContext,
    version: CycleVersion,
    results: Sequence[UpdatedFiles],
    facts: Sequence[FetchedFacts],
) -> list[SweptFiles]:
    """Look at all rows, where settings need it."""
    cycle = context.settings.cycle
    plan = sweeps(cycle.update, cycle.scoring, context.clock)
    if plan is None:
        return []
    new: dict[int, list[TableFile]] = {}
    for file in (file for one in results for file in one.files.get(CRAWLDB, ())):
        new.setdefault(file.bucket, []).append(file)
    buckets = buckets_of(context.cycle, version, CRAWLDB)
    names = [name for one in facts for kind in ("visits", "adds") for name in one.files(kind)]
    specs = [
        plan._replace(
            place=context.place,
            version=version.number + 1,
            buckets=group,
            new={one.bucket: new[one.bucket] for one in group if one.bucket in new},
            dry=context.dry,
            facts=tuple(names) if context.dry else (),
        )
        for group in in_range_tasks(buckets, context.engine.workers)
    ]
    return context.engine.map(sweep_task, specs)


def _summed(
    names: Sequence[str], results: Sequence[UpdatedFiles], swept: Sequence[SweptFiles]
) -> UpdateResult:
    matrix: Counter[tuple[str, str]] = Counter()
    for updated in results:
        matrix.update(updated.transitions)
    for looked in swept:
        matrix.update(looked.transitions)
    return UpdateResult(
        tuple(names),
        sum(one.visits for one in results),
        sum(one.not_attempted for one in results),
        sum(one.links for one in results),
        sum(one.targets for one in results),
        dict(matrix),
        sum(one.purged for one in results) + sum(one.purged for one in swept),
        unknown=sum(one.unknown for one in results),
    )


def update_counters(found: UpdateResult) -> dict[str, Any]:
    """The counters that a version keeps of an update."""
    return {
        "visits": found.visits,
        "not_attempted": found.not_attempted,
        "links": found.links,
        "targets": found.targets,
        **({"purged": found.purged} if found.purged else {}),
        **({"moved": list(found.moved)} if found.moved else {}),
        **({"unknown": found.unknown} if found.unknown else {}),
        "transitions": [
            {"old": old, "new": new, "rows": rows}
            for (old, new), rows in sorted(found.transitions.items())
        ],
    }
