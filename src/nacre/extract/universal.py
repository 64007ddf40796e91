"""URLs among the bytes of what no extractor reads: PDF, Flash, office files, executables.

Source: Heritrix's ExtractorUniversal. Where Nacre is narrower: only absolute http(s) URLs, and
names that begin with `www.`; Heritrix's addresses and its old list of top-level domains found
mostly noise.
"""

import re
from urllib.parse import unquote

from nacre.uri.domain import is_top_level

LIMIT = 1 << 20
"""Bytes that are searched."""

_URL = re.compile(
    rb"(?:https?://|(?<![\w.-])www\.)[\w.~:/?#\[\]@!$&'*+,;=%-]{4,2000}+", re.IGNORECASE
)
_HOST = re.compile(r"(?:https?://)?(?:[^/@]*@)?([\w.-]+)", re.IGNORECASE)


def urls_among(data: bytes) -> list[str]:
    """The URLs in the first MiB, in order, each once; text of UTF-16 is read too."""
    data = data[:LIMIT]
    found: dict[str, None] = {}
    for text in (data, data[::2], data[1::2]) if b"h\0t\0t\0p\0" in data else (data,):
        for raw in _URL.findall(text):
            url = raw.decode("latin-1").rstrip(".,;:!?*'")
            url = url if url[:4].lower() == "http" else "http://" + url
            if _has_host(url):
                found[url] = None
    return list(found)


def _has_host(url: str) -> bool:
    match = _HOST.match(url)
    host = unquote(match[1]).lower().rstrip(".") if match else ""
    last = host.rpartition(".")[2]
    return "." in host and (last.isdigit() or is_top_level(last))
