"""From a URL to the CrawlURI that the frontier keeps: key, queue, directive, cost."""

from collections.abc import Mapping

from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Directive, Hop, Outlink, extend_path
from nacre.frontier.policy import prerequisite_rank, rank
from nacre.frontier.settings import FrontierSettings
from nacre.uri.canonical import Canonicalizer, seen_key
from nacre.uri.parse import authority
from nacre.uri.surt import surt_authority

_QUEUES = 65536
"""Authorities whose queue key is remembered; the cache starts anew when it is full."""


class Identity:
    """Makes CrawlURIs; the only place that knows how a URL becomes a key and a queue."""

    def __init__(self, canonicalizer: Canonicalizer, settings: Effective[FrontierSettings]) -> None:
        self._canonicalizer = canonicalizer
        self._settings = settings
        self._queues: dict[str, str] = {}

    def canonical(self, url: str) -> str:
        """Canonical form of a URL, for the seen key only."""
        return self._canonicalizer.canonical(url)

    def key(self, url: str) -> bytes:
        """Seen key of a URL, 16 bytes."""
        return seen_key(self._canonicalizer.canonical(url))

    def queue(self, url: str) -> str:
        """Queue key of a URL: its SURT authority."""
        name = authority(url)
        queue = self._queues.get(name)
        if queue is None:
            if len(self._queues) >= _QUEUES:
                self._queues.clear()
            queue = self._queues[name] = surt_authority(url)
        return queue

    def seed(
        self,
        url: str,
        *,
        source: str = "",
        heritable: Mapping[str, str] | None = None,
        overlay: int = 0,
    ) -> CrawlURI:
        """A seed: no via, directive MEDIUM."""
        order = rank(self._settings[overlay], "", is_seed=True)
        return CrawlURI(
            url=url,
            key=self.key(url),
            queue=self.queue(url),
            source=source,
            is_seed=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=dict(heritable or {}),
        )

    def child(self, parent: CrawlURI, link: Outlink, overlay: int = 0) -> CrawlURI:
        """A URI found on another: it inherits source tag and heritable data.

        A redirect target with its via's canonical key but another URL is forced: it is another
        page (http to https, or with a session id), not one already seen.
        """
        path = extend_path(parent.path, link.hop)
        key = self.key(link.url)
        order = rank(self._settings[overlay], path)
        return CrawlURI(
            url=link.url,
            key=key,
            queue=self.queue(link.url),
            via=parent.url,
            path=path,
            context=link.context,
            source=parent.source,
            force_fetch=link.hop is Hop.REDIRECT and key == parent.key and link.url != parent.url,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=_inherited(parent),
            annotations=("isSitemap",) if link.sitemap else (),
        )

    def redirected_seed(self, parent: CrawlURI, link: Outlink, overlay: int = 0) -> CrawlURI:
        """The redirect target of a seed: a seed too, fetched even when it was seen."""
        return structs.replace(
            self.child(parent, link, overlay),
            is_seed=True,
            force_fetch=link.url != parent.url,
            directive=Directive.MEDIUM,
        )

    def prerequisite(
        self, parent: CrawlURI, url: str, heritable: Mapping[str, str] | None = None
    ) -> CrawlURI:
        """What must be fetched before a URI: in the same queue, one directive sooner, forced."""
        order = prerequisite_rank(parent)
        return CrawlURI(
            url=url,
            key=self.key(url),
            queue=parent.queue,
            via=parent.url,
            path=extend_path(parent.path, Hop.PREREQUISITE),
            context="prerequisite",
            source=parent.source,
            force_fetch=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
            heritable=dict(heritable or {}),
        )


def _inherited(parent: CrawlURI) -> dict[str, str]:
    """What descends: keys that begin with `_` are about the one URI only."""
    heritable = parent.heritable
    if not heritable:
        return heritable
    return {key: value for key, value in heritable.items() if key[0] != "_"}
