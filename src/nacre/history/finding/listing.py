"""What an index page showed last time, and what is new, changed or gone on it now (pure)."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol

import msgspec

from nacre.history.finding.paging import kind_of

_MAX_LINKS = 6_000
_MIDDLE = 2


class ListedLink(Protocol):
    """A link of an index page."""

    @property
    def url(self) -> str:
        """Where it leads."""
        ...

    @property
    def text(self) -> str:
        """Its text, with whatever date or teaser stands in it."""
        ...


class Shown(msgspec.Struct, frozen=True, array_like=True):
    """An index page's links at its last visit, in their order; kept in the store.

    Attributes:
        urls: Where they led.
        texts: Hashes of their texts.
    """

    urls: tuple[str, ...] = ()
    texts: tuple[int, ...] = ()


class News(NamedTuple):
    """The difference between two visits of an index page.

    Attributes:
        new: Links that were not there.
        changed: Links whose text changed.
        withdrawn: Links that vanished although older neighbours stayed: deleted, or moved.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


def shown(links: Iterable[ListedLink]) -> Shown:
    """What to remember of an index page."""
    kept: dict[str, int] = {}
    for link in links:
        if len(kept) >= _MAX_LINKS:
            break
        kept.setdefault(link.url, _hash(link.text))
    return Shown(tuple(kept), tuple(kept.values()))


def compare_lists(old: Shown, now: Shown) -> News:
    """What happened on an index page between two visits."""
    before = dict(zip(old.urls, old.texts, strict=True))
    after = dict(zip(now.urls, now.texts, strict=True))
    new = tuple(url for url in now.urls if url not in before)
    changed = tuple(url for url, text in after.items() if before.get(url, text) != text)
    stayed = [rank for rank, url in enumerate(old.urls) if url in after]
    return News(new, changed, _withdrawn(old.urls, after, stayed))


def _withdrawn(
    urls: Sequence[str], after: dict[str, int], stayed: Sequence[int]
) -> tuple[str, ...]:
    """Links gone from before one of their kind that stayed; too many are a new list.

    What falls off the end of a list has no older neighbour; menus and paging below it are none.
    """
    if len(stayed) < _MIDDLE:
        return ()
    last = {kind_of(urls[rank]): rank for rank in stayed}
    gone = tuple(
        url
        for rank, url in enumerate(urls)
        if url not in after and rank < last.get(kind_of(url), -1)
    )
    return gone if len(gone) <= max(_MIDDLE, len(stayed) // 2) else ()


def _hash(text: str) -> int:
    digest = blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=6).digest()
    return int.from_bytes(digest, "big")
