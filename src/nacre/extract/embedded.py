"""URLs within a URL: in its path, or in the values of its query (Heritrix's ExtractorURI)."""

import re
from urllib.parse import unquote

_SCHEME = re.compile(r"https?:/{1,2}+(?=[^/])", re.IGNORECASE)
_MOST = 20


def urls_within(url: str) -> list[str]:
    """The http(s) URLs that a URL holds behind its host, plain or percent-encoded; each once.

    In a query, one ends with its value; a coded one is decoded. In a path it goes on to the end.
    """
    start = url.find("/", url.find("://") + 3)
    if start < 0 or "http" not in url[start:].lower():
        return []
    found: dict[str, None] = {}
    path, _, query = url[start:].partition("?")
    for value in query.split("&"):
        _gather(unquote(value), found)
    _gather(path + ("?" + query if query else ""), found)
    _gather(unquote(path), found)
    return [text for text in found if text != url][:_MOST]


def _gather(text: str, found: dict[str, None]) -> None:
    """Each beginning of a URL in a text opens one that goes on to its end."""
    for match in _SCHEME.finditer(text):
        scheme = match[0].partition(":")[0]
        rest = text[match.end() :].partition(" ")[0]
        found[f"{scheme}://{rest}"] = None
        if len(found) > _MOST:
            return
