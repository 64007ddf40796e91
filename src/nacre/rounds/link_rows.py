"""The links of one page for `readlinks`: links to the page, and links on it.

Links to a page are rows of the table of links. A link that the newest parse of its page lacks is
gone: it stays in the table, and was seen last before that parse. The visits of segments contain the
times of parses. The links on a page are those of its newest parse, from the facts of its segment,
and the gone links of the table.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from nacre.crawldb.kernels import parquet, quoted
from nacre.crawldb.links import inlinks
from nacre.crawldb.row import bucket_of
from nacre.crawldb.settings import LinkDbSettings
from nacre.errors import JobError
from nacre.rounds.steps.links import LINKS, TAKEN, has_links
from nacre.rounds.steps.update_tasks import local_facts
from nacre.rounds.tables.readers import TableView, join_buckets
from nacre.rounds.tables.tables import (
    BucketFiles,
    TaskPlace,
    TaskWork,
    buckets_of,
    in_tasks,
    table_kind,
)
from nacre.rounds.tables.versions import SegmentState

_REPLIED = "(v.status between 200 and 399 and v.status <> 304) or v.status in (404, 410)"
"""SQL condition for visits that replaced the links of their page."""


class PageLink(NamedTuple):
    """A link from a page to a page.

    Attributes:
        dst, src: Keys of the target and of the page.
        anchor, rel, hop, context: The texts of the link at its last visit; None for none.
        score: Share of the score of its page, in 2^-32; None when unknown.
        first: When it was seen first, ms since the epoch.
        last: When it was seen last, ms.
        gone: The newest parse of its page lacks it.
    """

    dst: str
    src: str
    anchor: str | None
    rel: str | None
    hop: str | None
    context: str | None
    score: int | None
    first: int
    last: int
    gone: bool = False


class OutLinksSpec(NamedTuple):
    """One task: the rows of one page in some buckets of the table of links.

    Attributes:
        place: The work place of the task.
        buckets: The buckets, with their files.
        src: Key of the page.
    """

    place: TaskPlace
    buckets: tuple[BucketFiles, ...]
    src: str


class _Reply(NamedTuple):
    """The newest reply of a page: the folder of its part, and its time in ms."""

    part: str
    time: int


def in_links(view: TableView, key: str, settings: LinkDbSettings) -> list[PageLink]:
    """Return the links to a page, the best score first, the gone links last.

    Args:
        view: The tables.
        key: Key of the page.
        settings: `cycle.links`; `max` limits the number.

    Raises:
        JobError: The step `links` has taken no segment yet.
    """
    if not has_links(view.version):
        return []
    number = bucket_of(key, view.version.tables[LINKS].buckets)
    buckets = [b for b in buckets_of(view.cycle, view.version, LINKS) if b.bucket == number]
    if not buckets:
        return []
    with view.place.open() as work:
        rows = table_kind(LINKS).merge(join_buckets(work, buckets))
        query = inlinks(f"(select * from ({rows}) where dst = {quoted(key)})", settings)
        rows_to_page = work.kernel.arrow(query).to_pylist()
        # Segments whose links are not in the table yet prove nothing about its rows.
        states = [state for state in view.version.segments.values() if TAKEN in state.more]
        newest = _newest_replies(work, states, {row["src"] for row in rows_to_page})
    links = [
        PageLink(**row, gone=row["src"] in newest and row["last"] < newest[row["src"]].time)
        for row in rows_to_page
    ]
    return sorted(links, key=lambda link: link.gone)


def out_links(view: TableView, key: str) -> list[PageLink]:
    """Return the links on a page: those of its newest reply in page order, then the gone links.

    Args:
        view: The tables.
        key: Key of the page.

    Raises:
        JobError: The page was never fetched.
    """
    with view.place.open() as work:
        newest = _newest_replies(work, list(view.version.segments.values()), {key}).get(key)
        if newest is None:
            raise JobError(f"no segment has a visit of {key} with a reply")
        reply_links = _links_of(work, newest, key)
    specs = [
        OutLinksSpec(view.place, group, key)
        for group in in_tasks(buckets_of(view.cycle, view.version, LINKS))
    ]
    table_links = {
        row["dst"]: PageLink(**row)
        for rows in view.engine.map(out_links_task, specs)
        for row in rows
    }
    page_links = [
        link._replace(first=table_links[link.dst].first, score=table_links[link.dst].score)
        if link.dst in table_links
        else link
        for link in reply_links
    ]
    names = {link.dst for link in reply_links}
    gone = [link._replace(gone=True) for link in table_links.values() if link.dst not in names]
    return page_links + sorted(gone, key=lambda link: (-link.last, link.dst))


def out_links_task(spec: OutLinksSpec) -> list[dict[str, Any]]:
    """Return the rows of a page in some buckets."""
    with spec.place.open() as work:
        rows = table_kind(LINKS).merge(join_buckets(work, spec.buckets))
        query = f"select * from ({rows}) where src = {quoted(spec.src)} order by dst"
        return list(work.kernel.arrow(query).to_pylist())


def _links_of(work: TaskWork, newest: _Reply, key: str) -> list[PageLink]:
    """Return the links of a reply, each target once, by its first link on the page."""
    source = parquet(local_facts(work.storage, [f"{newest.part}/links.parquet"], work))
    query = (
        "select dst, src, anchor, rel, hop, context, null::BIGINT as score, time as first, "
        f"time as last from {source} where src = {quoted(key)} and time = {newest.time:d} "
        "qualify row_number() over (partition by dst order by rank) = 1 order by rank, dst"
    )
    return [PageLink(**row) for row in work.kernel.arrow(query).to_pylist()]


def _newest_replies(
    work: TaskWork, segments: Iterable[SegmentState], keys: Collection[str]
) -> dict[str, _Reply]:
    """Return the newest reply of each page that has one: a page, a redirect, or 404 or 410."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    parts = [part for state in segments for unit in state.parts.values() for part in unit]
    if not parts or not keys:
        return {}
    paths = local_facts(work.storage, [f"{part}/visits.parquet" for part in parts], work)
    work.kernel.load("wanted", pa.table({"key": pa.array(sorted(keys), pa.string())}))
    newest = "{'time': v.time // 1000, 'file': v.filename}"
    query = (
        f"select v.key, arg_max({newest}, v.time) as newest from {parquet(paths)} v "
        f"semi join wanted w on v.key = w.key where {_REPLIED} group by v.key"
    )
    of = dict(zip(paths, parts, strict=True))
    return {
        key: _Reply(of[newest["file"]], newest["time"]) for key, newest in work.kernel.rows(query)
    }
