"""Bytes to text, for what is no HTML: style sheets, scripts, JSON, XML, sitemaps."""

import codecs
import re
from functools import lru_cache

from nacre.extract.document import Document

_BOMS = (
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
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
}
_TEXT_CODECS = re.compile(
    r"utf-(?:8|16(?:-[bl]e)?)|iso8859-\d{1,2}|cp(?:125\d|866|874|932|949)|gb18030|big5hkscs"
    r"|euc_jp|iso2022_jp|koi8-[ru]|mac-(?:roman|cyrillic)"
)


def read_text(document: Document) -> str:
    """The body as text; never fails.

    Byte order mark, then the Content-Type header, then the document's own declaration (XML
    declaration or `@charset`), then UTF-8; bytes that do not fit become U+FFFD.
    """
    return decode_text(document.body, document.charset_header)


def decode_text(body: bytes, label: str | None = None) -> str:
    """As `read_text`, of bytes and the charset of the Content-Type header (None when absent)."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    codec = _codec(label) if label else ""
    if not codec:
        codec = next((name for start, name in _BARE_UTF16 if body.startswith(start)), "")
    if not codec:
        declared = _DECLARED.match(body)
        found = _codec((declared[1] or declared[2]).decode("ascii")) if declared else ""
        codec = "" if found.startswith("utf-16") else found  # read as bytes, so it is not
    return body.decode(codec or "utf-8", "replace")


@lru_cache(maxsize=256)
def _codec(label: str) -> str:
    """Python's name for a charset as browsers read it; "" for what is no text encoding."""
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return ""
    name = _SUPERSETS.get(name, name)
    return name if _TEXT_CODECS.fullmatch(name) else ""
