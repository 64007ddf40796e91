"""Links in PDF, Word, Flash and any other binary files, among their bytes: nothing in them is run.

Source: Heritrix's ExtractorPDF, ExtractorDOC, ExtractorSWF and ExtractorUniversal. Compressed parts
are inflated within limits; encrypted files yield nothing. In files of unknown types only absolute
http(s) URLs and host names with `www.` are extracted: Heritrix's patterns for other addresses and
its old list of top-level domains match mostly noise.
"""

import re
import zlib
from collections.abc import Iterator
from urllib.parse import unquote

from nacre.uri.domain import is_top_level
from nacre.uri.parse import escape_octets

LIMIT = 1 << 20
"""Bytes that are searched."""

_URL = re.compile(
    rb"(?:https?://|(?<![\w.-])www\.)[\w.~:/?#\[\]@!$&'*+,;=%-]{4,2000}+", re.IGNORECASE
)
_HOST = re.compile(r"(?:https?://)?(?:[^/@]*@)?([\w.-]+)", re.IGNORECASE)


def urls_among(data: bytes) -> list[str]:
    """Return the URLs in the first MiB, in order, each once; text of UTF-16 is read too."""
    data = data[:LIMIT]
    urls: dict[str, None] = {}
    for text in (data, data[::2], data[1::2]) if b"h\0t\0t\0p\0" in data else (data,):
        for raw in _URL.findall(text):
            url = raw.decode("latin-1").rstrip(".,;:!?*'")
            url = url if url[:4].lower() == "http" else "http://" + url
            if _has_host(url):
                urls[url] = None
    return list(urls)


def _has_host(url: str) -> bool:
    match = _HOST.match(url)
    host = unquote(match[1]).lower().rstrip(".") if match else ""
    last = host.rpartition(".")[2]
    return "." in host and (last.isdigit() or is_top_level(last))


MAX_INFLATED = 32_000_000
"""Bytes that the compressed parts of one file may become."""

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_NESTED = rb"\((?:[^\\()]|\\.|(?!)){0,2000}+\)"
_URI = re.compile(
    rb"/URI\s*(?:\(((?:[^\\()]|\\.|%b|(?!)){1,4000}+)\)|<([0-9A-Fa-f\s]{2,8000}+)>)" % _NESTED,
    re.DOTALL,
)
_STREAM = re.compile(rb"\bstream\r?\n")
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_OPAQUE = re.compile(rb"/Subtype\s*/(?:Image|Type1C|CIDFontType0C|OpenType)\b|/DCTDecode\b")
_DICTIONARY = 2000
_MAX_STREAMS = 100_000
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|[\s\S])")
_CODES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_HYPERLINK = re.compile(r'HYPERLINK\s+(?:\\l\s+)?"?([^"\s\x00-\x1f]{4,2083}+)')


def pdf_urls(data: bytes) -> list[str]:
    """URIs of the annotations of a PDF file, those in compressed objects too; each once."""
    urls: dict[str, None] = {}
    for part in (data, *_inflate_streams(data)):
        for text, digits in _URI.findall(part):
            raw = _unescape(text) if text else _hex(digits)
            url = escape_octets(raw)
            if url:
                urls[url] = None
    return list(urls)


def _inflate_streams(data: bytes) -> Iterator[bytes]:
    """Yield the compressed streams that may hold objects; pictures and fonts are passed over."""
    bytes_left, at = MAX_INFLATED, 0
    for _ in range(_MAX_STREAMS):
        match = _STREAM.search(data, at)
        if match is None or bytes_left <= 0:
            return
        head = data[max(0, match.start() - _DICTIONARY) : match.start()].rpartition(b"obj")[2]
        # A stream contains no other streams: each byte is read once.
        end = data.find(b"endstream", match.end())
        at = len(data) if end < 0 else end
        if _FLATE.search(head) and not _OPAQUE.search(head):
            text = inflate(data[match.end() : at], 0, bytes_left)
            bytes_left -= len(text)
            if b"/URI" in text:
                yield text


def inflate(data: bytes, start: int, limit: int) -> bytes:
    """Return the contents of a zlib stream at a place, at most `limit` bytes; b"" for no stream."""
    try:
        return (
            zlib.decompressobj().decompress(memoryview(data)[start:], limit) if limit > 0 else b""
        )
    except zlib.error:
        return b""


def _unescape(text: bytes) -> bytes:
    def byte(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[0] in b"01234567":
            return bytes((int(code, 8) & 255,))
        return _CODES.get(code, b"" if code in (b"\n", b"\r", b"\r\n") else code)

    return _ESCAPE.sub(byte, text)


def _hex(digits: bytes) -> bytes:
    text = b"".join(digits.split()).decode()
    return bytes.fromhex(text + "0" * (len(text) % 2))


def doc_urls(data: bytes) -> list[str]:
    """Targets of the HYPERLINK fields of a Word file of before 2007; each once."""
    urls: dict[str, None] = {}
    for url in _HYPERLINK.findall(data.decode("latin-1")):
        urls[escape_octets(url.encode("latin-1"))] = None
    urls.update(dict.fromkeys(_HYPERLINK.findall(data.decode("utf-16-le", "replace"))))
    return list(urls)


def swf_urls(data: bytes) -> list[str]:
    """URLs in a Flash file, compressed by zlib or not at all."""
    if data[:3] == b"CWS":
        data = inflate(data, 8, MAX_INFLATED)
    return urls_among(data)
