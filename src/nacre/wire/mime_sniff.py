"""The media type of a reply by its first bytes, as browsers find it out.

Pure. Source: MIME Sniffing Standard (WHATWG), sections 5 to 8; Fetch 2.2.6 and 3.6. Whether a type
for feeds served as HTML was part of section 7 until 2023, and is still followed here: servers do
call feeds so.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

HEADER = 1445
"""Bytes of a resource that are inspected (section 5.2)."""

HTML, XML, PLAIN, BINARY = "text/html", "text/xml", "text/plain", "application/octet-stream"
RSS, ATOM = "application/rss+xml", "application/atom+xml"

_UNKNOWN = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
_TYPE = re.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_APACHE = frozenset(
    (
        *(b"text/plain", b"text/plain; charset=ISO-8859-1"),
        *(b"text/plain; charset=iso-8859-1", b"text/plain; charset=UTF-8"),
    )
)
"""What Apache once sent for all files that it knew nothing of (section 5.1)."""

_TAGS = (
    *(b"!doctype html", b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font", b"table"),
    *(b"a", b"style", b"title", b"b", b"body", b"br", b"p", b"!--"),
)
_HTML_START = re.compile(rb"[\t\n\f\r ]*<(?:" + b"|".join(_TAGS) + rb")[ >]", re.IGNORECASE)
_XML_START = re.compile(rb"[\t\n\f\r ]*<\?xml")
_BINARY_BYTES = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_BOMS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_FEED_ROOTS = (b"rss", b"feed", b"rdf:RDF")
_RSS_1 = (b"http://purl.org/rss/1.0/", b"http://www.w3.org/1999/02/22-rdf-syntax-ns#")

Signature = tuple[bytes, int, bytes, str]
"""First bytes, the offset of further ones, these, and the type."""

_IMAGES: tuple[Signature, ...] = (
    (b"\x00\x00\x01\x00", 0, b"", "image/x-icon"),
    (b"\x00\x00\x02\x00", 0, b"", "image/x-icon"),
    (b"BM", 0, b"", "image/bmp"),
    (b"GIF87a", 0, b"", "image/gif"),
    (b"GIF89a", 0, b"", "image/gif"),
    (b"RIFF", 8, b"WEBPVP", "image/webp"),
    (b"\x89PNG\r\n\x1a\n", 0, b"", "image/png"),
    (b"\xff\xd8\xff", 0, b"", "image/jpeg"),
)
_MEDIA: tuple[Signature, ...] = (
    (b"FORM", 8, b"AIFF", "audio/aiff"),
    (b"ID3", 0, b"", "audio/mpeg"),
    (b"OggS\0", 0, b"", "application/ogg"),
    (b"MThd\0\0\0\x06", 0, b"", "audio/midi"),
    (b"RIFF", 8, b"AVI ", "video/avi"),
    (b"RIFF", 8, b"WAVE", "audio/wave"),
)
_FONTS: tuple[Signature, ...] = (
    (b"", 34, b"LP", "application/vnd.ms-fontobject"),
    (b"\x00\x01\x00\x00", 0, b"", "font/ttf"),
    (b"OTTO", 0, b"", "font/otf"),
    (b"ttcf", 0, b"", "font/collection"),
    (b"wOFF", 0, b"", "font/woff"),
    (b"wOF2", 0, b"", "font/woff2"),
)
_ARCHIVES: tuple[Signature, ...] = (
    (b"\x1f\x8b\x08", 0, b"", "application/x-gzip"),
    (b"PK\x03\x04", 0, b"", "application/zip"),
    (b"Rar!\x1a\x07\x00", 0, b"", "application/x-rar-compressed"),
)


@lru_cache(maxsize=256)
def is_unknown_type(mime: str) -> bool:
    """Return whether a Content-Type is unusable: absent, no media type, or a word for unknown.

    Args:
        mime: Media type, lower case, without parameters; "" if there is none.
    """
    return mime in _UNKNOWN or _TYPE.fullmatch(mime) is None


def has_nosniff(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether the first value of X-Content-Type-Options is `nosniff` (Fetch 3.6)."""
    for name, value in headers:
        if len(name) == 22 and name.lower() == b"x-content-type-options":
            return value.partition(b",")[0].strip().lower() == b"nosniff"
    return False


def computed_type(mime: str, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> str:
    """Return the computed media type of a resource (section 7).

    Args:
        mime: Media type of its Content-Type, lower case, without parameters; "" if absent.
        headers: All its header fields, in order.
        body: Its first bytes, without content coding; `HEADER` of them count.
    """
    if is_unknown_type(mime):
        return sniff_unknown(body, scriptable=not has_nosniff(headers))
    if mime == HTML:
        sniffed = sniff_feed(body)
        return sniffed if sniffed != HTML and not has_nosniff(headers) else HTML
    if is_xml_type(mime) or has_nosniff(headers):
        return mime
    if mime == PLAIN and _is_from_apache(headers):
        return sniff_text(body)
    is_media = mime.startswith(("audio/", "video/")) or mime == "application/ogg"
    sniffed = sniff_image(body) if mime.startswith("image/") else ""
    return sniffed or (sniff_media(body) if is_media else "") or mime


def _is_from_apache(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether the last Content-Type is one that Apache sent for unknown files."""
    values = [value for name, value in headers if name.lower() == b"content-type"]
    return bool(values) and values[-1] in _APACHE


def is_xml_type(mime: str) -> bool:
    """Return whether a media type is one of XML (section 4.6)."""
    return mime.endswith("+xml") or mime in {XML, "application/xml"}


def sniff_unknown(body: bytes, *, scriptable: bool = True) -> str:
    """Identify a resource with an unknown media type (section 7.1).

    Args:
        body: Its first bytes.
        scriptable: It may be HTML, XML or PDF.
    """
    body = body[:HEADER]
    if scriptable:
        if _HTML_START.match(body):
            return HTML
        if _XML_START.match(body):
            return XML
        if body.startswith(b"%PDF-"):
            return "application/pdf"
    if body.startswith(b"%!PS-Adobe-"):
        return "application/postscript"
    if body.startswith(_BOMS) and len(body) >= 4:
        return PLAIN
    sniffed = sniff_image(body) or sniff_media(body) or sniff_font(body) or sniff_archive(body)
    return sniffed or (BINARY if _BINARY_BYTES.search(body) else PLAIN)


def sniff_text(body: bytes) -> str:
    """Tell text from a binary file that was called text (section 7.2)."""
    body = body[:HEADER]
    return BINARY if not body.startswith(_BOMS) and _BINARY_BYTES.search(body) else PLAIN


def sniff_feed(body: bytes) -> str:
    """Tell a feed from HTML (section 7.3 of the standard until 2023)."""
    # Most pages are no feeds: a search for the names costs less than finding the first element.
    if not any(body.find(b"<" + name, 0, HEADER) >= 0 for name in _FEED_ROOTS):
        return HTML
    body = body[:HEADER]
    root = body[root_start(body) :]
    if root.startswith(b"rss"):
        return RSS
    if root.startswith(b"feed"):
        return ATOM
    is_rdf = root.startswith(b"rdf:RDF") and all(name in root for name in _RSS_1)
    return RSS if is_rdf else HTML


def is_markup(body: bytes) -> bool:
    """Return whether an element comes first, after comments and declarations."""
    body = body[:HEADER]
    start = root_start(body)
    return body[start : start + 1].isalpha()


_PROLOGUE = ((b"!--", b"-->"), (b"!", b">"), (b"?", b"?>"))


def root_start(body: bytes) -> int:
    """Return the offset of the name of the first element, after comments and declarations.

    Returns:
        The length of the body if something else comes first.
    """
    at = 3 if body.startswith(b"\xef\xbb\xbf") else 0
    while True:
        at += len(body[at:]) - len(body[at:].lstrip(b"\t\n\f\r "))
        if body[at : at + 1] != b"<":
            return len(body)
        at += 1
        ends = [end for start, end in _PROLOGUE if body.startswith(start, at)]
        if not ends:
            return at
        end_at = body.find(ends[0], at)
        if end_at < 0:
            return len(body)
        at = end_at + len(ends[0])


def sniff_image(body: bytes) -> str:
    """Return the type of an image (section 6.1); "" for another resource."""
    return _match(body, _IMAGES)


def sniff_media(body: bytes) -> str:
    """Return the type of an audio or video resource (section 6.2); "" for another one."""
    body = body[:HEADER]
    if media_type := _match(body, _MEDIA):
        return media_type
    if _is_mp4(body):
        return "video/mp4"
    if _is_webm(body):
        return "video/webm"
    return "audio/mpeg" if _is_mp3(body) else ""


def sniff_font(body: bytes) -> str:
    """Return the type of a font (section 6.3); "" for another resource."""
    return _match(body, _FONTS)


def sniff_archive(body: bytes) -> str:
    """Return the type of an archive (section 6.4); "" for another resource."""
    return _match(body, _ARCHIVES)


def _match(body: bytes, signatures: Sequence[Signature]) -> str:
    for start, offset, more, mime in signatures:
        if body.startswith(start) and (not more or body.startswith(more, offset)):
            return mime
    return ""


def _is_mp4(body: bytes) -> bool:
    """Section 6.2.1."""
    size = int.from_bytes(body[:4], "big")
    if len(body) < 12 or len(body) < size or size % 4 or body[4:8] != b"ftyp":
        return False
    brands = (body[at : at + 3] for at in (8, *range(16, size, 4)))
    return b"mp4" in brands


_WEBM_LAST = 38


def _is_webm(body: bytes) -> bool:
    """Section 6.2.2: EBML, and among its first bytes the element DocType with its name."""
    if not body.startswith(b"\x1a\x45\xdf\xa3"):
        return False
    at = body.find(b"\x42\x82", 4, _WEBM_LAST + 1)
    while at >= 0:
        size = body[at + 2 : at + 3]
        name = at + 2 + (9 - size[0].bit_length() if size and size[0] else 8)
        if body[name : name + 8].lstrip(b"\0").startswith(b"webm"):
            return True
        at = body.find(b"\x42\x82", at + 1, _WEBM_LAST + 1)
    return False


_RATES = (0, *(k * 1000 for k in (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)))
_RATES_2 = (0, *(k * 1000 for k in (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)))
_SAMPLES = (44_100, 48_000, 32_000)


def _is_mp3(body: bytes) -> bool:
    """Section 6.2.3: a frame of layer III, followed by a second frame."""
    return _is_mp3_frame(body) and _is_mp3_frame(body[_mp3_size(body) :])


def _is_mp3_frame(body: bytes) -> bool:
    if len(body) < 4 or body[0] != 0xFF or body[1] & 0xE0 != 0xE0:
        return False
    layer_3 = (body[1] & 0x06) >> 1 == 1
    return layer_3 and body[2] >> 4 != 15 and (body[2] & 0x0C) >> 2 != 3 and _mp3_size(body) >= 4


def _mp3_size(body: bytes) -> int:
    """Bytes of a frame. The standard's tables and scales, read as MPEG 1 and 2 have them."""
    is_first = (body[1] & 0x18) >> 3 == 3
    rate = (_RATES if is_first else _RATES_2)[body[2] >> 4]
    sample = _SAMPLES[(body[2] & 0x0C) >> 2] if is_first else _SAMPLES[(body[2] & 0x0C) >> 2] // 2
    return rate * (144 if is_first else 72) // sample + ((body[2] & 0x02) >> 1)
