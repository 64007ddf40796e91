"""The step `links`: the links of fetched segments go into the table of links, by their targets.

Each task takes a range of buckets and reads that range of the links of all parts, which are sorted
by bucket. Source: Nutch, `LinkDb` (reference N 1.1, `invertlinks`).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from nacre.crawldb.hosts import host_sql, load_domains
from nacre.crawldb.kernels import parquet
from nacre.crawldb.links import left_out_links, link_adds, merge_links
from nacre.crawldb.row import bucket_of
from nacre.crawldb.settings import LinkDbSettings
from nacre.errors import JobError
from nacre.rounds.journal import SITEMAPS
from nacre.rounds.steps.context import StepContext
from nacre.rounds.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.rounds.tables.tables import (
    CRAWLDB,
    BucketFiles,
    FilePlan,
    TaskPlace,
    TaskWork,
    buckets_of,
    local_bucket,
    publish,
)
from nacre.rounds.tables.versions import CycleChanges, CycleVersion, SegmentState, TableFile

LINKS = "links"
"""The name of the table of links."""

TAKEN = "links"
"""The word by which a segment is marked whose links are in the table."""
_TAKEN_BY = "links_by"
"""The mark with the settings by which they were taken."""
_ROWS = 2_000_000
"""Link facts of a task, as far as there are buckets to divide them by."""


class LinksResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        segments: Segments whose links were taken.
        facts: Links that their pages have.
        rows: Pairs of pages that were written.
        within: What links are left out within: `host`, `domain`, or `none`.
        internal: Links that were left out as they stay within it.
        external: Links that were left out as they go to another host.
        size: Bytes of their files.
        kept: Rows of pages that no segment has, which stay in a table that is made again: those of
            a LinkDb or of another crawl.
        mixed: Other segments were taken by other settings, so that the table is to be made again.
        version: The version; None where nothing was committed.
    """

    segments: Sequence[str] = ()
    facts: int = 0
    rows: int = 0
    within: str = "none"
    internal: int = 0
    external: int = 0
    size: int = 0
    kept: int = 0
    mixed: bool = False
    version: CycleVersion | None = None


def settings_mark(settings: LinkDbSettings) -> str:
    """The settings that decide which rows the table has, as a segment is marked with them."""
    return f"{settings.ignore_internal} {settings.ignore_external} {settings.max_anchor}"


def _has_other_settings(version: CycleVersion, settings: LinkDbSettings) -> bool:
    """Whether links were taken by other settings; not known of versions of earlier Nacres."""
    mark = settings_mark(settings)
    return any(one.more.get(_TAKEN_BY, mark) != mark for one in version.segments.values())


def require_current_links(version: CycleVersion, settings: LinkDbSettings, root: object) -> None:
    """Check that the table of links has links, and those of all segments by today's settings.

    Args:
        version: The version.
        settings: `cycle.links`.
        root: The directory, for the message.

    Raises:
        JobError: It is empty or stale; the message has the remedy.
    """
    command = f"`nacre cycle {root} links"
    if LINKS not in version.tables and not any(
        TAKEN in one.more for one in version.segments.values()
    ):
        raise JobError(f"there is no table of links yet: {command}` makes it")
    waiting = waiting_segments(version, TAKEN, ("fetched", "updated"))
    late = [name for name, state in waiting.items() if state.parts]
    if late:
        more = f" and {len(late) - 1} more segments" if len(late) > 1 else ""
        raise JobError(
            f"the table of links is stale: it lacks the links of segment {late[0]}{more}. "
            f"{command}` takes them"
        )
    if _has_other_settings(version, settings):
        raise JobError(
            "the table of links is stale: it was made by other settings of cycle.links. "
            f"{command} --rebuild` makes it again"
        )
    if LINKS not in version.tables or not version.tables[LINKS].rows:
        internal = settings.ignore_internal
        left_out = [] if internal == "none" else [f"cycle.links.ignore_internal={internal}"]
        left_out += ["cycle.links.ignore_external=true"] if settings.ignore_external else []
        why = f": {' and '.join(left_out)} leaves all links out" if left_out else ""
        raise JobError(
            f"the table of links is empty{why}. Set cycle.links.ignore_internal to none and "
            f"cycle.links.ignore_external to false, and {command} --rebuild` makes it again"
        )


def has_links(version: CycleVersion) -> bool:
    """Whether a version has links to read; none where all were within hosts, which are left out.

    Raises:
        JobError: The step has taken no segment yet.
    """
    if LINKS in version.tables:
        return True
    if any(TAKEN in state.more for state in version.segments.values()):
        return False
    raise JobError("there is no table of links yet: `nacre cycle DIR links` makes it")


def waiting_segments(
    version: CycleVersion, taken: str, states: Sequence[str]
) -> dict[str, SegmentState]:
    """The segments that a step has not taken yet, by name, without those of sitemaps.

    Args:
        version: The version.
        taken: The word by which the step marks a segment; "" for all of these states.
        states: States that a segment must have.
    """
    return {
        name: state
        for name, state in sorted(version.segments.items())
        if state.state in states and taken not in state.more and SITEMAPS not in state.more
    }


def marked(waiting: Mapping[str, SegmentState], taken: str) -> dict[str, SegmentState | None]:
    """The same segments with the mark of a step."""
    return {
        name: msgspec.structs.replace(state, more={**state.more, taken: True})
        for name, state in waiting.items()
    }


class LinksSpec(NamedTuple):
    """The links to some buckets.

    Attributes:
        place: Where it works.
        version: Number of the version that it is for.
        facts: The segments.
        first: The first bucket.
        last: The last bucket.
        settings: `cycle.links`.
        dry: Count, and publish nothing.
        known: Buckets of the table whose rows of other pages stay, where it is made again.
    """

    place: TaskPlace
    version: int
    facts: tuple[FetchedFacts, ...]
    first: int
    last: int
    settings: LinkDbSettings
    dry: bool = False
    known: tuple[BucketFiles, ...] = ()


class TakenLinks(NamedTuple):
    """The outcome of a task.

    Attributes:
        facts: Links of the pages.
        internal: See `LinksResult`.
        external: See `LinksResult`.
        files: The files that it wrote.
        kept: Rows of other pages that stay.
    """

    facts: int
    internal: int
    external: int
    files: list[TableFile]
    kept: int = 0


def links_task(spec: LinksSpec) -> TakenLinks:
    """Write the links to some buckets, and count those that are left out."""
    with spec.place.open() as work:
        names = [name for one in spec.facts for name in one.files("links")]
        lists = [name for one in spec.facts for name in one.lists]
        source = parquet(local_facts(work.storage, names, work))
        listed = parquet(local_facts(work.storage, lists, work))
        work.kernel.execute(
            "create temp table facts as select l.bucket, l.dst, l.src, l.anchor, l.rel, l.hop, "
            "l.context, l.time, p.score "
            f"from {source} l left join ({_scores(listed)}) p on p.key = l.src "
            f"where l.bucket between {spec.first} and {spec.last}"
        )
        if spec.settings.ignore_internal == "domain":
            ends = f"select {host_sql('dst')} from facts union select {host_sql('src')} from facts"
            load_domains(work.kernel, "domains", [host for (host,) in work.kernel.rows(ends)])
        count = int(work.kernel.value("select count(*) from facts"))
        left_out = left_out_links("facts", spec.settings, "domains")
        [(internal, external)] = work.kernel.rows(left_out)
        kept = _kept(work, spec)
        rows = sum(file.rows for file in kept)
        return TakenLinks(count, internal, external, [*kept, *_written(work, spec)], rows)


def _kept(work: TaskWork, spec: LinksSpec) -> list[TableFile]:
    """The rows of pages that no segment has: nothing else knows them."""
    if not spec.known:
        return []
    names = [name for one in spec.facts for name in one.files("visits")]
    visits = parquet(local_facts(work.storage, names, work))
    work.kernel.execute(f"create temp table pages as select distinct key from {visits}")
    kept = []
    for bucket in spec.known:
        local = local_bucket(work.storage, bucket, work.scratch)
        path = work.scratch / f"kept-{bucket.bucket}.parquet"
        rows = f"({merge_links(local.base, local.adds)}) l anti join pages p on p.key = l.src"
        work.kernel.write(f"select l.* from {rows} order by dst, src", str(path))
        plan = FilePlan(LINKS, bucket.bucket, "base", spec.version)
        file = publish(work.storage, path, plan, dry=spec.dry)
        kept += [file] if file is not None else []
    return kept


def _scores(lists: str) -> str:
    """SQL of the importance of listed pages, as far as a BIGINT goes."""
    total = f"least(max(score + cash), {2**63 - 1})::BIGINT"
    return f"select key, {total} as score from {lists} group by key"


def _written(work: TaskWork, spec: LinksSpec) -> list[TableFile]:
    found = []
    for (bucket,) in work.kernel.rows("select distinct bucket from facts order by 1"):
        rows = f"(select * from facts where bucket = {bucket})"
        path = work.scratch / f"links-{bucket}.parquet"
        work.kernel.write(link_adds(rows, spec.settings, "domains"), str(path))
        plan = FilePlan(LINKS, int(bucket), "add", spec.version)
        file = publish(work.storage, path, plan, dry=spec.dry)
        if file is not None:
            found.append(file)
    return found


def links(context: StepContext, *, rebuild: bool = False) -> LinksResult:
    """Take the links of all segments that were fetched since the last time.

    Args:
        context: The context of the driver.
        rebuild: Take those of all segments, by the settings of now, in place of those that are in
            the table. Rows of pages that no segment has stay.

    Raises:
        JobError: Facts of a segment have other buckets, so that they cannot be taken again.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    waiting = waiting_segments(version, "" if rebuild else TAKEN, ("fetched", "updated"))
    facts = tuple(facts_of(name, state) for name, state in waiting.items())
    settings = context.settings.cycle.links
    if not any(one.parts for one in facts):
        return LinksResult(mixed=not rebuild and _has_other_settings(version, settings))
    if rebuild:
        _require_buckets(context, version, facts)
    results = context.engine.map(
        links_task, _specs(context, version, waiting, facts, rebuild=rebuild)
    )
    files = [file for one in results for file in one.files]
    kept = sum(one.kept for one in results)
    found = LinksResult(
        tuple(waiting),
        sum(one.facts for one in results),
        sum(file.rows for file in files) - kept,
        settings.ignore_internal,
        sum(one.internal for one in results),
        sum(one.external for one in results),
        sum(file.size for file in files),
        kept,
        not rebuild and _has_other_settings(version, settings),
    )
    if context.dry:
        return found
    counters: dict[str, Any] = {"facts": found.facts, "rows": found.rows}
    gone = {file.path for file in context.cycle.files(version, LINKS)} if rebuild else set()
    buckets = version.tables[CRAWLDB].buckets
    taken = {
        name: msgspec.structs.replace(
            state, more={**state.more, _TAKEN_BY: settings_mark(settings)}
        )
        for name, state in waiting.items()
    }
    changes = CycleChanges(
        step="links",
        clock=context.clock,
        options={"rebuild": True} if rebuild else {},
        counters=counters,
        added={LINKS: files} if files else {},
        dropped={LINKS: gone} if gone else {},
        buckets={LINKS: buckets} if files and LINKS not in version.tables else {},
        segments=marked(taken, TAKEN),
    )
    return found._replace(version=context.cycle.commit(version, changes))


def _specs(
    context: StepContext,
    version: CycleVersion,
    waiting: Mapping[str, SegmentState],
    facts: tuple[FetchedFacts, ...],
    *,
    rebuild: bool,
) -> list[LinksSpec]:
    """A task for each range of buckets."""
    settings = context.settings.cycle.links
    known = buckets_of(context.cycle, version, LINKS) if rebuild else []
    ranges = bucket_ranges(version.tables[CRAWLDB].buckets, _tasks(context, waiting))
    return [
        LinksSpec(
            context.place, version.number + 1, facts, first, last, settings, context.dry,
            tuple(one for one in known if first <= one.bucket <= last),
        )
        for first, last in ranges
    ]  # fmt: skip


def _require_buckets(
    context: StepContext, version: CycleVersion, facts: Sequence[FetchedFacts]
) -> None:
    """Raise JobError for facts with other buckets than the table; `compact` changes those."""
    buckets = version.tables[CRAWLDB].buckets
    with context.place.open() as work:
        for segment in facts:
            for name in segment.files("links"):
                source = parquet(local_facts(work.storage, [name], work))
                rows = work.kernel.rows(f"select dst, bucket from {source} limit 1")
                if any(bucket_of(dst, buckets) != bucket for dst, bucket in rows):
                    raise JobError(
                        f"segment {segment.segment} was fetched with another number of buckets: "
                        f"`nacre cycle {context.layout.root} parse {segment.segment}` makes its "
                        "facts again, and then the links can be taken"
                    )


def bucket_ranges(buckets: int, tasks: int) -> list[tuple[int, int]]:
    """Ranges of all buckets, first and last, for so many tasks at most."""
    number = max(1, min(tasks, buckets))
    ends = [buckets * one // number for one in range(number + 1)]
    return [(first, last - 1) for first, last in pairwise(ends)]


def _tasks(context: StepContext, waiting: Mapping[str, SegmentState]) -> int:
    """Tasks that are wanted: a small round is one, a large one has some for each worker."""
    urls = sum(state.urls for state in waiting.values())
    return 1 if urls < 10_000 else max(context.engine.workers, urls * 60 // _ROWS)
