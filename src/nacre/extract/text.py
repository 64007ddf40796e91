"""Bytes to text, for what is no HTML: style sheets, scripts, JSON, XML, sitemaps."""

import re

from nacre.extract.document import Document
from nacre.wire.charset import decode
from nacre.wire.labels import codec_of

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_BARE_UTF16 = ((b"<\x00?\x00", "utf-16-le"), (b"\x00<\x00?", "utf-16-be"))
_DECLARED = re.compile(
    rb"""(?:\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']"""
    rb"""|@charset\s"([\w.:-]{1,40})";)""",
    re.IGNORECASE,
)


def read_text(document: Document) -> str:
    """The body as text; never fails.

    Byte order mark, then the Content-Type header, then the document's own declaration (XML
    declaration or `@charset`, no `meta`), then UTF-8; bytes that do not fit become U+FFFD.
    """
    return decode_text(document.body, document.charset_header)


def decode_text(body: bytes, label: str | None = None) -> str:
    """As `read_text`, of bytes and the charset of the Content-Type header (None when absent)."""
    return decode(body, _marked(body) or _labelled(label) or _declared(body) or "utf-8")


def _marked(body: bytes) -> str:
    return next((codec for mark, codec in _MARKS if body.startswith(mark)), "")


def _labelled(label: str | None) -> str:
    return (codec_of(label.strip().strip("\"'")) or "") if label else ""


def _declared(body: bytes) -> str:
    for start, codec in _BARE_UTF16:
        if body.startswith(start):
            return codec
    found = _DECLARED.match(body)
    declared = codec_of((found[1] or found[2]).decode("ascii")) if found else None
    return (
        declared if declared and not declared.startswith("utf-16") else ""
    )  # read as bytes, so it is not
