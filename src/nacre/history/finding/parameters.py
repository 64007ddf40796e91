"""Query parameters whose value never changes the page: session IDs, sort orders, trackers (pure).

Tested on five pairs of pages at least. It is reported, and nothing is dropped from any URL: bytes
that are the same today may differ tomorrow. Where the operator wants it
(`recrawl.idle_parameters`), new URLs that differ from a known page in such parameters alone wait
(`idle`).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nacre.uri.parse import authority

PAIRS = 5
"""Pairs of pages that must be the same, all of them, for a parameter to be idle."""
_MOST = 24
_NAMES = 10_000
_REMEMBERED = 1_000_000
"""Pages of each parameter that others are compared with: a bound of memory."""


class Parameter(NamedTuple):
    """What a parameter of a site was seen to do.

    Attributes:
        site: The site.
        name: The parameter.
        pairs: Pages compared with another that differs in its value alone.
        same: Those with the same bytes.
    """

    site: str
    name: str
    pairs: int
    same: int

    @property
    def idle(self) -> bool:
        """Whether its value never changed the page."""
        return self.pairs >= PAIRS and self.same == self.pairs


class Pairs:
    """Compares pages that differ in the value of one parameter alone."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._counts: dict[tuple[str, str], list[int]] = {}

    def add(self, url: str, digest: str) -> None:
        """Take in a page with the digest of its last answer; one without is left out."""
        for name, rest in _without_each(url) if digest else ():
            other = self._first.get((name, rest))
            if other is None:
                if len(self._first) < _REMEMBERED:
                    self._first[name, rest] = digest
                continue
            key = authority(url), name
            if key in self._counts or len(self._counts) < _NAMES:
                count = self._counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += other == digest

    def found(self) -> list[Parameter]:
        """All parameters of which at least one pair is known, idle ones first."""
        found = [Parameter(*key, *count) for key, count in self._counts.items()]
        return sorted(found, key=lambda one: (not one.idle, -one.pairs, one.site, one.name))


def parameters(pages: Iterable[tuple[str, str]]) -> list[Parameter]:
    """All parameters of which at least one pair of pages is known, idle ones first.

    Args:
        pages: URLs of pages, and the digests of their last answers.
    """
    pairs = Pairs()
    for url, digest in pages:
        pairs.add(url, digest)
    return pairs.found()


def _without_each(url: str) -> Iterator[tuple[str, str]]:
    """Each parameter of a URL, with what is left without it."""
    path, mark, query = url.partition("?")
    parts = query.split("&") if mark else []
    for at, part in enumerate(parts[:_MOST]):
        name = part.partition("=")[0]
        if name:
            yield name, f"{path}?{'&'.join([*parts[:at], *parts[at + 1 :]])}"
