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
from nacre.crawldb.links import left_out_links, link_adds
from nacre.crawldb.settings import LinkDbSettings
from nacre.cycle.rounds import SITEMAPS
from nacre.cycle.steps.context import StepContext
from nacre.cycle.steps.update_tasks import FetchedFacts, facts_of, local_facts
from nacre.cycle.tables import CRAWLDB, FilePlan, TaskPlace, TaskWork, publish
from nacre.cycle.versions import CycleChanges, CycleVersion, SegmentState, TableFile
from nacre.errors import JobError

LINKS = "links"
"""The name of the table of links."""

TAKEN = "links"
"""The word by which a segment is marked whose links are in the table."""
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
        version: The version; None where nothing was committed.
    """

    segments: Sequence[str] = ()
    facts: int = 0
    rows: int = 0
    within: str = "none"
    internal: int = 0
    external: int = 0
    size: int = 0
    version: CycleVersion | None = None


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
    """

    place: TaskPlace
    version: int
    facts: tuple[FetchedFacts, ...]
    first: int
    last: int
    settings: LinkDbSettings
    dry: bool = False


class TakenLinks(NamedTuple):
    """The outcome of a task.

    Attributes:
        facts: Links of the pages.
        internal: See `LinksResult`.
        external: See `LinksResult`.
        files: The files that it wrote.
    """

    facts: int
    internal: int
    external: int
    files: list[TableFile]


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
        return TakenLinks(count, internal, external, _written(work, spec))


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


def links(context: StepContext) -> LinksResult:
    """Take the links of all segments that were fetched since the last time.

    Args:
        context: The context of the driver.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    version = context.cycle.newest()
    waiting = waiting_segments(version, TAKEN, ("fetched", "updated"))
    facts = tuple(facts_of(name, state) for name, state in waiting.items())
    if not any(one.parts for one in facts):
        return LinksResult()
    buckets = version.tables[CRAWLDB].buckets
    settings = context.settings.cycle.links
    specs = [
        LinksSpec(context.place, version.number + 1, facts, first, last, settings, context.dry)
        for first, last in bucket_ranges(buckets, _tasks(context, waiting))
    ]
    results = context.engine.map(links_task, specs)
    files = [file for one in results for file in one.files]
    found = LinksResult(
        tuple(waiting),
        sum(one.facts for one in results),
        sum(file.rows for file in files),
        settings.ignore_internal,
        sum(one.internal for one in results),
        sum(one.external for one in results),
        sum(file.size for file in files),
    )
    if context.dry:
        return found
    counters: dict[str, Any] = {"facts": found.facts, "rows": found.rows}
    changes = CycleChanges(
        step="links",
        clock=context.clock,
        counters=counters,
        added={LINKS: files} if files else {},
        buckets={LINKS: buckets} if files and LINKS not in version.tables else {},
        segments=marked(waiting, TAKEN),
    )
    return found._replace(version=context.cycle.commit(version, changes))


def bucket_ranges(buckets: int, tasks: int) -> list[tuple[int, int]]:
    """Ranges of all buckets, first and last, for so many tasks at most."""
    number = max(1, min(tasks, buckets))
    ends = [buckets * one // number for one in range(number + 1)]
    return [(first, last - 1) for first, last in pairwise(ends)]


def _tasks(context: StepContext, waiting: Mapping[str, SegmentState]) -> int:
    """Tasks that are wanted: a small round is one, a large one has some for each worker."""
    urls = sum(state.urls for state in waiting.values())
    return 1 if urls < 10_000 else max(context.engine.workers, urls * 60 // _ROWS)
