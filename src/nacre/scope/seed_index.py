"""An index of seeds outside memory, in order of their SURT prefixes, searched by key.

A list of ten million seeds is not loaded: for each host that a scope judges, a few of the kept
prefixes decide. `SeedIndex` finds neighbours of a text among the prefixes; `find_prefix` and
`any_prefix_below` answer as `SurtPrefixSet` does for a set of all of them, whatever the coercion.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from nacre.uri.domain import is_public_suffix, registered_domain
from nacre.uri.parse import is_ip
from nacre.uri.surt import implied_prefix

_LAST = "\U0010ffff"
_MOST_STEPS = 10_000
"""Sites below a public suffix that are passed over in search of one."""


class Coercion(StrEnum):
    """The prefix that a seed implies."""

    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"
    SITE = "site"


class SeedIndex(Protocol):
    """Implied prefixes (`implied_prefix`) of the seeds without their own scope, in order.

    Any host of a registered domain finds the seeds of that domain; `near` is that host.
    """

    def floor(self, near: str, text: str) -> str | None:
        """Return the greatest prefix that is not greater than a text; None: there is none."""
        ...

    def ceiling(self, near: str, text: str) -> str | None:
        """Return the least prefix that is not less than a text; None: there is none."""
        ...

    def prefixes(self) -> Iterator[str]:
        """Return all prefixes, in any order; for files that list them."""
        ...

    def is_empty(self) -> bool:
        """Return whether there is no seed."""
        ...

    def own_places(self, owner: str) -> Sequence[tuple[str, str, int]]:
        """Return the seeds that share the own scope of a seed.

        Args:
            owner: The text of the seed that has the scope.

        Returns:
            For each its text, its scope ("" for that of the job), its depth (-1 for none).
        """
        ...

    def has_own(self) -> bool:
        """Return whether a seed has its own scope."""
        ...


def coerce_prefix(seed: str, coercion: Coercion) -> str:
    """Return the SURT prefix that a seed implies.

    Args:
        seed: The seed as typed.
        coercion: `prefix`: Heritrix's implied prefix. `host`: exactly its host, and its port where
            it has one. `domain`: its host without `www.` and all below it, on any port. `site`: its
            registered domain and all below it. Of an address the last two mean `host`.

    Raises:
        URIError: The seed is not a URL.
    """
    return widen(implied_prefix(seed), coercion)


def widen(prefix: str, coercion: Coercion) -> str:
    """Return the prefix that an implied prefix becomes under a coercion."""
    start, bracket, after = prefix.partition("(")
    if coercion is Coercion.PREFIX or not bracket:
        return prefix
    # `com,example,www,:8080@user`: labels, port and userinfo, which does not identify a place.
    authority = after.partition(")")[0].partition("@")[0]
    labels, comma, port = authority.rpartition(",")
    if coercion is Coercion.HOST or not comma or labels.startswith("["):
        return f"{start}({labels}{comma}{port})"
    domain = _domain(".".join(reversed(labels.split(","))), coercion)
    return f"{start}({','.join(reversed(domain.split('.')))},"


def _domain(host: str, coercion: Coercion) -> str:
    if coercion is Coercion.SITE:
        return registered_domain(host)
    below = host.removeprefix("www.")
    # `www.com` is a separate site; it does not stand for all of `com`.
    return host if is_public_suffix(below) else below


def prefix_host(prefix: str) -> str:
    """Return the host that a SURT prefix is of: `www.example.com` of `http://(com,example,www,`."""
    _, bracket, after = prefix.partition("(")
    if not bracket:
        return prefix.partition(":")[2]
    authority = after.partition(")")[0].partition("@")[0]
    labels, comma, port = authority.rpartition(",")
    if not comma:
        return port.partition(":")[0]
    return labels if labels.startswith("[") else ".".join(reversed(labels.split(",")))


@lru_cache(maxsize=4096)
def _anchors(host: str) -> tuple[str, ...]:
    """Return the registered domains of a host and of its parent domains, the longest first."""
    if is_ip(host) or host.startswith("["):
        return (host,)
    labels = host.split(".")
    above = (".".join(labels[at:]) for at in range(len(labels)))
    return tuple(dict.fromkeys(map(registered_domain, above)))


def _surt_of(start: str, host: str) -> str:
    """Return the bare prefix of a host: `http://(com,example,`."""
    return f"{start}({','.join(reversed(host.split('.')))},"


def find_prefix(index: SeedIndex, coercion: Coercion, surt: str) -> str | None:
    """Return a prefix of a SURT that the kept seeds imply; None: there is none.

    Args:
        index: The kept seeds.
        coercion: What each implies.
        surt: A text as `scope_surt` makes it.
    """
    start, bracket, _ = surt.partition("(")
    host = prefix_host(surt)
    if coercion is Coercion.PREFIX or not bracket:
        matches = (_longest(index, anchor, surt) for anchor in _anchors(host))
        return next((prefix for prefix in matches if prefix is not None), None)
    closed = surt[: surt.find(")") + 1]
    if coercion is Coercion.HOST or is_ip(host) or host.startswith("["):
        return closed if "@" not in closed and _has_place(index, host, closed) else None
    if coercion is Coercion.DOMAIN:
        return _find_domain(index, start, host)
    return _find_site(index, start, host)


def any_prefix_below(index: SeedIndex, coercion: Coercion, surt: str) -> bool:
    """Return whether a seed implies a prefix that begins with `surt`, which has a whole host."""
    if coercion is not Coercion.PREFIX and "(" in surt:
        # These end with their host.
        return False
    prefix = index.ceiling(prefix_host(surt), surt)
    return prefix is not None and prefix.startswith(surt)


def _longest(index: SeedIndex, near: str, surt: str) -> str | None:
    """Return the longest stored prefix of a SURT; None: there is none."""
    text = surt
    while text:
        prefix = index.floor(near, text)
        if prefix is None or surt.startswith(prefix):
            return prefix
        text = _common(text, prefix)
    return None


def _common(first: str, second: str) -> str:
    """What two texts begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return first[: next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))]


def _has_place(index: SeedIndex, near: str, closed: str) -> bool:
    """Return whether a seed is at exactly a host and port: `http://(com,example,:8080)`."""
    bare = closed[:-1]
    if index.floor(near, bare) == bare:
        return True
    prefixes = (index.ceiling(near, text) for text in (closed, f"{bare}@"))
    return any(
        prefix is not None and prefix.startswith(text)
        for prefix, text in zip(prefixes, (closed, f"{bare}@"), strict=True)
    )


def _is_host(index: SeedIndex, near: str, bare: str) -> bool:
    """Return whether a seed is at a host, on whatever port; `bare` is its bare prefix."""
    if _has_place(index, near, f"{bare})"):
        return True
    prefix = index.ceiling(near, f"{bare}:")
    return prefix is not None and prefix.startswith(f"{bare}:")


def _find_domain(index: SeedIndex, start: str, host: str) -> str | None:
    labels = host.split(".")
    for at in range(len(labels)):
        above = ".".join(labels[at:])
        bare = _surt_of(start, above)
        below = index.ceiling(above, bare)
        if below is None or not below.startswith(bare):
            continue
        if _is_host(index, above, bare):
            return widen(bare, Coercion.DOMAIN)
        if not is_public_suffix(above) and _is_host(index, above, f"{bare}www,"):
            return bare
    return None


def _find_site(index: SeedIndex, start: str, host: str) -> str | None:
    for anchor in _anchors(host):
        bare = _surt_of(start, anchor)
        if is_public_suffix(anchor):
            if _is_host(index, anchor, bare):
                return bare
            continue
        # Below a domain there may be public suffixes with separate sites.
        prefix = index.ceiling(anchor, bare)
        for _ in range(_MOST_STEPS):
            if prefix is None or not prefix.startswith(bare):
                break
            site = widen(prefix, Coercion.SITE)
            if site == bare:
                return bare
            prefix = index.ceiling(anchor, site + _LAST)
    return None
