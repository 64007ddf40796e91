"""Translates between crawler and planner: choices to URIs, visits to lessons.

`Revisits` converts a choice of the planner to a URI for the frontier. `VisitTranslator` converts a
visit to a lesson for the planner: its links with the URLs under which pages are known.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import structs

from nacre.annotations import PAIR
from nacre.assembly.rules import JobRules
from nacre.assembly.scheduling import Scheduling
from nacre.core.charsets import linked_from, read_before_in
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.pagerow import DiscoveryRow
from nacre.core.processor import Visit
from nacre.engine.candidates.candidates import Candidates
from nacre.engine.candidates.identity import Identity
from nacre.engine.seeding.seedbook import own_scope
from nacre.engine.steps.fetching import UNCONDITIONAL
from nacre.history.rendered import dom_digest, final_dom, requested_urls
from nacre.planner.planner import Planner
from nacre.planner.step import Choice
from nacre.planner.visited import SeenLink, VisitFinding
from nacre.recrawl.knowledge import Knowledge, body_of
from nacre.recrawl.pagestore import PageStore
from nacre.scope.subject import OWN_SCOPE
from nacre.uri.parse import authority


class Revisits:
    """Converts choices to URIs, with their path from a seed and their kind of request.

    Args:
        rules: Settings and sheets of the job.
        scheduling: The seeds, and the evaluation of links.
        identity: Makes the URIs of seeds.
        knowledge: The knowledge about the pages.
        step: Time of the step, seconds since the epoch.
    """

    def __init__(
        self,
        rules: JobRules,
        scheduling: Scheduling,
        identity: Identity,
        knowledge: Knowledge,
        step: float,
    ) -> None:
        self._sheets = rules.sheets
        self._settings = rules.settings
        self._candidates = scheduling.candidates
        self._seeds = scheduling.seeds
        self._identity = identity
        self._pages = knowledge.pages
        self._audits = knowledge.audits
        self._step = step

    def uri(self, choice: Choice) -> CrawlURI | None:
        """The URI for the frontier; None when the scope no longer accepts it."""
        way = self._pages.way(choice.url)
        uri: CrawlURI | None
        if self._seeds.knows(choice.url) and (way is None or not way.path):
            uri = self._seed(choice.url)
        elif way is None or not way.path:
            uri = self.linked(choice.url)
        else:
            link = Outlink(choice.url, Hop(way.path[-1]), way.context, sitemap=way.sitemap)
            parent = CrawlURI(way.via, b"", "", path=way.path[:-1], source=way.source)
            if way.owner:
                parent = structs.replace(parent, heritable={OWN_SCOPE: way.owner})
            uri = self._accepted(parent, link)
        if uri is None:
            return None
        return self._marked(self._with_charsets(uri, way.via if way else ""), choice)

    def _with_charsets(self, uri: CrawlURI, via: str) -> CrawlURI:
        """Return a URI with the charset of its last version, or of the page with the link to it."""
        version = self._pages.version(uri.url)
        if version is not None:
            return read_before_in(uri, version.charset)
        page = self._pages.version(via) if via else None
        return uri if page is None else linked_from(uri, page.charset)

    def linked(self, url: str) -> CrawlURI | None:
        """Return a URI as a link on a seed; None if the scope does not accept it.

        This adds pages that were seeds earlier, or in the job that their history comes from. The
        seed is one on the page's host with its own scope, else the first seed of the job.
        """
        link = Outlink(url, Hop.LINK, "")
        own = self._own.get(authority(url), ())
        parents = (CrawlURI(seed, b"", "", heritable=own_scope(owner)) for seed, owner in own)
        accepted = (
            self._accepted(parent, link) for parent in (*parents, CrawlURI(self._first, b"", ""))
        )
        return next((uri for uri in accepted if uri is not None), None)

    def _accepted(self, parent: CrawlURI, link: Outlink) -> CrawlURI | None:
        accepted = self._candidates.accepted(parent, [link])
        return accepted[0][1] if accepted else None

    @cached_property
    def _first(self) -> str:
        """The first seed."""
        return next((row.url for row in self._seeds.rows()), "")

    def _seed(self, url: str) -> CrawlURI:
        engine, overlay = self._settings.engine, self._sheets.of_url(url)
        source = url if engine.source_tags else ""
        heritable = own_scope(self._owners.get(url, "")) | self._seeds.marks(url)
        return self._identity.seed(url, source=source, heritable=heritable, overlay=overlay)

    @cached_property
    def _owners(self) -> dict[str, str]:
        """Owners of the seeds that have their own scope, by URL."""
        seeds = self._seeds
        return {row.url: row.owner for row in seeds.rows() if row.owner} if seeds.has_owners else {}

    @cached_property
    def _own(self) -> dict[str, list[tuple[str, str]]]:
        """Seeds with their own scope, and their owners, by authority."""
        own: dict[str, list[tuple[str, str]]] = {}
        for seed, owner in self._owners.items():
            own.setdefault(authority(seed), []).append((seed, owner))
        return own

    def _marked(self, uri: CrawlURI, choice: Choice) -> CrawlURI:
        """The URI, marked if it needs no validators: a pair, an audit, or wrong validators."""
        recrawl = self._settings.recrawl
        own_choice = choice._replace(url=uri.url)
        reason = self._audits.unconditional(own_choice, self._step, recrawl.audits)
        if not reason:
            return uri
        marked = {**uri.heritable, UNCONDITIONAL: reason}
        return structs.replace(uri, force_fetch=uri.force_fetch or reason == PAIR, heritable=marked)


_PLANNED = frozenset((Hop.LINK, Hop.REDIRECT, Hop.MANIFEST))
_TOLD = _PLANNED | {Hop.EMBED}
"""Embeds are fetched when they are first seen; the planner decides when they are revisited."""
_EMBEDDED = frozenset(("script", "style", "image", "font", "media"))
"""Requests of a page that are made as for an embed of its HTML."""
HTML = "text/html"


class Link(NamedTuple):
    """A link as the planner sees it; see `SeenLink`."""

    url: str
    hop: str
    text: str
    lastmod: str
    rel: str


class TranslatedVisit(NamedTuple):
    """A visit as the planner sees it; see `Visited`."""

    url: str
    time: float
    status: int
    digest: str
    mime: str
    length: int
    links: Sequence[SeenLink]
    body: Callable[[], bytes]
    rendered: bool = False
    wall: str = ""


class Judgement(NamedTuple):
    """The judgement of one visit.

    Attributes:
        visit: The visit.
        finding: The finding of the planner; None if it did not see the visit.
        first: The page was never visited before.
        accepted: Links that the scope accepts and the planner does not decide on.
        time: Start of its run, seconds since the epoch.
    """

    visit: Visit
    finding: VisitFinding | None
    first: bool
    accepted: list[CrawlURI]
    time: float = 0.0


class VisitTranslator:
    """Converts each visit to a lesson.

    Args:
        candidates: Judges links.
        pages: Rows of pages.
        planner: Learns.
    """

    def __init__(self, candidates: Candidates, pages: PageStore, planner: Planner) -> None:
        self._candidates = candidates
        self._pages = pages
        self._planner = planner

    def teach(self, visit: Visit, time: float) -> Judgement:
        """Pass a visit to the planner.

        Args:
            visit: The visit, final.
            time: Of the step in which it was made, seconds since the epoch.
        """
        uri, pages = visit.uri, self._pages
        if uri.url.startswith("dns:") or not uri.url.startswith("http"):
            return Judgement(visit, None, first=False, accepted=[])
        row = pages.get(uri.url)
        first = row is None or not row.visits
        links, other_links = self._links(visit)
        if row is None:
            pages.put_name(uri.key, uri.url)
            if _is_nothing(visit, links):
                return Judgement(visit, None, first, other_links)
        observation = _translate_visit(visit, time, links)
        if visit.page is not None and not observation.rendered and self._was_rendered(uri.url):
            observation = observation._replace(status=0, digest="", length=0, links=())
        return Judgement(visit, self._planner.learn(observation), first, other_links, time)

    def _was_rendered(self, url: str) -> bool:
        """Whether the last version of a page is one of a browser, which a shell is no match for."""
        version = self._pages.version(url)
        return version is not None and version.rendered

    def pass_on(self, visit: Visit, time: float) -> Judgement:
        """Return the judgement of a request of a page, which is no page for the planner.

        An embed that the planner has a row of is taught as ever.
        """
        row = self._pages.get(visit.uri.url)
        request = visit.request
        if row is not None and request is not None and request.resource in _EMBEDDED:
            return self.teach(visit, time)
        accepted = self._candidates.accepted(visit.uri, visit.outlinks) if visit.outlinks else []
        return Judgement(visit, None, first=False, accepted=[uri for _, uri in accepted])

    def _links(self, visit: Visit) -> tuple[list[Link], list[CrawlURI]]:
        """The links that the planner learns of, and those that it does not decide on."""
        follows = 200 <= visit.status < 400
        if not (visit.outlinks and follows):
            return [], []
        links: dict[str, Link] = {}
        other_links: list[CrawlURI] = []
        requested = frozenset(requested_urls(visit.page)) if visit.page is not None else ()
        for link, uri in self._candidates.accepted(visit.uri, visit.outlinks):
            if link.hop is Hop.EMBED and uri.url in requested:
                continue  # the page asks for it itself: it is no separate page
            if link.hop not in _PLANNED or uri.is_seed:
                other_links.append(uri)
            if link.hop not in _TOLD:
                continue
            url = self._name(link, uri)
            if url not in links:
                text = link.text if link.context == "a/@href" else ""
                links[url] = Link(url, str(link.hop), text, link.lastmod, link.rel)
        return list(links.values()), other_links

    def _name(self, link: Outlink, uri: CrawlURI) -> str:
        """Return the known URL of a page; a new page is recorded with its path."""
        pages = self._pages
        if pages.get(uri.url) is not None:
            return uri.url
        name = pages.name(uri.key)
        if name is not None:
            return name
        owner = uri.heritable.get(OWN_SCOPE, "")
        way = DiscoveryRow(uri.via, uri.path, uri.context, uri.source, owner, link.sitemap)
        pages.put_way(uri.url, way)
        pages.put_name(uri.key, uri.url)
        return uri.url


def _translate_visit(visit: Visit, time: float, links: Sequence[Link]) -> TranslatedVisit:
    capture, status = visit.capture, visit.status
    if dom := final_dom(visit):
        # What the server says of the shell, a 304 too, says nothing of the page.
        digest, length = dom_digest(dom), len(dom)
        return TranslatedVisit(
            *(visit.uri.url, time, 200, digest, HTML, length, links, lambda: dom),
            rendered=True,
            wall=visit.wall,
        )
    if capture is None:
        return TranslatedVisit(visit.uri.url, time, status, "", visit.mime, 0, links, bytes)
    same = status == 304
    return TranslatedVisit(
        visit.uri.url,
        time,
        status,
        "" if same else capture.payload_digest,
        visit.mime,
        0 if same else capture.payload_length,
        links,
        lambda: body_of(capture, visit.charset),
        wall=visit.wall,
    )


def _is_nothing(visit: Visit, links: Sequence[Link]) -> bool:
    """Whether a visit is a missing guess or embed, or a prerequisite without information."""
    if visit.uri.is_prerequisite:
        return not links
    hop = visit.uri.path[-1:]
    return visit.status != 200 and bool(hop) and hop not in _PLANNED
