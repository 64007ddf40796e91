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
from nacre.crawldb.row import bucket_of
from nacre.crawldb.scoring import virtual_share
from nacre.cycle.admission import Admission, all_seed_lines
from nacre.cycle.rounds import FETCHED, SITEMAPS, UPDATED, waiting
from nacre.cycle.seedlist import InjectedSeed, read_seed_list
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.host_rows import HOSTS, host_buckets
from nacre.cycle.steps.sweeping import SweptFiles, sweep_task, sweeps
from nacre.cycle.steps.update_tasks import (
    FetchedFacts,
    RevisitPlan,
    UpdatedFiles,
    UpdateSpec,
    facts_of,
    update_task,
)
from nacre.cycle.storage import localized
from nacre.cycle.tables import (
    CRAWLDB,
    BucketFiles,
    added_files,
    buckets_of,
    in_range_tasks,
    key_ranges,
)
from nacre.cycle.versions import Cycle, CycleChanges, CycleVersion, SegmentState, TableFile
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.seeding.seeds import Seed, seed_as_line
from nacre.errors import JobError

_GROUP_ROWS = 400_000
"""Visits and added rows of a task, as far as they lie in several buckets or ranges of keys."""
_LEAST_ROWS = 20_000
"""As many of a task at least, where others wait for work."""


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
    facts = tuple(facts_of(name, version.segments[name]) for name in names)
    plan = revisit_plan(context)
    gifts, rest = _virtual(context, version, names)
    hosts = host_buckets(context.cycle, version)
    specs = [
        UpdateSpec(
            context.place, version.number + 1, group, facts, plan, options.additions, context.clock,
            {one.bucket: gifts[one.bucket] for one in group if one.bucket in gifts},
            {one.bucket: hosts[one.bucket] for one in group if one.bucket in hosts}, context.dry,
        )
        for group in _groups(context, version, facts, gifts)
    ]  # fmt: skip
    results = context.engine.map(update_task, specs)
    lines = _moved_seeds(context, version, {pair for one in results for pair in one.moved})
    swept = _swept(context, version, results, facts)
    found = _summed(names, results, swept)._replace(moved=lines, done_before=before)
    if context.dry:
        return found
    added = added_files(one.files for one in results)
    added[CRAWLDB] = [*added.get(CRAWLDB, ()), *(file for one in swept for file in one.files)]
    fresh = added.get(HOSTS) and HOSTS not in version.tables
    changes = CycleChanges(
        step="update",
        clock=context.clock,
        options={"segments": list(names), "additions": options.additions},
        counters=update_counters(found),
        added={table: files for table, files in added.items() if files},
        dropped={HOSTS: {name for one in results for name in one.dropped[HOSTS]}},
        buckets={HOSTS: version.tables[CRAWLDB].buckets} if fresh else {},
        segments=_updated(version, names, rest + sum(one.refused for one in results)),
        seeds=_written_seeds(context, version, lines),
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


def _virtual(
    context: StepContext, version: CycleVersion, names: Sequence[str]
) -> tuple[dict[int, dict[str, int]], int]:
    """Gifts of the virtual page of `opic` to seeds, by bucket and key; and what it keeps."""
    # What others gave that are not updated yet is still in the rows of their pages.
    cash = sum(
        int(one.more.get("virtual", 0))
        for name, one in version.segments.items()
        if name in names or one.state == UPDATED
    )
    if not cash:
        return {}, 0
    settings, root = context.settings, context.layout.root
    lines = all_seed_lines(settings, root, context.cycle.storage, version)
    admission = Admission(settings, root, lines)
    seeds = _seed_keys(admission, lines)
    share, rest = virtual_share(cash, len(seeds))
    if not share:
        return {}, cash
    buckets = version.tables[CRAWLDB].buckets
    gifts: dict[int, dict[str, int]] = {}
    for key in seeds:
        gifts.setdefault(bucket_of(key, buckets), {})[key] = share
    return gifts, rest


def _moved_seeds(
    context: StepContext, version: CycleVersion, moved: Collection[tuple[str, str]]
) -> list[str]:
    """The lines of new seeds: where seeds redirect to, as the scope of a site that moved goes on.

    A seed with a scope of its own shares it with them.

    Args:
        context: What the step works with.
        version: The version that it begins with.
        moved: The URL, and the seed in its line.
    """
    if not moved:
        return []
    settings, root = context.settings, context.layout.root
    known = all_seed_lines(settings, root, context.cycle.storage, version)
    admission = Admission(settings, root, known)
    seeds = _seed_keys(admission, known)
    lines = []
    for url, source in sorted(moved):
        normal = admission.redirect_form(url)
        key = admission.key(normal) if normal else ""
        if not key or key in seeds:
            continue
        seeds.add(key)
        places = admission.rules.scope_state.own.get(source)
        seed = Seed(normal, normal, own=places.own, of=source) if places else Seed(normal, normal)
        lines.append(seed_as_line(seed))
    return lines


def _written_seeds(context: StepContext, version: CycleVersion, lines: Sequence[str]) -> list[str]:
    """Write lines of seeds; names of their files."""
    if not lines:
        return []
    name = f"seeds/{version.number + 1:010d}-{context.clock}.txt"
    context.cycle.storage.put(name, "".join(f"{line}\n" for line in lines).encode())
    return [name]


def _seed_keys(admission: Admission, lines: Sequence[str]) -> set[str]:
    """The keys of all seeds."""
    return {
        admission.key(admission.seed_form(one.seed).url)
        for one in read_seed_list(lines)
        if isinstance(one, InjectedSeed)
    }


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
