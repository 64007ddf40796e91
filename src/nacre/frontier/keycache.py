"""Keys that are known to be in the seen set: 8 to 32 bytes each; in a set of Python's it is 100.

The table has buckets of eight slots and grows by linear hashing: one bucket is divided at a time,
so that no growth takes long or doubles the memory. In a full bucket the oldest key makes room.

A slot keeps 64 of the 96 bits that a key has for its URL. Which bucket it is comes from 12 of the
others and, as far as the table has grown, from the 64. So an unknown key is taken for a known one
where 76 bits are the same: once in some 10 ** 22 look-ups.
"""

from array import array
from collections.abc import Sequence
from struct import Struct
from typing import Final

PARTS: Final = Struct("<4xIQ")
"""A seen key without its host: 32 bits, 64 bits."""

_WAYS = 8
_EMPTY = [0] * _WAYS
_START = 1 << 12
"""Buckets of a new table."""
_LOAD = 2
"""Keys added for each bucket while the table grows: it forgets one in 200 then; with 3 it would be
one in 40, for two thirds of the memory."""


class KeyCache:
    """A set that may forget what was added, and has nothing else in it.

    Args:
        limit: Keys that it may have room for; the memory is eight bytes for each.

    Attributes:
        added: Keys that were added so far.
    """

    def __init__(self, limit: int) -> None:
        self._most = max(limit // _WAYS, 1)
        buckets = _START
        while buckets > self._most:
            buckets >>= 1
        self._slots = array("Q", bytes(8 * _WAYS * buckets))
        self._base = self._low = buckets - 1
        self._rest = (1 << 64) - buckets
        self._divided = 0
        self.added = 0

    @property
    def room(self) -> int:
        """Keys that there is room for now."""
        return len(self._slots)

    def unknown(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those keys that are not in it, in their order."""
        slots, base, rest = self._slots, self._base, self._rest
        low, divided = self._low, self._divided
        high = low << 1 | 1
        found = []
        for key, (short, word) in zip(keys, PARTS.iter_unpack(b"".join(keys)), strict=True):
            place = short & base | word & rest
            bucket = place & low
            if bucket < divided:
                bucket = place & high
            bucket *= _WAYS
            if word not in slots[bucket : bucket + _WAYS]:
                found.append(key)
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys that are not in it."""
        slots = self._slots
        for short, word in PARTS.iter_unpack(b"".join(keys)):
            first = self._bucket(short, word)
            slots[first + 1 : first + _WAYS] = slots[first : first + _WAYS - 1]
            slots[first] = word
        self.added += len(keys)
        while self.added > self._buckets * _LOAD and self._buckets < self._most:
            self._divide()

    def forget(self, key: bytes) -> None:
        """Take a key out."""
        short, word = PARTS.unpack(key)
        first = self._bucket(short, word)
        for slot in range(first, first + _WAYS):
            if self._slots[slot] == word:
                self._slots[slot] = 0

    @property
    def _buckets(self) -> int:
        return self._low + 1 + self._divided

    def _bucket(self, short: int, word: int) -> int:
        """The first slot of a key's bucket; `unknown` does the same, without a call."""
        place = short & self._base | word & self._rest
        bucket = place & self._low
        if bucket < self._divided:
            bucket = place & (self._low << 1 | 1)
        return bucket * _WAYS

    def _divide(self) -> None:
        """Make one more bucket, for those keys of another one that belong there from now on."""
        bit = self._low + 1
        first = self._divided * _WAYS
        words = self._slots[first : first + _WAYS]
        going = [word for word in words if word & bit]
        if going:
            staying = [word for word in words if word and not word & bit]
            self._slots[first : first + _WAYS] = array("Q", staying + _EMPTY[len(staying) :])
        self._slots.extend(going + _EMPTY[len(going) :])
        self._divided += 1
        if self._divided == bit:
            self._low, self._divided = self._low << 1 | 1, 0
