"""The index of the seeds of a run in its store: by their prefixes for scopes, and by their URLs.

Ten million seeds are not loaded: a scope looks up the prefixes near a host, and one look-up finds
whether a URL is a seed. Rows in the family `scope`, beside those of `seedbook`:

    surt:PREFIX             the prefix that seeds imply (`uri.surt.implied_prefix`)
    page:HASH               number of the seed with a URL
    own:HASH NUMBER         a seed that shares the own scope of a seed, by the text of the latter

An earlier Nacre ignores these rows, and adds seeds without them. No seed is ever changed or
removed, so that rows are never stale, only missing: then the counter of indexed seeds is less than
that of seeds, and the next start of the job adds the rows of all (`seedbook.index_seeds`).
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import msgspec

from nacre.store.store import Store
from nacre.uri.surt import implied_by

FAMILY = "scope"
_SURT, _SURT_END = b"surt:", b"surt;"
_PAGE = b"page:"
_OWN, _OWN_END = b"own:", b"own;"
_NUMBER = 8


class SharedScopeRow(msgspec.Struct, frozen=True, array_like=True):
    """A seed that shares the own scope of a seed.

    Attributes:
        owner: The text of the seed that has the scope.
        text: Its own text.
        scope: The scope; "" for that of the job.
        depth: Its depth; -1 for none.
    """

    owner: str
    text: str
    scope: str
    depth: int


class StoredSeeds:
    """The seeds of a store: a `nacre.scope.seed_index.SeedIndex`.

    Args:
        store: Has them, with those that are not committed yet.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._has_own = store.first_key(FAMILY, _OWN, _OWN_END) is not None
        self._is_empty = store.first_key(FAMILY, _SURT, _SURT_END) is None

    # ---- for scopes

    def floor(self, near: str, text: str) -> str | None:
        """See `SeedIndex.floor`."""
        key = self._store.last_key(FAMILY, _SURT, _SURT + _bytes(text) + b"\0")
        return None if key is None else _text(key)

    def ceiling(self, near: str, text: str) -> str | None:
        """See `SeedIndex.ceiling`."""
        key = self._store.first_key(FAMILY, _SURT + _bytes(text), _SURT_END)
        return None if key is None else _text(key)

    def prefixes(self) -> Iterator[str]:
        """See `SeedIndex.prefixes`."""
        return (_text(key) for key, _ in self._store.scan(FAMILY, _SURT, _SURT_END))

    def is_empty(self) -> bool:
        """See `SeedIndex.is_empty`."""
        return self._is_empty

    def has_own(self) -> bool:
        """See `SeedIndex.has_own`."""
        return self._has_own

    def own_places(self, owner: str) -> Sequence[tuple[str, str, int]]:
        """See `SeedIndex.own_places`."""
        start = _OWN + _hash(owner)
        values = self._store.scan(FAMILY, start, start + b"\xff" * (_NUMBER + 1))
        rows = (msgspec.msgpack.decode(value, type=SharedScopeRow) for _, value in values)
        return [(row.text, row.scope, row.depth) for row in rows if row.owner == owner]

    # ---- for URLs

    def number(self, url: str) -> int | None:
        """Return the number of the seed with a URL; None: it is no seed."""
        return _number(self._store.get(FAMILY, page_key(url)))

    def numbers(self, urls: Sequence[str]) -> list[int | None]:
        """Return the numbers of the seeds with some URLs, in their order."""
        values = self._store.get_many(FAMILY, [page_key(url) for url in urls])
        return [_number(value) for value in values]

    # ---- changes

    def add(self, number: int, url: str, text: str, own: SharedScopeRow | None) -> None:
        """Add a seed.

        Args:
            number: Its number.
            url: Its URL.
            text: Its text.
            own: Its own scope; None for none.
        """
        self._store.put_all(FAMILY, index_rows(number, url, text, own))
        if own is None:
            self._is_empty = False
        else:
            self._has_own = True


def index_rows(number: int, url: str, text: str, own: SharedScopeRow | None) -> dict[bytes, bytes]:
    """Return the rows of a seed in the index; for the arguments see `StoredSeeds.add`."""
    rows = {page_key(url): number.to_bytes(_NUMBER, "big")}
    if own is None:
        rows[_SURT + _bytes(implied_by(text, url))] = b""
    else:
        key = _OWN + _hash(own.owner) + number.to_bytes(_NUMBER, "big")
        rows[key] = msgspec.msgpack.encode(own)
    return rows


def page_key(url: str) -> bytes:
    """Return the key of the row of the seed with a URL."""
    return _PAGE + _hash(url)


def _number(value: bytes | None) -> int | None:
    return None if value is None else int.from_bytes(value, "big")


def _hash(text: str) -> bytes:
    return blake2b(_bytes(text), digest_size=16).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(key: bytes) -> str:
    return key[len(_SURT) :].decode("utf-8", "surrogatepass")
