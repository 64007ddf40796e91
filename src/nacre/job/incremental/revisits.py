"""What the frontier is given for a visit that the planner chose."""

from functools import cached_property

from msgspec import structs

from nacre.core.charsets import linked_from, read_before_in
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.history.recrawl.choice import Choice
from nacre.job.assemble import Parts
from nacre.job.incremental.auditing import PAIR
from nacre.job.incremental.knowledge import Knowledge
from nacre.job.seeding.seedbook import own_scope
from nacre.job.visit.fetching import UNCONDITIONAL
from nacre.scope.subject import OWN_SCOPE
from nacre.uri.parse import authority


class Revisits:
    """Makes URIs of choices: with their way from a seed, and how they are asked for.

    Args:
        parts: Of the job.
        knowledge: What is known of the pages.
        step: Time of the step, seconds since the epoch.
    """

    def __init__(self, parts: Parts, knowledge: Knowledge, step: float) -> None:
        self._parts = parts
        self._known = knowledge
        self._step = step

    def uri(self, choice: Choice) -> CrawlURI | None:
        """What the frontier is given; None when the scope no longer accepts it."""
        parts, way = self._parts, self._known.pages.way(choice.url)
        uri: CrawlURI | None
        if parts.seeds.knows(choice.url) and (way is None or not way.path):
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
        """With what its last version was read in, or the page that it was found on."""
        pages = self._known.pages
        version = pages.version(uri.url)
        if version is not None:
            return read_before_in(uri, version.charset)
        page = pages.version(via) if via else None
        return uri if page is None else linked_from(uri, page.charset)

    def linked(self, url: str) -> CrawlURI | None:
        """A URI as a link on a seed; None when the scope does not accept it.

        So pages enter that were seeds before, or in the job that their history is from. The seed is
        one of the page's host that has a scope of its own, or the first of all.
        """
        link = Outlink(url, Hop.LINK, "")
        own = self._own.get(authority(url), ())
        parents = (CrawlURI(seed, b"", "", heritable=own_scope(owner)) for seed, owner in own)
        found = (self._accepted(one, link) for one in (*parents, CrawlURI(self._first, b"", "")))
        return next((uri for uri in found if uri is not None), None)

    def _accepted(self, parent: CrawlURI, link: Outlink) -> CrawlURI | None:
        found = self._parts.candidates.accepted(parent, [link])
        return found[0][1] if found else None

    @cached_property
    def _first(self) -> str:
        """The first seed."""
        return next((row.url for row in self._parts.seeds.rows()), "")

    def _seed(self, url: str) -> CrawlURI:
        parts, overlay = self._parts, self._parts.sheets.of_url(url)
        source = url if parts.settings.engine.source_tags else ""
        heritable = own_scope(self._owners.get(url, ""))
        return parts.identity.seed(url, source=source, heritable=heritable, overlay=overlay)

    @cached_property
    def _owners(self) -> dict[str, str]:
        """Of seeds with a scope of their own, what they go by."""
        seeds = self._parts.seeds
        return {row.url: row.owner for row in seeds.rows() if row.owner} if seeds.has_owners else {}

    @cached_property
    def _own(self) -> dict[str, list[tuple[str, str]]]:
        """The same with their seeds, by authority."""
        found: dict[str, list[tuple[str, str]]] = {}
        for seed, owner in self._owners.items():
            found.setdefault(authority(seed), []).append((seed, owner))
        return found

    def _marked(self, uri: CrawlURI, choice: Choice) -> CrawlURI:
        """Some are asked for without validators: pairs, audits, and where validators lied."""
        share = self._parts.settings.recrawl.audits
        why = self._known.audits.unconditional(choice._replace(url=uri.url), self._step, share)
        if not why:
            return uri
        marked = {**uri.heritable, UNCONDITIONAL: why}
        return structs.replace(uri, force_fetch=uri.force_fetch or why == PAIR, heritable=marked)
