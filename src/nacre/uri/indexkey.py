"""The key under which CDXJ, pywb and OutbackCDX file a capture: `com,example)/path?a=1&b=2`.

Archives must agree on it to the byte, so it works as the `surt` library (whose results are the
oracle), including its oddities: it unescapes and lower-cases everything, drops scheme, `www`,
userinfo, session ids and the final slash, and sorts the query. Source: the `surt` library; Safe
Browsing "canonicalization" for the escapes.
"""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import ada_url

from nacre.errors import URIError
from nacre.uri.canonical import StripSessionCFIDs, StripSessionIDs
from nacre.uri.parse import host, parse

_BREAKS = {ord(char): None for char in "\t\n\r"}
_VERBATIM = ("filedesc", "warcinfo")
_HTTP = re.compile(r"(?:https?:/*)*(https?):/*(?=[^/])", re.IGNORECASE)
_HIERARCHY = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_URN = re.compile(r"urn:(?!x-nacre-)", re.IGNORECASE)
_WWW = re.compile(r"www[0-9]*\.")
_DOTS = re.compile(r"\.{2,}")
_NUMERIC = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}", re.ASCII)
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_UNSAFE = re.compile(rb"[\x00-\x20\x7f-\xff#%]")
_PLAIN = re.compile(r"[!\"$&-~]*")
# Session ids that ASP.NET writes into the path: /(S(…24…))/ and, older, /(…24…)/.
_PATH_SESSIONS = (
    re.compile(r"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)", re.IGNORECASE),
    re.compile(r"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)", re.IGNORECASE),
)
_QUERY_SESSIONS = (StripSessionIDs(), StripSessionCFIDs())


def index_key(url: str) -> str:
    """Return the index key of a URL; "-" for an empty one.

    A URL without host (`dns:example.com`) is its own key, in lower case. Of a URN such as
    `urn:text:http://example.com/` path and query are normalised, but for those of differences,
    whose indexes exist already.
    """
    text = url.strip().partition("#")[0]
    if not text.isprintable():
        text = text.translate(_BREAKS)
    if not text or text.startswith(_VERBATIM):
        return text or "-"
    scheme, start = _scheme_and_start(text)
    if not scheme:
        return _urn_key(text) if _URN.match(text) else text.lower()
    before_query, _, query = text[start:].partition("?")
    netloc, slash, path = before_query.partition("/")
    key = _host_key(scheme, netloc) + _path_key(slash + path)
    if query and (query := _query_key(query)):
        return f"{key}?{query}"
    return key


def _urn_key(text: str) -> str:
    path, _, query = text.partition("?")
    if not _PLAIN.fullmatch(path):
        path = _escape(_unescape(path))
    key = _without_sessions(path.removesuffix("/")).lower()
    if query and (query := _query_key(query)):
        return f"{key}?{query}"
    return key


def _scheme_and_start(text: str) -> tuple[str, int]:
    """Return the scheme, and where the authority begins; ("", 0) for a URL without one.

    Text without scheme is http; of `http:///http://a` only the last counts.
    """
    if text.startswith("http://") and not text.startswith(("/", "http"), 7):
        return "http", 7
    match = _HTTP.match(text) or _HIERARCHY.match(text)
    if match:
        return match[1].lower(), match.end()
    return ("", 0) if _SCHEME.match(text) else ("http", 0)


@lru_cache(maxsize=16_384)
def _host_key(scheme: str, netloc: str) -> str:
    """`com,example:8080)` for an authority; `file:` and the like when it is empty."""
    where = netloc.rpartition("@")[2]
    if not where:
        return f"{scheme}:"
    name, port = where, ""
    if not where.endswith("]") and ":" in where:
        name, _, port = where.rpartition(":")
        port = port.lstrip("0")
    name = _normal_host(name)
    name = _WWW.sub("", name, count=1) if _WWW.match(name) else name
    if port == _DEFAULT_PORTS.get(scheme):
        port = ""
    return f"{reversed_host(name)}{':' + port if port else ''})"


def _normal_host(name: str) -> str:
    name = _unescape(name).decode("utf-8", "replace")
    if not name.isascii():
        name = ada_url.idna_to_ascii(name).decode() or name
    name = _DOTS.sub(".", name).strip(".")
    if _NUMERIC.fullmatch(name):
        name = _as_ipv4(name)
    return _escape(name.encode("utf-8", "surrogatepass")).lower()


def _as_ipv4(name: str) -> str:
    """A numeric host as four numbers (`1.2` is 1.0.0.2); itself when it is not an address."""
    try:
        return host(parse(f"http://{name}/"))
    except URIError:
        return name


def reversed_host(name: str) -> str:
    """Labels from the top, `com,example,www`; an IPv4 address too, IPv6 without its brackets."""
    if name.startswith("["):
        return name.strip("[]")
    return ",".join(reversed(name.split(".")))


def _path_key(path: str) -> str:
    if path in ("", "/"):
        return "/"
    if "//" in path or "/." in path or not _PLAIN.fullmatch(path):
        path = _escape(_without_dots(_unescape(path)))
    return _without_sessions(path.removesuffix("/") or "/").lower()


def _without_sessions(path: str) -> str:
    if ")/" in path:
        for pattern in _PATH_SESSIONS:
            match = pattern.fullmatch(path)
            path = match[1] + match[2] if match else path
    return path


def _query_key(query: str) -> str:
    if not _PLAIN.fullmatch(query):
        query = _escape(_unescape(query))
    if "=" in query:
        for rule in _QUERY_SESSIONS:
            query = rule.apply("?" + query)[1:]
    query = query.lower()
    if "&" not in query:
        return query
    pairs = sorted(part.partition("=") for part in query.split("&"))
    return "&".join(map("".join, pairs))


def _unescape(text: str) -> bytes:
    """Unescape until nothing changes: `%2525` becomes `%`."""
    data = text.encode("utf-8", "surrogatepass")
    while b"%" in data:
        plain = unquote_to_bytes(data)
        if plain == data:
            break
        data = plain
    return data


def _escape(data: bytes) -> str:
    return _UNSAFE.sub(lambda match: b"%%%02X" % match[0][0], data).decode("ascii")


def _without_dots(path: bytes) -> bytes:
    """Resolve `.` and `..`, the latter also against empty segments, and only then drop these."""
    segments: list[bytes] = []
    for segment in path.split(b"/")[1:]:
        if segment == b".." and segments:
            segments.pop()
        elif segment != b".":
            segments.append(segment)
    inner = [segment + b"/" for segment in segments[:-1] if segment]
    return b"".join([b"/", *inner, *segments[-1:]])
