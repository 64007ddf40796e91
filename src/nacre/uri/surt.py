"""SURT: URLs with the labels of the host reversed, so that one domain is one prefix.

Two dialects, not to be mixed. Heritrix's keeps scheme and port, `http://(com,example,www,)/path`:
scope, sheets and history. The index key (`indexkey`) drops both: CDXJ, pywb, OutbackCDX. Source:
Heritrix 3 (`SURT`); the `surt` library.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.indexkey import index_key
from nacre.uri.parse import authority, host, is_ip, parse

__all__ = [
    "DEFAULT_QUEUE",
    "SurtPrefixSet",
    "history_key",
    "implied_by",
    "implied_prefix",
    "index_key",
    "queue_host",
    "queue_root",
    "scope_surt",
    "surt",
    "surt_authority",
    "to_domain",
    "to_host",
]

DEFAULT_QUEUE = "default..."
"""The queue key of URIs without a host (Heritrix's name)."""

# `example.com:8080` is a host and a port, `mailto:a@b` is a scheme.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.IGNORECASE)
_BARE = re.compile(r"[a-z][a-z0-9+.-]*:[/\\]{2,}[^/\\?#]*(?:#|\Z)", re.IGNORECASE)


def surt(url: str) -> str:
    """Return the SURT of a URL in Heritrix's dialect; case is kept. One without authority stays."""
    start = url.find("://") + 3
    if start == 2:
        return url
    end = url.find("/", start)
    netloc = url[start:end] if end >= 0 else url[start:]
    if "?" in netloc or "#" in netloc:
        netloc = netloc.partition("?")[0].partition("#")[0]
    return f"{url[:start]}({_members(netloc)}){url[start + len(netloc) :]}"


@lru_cache(maxsize=16_384)
def _members(netloc: str) -> str:
    """Return the text between the brackets: `com,example,www,:8080@user`."""
    userinfo, at, where = netloc.rpartition("@")
    name, port = _name_and_port(where)
    return f"{_reverse(name)}{':' + port if port else ''}{at}{userinfo}"


def _name_and_port(where: str) -> tuple[str, str]:
    if ":" not in where or where[-1] == "]":
        return where, ""
    name, _, port = where.rpartition(":")
    return name, port


def _reverse(name: str) -> str:
    """Return labels from the top, each followed by a comma; an IPv4 address stays unchanged."""
    if name.startswith("["):
        return name + ","
    return name if is_ip(name) else ",".join([*reversed(name.split(".")), ""])


def scope_surt(url: str) -> str:
    """The text that SURT prefixes of the scope are compared with: lower case, https as http."""
    return surt("http" + url[5:] if url.startswith("https:") else url).lower()


def history_key(url: str) -> str:
    """Return the key of a URL in history and deduplication: a SURT that keeps case and scheme."""
    return surt(url)


def surt_authority(url: str) -> str:
    """Return the queue key of a URL: `com,example,www,`, then `#8080` for an explicit port.

    http and https share a queue, and so does `dns:`. Addresses stay as they are. URIs without a
    host share `DEFAULT_QUEUE`.
    """
    return _queue(authority(url) or host(url))


@lru_cache(maxsize=16_384)
def _queue(where: str) -> str:
    if not where:
        return DEFAULT_QUEUE
    name, port = _name_and_port(where)
    return f"{_reverse(name)}#{port}" if port else _reverse(name)


def queue_host(queue: str) -> str:
    """Return the host of a queue key: `com,example,www,#8080` is of `www.example.com`."""
    name = queue.partition("#")[0]
    if not name.endswith(","):
        return name
    return ".".join(reversed(name[:-1].split(",")))


def queue_root(queue: str) -> str:
    """The home page of a queue key: `com,example,www,#8080` has `http://www.example.com:8080/`."""
    port = queue.partition("#")[2]
    if port == "443":
        return f"https://{queue_host(queue)}/"
    return f"http://{queue_host(queue)}{':' + port if port else ''}/"


def implied_prefix(text: str) -> str:
    """Return the SURT prefix that a seed or a line of a list implies.

    `http://example.com` and `example.com` mean the domain with its subdomains,
    `http://example.com/` this host alone, `http://example.com/a/b` all paths below `/a/`. Text with
    a bracket before the host, `http://(com,example,`, is a prefix already. https becomes http.

    Heritrix takes any text with a bracket for a prefix, which loses `https://example.com/A_(b)/`,
    and leaves an address or a port open, so that `http://10.0.0.1` also means 10.0.0.12; not here.

    Raises:
        URIError: The text is neither.
    """
    text = text.strip()
    if text.startswith("(") or "://(" in text:
        prefix = text.lower() if "://" in text else "http://" + text.lower()
        return "http" + prefix[5:] if prefix.startswith("https:") else prefix
    if not _SCHEME.match(text):
        text = "http://" + text
    url = parse(text)
    full = scope_surt(url)
    if not authority(url):
        if host(url):
            return full
        raise URIError(message("uri.names-no-host", "names no host: {text!r}", text=text))
    if _BARE.match(text):
        bare = full[: full.find(")")]
        return bare if bare.endswith(",") else bare + ")"
    return full[: full.rfind("/") + 1]


def implied_by(text: str, url: str) -> str:
    """Return the prefix that a seed implies, faster where its text is its URL.

    Args:
        text: The seed as typed.
        url: Its URL.

    Raises:
        URIError: See `implied_prefix`.
    """
    if text != url or not url.startswith(("http://", "https://")):
        return implied_prefix(text)
    full = scope_surt(url)
    return full[: full.rfind("/") + 1]


def to_host(prefix: str) -> str:
    """Return a prefix widened or narrowed to exactly its host: `http://(com,example,www,)`."""
    if ")" in prefix:
        return prefix[: prefix.find(")") + 1]
    name = prefix.rpartition("(")[2]
    return prefix + (")" if prefix.endswith(",") or is_ip(name) else ",)")


def to_domain(prefix: str) -> str:
    """Return a prefix widened to its domain with all subdomains; a `www` in front is dropped."""
    prefix = prefix.partition(")")[0]
    return prefix[: -len("www,")] if prefix.endswith(",www,") else prefix


class SurtPrefixSet:
    """A set of SURT prefixes.

    Args:
        prefixes: Prefixes as `implied_prefix` gives them.
        keep_all: Keep prefixes that another makes redundant: sheets need all of them.
    """

    def __init__(self, prefixes: Iterable[str] = (), *, keep_all: bool = False) -> None:
        self._keep_all = keep_all
        self._sorted: list[str] = []
        self._pending: list[str] = list(prefixes)

    def __bool__(self) -> bool:
        return bool(self._sorted or self._pending)

    def __len__(self) -> int:
        return len(self._members())

    def __iter__(self) -> Iterator[str]:
        return iter(self._members())

    def __contains__(self, prefix: str) -> bool:
        members = self._members()
        at = bisect_left(members, prefix)
        return at < len(members) and members[at] == prefix

    def add(self, prefix: str) -> bool:
        """Add a prefix, and drop those that it makes redundant; False when it changes nothing."""
        if prefix in self or (not self._keep_all and self.match(prefix) is not None):
            return False
        members = self._members()
        start = end = bisect_left(members, prefix)
        if not self._keep_all:
            while end < len(members) and members[end].startswith(prefix):
                end += 1
        members[start:end] = [prefix]
        return True

    def update(self, prefixes: Iterable[str]) -> None:
        """Add many prefixes; they are sorted at the next question."""
        self._pending += prefixes

    def _members(self) -> list[str]:
        """Return the members in order, after sorting in the members of `update`."""
        if not self._pending:
            return self._sorted
        # Two sorted runs: the sort only merges them.
        ordered = sorted(self._sorted + sorted(self._pending))
        self._pending = []
        members = self._sorted = []
        for prefix in ordered:
            # A redundant prefix sorts directly after the prefix that contains it.
            if not members or self._is_new(prefix, members[-1]):
                members.append(prefix)
        return members

    def _is_new(self, prefix: str, before: str) -> bool:
        return prefix != before if self._keep_all else not prefix.startswith(before)

    def match(self, text: str) -> str | None:
        """Return the shortest prefix of a SURT in the set, or None."""
        if self._keep_all:
            return next(iter(self.all_matching(text)), None)
        # No member is a prefix of another, so a prefix of the text is the greatest member up to it.
        members = self._members()
        at = bisect_right(members, text)
        if at and text.startswith(members[at - 1]):
            return members[at - 1]
        return None

    def any_below(self, text: str) -> bool:
        """Return whether a member begins with a text."""
        members = self._members()
        at = bisect_left(members, text)
        return at < len(members) and members[at].startswith(text)

    def any_longer(self, text: str) -> bool:
        """Return whether a member begins with a text and goes on."""
        members = self._members()
        at = bisect_right(members, text)
        return at < len(members) and members[at].startswith(text)

    def all_matching(self, text: str) -> list[str]:
        """Return all prefixes of a SURT in the set, the shortest first."""
        matching: list[str] = []
        members = self._members()
        at = bisect_right(members, text)
        while at:
            member = members[at - 1]
            if text.startswith(member):
                matching.append(member)
                at -= 1
            else:
                # What is a prefix of the text and sorts before this member is a prefix of both.
                text = text[: _common_length(text, member)]
                at = bisect_right(members, text, 0, at)
        return matching[::-1]


def _common_length(first: str, second: str) -> int:
    """Return the length of the common beginning of two texts; neither contains the other."""
    return next(at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)


def beginning_with(prefix: str) -> str:
    """Return a regular expression for all URLs that begin with a URL, by http or https."""
    scheme, separator, after = prefix.partition("://")
    return f"^https?://{re.escape(after)}" if separator else f"^{re.escape(scheme)}"
