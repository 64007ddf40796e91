"""Whether a key was ever entered: "no" is certain, "perhaps" is for the store to decide.

A Bloom filter in words of 64 bits: each key sets four bits of one word, so that a look-up touches
memory once. At 12 bits a key one unknown key in a hundred is "perhaps"; at 6 bits one in eight.
"""

from array import array
from collections.abc import Sequence
from typing import Final

from nacre.frontier.keycache import PARTS
from nacre.frontier.rows import Rows

KEYS_A_WORD: Final = 5
"""Keys for each word up to which a filter is good: 12.8 bits a key."""
_SLICE = 256
"""Rows that one step of a making reads."""

_PAIRS = tuple(1 << one | 1 << other for one in range(64) for other in range(64))


class KeyFilter:
    """The filter; keys cannot be taken out.

    Args:
        words: Its size in words of eight bytes, a power of two.
    """

    def __init__(self, words: int) -> None:
        self._words = array("Q", bytes(8 * words))
        self.added = 0

    @property
    def full(self) -> bool:
        """Whether it has so many keys that a larger one would be better."""
        return self.added > len(self._words) * KEYS_A_WORD

    def __len__(self) -> int:
        return len(self._words)

    def perhaps(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those keys that may have been added, in their order."""
        words, mask = self._words, len(self._words) - 1
        found = []
        for key, (short, word) in zip(keys, PARTS.iter_unpack(b"".join(keys)), strict=True):
            bits = _PAIRS[word & 4095] | _PAIRS[word >> 12 & 4095]
            if words[short & mask] & bits == bits:
                found.append(key)
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys."""
        words, mask = self._words, len(self._words) - 1
        for short, word in PARTS.iter_unpack(b"".join(keys)):
            words[short & mask] |= _PAIRS[word & 4095] | _PAIRS[word >> 12 & 4095]
        self.added += len(keys)


class Making:
    """A filter of all keys in the store, made in small steps beside other work.

    Keys that enter meanwhile must be added to `filter` as well.
    """

    def __init__(self, rows: Rows, words: int) -> None:
        self.filter = KeyFilter(words)
        self._rows = rows
        self._start = b""

    def step(self) -> list[bytes] | None:
        """Read some rows; their keys, or None when all have been read."""
        keys = [key for key, _ in self._rows.scan("seen", self._start, None, _SLICE)]
        self.filter.add(keys)
        if len(keys) < _SLICE:
            return None
        self._start = keys[-1] + b"\0"
        return keys
