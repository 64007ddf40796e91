"""In which encoding a document is written: byte order mark, header, `meta`, XML declaration.

If it declares none, `guess.py` detects it.

Source: HTML Standard, 13.2.3.2 "Determining the character encoding", in its order. Browsers prescan
1,024 bytes, but start again when they meet a later `meta`: here 4,096 bytes are searched, and
16 KiB where they declare nothing.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from nacre.uri.query import reader_of
from nacre.wire.guess import NO_HINTS, Hints, codec_of, guess

PRESCAN = 4096
"""Bytes that are searched for a declaration first."""

HEAD = 16384
"""Bytes that are read in all."""

_LONGEST_META = 512

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_UTF16_XML = ((b"<\0?\0x\0", "utf-16-le"), (b"\0<\0?\0x", "utf-16-be"))

_SPACE = rb"[\t\n\f\r ]*+"
_NAME = rb"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE = rb"\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+"
# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_SKIPPED = rb"(?:[\t\n\f\r /]*+%b(?:%b=%b(?:%b)|(?!))?+|(?!))*+" % (_NAME, _SPACE, _SPACE, _VALUE)
_ATTRIBUTE = re.compile(rb"(%b)(?:%b=%b(%b))?" % (_NAME, _SPACE, _SPACE, _VALUE))
_MARKUP = re.compile(
    rb"<(?:!(?=--)(?s:.*?)(?:-->|\Z)"
    rb"|meta(?=[\t\n\f\r /])(%b)[\t\n\f\r /]*+(>)?"
    rb"|(?:/|(?!meta[\t\n\f\r /]))[a-z][^\t\n\f\r >]*+%b"
    rb"|[!/?][^>]*+)" % (_SKIPPED, _SKIPPED),
    re.IGNORECASE,
)
_IN_CONTENT = re.compile(
    rb"charset%b=%b(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;]*+))" % (_SPACE, _SPACE),
    re.IGNORECASE,
)
_XML = re.compile(
    rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\">]*)\"|'([^'>]*)')", re.ASCII
)


def detect(
    body: bytes, header_charset: str | None, url: str = "", hints: Hints = NO_HINTS
) -> tuple[str, str]:
    """Find the encoding of a page.

    Args:
        body: The page. Declarations are searched in its first `HEAD` bytes; a page without any is
            examined from its first byte beyond ASCII.
        header_charset: The `charset` parameter of Content-Type; None or "" when absent. A label
            that is not known counts as absent.
        url: URL of the document, for the top-level domain; "" if unknown.
        hints: Other facts about the document.

    Returns:
        A Python codec, and its source: `bom`, `header`, `meta`, `xml`, or a source of `guess`.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return codec, "bom"
    if header_charset and (codec := _codec_of(header_charset)):
        return codec, "header"
    head = body[:HEAD]
    for start, codec in _UTF16_XML:
        if head.startswith(start):
            return codec, "xml"
    if codec := _codec_in_meta(head):
        return codec, "meta"
    if codec := _codec_in_xml(head):
        return codec, "xml"
    return guess(body, url, hints)


def decode(data: bytes, charset: str) -> str:
    """Text of a document, in a codec or label; U+FFFD where it is broken. Never raises.

    Bytes are decoded as in browsers. A byte order mark of the encoding is dropped. An unknown name
    is read as windows-1252.
    """
    name = _codec_of(charset) or charset
    for bom, codec in _BOMS:
        if name == codec and data.startswith(bom):
            data = data[len(bom) :]
    try:
        return data.decode(reader_of(name), "replace")
    except (LookupError, ValueError):
        return data.decode(reader_of("cp1252"), "replace")


@lru_cache(maxsize=1024)
def _codec_of(label: str) -> str:
    return codec_of(label.strip("\"'")) or ""


def _codec_declared(label: bytes) -> str:
    """Return the codec of a label inside a document: one read as ASCII cannot be UTF-16."""
    text = label.decode("latin-1")
    if text.strip("\t\n\f\r ").lower() == "x-user-defined":
        return "cp1252"
    codec = codec_of(text) or ""
    return "utf-8" if codec.startswith("utf-16") else codec


def _codec_in_meta(head: bytes) -> str:
    for start, codec in _STARTS.items():
        if head.startswith(start):
            return codec
    return _prescan(head, 0, PRESCAN) or _prescan(head, PRESCAN, HEAD)


def _prescan(head: bytes, since: int, end: int) -> str:
    """Return the charset of a `meta` element that ends between two offsets; "" for none."""
    if len(head) <= since:
        return ""
    head = head[:end]
    lower, begin = head.lower(), max(since - _LONGEST_META, 0)
    if lower.find(b"<meta", begin) < 0 or lower.find(b"charset", begin) < 0:
        return ""
    for match in _MARKUP.finditer(head):
        if match[2] and (codec := _of_meta(match[1])):
            _remember_start(head[: match.end()], codec)
            return codec
    return ""


_STARTS: dict[bytes, str] = {}
"""Beginnings of documents up to their declaration: the pages of a site mostly share one."""
_MAX_STARTS = 16


def _remember_start(start: bytes, codec: str) -> None:
    """Cache a declaration: text after it cannot change it, so that the beginning suffices."""
    if len(_STARTS) >= _MAX_STARTS:
        del _STARTS[next(iter(_STARTS))]
    _STARTS[start] = codec


@lru_cache(maxsize=256)
def _of_meta(attributes: bytes) -> str:
    """Return the charset of a `meta`: `charset`, or `content` next to `http-equiv=content-type`."""
    values: dict[bytes, bytes] = {}
    for name, value in _pairs(attributes):
        values.setdefault(name, value)
    if b"charset" in values:
        return _codec_declared(values[b"charset"])
    if values.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    match = _IN_CONTENT.search(values.get(b"content", b""))
    return _codec_declared(match[1] or match[2] or match[3] or b"") if match else ""


def _pairs(attributes: bytes) -> Iterator[tuple[bytes, bytes]]:
    for match in _ATTRIBUTE.finditer(attributes):
        value = match[2] or b""
        if value[:1] in (b'"', b"'"):
            value = value.strip(value[:1])
        yield match[1].lower(), value


def _codec_in_xml(head: bytes) -> str:
    match = _XML.match(head)
    return _codec_declared(match[1] or match[2] or b"") if match else ""
