"""A text becomes a URL: normalised for the request, resolved against a page, taken apart.

The URL Standard (WHATWG) determines the requested URL, as in a browser: escapes stay as written,
path in UTF-8, query in the document's encoding. On top come tolerances of Heritrix that gain
captures: NBSP is trimmed like a space, spaces after a host are dropped, as are dots around it, and
fragments. Source: url.spec.whatwg.org; Heritrix's `UsableURIFactory`.
"""

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

import ada_url

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.query import encode_query, needs_encoding, query_codec

MAX_LENGTH = 2083
"""Characters of the longest URL that is kept (the limit of Heritrix, once of browsers)."""

IGNORED_SCHEMES = frozenset(
    (
        *("about", "blob", "clsid", "data", "file", "javascript"),
        *("mailto", "res", "sms", "tel", "vbscript"),
    )
)
"""Schemes that name nothing to fetch: `Resolver` drops links that have them."""

_TRIM = "".join(map(chr, range(0x21))) + "\xa0"
_WEB = ("http://", "https://")
_DROPPED = dict.fromkeys(map(ord, "\t\n\r"))
_AUTHORITY = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}([^/\\?#]*)", re.IGNORECASE)


# Links that are only appended to a folder: unreserved characters, no dot segments inside.
_PLAIN = re.compile(
    r"(?=.)(/|(?:\.\./)*)((?:[a-z0-9_-][a-z0-9_.~-]*/)*(?:[a-z0-9_-][a-z0-9_.~-]*)?)",
    re.IGNORECASE | re.ASCII,
)

# Paths that the parser leaves unchanged: unreserved characters, no dot segments.
_NORMAL_PATH = re.compile(
    r"/(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*/)*(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)?"
    r"(?:\?[A-Za-z0-9_.~:/=&%+-]*)?"
)
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


class UrlParts(NamedTuple):
    """A normalised URL, taken apart.

    Attributes:
        scheme: Lower case, without the colon.
        userinfo: `user:password` as written; "" when absent.
        host: Lower case, IPv6 in brackets; "" when there is no authority.
        port: The explicit port; None when absent (a default port never is explicit).
        path: With its leading slash; for `dns:host` and its like the text after the colon.
        query: Without the question mark; None when there is none.
    """

    scheme: str
    userinfo: str
    host: str
    port: int | None
    path: str
    query: str | None


def parse(text: str, *, max_length: int = MAX_LENGTH) -> str:
    """Normalise an absolute URL for the request.

    Any scheme is accepted, also `dns:host`. Parsing a result again changes nothing.

    Args:
        text: The URL as written, perhaps with spaces, tabs, newlines, backslashes, a fragment.
        max_length: Characters allowed, before and after escaping.

    Raises:
        URIError: The text is not an absolute URL, or too long.
    """
    cleaned = _without_fragment(text.strip(_TRIM))
    if len(cleaned) > max_length:
        raise URIError(
            message(
                "uri.longer-than-characters",
                "longer than {max_length} characters: {cleaned!r}...",
                max_length=max_length,
                cleaned=cleaned[:80],
            )
        )
    url = _join(cleaned, None)
    if url is None:
        raise URIError(
            message(
                "uri.not-absolute-url",
                "not an absolute URL, or its host or port is invalid: {cleaned!r}",
                cleaned=cleaned,
            )
        )
    if len(url) > max_length:
        raise URIError(
            message(
                "uri.longer-than-characters-when-escaped",
                "longer than {max_length} characters when escaped: {url}...",
                max_length=max_length,
                url=url[:80],
            )
        )
    return url


def _without_fragment(text: str) -> str:
    """Cut at `#`; the sign itself stays after a space, which then belongs to the URL."""
    cut = text.find("#")
    if cut < 0:
        return text
    return text[:cut] if cut and text[cut - 1] > " " else text[: cut + 1]


def _join(text: str, base: str | None) -> str | None:
    """Return the normalised URL without fragment, or None."""
    url = _ada(text, base) or _ada(_repair(text), base)
    if url is None:
        return None
    if url[-1] == "#":
        url = url[:-1]
    if " " in url:  # the standard keeps it after `mailto:` and the like; lines of logs cannot
        url = url.replace(" ", "%20")
    if "./" in url or ".:" in url or "//." in url or "@." in url:
        return _without_outer_dots(url)
    return url


def _ada(text: str, base: str | None) -> str | None:
    try:
        return ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError:
        return None


def _repair(text: str) -> str:
    """Without spaces, plain or escaped, at the end of the authority."""
    text = text.translate(_DROPPED)
    match = _AUTHORITY.match(text)
    if match is None:
        return text
    trimmed = match[1].replace("%20", " ").rstrip(" \xa0")
    return text[: match.start(1)] + trimmed + text[match.end(1) :]


def _without_outer_dots(url: str) -> str | None:
    """Drop dots before and after the host; None when nothing is left of it."""
    start, netloc = url.find(":") + 3, authority(url)
    name = _host_and_port(netloc)[0]
    bare = name.strip(".")
    if bare == name:
        return url
    if not bare:
        return None
    full = url[start:].partition("/")[0].partition("?")[0]
    start += len(full) - len(netloc)  # after the userinfo
    # Again through the parser: `1.2.3..` must not become a broken IPv4 address.
    return _ada(url[:start] + bare + url[start + len(name) :], None)


class Resolver:
    """Resolves the links of one page; made for many calls.

    What was found is kept per directory and shared by the pages of one directory, within bounds.

    Attributes:
        base: The base URL, normalised.
        known: Links resolved before, without fragments; "" for those with nothing to fetch.
    """

    __slots__ = ("_codec", "_folders", "_max_length", "base", "known")

    def __init__(self, base: str, *, encoding: str = "utf-8", max_length: int = MAX_LENGTH) -> None:
        """Prepare for a page.

        Args:
            base: The base URL of the page, absolute.
            encoding: Python codec of the document, for non-ASCII queries.
            max_length: Characters allowed in a URL.

        Raises:
            URIError: The base is not an absolute URL.
        """
        plain = len(base) <= max_length and _is_normal(base)
        self.base = base if plain else parse(base, max_length=max_length)
        self._codec = "" if encoding == "utf-8" else query_codec(encoding)
        self._max_length = max_length
        self.known = _LINKS.open((_directory(self.base), self._codec, max_length))
        self._folders: list[str] | None = None

    def resolve(self, href: str) -> str | None:
        """Return the absolute URL of a link, normalised, without fragment.

        Returns:
            None when there is nothing to fetch: empty, too long, unparsable, or one of
            `IGNORED_SCHEMES`. Never raises.
        """
        cut = href.find("#")
        if cut >= 0:
            if cut == 0:
                return self.base
            href = href[: cut + 1] if href[cut - 1] in _TRIM else href[:cut]
        url = self.known.get(href)
        if url is None:
            return self._find(href)
        return url or None

    def _find(self, href: str) -> str | None:
        url = self._plain(href) if len(href) <= self._max_length else ""
        if url:
            _LINKS.keep(self.known, href, url)
            return url
        text = href.strip(_TRIM)
        if not text or len(text) > self._max_length:
            return None
        joined = self._joined(text)
        if _is_same_in_directory(text):
            _LINKS.keep(self.known, href, joined or "")
        return joined

    def _plain(self, href: str) -> str:
        """What plainly is the URL of a link, without the parser; "" if that is unsure."""
        match = _PLAIN.fullmatch(href)
        if match:
            return self._below_folder(match[1], match[2])
        return href if href.startswith(_WEB) and _is_normal(href) else ""

    def _below_folder(self, up: str, path: str) -> str:
        """A plain path below the folder of the page, or one above it; "" if that is unsure.

        Nothing in it needs the parser, which costs several times as much.
        """
        folders = self._folders
        if folders is None:
            folders = self._folders = _folders(self.base)
        if not folders:
            return ""
        folder = folders[-1] if up == "/" else folders[min(len(up) // 3, len(folders) - 1)]
        url = folder + path
        return url if len(url) <= self._max_length else ""

    def _joined(self, text: str) -> str | None:
        url = _join(self._in_document_encoding(text), self.base)
        if url is None or len(url) > self._max_length:
            return None
        if url.startswith(_WEB):
            return url
        name = scheme(url)
        if name in IGNORED_SCHEMES:
            return None
        # The encoding of the document only concerns the special schemes, less web sockets.
        return url if name == "ftp" or not self._codec else _join(text, self.base)

    def _in_document_encoding(self, text: str) -> str:
        if not needs_encoding(text, self._codec):
            return text
        head, _, query = text.partition("?")
        return f"{head}?{encode_query(query.removesuffix('#'), self._codec)}"


def _is_normal(url: str) -> bool:
    """True for a URL that plainly is as `parse` would give it: most pages, without the parser."""
    cut = url.find("/", 8)
    return cut > 0 and _NORMAL_PATH.fullmatch(url, cut) is not None and _is_normal_origin(url[:cut])


@lru_cache(maxsize=4096)
def _is_normal_origin(text: str) -> bool:
    try:
        return text.startswith(_WEB) and parse(text) == f"{text}/"
    except URIError:
        return False


def _directory(base: str) -> str:
    """What all pages have in common whose links mean the same."""
    if not base.startswith(_WEB):
        return base
    path = base.partition("?")[0]
    return path[: path.rfind("/")]


def _folders(base: str) -> list[str]:
    """The folder of a page and all above it, `http://h/a/`, `http://h/`; none unless http(s)."""
    if not base.startswith(_WEB):
        return []
    root = base.find("/", 8) + 1
    folder = base.partition("?")[0]
    folders = []
    while len(folder) >= root:
        folder = folder[: folder.rfind("/") + 1]
        folders.append(folder)
        folder = folder[:-1]
    return folders


def _is_same_in_directory(text: str) -> bool:
    """False when a link may keep the last path segment of its page: `?query`, `http:?query`."""
    if text[0] == "?" or text[-1] == ":" or ":?" in text:
        return False
    return "#" not in text and text.isprintable()


_DIRECTORY, _ENTRY = 300, 100
"""Memory of a directory without links, and of an entry without its texts, bytes."""


class _DirectoryLinks(dict[str, str]):
    """The links resolved before of one directory: as on a page, and their URLs; "" for none.

    Attributes:
        size: Their memory, bytes, about.
    """

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = _DIRECTORY


class _SharedLinks:
    """Links resolved before, by directory; two generations, the older one goes.

    Args:
        limit: Memory of a generation, bytes; the page that exceeds it is its last.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._young: dict[tuple[str, str, int], _DirectoryLinks] = {}
        self._old: dict[tuple[str, str, int], _DirectoryLinks] = {}

    def open(self, key: tuple[str, str, int]) -> _DirectoryLinks:
        """Return the links of the directory of a page; they stay for at least a generation."""
        if self._held > self._limit:
            self._old, self._young, self._held = self._young, {}, 0
        links = self._young.get(key)
        if links is None:
            links = self._old.pop(key) if key in self._old else _DirectoryLinks()
            self._young[key] = links
            self._held += links.size
        return links

    def keep(self, links: _DirectoryLinks, href: str, url: str) -> None:
        """Cache a link; a directory that takes half of a generation is cleared first."""
        if links.size > self._limit // 2:
            links.clear()
            links.size = _DIRECTORY
        size = href.__sizeof__() + url.__sizeof__() + _ENTRY
        self._held += size
        links.size += size
        links[href] = url


_LINKS = _SharedLinks(limit=16_000_000)


def split(url: str) -> UrlParts:
    """Take a normalised URL apart."""
    name, _, after = url.partition(":")
    after, mark, query = after.partition("?")
    userinfo, netloc, path = "", "", after
    if after.startswith("//"):
        netloc, slash, path = after[2:].partition("/")
        path = slash + path
        userinfo, _, netloc = netloc.rpartition("@")
    bare, port = _host_and_port(netloc)
    return UrlParts(name, userinfo, bare, port, path, query if mark else None)


def _host_and_port(netloc: str) -> tuple[str, int | None]:
    if ":" not in netloc or netloc[-1] == "]":
        return netloc, None
    name, _, port = netloc.rpartition(":")
    return name, int(port) if port.isdecimal() else None


def scheme(url: str) -> str:
    """Return the scheme of a normalised URL, "" when it has none."""
    return url[: url.find(":") + 1][:-1]


def authority(url: str) -> str:
    """Host, and port where it is explicit, of a normalised URL; without userinfo; "" when none."""
    return _authority(_beginning(url))


def _beginning(url: str) -> str:
    """Return scheme and authority, perhaps more: a prefix of many URLs, whose parts are cached."""
    cut = url.find("/", 8)
    if cut > 0 and url[cut - 1] in ":/":  # a long scheme
        cut = url.find("/", url.find("://") + 3)
    return url[:cut] if cut >= 0 else url


@lru_cache(maxsize=16_384)
def _authority(url: str) -> str:
    colon = url.find(":")
    if not url.startswith("://", colon):
        return ""
    end = url.find("/", colon + 3)
    netloc = url[colon + 3 : end] if end >= 0 else url[colon + 3 :]
    if "@" in netloc or "?" in netloc:
        return netloc.partition("?")[0].rpartition("@")[2]
    return netloc


def host(url: str) -> str:
    """Return the host of a normalised URL, IPv6 in brackets, also of `dns:host`; "" when none."""
    return _host(_beginning(url))


@lru_cache(maxsize=16_384)
def _host(url: str) -> str:
    netloc = authority(url)
    if not netloc and url.startswith("dns:"):
        return url[4:].partition("?")[0]
    return _host_and_port(netloc)[0] if ":" in netloc else netloc


def origin(url: str) -> str:
    """Scheme, host and explicit port of a normalised URL, `http://a.b:8080`; "" when no host."""
    return _origin(_beginning(url))


@lru_cache(maxsize=16_384)
def _origin(url: str) -> str:
    netloc = authority(url)
    return f"{scheme(url)}://{netloc}" if netloc else ""


def request_target(url: str) -> str:
    """Return the origin-form of a normalised URL: path and query (RFC 9112, 3.2.1)."""
    start = url.find("/", url.find("//") + 2)
    return url[start:] if start >= 0 else "/"


@lru_cache(maxsize=16_384)
def is_ip(name: str) -> bool:
    """Return True for an IPv4 or IPv6 address, this one with or without brackets."""
    if not name or not (name[-1].isdecimal() or name[-1] == "]" or ":" in name):
        return False
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def escape_octets(raw: bytes) -> str:
    """Return a URL as text: bytes beyond ASCII are percent-escaped as they are.

    A server reads its own bytes back, whatever their encoding: GBK stays GBK. White space at the
    ends is cut. Source: Chromium, `HttpResponseHeaders::IsRedirect`; Web Platform Tests,
    `redirect-location-escape`.
    """
    return _BEYOND_ASCII.sub(_escape_byte, raw).strip().decode("ascii")


def _escape_byte(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]
