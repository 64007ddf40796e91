"""The step `links`: add the links of fetched segments to the table of links, by their targets.

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
"""The key of the mark of a segment whose links are in the table."""
_TAKEN_BY = "links_by"
"""The mark with the settings that selected its links."""
_ROWS = 2_000_000
"""Link facts of a task, if there are enough buckets."""


class LinksResult(NamedTuple):
    """The outcome of the step.

    Attributes:
        segments: Segments whose links were taken.
        facts: Links of their pages.
        rows: Pairs of pages that were written.
        within: The unit of ignored internal links: `host`, `domain`, or `none`.
        internal: Internal links that were ignored.
        external: Links to other hosts that were ignored.
        size: Bytes of their files.
        kept: Rows of pages without a segment, which stay in a rebuilt table: those of a LinkDb or
            of another crawl.
        mixed: Segments were added with other settings, so that the table should be rebuilt.
        version: The version; None if nothing was committed.
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
    """Return the mark of the settings that select the rows of the table."""
    return f"{settings.ignore_internal} {settings.ignore_external} {settings.max_anchor}"


def _has_other_settings(version: CycleVersion, settings: LinkDbSettings) -> bool:
    """Return whether links were selected by other settings; False for old versions."""
    mark = settings_mark(settings)
    return any(state.more.get(_TAKEN_BY, mark) != mark for state in version.segments.values())


def require_current_links(version: CycleVersion, settings: LinkDbSettings, root: object) -> None:
    """Check that the table of links has the links of all segments by the current settings.

    Args:
        version: The version.
        settings: `cycle.links`.
        root: The directory, for the message.

    Raises:
        JobError: It is empty or stale; the message has the remedy.
    """
    command = f"`nacre cycle {root} links"
    if LINKS not in version.tables and not any(
        TAKEN in segment.more for segment in version.segments.values()
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
        reason = f": {' and '.join(left_out)} leaves all links out" if left_out else ""
        raise JobError(
            f"the table of links is empty{reason}. Set cycle.links.ignore_internal to none and "
            f"cycle.links.ignore_external to false, and {command} --rebuild` makes it again"
        )


def has_links(version: CycleVersion) -> bool:
    """Return whether a version has links to read; False if all links were ignored.

    Raises:
        JobError: The step has taken no segment yet.
    """
    if LINKS in version.tables:
        return True
    if any(TAKEN in state.more for state in version.segments.values()):
        return False
    raise JobError("there is no table of links yet: `nacre cycle DIR links` makes it")


def waiting_segments(
    version: CycleVersion, step: str, states: Sequence[str]
) -> dict[str, SegmentState]:
    """Return the segments that a step has not processed yet, by name, without sitemaps.

    Args:
        version: The version.
        step: The key of the step's mark of a segment; "" for all of these states.
        states: States that a segment must have.
    """
    return {
        name: state
        for name, state in sorted(version.segments.items())
        if state.state in states and step not in state.more and SITEMAPS not in state.more
    }


def mark_taken(waiting: Mapping[str, SegmentState], step: str) -> dict[str, SegmentState | None]:
    """Return the same segments with the mark of a step."""
    return {
        name: msgspec.structs.replace(state, more={**state.more, step: True})
        for name, state in waiting.items()
    }


class LinksSpec(NamedTuple):
    """The links to some buckets.

    Attributes:
        place: The work place of the task.
        version: Number of the version to commit.
        facts: The segments.
        first: The first bucket.
        last: The last bucket.
        settings: `cycle.links`.
        dry: Count, and publish nothing.
        known_pages: For a rebuild, buckets of the table whose rows of other pages stay; else ().
    """

    place: TaskPlace
    version: int
    facts: tuple[FetchedFacts, ...]
    first: int
    last: int
    settings: LinkDbSettings
    dry: bool = False
    known_pages: tuple[BucketFiles, ...] = ()


class TakenLinks(NamedTuple):
    """The outcome of a task.

    Attributes:
        facts: Links of the pages.
        internal: See `LinksResult`.
        external: See `LinksResult`.
        files: The files that it wrote.
        unchanged: Rows of other pages that stay.
    """

    facts: int
    internal: int
    external: int
    files: list[TableFile]
    unchanged: int = 0


def links_task(spec: LinksSpec) -> TakenLinks:
    """Write the links to some buckets, and count ignored links."""
    with spec.place.open() as work:
        names = [name for segment_facts in spec.facts for name in segment_facts.files("links")]
        lists = [name for segment_facts in spec.facts for name in segment_facts.lists]
        source = parquet(local_facts(work.storage, names, work))
        listed = parquet(local_facts(work.storage, lists, work))
        work.kernel.execute(
            "create temp table facts as select l.bucket, l.dst, l.src, l.anchor, l.rel, l.hop, "
            "l.context, l.time, p.score "
            f"from {source} l left join ({_scores_sql(listed)}) p on p.key = l.src "
            f"where l.bucket between {spec.first} and {spec.last}"
        )
        if spec.settings.ignore_internal == "domain":
            ends = f"select {host_sql('dst')} from facts union select {host_sql('src')} from facts"
            load_domains(work.kernel, "domains", [host for (host,) in work.kernel.rows(ends)])
        count = int(work.kernel.value("select count(*) from facts"))
        left_out = left_out_links("facts", spec.settings, "domains")
        [(internal, external)] = work.kernel.rows(left_out)
        kept_files = _keep_other_rows(work, spec)
        rows = sum(file.rows for file in kept_files)
        return TakenLinks(count, internal, external, [*kept_files, *_write_links(work, spec)], rows)


def _keep_other_rows(work: TaskWork, spec: LinksSpec) -> list[TableFile]:
    """Write the rows of pages without a segment, which have no other source."""
    if not spec.known_pages:
        return []
    names = [name for segment_facts in spec.facts for name in segment_facts.files("visits")]
    visits = parquet(local_facts(work.storage, names, work))
    work.kernel.execute(f"create temp table pages as select distinct key from {visits}")
    files = []
    for bucket in spec.known_pages:
        local = local_bucket(work.storage, bucket, work.scratch)
        path = work.scratch / f"kept-{bucket.bucket}.parquet"
        rows = f"({merge_links(local.base, local.adds)}) l anti join pages p on p.key = l.src"
        work.kernel.write(f"select l.* from {rows} order by dst, src", str(path))
        plan = FilePlan(LINKS, bucket.bucket, "base", spec.version)
        file = publish(work.storage, path, plan, dry=spec.dry)
        files += [file] if file is not None else []
    return files


def _scores_sql(lists: str) -> str:
    """Return SQL of the scores of listed pages, limited to a BIGINT."""
    total = f"least(max(score + cash), {2**63 - 1})::BIGINT"
    return f"select key, {total} as score from {lists} group by key"


def _write_links(work: TaskWork, spec: LinksSpec) -> list[TableFile]:
    files = []
    for (bucket,) in work.kernel.rows("select distinct bucket from facts order by 1"):
        rows = f"(select * from facts where bucket = {bucket})"
        path = work.scratch / f"links-{bucket}.parquet"
        work.kernel.write(link_adds(rows, spec.settings, "domains"), str(path))
        plan = FilePlan(LINKS, int(bucket), "add", spec.version)
        file = publish(work.storage, path, plan, dry=spec.dry)
        if file is not None:
            files.append(file)
    return files


def links(context: StepContext, *, rebuild: bool = False) -> LinksResult:
    """Add the links of all segments that were fetched since the last time.

    Args:
        context: The context of the driver.
        rebuild: Replace the rows of the table by the links of all segments, with the current
            settings. Rows of pages without a segment stay.

    Raises:
        JobError: Facts of a segment have other buckets, so that they cannot be read.
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    waiting = waiting_segments(version, "" if rebuild else TAKEN, ("fetched", "updated"))
    facts = tuple(facts_of(name, state) for name, state in waiting.items())
    settings = context.settings.cycle.links
    if not any(result.parts for result in facts):
        return LinksResult(mixed=not rebuild and _has_other_settings(version, settings))
    if rebuild:
        _require_buckets(context, version, facts)
    results = context.engine.map(
        links_task, _specs(context, version, waiting, facts, rebuild=rebuild)
    )
    files = [file for result in results for file in result.files]
    kept_rows = sum(result.unchanged for result in results)
    outcome = LinksResult(
        tuple(waiting),
        sum(result.facts for result in results),
        sum(file.rows for file in files) - kept_rows,
        settings.ignore_internal,
        sum(result.internal for result in results),
        sum(result.external for result in results),
        sum(file.size for file in files),
        kept_rows,
        not rebuild and _has_other_settings(version, settings),
    )
    if context.dry:
        return outcome
    counters: dict[str, Any] = {"facts": outcome.facts, "rows": outcome.rows}
    gone = {file.path for file in context.cycle.files(version, LINKS)} if rebuild else set()
    buckets = version.tables[CRAWLDB].buckets
    settings_marked = {
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
        segments=mark_taken(settings_marked, TAKEN),
    )
    return outcome._replace(version=context.cycle.commit(version, changes))


def _specs(
    context: StepContext,
    version: CycleVersion,
    waiting: Mapping[str, SegmentState],
    facts: tuple[FetchedFacts, ...],
    *,
    rebuild: bool,
) -> list[LinksSpec]:
    """Return a task for each range of buckets."""
    settings = context.settings.cycle.links
    buckets = buckets_of(context.cycle, version, LINKS) if rebuild else []
    ranges = bucket_ranges(version.tables[CRAWLDB].buckets, _tasks(context, waiting))
    return [
        LinksSpec(
            context.place, version.number + 1, facts, first, last, settings, context.dry,
            tuple(bucket for bucket in buckets if first <= bucket.bucket <= last),
        )
        for first, last in ranges
    ]  # fmt: skip


def _require_buckets(
    context: StepContext, version: CycleVersion, facts: Sequence[FetchedFacts]
) -> None:
    """Raise JobError for facts with other buckets than the table, after a `compact`."""
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
    """Divide all buckets into ranges, first and last, for at most `tasks` tasks."""
    number = max(1, min(tasks, buckets))
    ends = [buckets * part // number for part in range(number + 1)]
    return [(first, last - 1) for first, last in pairwise(ends)]


def _tasks(context: StepContext, waiting: Mapping[str, SegmentState]) -> int:
    """Return the number of tasks: 1 for a small round, some for each worker for a large one."""
    urls = sum(state.urls for state in waiting.values())
    return 1 if urls < 10_000 else max(context.engine.workers, urls * 60 // _ROWS)
