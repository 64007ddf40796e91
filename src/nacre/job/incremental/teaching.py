"""What a visit teaches the planner: its links under the names by which pages are known."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Visit
from nacre.core.wayrow import WayRow
from nacre.history.recrawl.planner import Planner
from nacre.history.visited import Finding, SeenLink
from nacre.job.assemble import Parts
from nacre.job.incremental.knowledge import Knowledge
from nacre.job.incremental.versions import body_of
from nacre.scope.subject import OWN_SCOPE

_PLANNED = frozenset((Hop.LINK, Hop.REDIRECT, Hop.MANIFEST))
_TOLD = _PLANNED | {Hop.EMBED}
"""Embeds are fetched when they are first seen; the planner says when they are asked for again."""


class Link(NamedTuple):
    """A link as the planner sees it; see `SeenLink`."""

    url: str
    hop: str
    text: str
    lastmod: str
    rel: str


class Seen(NamedTuple):
    """A visit as the planner sees it; see `Visited`."""

    url: str
    time: float
    status: int
    digest: str
    mime: str
    length: int
    links: Sequence[SeenLink]
    body: Callable[[], bytes]


class Lesson(NamedTuple):
    """What was made of one visit.

    Attributes:
        visit: The visit.
        finding: What the planner found; None when it was not asked.
        first: The page was never visited before.
        accepted: What the scope accepts of its links and the planner does not decide on.
        time: When its run began, seconds since the epoch.
    """

    visit: Visit
    finding: Finding | None
    first: bool
    accepted: list[CrawlURI]
    time: float = 0.0


class Teacher:
    """Makes a lesson of each visit.

    Args:
        parts: Of the job.
        knowledge: What is known of the pages.
        planner: Learns.
    """

    def __init__(self, parts: Parts, knowledge: Knowledge, planner: Planner) -> None:
        self._parts = parts
        self._known = knowledge
        self._planner = planner

    def teach(self, visit: Visit, time: float) -> Lesson:
        """Tell the planner of a visit.

        Args:
            visit: The visit, final.
            time: Of the step in which it was made, seconds since the epoch.
        """
        uri, pages = visit.uri, self._known.pages
        if uri.url.startswith("dns:") or not uri.url.startswith("http"):
            return Lesson(visit, None, first=False, accepted=[])
        known = pages.get(uri.url)
        first = known is None or not known.visits
        links, others = self._links(visit)
        if known is None:
            pages.put_name(uri.key, uri.url)
            if _is_nothing(visit, links):
                return Lesson(visit, None, first, others)
        self._known.versions.kept = ""
        finding = self._planner.learn(_seen(visit, time, links))
        return Lesson(visit, finding, first, others, time)

    def _links(self, visit: Visit) -> tuple[list[Link], list[CrawlURI]]:
        """What the planner is told of, and what it does not decide on."""
        follows = 200 <= visit.status < 400
        if not (visit.outlinks and follows):
            return [], []
        links: dict[str, Link] = {}
        others: list[CrawlURI] = []
        for link, uri in self._parts.candidates.accepted(visit.uri, visit.outlinks):
            if link.hop not in _PLANNED or uri.is_seed:
                others.append(uri)
            if link.hop not in _TOLD:
                continue
            url = self._name(link, uri)
            if url not in links:
                text = link.text if link.context == "a/@href" else ""
                links[url] = Link(url, str(link.hop), text, link.lastmod, link.rel)
        return list(links.values()), others

    def _name(self, link: Outlink, uri: CrawlURI) -> str:
        """The URL under which a page is known; one that is new is noted with its way."""
        pages = self._known.pages
        if pages.get(uri.url) is not None:
            return uri.url
        known = pages.name(uri.key)
        if known is not None:
            return known
        owner = uri.heritable.get(OWN_SCOPE, "")
        way = WayRow(uri.via, uri.path, uri.context, uri.source, owner, link.sitemap)
        pages.put_way(uri.url, way)
        pages.put_name(uri.key, uri.url)
        return uri.url


def _seen(visit: Visit, time: float, links: Sequence[Link]) -> Seen:
    capture, status = visit.capture, visit.status
    if capture is None:
        return Seen(visit.uri.url, time, status, "", visit.mime, 0, links, bytes)
    same = status == 304
    return Seen(
        visit.uri.url,
        time,
        status,
        "" if same else capture.payload_digest,
        visit.mime,
        0 if same else capture.payload_length,
        links,
        lambda: body_of(capture, visit.charset),
    )


def _is_nothing(visit: Visit, links: Sequence[Link]) -> bool:
    """A guess or an embed that is not there, or a prerequisite that tells of nothing."""
    if visit.uri.is_prerequisite:
        return not links
    hop = visit.uri.path[-1:]
    return visit.status != 200 and bool(hop) and hop not in _PLANNED
