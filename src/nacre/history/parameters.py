"""Query parameters whose value never changes the page: session IDs, sort orders, trackers (pure).

Source: reference/incremental.md 2.8, tested on five pairs of pages at least. It is reported, and
nothing is dropped from any URL: bytes that are the same today may differ tomorrow.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nacre.uri.parse import authority

PAIRS = 5
"""So many pairs, all of them the same, make a parameter idle."""
_MOST = 24
_NAMES = 10_000


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
        """Its value never changed the page."""
        return self.pairs >= PAIRS and self.same == self.pairs


def parameters(pages: Iterable[tuple[str, str]]) -> list[Parameter]:
    """All parameters of which at least one pair of pages is known, idle ones first.

    Args:
        pages: URLs of pages, and the digests of their last answers; those without one are left out.
    """
    first: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], list[int]] = {}
    for url, digest in pages:
        for name, rest in _without_each(url) if digest else ():
            other = first.get((name, rest))
            if other is None:
                first[name, rest] = digest
                continue
            key = authority(url), name
            if key in counts or len(counts) < _NAMES:
                count = counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += other == digest
    found = [Parameter(*key, *count) for key, count in counts.items()]
    return sorted(found, key=lambda one: (not one.idle, -one.pairs, one.site, one.name))


def _without_each(url: str) -> Iterator[tuple[str, str]]:
    """Each parameter of a URL, with what is left without it."""
    path, mark, query = url.partition("?")
    parts = query.split("&") if mark else []
    for at, part in enumerate(parts[:_MOST]):
        name = part.partition("=")[0]
        if name:
            yield name, f"{path}?{'&'.join([*parts[:at], *parts[at + 1 :]])}"
