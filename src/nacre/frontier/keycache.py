"""Keys that are known to be in the seen set: 6 to 24 bytes each; in a set of Python's it is 100.

The table has buckets of eight slots and grows by linear hashing: one bucket is divided at a time,
so that no growth takes long or doubles the memory. In a full bucket the oldest key makes room.

A slot keeps 48 of the 96 bits that a key has for its URL. Which bucket it is comes from 16 of the
others and, as far as the table has grown, from the 48. So with 16 million slots a new key is taken
for a known one once in 10 ** 12 times.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

PARTS: Final = Struct("<4xIQ")
"""A seen key without its host: 32 bits, 64 bits."""

_PLACES = Struct("<4xI2xI2x")
"""What a key's bucket depends on: bits that are not in its slot, and bits that are."""
_KEPT = 10
"""Where the part of a key begins that its slot keeps."""
_SLOT = 6
_WAYS = 8
_BUCKET = _SLOT * _WAYS
_NONE = bytes(_SLOT)
_START = 1 << 16
"""Buckets of a new table."""
_LOAD = 2
"""Keys added for each bucket while the table grows: it forgets one in 200 then; with 3 it would be
one in 40, for two thirds of the memory."""


class KeyCache:
    """A set that may forget what was added, and has nothing else in it.

    Args:
        limit: Keys that it may have room for; the memory is six bytes for each.

    Attributes:
        added: Keys that were added so far.
    """

    def __init__(self, limit: int) -> None:
        self._most = max(limit // _WAYS, 1)
        buckets = _START
        while buckets > self._most:
            buckets >>= 1
        self._slots = bytearray(_BUCKET * buckets)
        self._base = self._low = buckets - 1
        self._rest = (1 << 32) - buckets
        self._divided = 0
        self.added = 0

    @property
    def room(self) -> int:
        """Keys that there is room for now."""
        return len(self._slots) // _SLOT

    def unknown(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those keys that are not in it, in their order."""
        find, base, rest = self._slots.find, self._base, self._rest
        low, divided = self._low, self._divided
        high = low << 1 | 1
        found = []
        for key, (short, kept) in zip(keys, _PLACES.iter_unpack(b"".join(keys)), strict=True):
            place = short & base | kept & rest
            bucket = place & low
            if bucket < divided:
                bucket = place & high
            first = bucket * _BUCKET
            at = find(key[_KEPT:], first, first + _BUCKET)
            if at < 0 or ((at - first) % _SLOT and self._at(first, key) < 0):
                found.append(key)
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys that are not in it."""
        slots = self._slots
        for key, first in self._firsts(keys):
            slots[first + _SLOT : first + _BUCKET] = slots[first : first + _BUCKET - _SLOT]
            slots[first : first + _SLOT] = key[_KEPT:]
        self.added += len(keys)
        while self.added > self._buckets * _LOAD and self._buckets < self._most:
            self._divide()

    def forget(self, key: bytes) -> None:
        """Take a key out."""
        for _, first in self._firsts((key,)):
            at = self._at(first, key)
            if at >= 0:
                self._slots[at : at + _SLOT] = _NONE

    @property
    def _buckets(self) -> int:
        return self._low + 1 + self._divided

    def _firsts(self, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
        """Keys, each with where its bucket begins; `unknown` does the same, without a call."""
        for key, (short, kept) in zip(keys, _PLACES.iter_unpack(b"".join(keys)), strict=True):
            place = short & self._base | kept & self._rest
            bucket = place & self._low
            if bucket < self._divided:
                bucket = place & (self._low << 1 | 1)
            yield key, bucket * _BUCKET

    def _at(self, first: int, key: bytes) -> int:
        """Where in a bucket a key is; -1 for nowhere."""
        kept = key[_KEPT:]
        for at in range(first, first + _BUCKET, _SLOT):
            if self._slots[at : at + _SLOT] == kept:
                return at
        return -1

    def _divide(self) -> None:
        """Make one more bucket, for those keys of another one that belong there from now on."""
        bit = self._low + 1
        first = self._divided * _BUCKET
        bucket = bytes(self._slots[first : first + _BUCKET])
        going, staying = b"", b""
        for at in range(0, _BUCKET, _SLOT):
            slot = bucket[at : at + _SLOT]
            if int.from_bytes(slot[:4], "little") & bit:
                going += slot
            elif slot != _NONE:
                staying += slot
        if going:
            self._slots[first : first + _BUCKET] = staying.ljust(_BUCKET, b"\0")
        self._slots += going.ljust(_BUCKET, b"\0")
        self._divided += 1
        if self._divided == bit:
            self._low, self._divided = self._low << 1 | 1, 0
