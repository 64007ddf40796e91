"""Bytes to text, for what is no HTML: style sheets, scripts, JSON, XML, sitemaps, plain text."""

import re

from nacre.extract.document import Document
from nacre.wire.charset import decode
from nacre.wire.guess import NO_HINTS, Hints, guess
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
    """The body as text, in the document's charset, which is found out first; never fails.

    Bytes that do not fit become U+FFFD.
    """
    codec = document.charset or text_charset(document.body, document.charset_header)[0]
    return decode(document.body, codec)


def text_charset(
    body: bytes, label: str | None, url: str = "", hints: Hints = NO_HINTS
) -> tuple[str, str]:
    """In which encoding a text is that is no HTML.

    Byte order mark, then the Content-Type header, then the document's own declaration (XML
    declaration or `@charset`, no `meta`), then what the bytes look like; UTF-8 for ASCII.

    Args:
        body: The text, content decoded.
        label: `charset` of Content-Type; None when absent.
        url: Where it is from; "" when that is not known.
        hints: What is known beside it.

    Returns:
        A codec, and where it comes from, as `wire.charset.detect`; `default` for ASCII.
    """
    if codec := _marked(body):
        return codec, "bom"
    if codec := _labelled(label):
        return codec, "header"
    if codec := _declared(body):
        return codec, "xml"
    codec, source = guess(body, url, hints)
    return ("utf-8", source) if source == "default" else (codec, source)


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
