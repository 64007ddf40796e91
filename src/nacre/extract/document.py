"""What goes into an extractor, and what comes out."""

from collections.abc import Sequence

import msgspec

from nacre.core.crawluri import Outlink
from nacre.wire.guess import NO_HINTS, Hints

MAX_ERRORS = 100
"""Unusable links kept for uri-errors.log, per document."""


class Document(msgspec.Struct):
    """One fetched document, as extractors see it.

    Attributes:
        url: The URL that was requested.
        base: What relative links resolve against; "" means `url`.
        mime: Media type, lower case, parameters cut; "" when the server sent none.
        charset_header: Charset of the Content-Type header, as sent; None when absent.
        headers: Header fields of the response, in order.
        body: Payload without transfer and content coding, cut by the caller to its limits.
        status: HTTP status, or a crawl code.
        path: Hop path from the seed.
        context: Link context that it was found by, such as `script/@src`.
        via: URL of the page that it was found on; "" for a seed.
        is_sitemap: robots.txt or another sitemap said that it is a sitemap.
        hints: What is known beside the body of the encoding that it is in.
        charset: The codec that the body is read in; "" until that has been found out.
    """

    url: str
    base: str = ""
    mime: str = ""
    charset_header: str | None = None
    headers: Sequence[tuple[bytes, bytes]] = ()
    body: bytes = b""
    status: int = 200
    path: str = ""
    context: str = ""
    via: str = ""
    is_sitemap: bool = False
    hints: Hints = NO_HINTS
    charset: str = ""

    def __post_init__(self) -> None:
        """An absent base is the document's own URL."""
        self.base = self.base or self.url


class Extraction(msgspec.Struct):
    """What was found in one document.

    Attributes:
        outlinks: Links in document order, each (URL, hop, context) once.
        dropped: Links beyond the cap (`dol:n`).
        annotations: For crawl.log, such as `usingCharsetInHTML:UTF-8`.
        charset: Encoding that the text was read in; "" when there was none to read.
        charset_source: Where that comes from, as `wire.charset.detect` and `wire.guess` say.
        robots: Directives of meta robots and X-Robots-Tag in effect, lower case.
        errors: (href, message) of links that are no URI, at most 100.
        claimed: A content extractor took the document.
    """

    outlinks: list[Outlink] = []
    dropped: int = 0
    annotations: list[str] = []
    charset: str = ""
    charset_source: str = ""
    robots: frozenset[str] = frozenset()
    errors: list[tuple[str, str]] = []
    claimed: bool = False
