"""Counts by name, durable with each commit: absolute values, written when a group is sealed.

They are rows of the store; a bounded number of them is held in memory.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Generic, TypeVar

import msgspec

from nacre.store.store import Store

FAMILY = "stats"
"""Family of all of them."""

T = TypeVar("T")

_encode = msgspec.msgpack.Encoder().encode


class Tallies(dict[str, T], Generic[T]):
    """The rows that changed since the last seal, by name; taking one changes it.

    Some of those that did not change are at hand, the others in the store.

    Args:
        store: Stores them.
        prefix: First bytes of their keys.
        kind: What a row is; made without arguments for a name that is new.
        capacity: Rows held in memory; more only until the next seal.
    """

    def __init__(
        self, store: Store, prefix: bytes, kind: Callable[[], T], capacity: int = 20_000
    ) -> None:
        super().__init__()
        self._store = store
        self._prefix = prefix
        self._kind = kind
        self._decode: Callable[[bytes], T] = msgspec.msgpack.Decoder(kind).decode
        self._capacity = capacity
        self._resting: dict[str, T] = {}

    def __missing__(self, name: str) -> T:
        tally = self._resting.pop(name, None)
        if tally is None:
            tally = self._load(name)
        self[name] = tally
        return tally

    def look(self, name: str) -> T:
        """Return a row for reading only: it is not written again."""
        tally = self.get(name) or self._resting.get(name)
        if tally is None:
            tally = self._resting[name] = self._load(name)
        return tally

    def rows(self) -> Iterator[tuple[str, T]]:
        """Yield all rows as last sealed, in order of their names."""
        prefix = self._prefix
        for key, value in self._store.scan(FAMILY, prefix, prefix[:-1] + b";"):
            yield key[len(prefix) :].decode(), self._decode(value)

    def seal(self) -> None:
        """Write changed tallies, and drop the least recently used ones from memory."""
        key = self._key
        self._store.put_all(FAMILY, {key(name): _encode(tally) for name, tally in self.items()})
        self._resting.update(self)
        self.clear()
        excess = max(len(self._resting) - self._capacity, 0)
        for name in list(islice(self._resting, excess)):
            del self._resting[name]

    def _load(self, name: str) -> T:
        row = self._store.get(FAMILY, self._key(name))
        return self._kind() if row is None else self._decode(row)

    def _key(self, name: str) -> bytes:
        return self._prefix + name.encode("utf-8", "backslashreplace")
