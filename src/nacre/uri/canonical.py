"""From a URL to its seen key: the canonical form, by a list of rules, and its hash.

The canonical form only decides whether a URL was seen before; what is requested, stored and indexed
is the URL itself. Rules stand in an order, by name (`rule`); `DEFAULT` merges only what is safe to
merge, `HERITRIX` is the stock list of Heritrix. Source: Heritrix 3, canonicalization rules.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b

from nacre.errors import ConfigError
from nacre.uri.parse import authority, host
from nacre.uri.rewrite import Regex
from nacre.uri.rules import (
    FixupQueryString,
    Lowercase,
    Rule,
    SortQuery,
    StripExtraSlashes,
    StripSessionCFIDs,
    StripSessionIDs,
    StripUserinfo,
    StripWWW,
    StripWWWN,
)

HOST_HASH_SIZE = 4
"""Bytes of a host hash."""
SEEN_KEY_SIZE = 16
"""Bytes of a seen key."""

_URL_HASH_SIZE = SEEN_KEY_SIZE - HOST_HASH_SIZE
_MAX_ROUNDS = 64

RULES: dict[str, Callable[..., Rule]] = {
    "StripUserinfo": StripUserinfo,
    "StripSessionIDs": StripSessionIDs,
    "StripSessionCFIDs": StripSessionCFIDs,
    "FixupQueryString": FixupQueryString,
    "Lowercase": Lowercase,
    "StripWWWN": StripWWWN,
    "StripWWW": StripWWW,
    "StripExtraSlashes": StripExtraSlashes,
    "Regex": Regex,
    "SortQuery": SortQuery,
}
"""The rules by name. Heritrix's class names, which end in `Rule`, are understood too."""

DEFAULT: tuple[Rule, ...] = (
    StripUserinfo(),
    StripSessionIDs(),
    StripSessionCFIDs(),
    FixupQueryString(),
)
"""Merges URLs that differ only in what identifies a visitor, or in an empty query."""

HERITRIX: tuple[Rule, ...] = (
    Lowercase(),
    StripUserinfo(),
    StripWWWN(),
    StripSessionIDs(),
    StripSessionCFIDs(),
    FixupQueryString(),
)
"""The stock list of Heritrix: also merges hosts with and without `www`, upper and lower case."""


def rule(name: str, **params: str) -> Rule:
    """Make a rule by name.

    Args:
        name: A key of `RULES`, or Heritrix's name of it.
        params: `regex` and `format` of `Regex`; no other rule has any.

    Raises:
        ConfigError: There is no such rule, or it does not take these parameters.
    """
    make = RULES.get(name) or RULES.get(name.removesuffix("Rule"))
    if make is None:
        raise ConfigError(f"no canonicalisation rule {name!r}; there are {', '.join(RULES)}")
    try:
        return make(**params)
    except TypeError as error:
        raise ConfigError(f"rule {name!r} does not take {', '.join(params)}") from error


class Canonicalizer:
    """Applies rules in their order, again and again until nothing changes.

    So the result is a fixed point: canonicalised again it stays. Only a `Regex` that never comes
    to rest ends after 64 rounds.
    """

    def __init__(self, rules: Iterable[Rule] = DEFAULT) -> None:
        self.rules = tuple(rules)
        marks = {mark for one in self.rules for mark in one.marks}
        # Without these characters a URL is canonical already; "" is in every URL.
        self._marks = tuple(sorted(marks)) if all(one.marks for one in self.rules) else ("",)

    def canonical(self, url: str) -> str:
        """The canonical form of a normalised URL."""
        for mark in self._marks:
            if mark in url:
                return self._apply(url)
        return url

    def _apply(self, url: str) -> str:
        for _ in range(_MAX_ROUNDS):
            before = url
            for one in self.rules:
                url = one.apply(url)
            if url == before:
                break
        return url


def seen_key(canonical: str) -> bytes:
    """The seen key of a canonical URL: 4 bytes for the host, then 12 for the whole URL.

    The scheme counts: http and https are different pages. Keys of one host and port stand together,
    whatever their scheme.
    """
    where = authority(canonical) or host(canonical)
    data = canonical.encode("utf-8", "surrogatepass")
    return host_hash(where) + blake2b(data, digest_size=_URL_HASH_SIZE).digest()


@lru_cache(maxsize=16_384)
def host_hash(name: str) -> bytes:
    """4 bytes for a host, with its port where explicit; store, workers and CrawlDb share it."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=HOST_HASH_SIZE).digest()
