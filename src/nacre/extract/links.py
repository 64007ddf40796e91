"""Raw references in, `Outlink`s out: resolved, each once, ranked, capped."""

from typing import TYPE_CHECKING

from nacre.core.crawluri import Hop, Outlink
from nacre.errors import URIError
from nacre.extract.document import MAX_ERRORS, Document
from nacre.uri.parse import Resolver

if TYPE_CHECKING:
    from nacre.extract.settings import ExtractSettings

ANCHOR = "a/@href"
"""Context of the links that most are."""

MAX_TEXT = 200
_LINK = Hop.LINK  # the way to a member of an enumeration is long
_MAX_ERROR_LENGTH = 2083
_LONGEST_SCHEME = 24
_LONGEST_LABEL = 40
_HTTP = ("http:", "https:")
_NO_BASE = "about:blank"

_NEVER_FETCHED = frozenset(
    (
        *("about", "android-app", "blob", "callto", "chrome", "clsid", "data", "facetime", "file"),
        *(
            "geo",
            "im",
            "intent",
            "ios-app",
            "irc",
            "ircs",
            "javascript",
            "livescript",
            "magnet",
            "mailto",
        ),
        *("market", "message", "mid", "mms", "mocha", "news", "nntp", "resource", "sip", "sips"),
        *("skype", "sms", "spotify", "steam", "tel", "telnet", "urn", "vbscript", "view-source"),
        *("webcal", "whatsapp", "xmpp"),
    )
)


class LinkCollector:
    """Gathers the links of one document, in document order.

    Attributes:
        document: The document.
        settings: What is wanted of it.
        base: URL that references resolve against.
        limit: Links kept; more are counted in `dropped`.
        outlinks: The links kept.
        dropped: Number of references beyond the limit; equal references count once.
        errors: (reference, message) of those that make no URI, at most 100.
        robots: Directives for robots in the content, lower case.
        metas: Names and contents of elements that state preferences on the use of the content.
    """

    __slots__ = (
        "_anchors",
        "_encoding",
        "_known",
        "_resolver",
        "_seen",
        "base",
        "document",
        "dropped",
        "errors",
        "limit",
        "metas",
        "outlinks",
        "robots",
        "settings",
    )

    def __init__(
        self, document: Document, settings: "ExtractSettings", encoding: str = "utf-8"
    ) -> None:
        self.document = document
        self.settings = settings
        self.limit = settings.max_outlinks
        self.outlinks: list[Outlink] = []
        self.dropped = 0
        self.errors: list[tuple[str, str]] = []
        self.robots: set[str] = set()
        self.metas: list[tuple[str, str]] = []
        self._encoding = encoding
        self._seen: set[tuple[str, str, str]] = set()
        self._anchors: set[str] = set()
        self.base = ""
        try:
            self._resolver = Resolver(document.base, encoding=encoding)
            self.base = self._resolver.base
        except URIError as error:
            self.reject(document.base, str(error))
            self._resolver = Resolver(_NO_BASE, encoding=encoding)
        self._known = self._resolver.known

    def rebase(self, base: str) -> None:
        """Resolve later references against another absolute URL; an invalid URL changes nothing."""
        try:
            self._resolver = Resolver(base, encoding=self._encoding)
        except URIError as error:
            self.reject(base, str(error))
            return
        self._known = self._resolver.known
        self.base = self._resolver.base

    def use_sitemap_limit(self) -> None:
        """Keep as many links as the settings allow a sitemap."""
        self.limit = self.settings.max_sitemap_links

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return len(self.outlinks) >= self.limit

    def drop(self, number: int) -> None:
        """Count references beyond the limit that are not read at all."""
        self.dropped += max(0, number)

    def resolve(self, href: str) -> str | None:
        """The absolute URL of a reference against the base in force; None when there is none."""
        return self._resolver.resolve(href)

    def add(  # noqa: PLR0913 - the fields of an Outlink
        self,
        href: str,
        hop: Hop,
        context: str,
        rel: str = "",
        text: str = "",
        path: str = "",
        *,
        sitemap: bool = False,
        lastmod: str = "",
        charset: str = "",
    ) -> None:
        """Add a reference as it is in the document; a repetition or a `data:` adds nothing.

        Args:
            href: The reference, character references decoded; relative or absolute.
            hop: How it was found.
            context: Element and attribute, such as `a/@href`.
            rel: The element's `rel`, lower case.
            text: Anchor text, whitespace collapsed.
            path: Element path.
            sitemap: The target is a sitemap.
            lastmod: `lastmod` as written.
            charset: `charset` of the element, as written.
        """
        outlinks, seen_keys = self.outlinks, self._seen
        rank = len(outlinks)
        url = self._known.get(href)
        if rank >= self.limit or not url or not url.startswith("http"):
            url = self._resolve_new(href, hop, context)
            if not url:
                return
        if hop is _LINK and context == ANCHOR:
            if url in self._anchors:
                return
            self._anchors.add(url)
        else:
            key = (url, hop, context)
            if key in seen_keys:
                return
            seen_keys.add(key)
        outlinks.append(
            Outlink(
                url, hop, context, rel, text, rank, path, sitemap, lastmod, charset[:_LONGEST_LABEL]
            )
        )

    def add_anchor(self, href: str, text: str = "") -> None:
        """`add` for an anchor that has nothing but its `href` and text: most links are."""
        outlinks, anchors = self.outlinks, self._anchors
        rank = len(outlinks)
        url = self._known.get(href)
        if rank >= self.limit or not url or not url.startswith("http"):
            self.add(href, _LINK, ANCHOR, text=text)
        elif url not in anchors:
            anchors.add(url)
            outlinks.append(Outlink(url, _LINK, ANCHOR, "", text, rank))

    def _resolve_new(self, href: str, hop: Hop, context: str) -> str:
        """The URL of a reference that pages of this folder did not hold before; "" for none."""
        if "#" in href:
            href = href[: href.find("#")]
        if ":" in href and not href.startswith(_HTTP) and is_never_fetched(href):
            return ""
        if len(self.outlinks) >= self.limit:
            self._drop((href, hop, context))
            return ""
        url = self._resolver.resolve(href)
        if not url:
            if href and not href.isspace():
                self.reject(href, "no URI, or too long")
                return ""
            url = self.base
        return url

    def _drop(self, raw: tuple[str, str, str]) -> None:
        """Count a link beyond the limit, by how it is written: resolving it would not pay."""
        if raw not in self._seen:
            self._seen.add(raw)
            self.dropped += 1

    def reject(self, href: str, message: str) -> None:
        """Keep a reference that makes no URI for uri-errors.log."""
        if len(self.errors) < MAX_ERRORS:
            self.errors.append((href[:_MAX_ERROR_LENGTH], message))


def is_never_fetched(href: str) -> bool:
    """Return True for a scheme that no crawl fetches: `data:`, `javascript:`, `mailto:` …."""
    colon = href.find(":", 0, _LONGEST_SCHEME)
    return colon > 0 and href[:colon].strip().lower() in _NEVER_FETCHED
