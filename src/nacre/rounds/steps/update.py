"""The step `update`: merge fetch results into the table of URLs.

Source: Nutch, `CrawlDb` and its reducer (reference N 1.4). One reduce for each group of buckets is
in `update_tasks`. The cost of the step depends on the fetched URLs, not on the known ones.
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
from nacre.errors import JobError
from nacre.rounds.admission import Admission
from nacre.rounds.journal import FETCHED, SITEMAPS, UPDATED, waiting
from nacre.rounds.segments.seed_tasks import SeedChanges
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.host_rows import HOSTS, host_buckets
from nacre.rounds.steps.seed_rows import (
    count_pages,
    find_seed_pages,
    next_state,
    rows_of_seed,
    seed_changes,
    seed_view,
    sync_seeds,
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
from nacre.rounds.storage import localize
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
from nacre.scope.seeds import Seed, seed_as_line

_GROUP_ROWS = 400_000
"""Visits and added rows of a task with several buckets or ranges of keys."""
_LEAST_ROWS = 20_000
"""Least rows of a task, if other workers are idle."""
_MOST_SMALL_GIFTS = 10_000
"""Most seeds that get a gift of any size from the virtual page with each update."""
_LEAST_SHARE = ONE >> 7
"""The least gift to each of more seeds, in 2^-32."""


class UpdateOptions(NamedTuple):
    """Options of the step.

    Attributes:
        additions: Add unknown URLs: targets of links, and visited URLs.
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
        transitions: Rows by old and new status, each by its name; `new` for a new URL.
        purged: Purged rows.
        moved: URLs that become seeds, because seeds redirect to them.
        unknown: Ignored visits of URLs that are unknown and not added.
        done_before: Requested segments that are in the table already, each with the version of its
            update; 0 if that version is not stored.
        version: The version; None if there was nothing to do.
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
    """Merge fetch results into the table.

    Args:
        context: The context of the driver.
        options: Options of the step.
        segments: The segments; () for all that were fetched and not updated.

    Raises:
        JobError: There is no such segment, or it was not fetched.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    names = _choose_segments(version, segments)
    before = _find_versions(context.cycle, [name for name in segments if name not in names])
    if not names:
        return UpdateResult(done_before=before)
    version = sync_seeds(context)
    facts = tuple(facts_of(name, version.segments[name]) for name in names)
    plan = revisit_plan(context)
    gift, remainder = _virtual_gift(context, version, names)
    givers = buckets_of(context.cycle, version, SEEDS) if gift else []
    seeds = {bucket.bucket: bucket for bucket in givers}
    hosts = host_buckets(context.cycle, version)
    specs = [
        UpdateSpec(
            context.place, version.number + 1, g, facts, plan, options.additions, context.clock,
            gift, {part.bucket: seeds[part.bucket] for part in g if part.bucket in seeds},
            {part.bucket: hosts[part.bucket] for part in g if part.bucket in hosts},
            context.dry,
        )
        for g in _groups(context, version, facts, seeds)
    ]  # fmt: skip
    results = context.engine.map(update_task, specs)
    moved = _moved_seeds(context, version, {pair for result in results for pair in result.moved})
    lines = [seed_as_line(seed) for seed in moved]
    swept = _sweep(context, version, results, facts)
    totals = _sum_results(names, results, swept)._replace(moved=lines, done_before=before)
    if context.dry:
        return totals
    added = added_files(result.files for result in results)
    added[CRAWLDB] = [*added.get(CRAWLDB, ()), *(file for result in swept for file in result.files)]
    seed_rows = _seed_changes(context, version, moved)
    added[SEEDS] = list(seed_rows.added)
    changes = CycleChanges(
        step="update",
        clock=context.clock,
        options={"segments": list(names), "additions": options.additions},
        counters=update_counters(totals),
        added={table: files for table, files in added.items() if files},
        dropped=_dropped_files(results, seed_rows),
        buckets=_fresh_buckets(version, added),
        segments=_next_states(
            version, names, remainder + sum(result.refused for result in results)
        ),
        seed_state=_seed_state(version, names, seed_rows),
    )
    return totals._replace(version=context.cycle.commit(version, changes))


def _choose_segments(version: CycleVersion, segments: Sequence[str]) -> list[str]:
    """Return the segments to update, without updated ones."""
    names = list(dict.fromkeys(segments)) or waiting(version, FETCHED)
    for name in names:
        state = version.segments.get(name)
        if state is None:
            names_known = ", ".join(sorted(version.segments)) or "none"
            raise JobError(f"there is no segment {name}; there are: {names_known}")
        if SITEMAPS in state.more:
            raise JobError(
                f"segment {name} has sitemaps, which `nacre cycle DIR sitemaps` reads: no pages"
            )
        if state.state not in (FETCHED, UPDATED):
            raise JobError(f"segment {name} is not fetched yet: `nacre cycle DIR fetch {name}`")
    return [name for name in names if version.segments[name].state == FETCHED]


def _find_versions(cycle: Cycle, names: Sequence[str]) -> dict[str, int]:
    """Return the versions that updated segments; 0 if that version is not stored."""
    versions = dict.fromkeys(names, 0)
    for number in reversed(cycle.numbers() if names else []):
        version = cycle.version(number)
        if version.step == "update":
            versions |= {
                name: number
                for name in version.options.get("segments", ())
                if versions.get(name) == 0
            }
    return versions


def revisit_plan(context: StepContext) -> RevisitPlan:
    """Return the state machine of a job.

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
    """Divide buckets into tasks, by the rows that were fetched for them."""
    by_number = {k.bucket: k for k in buckets_of(context.cycle, version, CRAWLDB)}
    rows = _rows_by_bucket(context, facts)
    rows.update(dict.fromkeys(gifts, 1))
    share = max(1, sum(rows.values()) // max(context.engine.workers, 1))
    most = min(_GROUP_ROWS, max(share, _LEAST_ROWS))
    groups: list[tuple[BucketFiles, ...]] = []
    group: list[BucketFiles] = []
    size = 0
    for bucket in sorted(rows):
        files = by_number.get(bucket, BucketFiles(bucket))
        ranges = key_ranges(files, -(-rows[bucket] // most))
        if len(ranges) > 1:
            groups += [(k,) for k in ranges]
            continue
        group.append(files)
        size += rows[bucket]
        if size >= most:
            groups.append(tuple(group))
            group, size = [], 0
    return [*groups, tuple(group)] if group else groups


def _rows_by_bucket(context: StepContext, facts: Sequence[FetchedFacts]) -> Counter[int]:
    """Count rows of visits and added rows by bucket."""
    counts: Counter[int] = Counter()
    names = [
        f"{part}/{kind}.parquet"
        for segment in facts
        for part in segment.parts
        for kind in ("visits", "adds")
    ]
    with context.place.open() as work:
        for name in names:
            source = parquet([str(localize(work.storage, name, work.scratch))])
            counted = work.kernel.rows(f"select bucket, count(*) from {source} group by 1")
            counts.update(dict(counted))
    return counts


def _virtual_gift(
    context: StepContext, version: CycleVersion, names: Sequence[str]
) -> tuple[int, int]:
    """Return the gift of the virtual page of `opic` to each seed, and its remaining cash.

    With many seeds it keeps its cash until the gifts are worth a row for each seed: else each small
    round would write a row for each seed.
    """
    # The cash of segments that are not updated yet is still in the rows of their pages.
    cash = sum(
        int(s.more.get("virtual", 0))
        for name, s in version.segments.items()
        if name in names or s.state == UPDATED
    )
    if not cash:
        return 0, 0
    seeds = count_pages(context, version)
    share, remainder = virtual_share(cash, seeds)
    if not share or (seeds > _MOST_SMALL_GIFTS and share < _LEAST_SHARE):
        return 0, cash
    return share, remainder


def _moved_seeds(
    context: StepContext, version: CycleVersion, moved: Collection[tuple[str, str]]
) -> list[Seed]:
    """Return new seeds: the redirect targets of seeds, so that a moved site stays in scope.

    A seed with a separate scope shares it with them.

    Args:
        context: The context of the driver.
        version: The version that it begins with.
        moved: The URL, and the seed in its line.
    """
    if not moved:
        return []
    view = seed_view(context, version)
    with context.place.open() as work:
        index = view.open(work.scratch)
        admission = Admission(context.settings, context.layout.root, view.lines, index)
        forms = [(admission.redirect_form(url), source) for url, source in sorted(moved)]
        keys = {normal: admission.key(normal) for normal, _ in forms if normal}
        keys_known = find_seed_pages(context, version, sorted(set(keys.values())))
        keys_known |= admission.page_keys(view.lines)
        new_seeds = []
        for normal, source in forms:
            if not normal or keys[normal] in keys_known:
                continue
            keys_known.add(keys[normal])
            places = admission.rules.scope_state.own.get(source)
            seed = Seed(normal, normal)
            new_seeds.append(seed._replace(own=places.own, of=source) if places else seed)
    return new_seeds


def _seed_changes(
    context: StepContext, version: CycleVersion, moved: Sequence[Seed]
) -> SeedChanges:
    """Add new seeds to their table."""
    if not moved:
        return SeedChanges()
    admission = Admission(context.settings, context.layout.root, ())
    rows = (row for seed in moved for row in rows_of_seed(seed, admission.key(seed.url)))
    return seed_changes(context, version, rows)


def _dropped_files(results: Sequence[UpdatedFiles], rows: SeedChanges) -> dict[str, set[str]]:
    """Return the names of the files that new ones replace, by table."""
    hosts = {name for result in results for name in result.dropped[HOSTS]}
    return {HOSTS: hosts, **({SEEDS: set(rows.dropped)} if rows.dropped else {})}


def _seed_state(version: CycleVersion, names: Sequence[str], came: SeedChanges) -> SeedTableState:
    """Return the new state of seeds: links were judged with the seeds of their list."""
    state = next_state(version, came)
    # Without a number, links have no hash of rules either, and are judged for that.
    marks = (version.segments[name].more.get("version") for name in names)
    listed = [int(mark) - 1 for mark in marks if mark is not None]
    return msgspec.structs.replace(state, judged=min([state.judged, *listed]))


def _fresh_buckets(version: CycleVersion, added: Mapping[str, object]) -> dict[str, int]:
    """Return the numbers of buckets of new tables."""
    buckets = version.tables[CRAWLDB].buckets
    fresh = (table for table in (HOSTS, SEEDS) if added.get(table))
    return {table: buckets for table in fresh if table not in version.tables}


def _next_states(
    version: CycleVersion, names: Sequence[str], remainder: int
) -> dict[str, SegmentState | None]:
    """Return the segments with their new states; the newest has the virtual page's cash."""
    changed: dict[str, SegmentState | None] = {}
    for name, state in version.segments.items():
        if name in names or (state.state == UPDATED and state.more.get("virtual")):
            more = {**state.more, "virtual": remainder if name == max(names) else 0}
            new = UPDATED if name in names else state.state
            changed[name] = msgspec.structs.replace(state, state=new, more=more)
    return changed


def _sweep(
    context: StepContext,
    version: CycleVersion,
    results: Sequence[UpdatedFiles],
    facts: Sequence[FetchedFacts],
) -> list[SweptFiles]:
    """Sweep all rows, if settings need it."""
    cycle = context.settings.cycle
    plan = sweeps(cycle.update, cycle.scoring, context.clock)
    if plan is None:
        return []
    new: dict[int, list[TableFile]] = {}
    for file in (file for part in results for file in part.files.get(CRAWLDB, ())):
        new.setdefault(file.bucket, []).append(file)
    buckets = buckets_of(context.cycle, version, CRAWLDB)
    names = [name for part in facts for kind in ("visits", "adds") for name in part.files(kind)]
    specs = [
        plan._replace(
            place=context.place,
            version=version.number + 1,
            buckets=group,
            new={part.bucket: new[part.bucket] for part in group if part.bucket in new},
            dry=context.dry,
            facts=tuple(names) if context.dry else (),
        )
        for group in in_range_tasks(buckets, context.engine.workers)
    ]
    return context.engine.map(sweep_task, specs)


def _sum_results(
    names: Sequence[str], results: Sequence[UpdatedFiles], swept: Sequence[SweptFiles]
) -> UpdateResult:
    matrix: Counter[tuple[str, str]] = Counter()
    for updated in results:
        matrix.update(updated.transitions)
    for sweep in swept:
        matrix.update(sweep.transitions)
    return UpdateResult(
        tuple(names),
        sum(part.visits for part in results),
        sum(part.not_attempted for part in results),
        sum(part.links for part in results),
        sum(part.targets for part in results),
        dict(matrix),
        sum(part.purged for part in results) + sum(part.purged for part in swept),
        unknown=sum(part.unknown for part in results),
    )


def update_counters(result: UpdateResult) -> dict[str, Any]:
    """Return the counters that a version stores for an update."""
    return {
        "visits": result.visits,
        "not_attempted": result.not_attempted,
        "links": result.links,
        "targets": result.targets,
        **({"purged": result.purged} if result.purged else {}),
        **({"moved": list(result.moved)} if result.moved else {}),
        **({"unknown": result.unknown} if result.unknown else {}),
        "transitions": [
            {"old": old, "new": new, "rows": rows}
            for (old, new), rows in sorted(result.transitions.items())
        ],
    }
