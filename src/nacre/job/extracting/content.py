"""What was fetched, as extractors see it.

Apart from the extraction, so that who reads a configuration loads no parser.
"""

from functools import lru_cache

from nacre.core.capture import LONGEST_TYPE, Capture
from nacre.core.charsets import hints_of
from nacre.core.processor import Visit
from nacre.extract.document import Document
from nacre.wire.coding import decode_content


def document_of(visit: Visit, capture: Capture, limit: int) -> Document:
    """What was fetched as extractors see it: content decoded, at most `limit` bytes."""
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
        context=uri.context,
        via=uri.via,
        is_sitemap="isSitemap" in uri.annotations,
        hints=hints_of(uri),
        charset=visit.charset,
    )


def _charset(capture: Capture) -> str | None:
    value = capture.header(b"content-type")
    return None if value is None else _charset_of(value[:LONGEST_TYPE])


@lru_cache(maxsize=256)
def _charset_of(value: bytes) -> str | None:
    """The `charset` parameter of a Content-Type, lower case."""
    _, found, rest = value.lower().partition(b"charset=")
    if not found:
        return None
    text = rest.partition(b";")[0].strip(b" \t\"'")
    return text.decode("latin-1") or None
