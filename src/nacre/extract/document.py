"""The input of extractors (a document) and their result (its links)."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from nacre.annotations import IS_SITEMAP
from nacre.core.capture import LONGEST_TYPE, Capture
from nacre.core.charsets import hints_of
from nacre.core.crawluri import Outlink
from nacre.core.processor import Visit
from nacre.wire.coding import decode_content
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
        context: Context of the link to it, such as `script/@src`; after redirects, the context of
            the first URL if it contains how the document is loaded.
        via: URL of the page that it was found on; "" for a seed.
        is_sitemap: Whether robots.txt or another sitemap lists it as a sitemap.
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

    def use_charset(self, charset: str) -> None:
        """Set the codec that the body is read in."""
        self.charset = charset


class Extraction(msgspec.Struct):
    """The links and facts that were found in one document.

    Attributes:
        outlinks: Links in document order, each (URL, hop, context) once.
        dropped: Links beyond the cap (`dol:n`).
        annotations: For crawl.log, such as `usingCharsetInHTML:UTF-8`.
        charset: Encoding that the text was read in; "" when there was none to read.
        charset_source: Source of the charset, see `wire.charset.detect` and `wire.guess`.
        robots: Directives of meta robots and X-Robots-Tag in effect, lower case.
        metas: Names and contents of elements of the page that state preferences on its use.
        errors: (href, message) of links that are not URIs, at most 100.
        claimed: A content extractor took the document.
    """

    outlinks: list[Outlink] = []
    dropped: int = 0
    annotations: list[str] = []
    charset: str = ""
    charset_source: str = ""
    robots: frozenset[str] = frozenset()
    metas: list[tuple[str, str]] = []
    errors: list[tuple[str, str]] = []
    claimed: bool = False

    def take_charset(self, charset: str, source: str) -> None:
        """Note the encoding that the text is read in, and where it comes from."""
        self.charset = charset
        self.charset_source = source

    def claim(self) -> None:
        """Note that a content extractor takes the document."""
        self.claimed = True

    def take_links(
        self, outlinks: list[Outlink], dropped: int, errors: list[tuple[str, str]]
    ) -> None:
        """Store the collected links."""
        self.outlinks = outlinks
        self.dropped = dropped
        self.errors = errors


def document_of(visit: Visit, capture: Capture, limit: int, host: str = "") -> Document:
    """Return the document of a capture for extractors: content decoded, at most `limit` bytes."""
    body = capture.payload(limit)
    encodings = capture.header_values(b"content-encoding")
    if encodings and body:
        decoded = decode_content(body, encodings, limit)
        visit.annotations.extend(decoded.annotations)
        body = decoded.data
    uri = visit.uri
    return Document(
        url=uri.url,
        mime=visit.mime,
        charset_header=_charset(capture),
        headers=capture.headers,
        body=body,
        status=visit.status,
        path=uri.path,
        context=uri.element,
        via=uri.via,
        is_sitemap=IS_SITEMAP in uri.annotations,
        hints=hints_of(uri, host),
        charset=visit.charset,
    )


def stored_document(capture: Capture, limit: int) -> Document:
    """The document of a capture out of the archive: content decoded, at most `limit` bytes."""
    body = capture.payload(limit)
    encodings = capture.header_values(b"content-encoding")
    if encodings and body:
        body = decode_content(body, encodings, limit).data
    kind = (capture.header(b"content-type") or b"")[:LONGEST_TYPE]
    return Document(
        url=capture.url,
        mime=kind.partition(b";")[0].strip().lower().decode("latin-1"),
        charset_header=_charset(capture),
        headers=capture.headers,
        body=body,
        status=capture.status,
    )


def _charset(capture: Capture) -> str | None:
    value = capture.header(b"content-type")
    return None if value is None else charset_parameter(value[:LONGEST_TYPE])


@lru_cache(maxsize=256)
def charset_parameter(value: bytes) -> str | None:
    """Return the `charset` parameter of a Content-Type, lower case."""
    _, has_charset, parameter = value.lower().partition(b"charset=")
    if not has_charset:
        return None
    text = parameter.partition(b";")[0].strip(b" \t\"'")
    return text.decode("latin-1") or None
