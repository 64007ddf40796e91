"""URLs of a replayed page: which of them change, and into what.

Replay shows a capture at `/TIMESTAMPmp_/URL` of the origin for replay. A relative URL of the page
is right there as it is, unless it climbs above the root of its host. All others that browsers
request or navigate to are rewritten to such a path: the policy of a replayed page refuses every
other origin.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import ada_url

from nacre.uri.query import encode_query, needs_encoding, query_codec
from nacre.wire.guess import codec_of

MODIFIER: Final = "mp_"
"""Modifier of the paths of pages and what belongs to them, as in pywb."""

_MAX_LENGTH: Final = 65_536
"""Characters of the longest URL that is rewritten; the page's policy refuses longer ones."""

_ENDS: Final = "".join(map(chr, range(0x21)))
_DROPPED: Final = dict.fromkeys(map(ord, "\t\n\r"))
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES: Final = ("http", "https", "ftp")
_REPLAYED: Final = ("http://", "https://", "ftp://")
_SEGMENT: Final = re.compile(r"[/\\]")
_UP: Final = ("..", ".%2e", "%2e.", "%2e%2e")
_HERE: Final = (".", "%2e")


class PageAddress(NamedTuple):
    """The place of a capture in replay.

    Attributes:
        origin: What rewritten URLs begin with, such as `http://j0a1b2c3d4e5f.replay.localhost:8411`;
            "" for paths on the origin of the page.
        timestamp: Time of the page, up to 14 digits.
        url: URL of the capture, absolute and normalised, without fragment.
    """

    origin: str
    timestamp: str
    url: str


class UrlRewriter:
    """Rewrites the URLs of one document.

    Attributes:
        prefix: What is put before an absolute URL.
        base: The base URL of the document.
        depth: Number of folders that a relative URL may climb.
        root: Scheme and authority of the base URL.
    """

    __slots__ = ("_cache", "_codec", "_document", "base", "depth", "prefix", "root")

    def __init__(self, page: PageAddress, charset: str = "utf-8", base: str = "") -> None:
        """Prepare for a document.

        Args:
            page: The page.
            charset: Codec or label of the document, for the queries of its links.
            base: Its base URL, if that is not the URL of the page.
        """
        self.prefix = f"{page.origin}/{page.timestamp}{MODIFIER}/"
        self._document = page.url
        self._codec = query_codec(codec_of(charset) or charset)
        self._set_base(base or page.url)

    def _set_base(self, url: str) -> None:
        self.base = url
        self.root = url[: url.find("/", url.find("://") + 3)] if url.count("/") > 2 else url
        self.depth = max(re.split(r"[?#]", url, maxsplit=1)[0].count("/") - 3, 0)
        self._cache: dict[str, str | None] = {}

    def rebase(self, href: str) -> None:
        """Resolve against another base from now on; a base that is unusable changes nothing.

        Source: HTML Standard, "frozen base URL".
        """
        base = self._join(href.strip(_ENDS), self._document)
        if base and base.startswith(_REPLAYED):
            self._set_base(base.partition("#")[0])

    def rewrite(self, url: str) -> str | None:
        """Return the URL in replay of a URL as written, as plain text.

        Returns:
            None if it stays: it is empty, a fragment, relative, unparsable, or of a scheme that is
            not captured, such as `data:`, `javascript:` or `mailto:`.
        """
        if url not in self._cache:
            self._cache[url] = self._rewrite(url)
        return self._cache[url]

    def _rewrite(self, url: str) -> str | None:
        text = url.strip(_ENDS).translate(_DROPPED)
        if not text or text[0] == "#" or len(text) > _MAX_LENGTH or self._is_right(text):
            return None
        return self.archived(text)

    def archived(self, url: str) -> str | None:
        """Return the absolute URL in replay of any URL; None if that is never captured."""
        absolute = self._join(url.strip(_ENDS), self.base)
        if absolute is None or not absolute.startswith(_REPLAYED):
            return None
        return self.prefix + absolute

    def _is_right(self, text: str) -> bool:
        """Return whether the browser resolves a URL to the right path of replay."""
        scheme = _SCHEME.match(text)
        if scheme:
            return scheme[1].lower() not in _SCHEMES
        if text[0] in "/\\":
            return False
        return not (("." in text or "%" in text) and self._climbs_too_high(text))

    def _climbs_too_high(self, text: str) -> bool:
        """Return whether a relative URL leaves the root of its host, where browsers stop."""
        depth = self.depth
        for segment in _SEGMENT.split(re.split(r"[?#]", text, maxsplit=1)[0]):
            name = segment.lower()
            if name in _UP:
                depth -= 1
                if depth < 0:
                    return True
            elif name not in _HERE:
                depth += 1
        return False

    def _join(self, text: str, base: str) -> str | None:
        if needs_encoding(text, self._codec):
            head, mark, fragment = text.partition("#")
            head, _, query = head.partition("?")
            text = f"{head}?{encode_query(query, self._codec)}{mark}{fragment}"
        try:
            return ada_url.join_url(base, text)
        except ValueError:
            return None


_PLACE: Final = re.compile(r"(?:https?://[^/]*)?/(\d{1,14})mp_/([a-z][a-z0-9+.-]*://[^/?#]+[/?].*)")


def locate_stray(path: str, referrer: str) -> str | None:
    """Return the path in replay of a request whose path is none; None if its page is unknown.

    The worker does the same for pages that it controls; frames without a URL it does not.

    Args:
        path: Path and query of the request, such as `/x.png`, of the root of the archived host.
        referrer: URL of the document or style sheet that it belongs to, on the origin of replay.
    """
    place = _PLACE.match(referrer)
    if place is None:
        return None
    return UrlRewriter(PageAddress("", place[1], place[2])).archived("/" + path.lstrip("/"))


Rewrite = Callable[[str], str | None]
"""`UrlRewriter.rewrite`, or another such function."""
