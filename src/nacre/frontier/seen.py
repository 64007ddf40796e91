"""The seen set: the keys of all URIs that were discovered, with caches before the store.

Of the links of a long crawl most are known and a few are new. Two generations of the latest keys
are checked first (`SeenSet`). Before a key leaves them, it enters a cache that contains most other
keys of the store (`KeyCache`). A Bloom filter recognises nearly all new keys (`BloomFilter`). The
store is read for the rest, and for all new keys while the filter is being built. Without these, the
share of keys that must be read, 4 to 25 µs each, makes a visit more expensive as a crawl grows.
"""

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from nacre.frontier.rows import RowStore

KEYS_A_WORD: Final = 5
"""Keys for each word up to which a filter is good: 12.8 bits a key."""
_SLICE = 256
"""Rows that one step of a making reads."""

_PAIRS = tuple(1 << first | 1 << second for first in range(64) for second in range(64))


class BloomFilter:
    """A Bloom filter of seen keys: "no" is certain, "perhaps" is for the store to decide.

    Its words have 64 bits, and each key sets four bits of one word, so that a look-up touches
    memory once. At 12 bits a key one unknown key in a hundred is "perhaps"; at 6 bits one in eight.
    Keys cannot be taken out.

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
        candidates = []
        for key, (short, word) in zip(keys, PARTS.iter_unpack(b"".join(keys)), strict=True):
            bits = _PAIRS[word & 4095] | _PAIRS[word >> 12 & 4095]
            if words[short & mask] & bits == bits:
                candidates.append(key)
        return candidates

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys."""
        words, mask = self._words, len(self._words) - 1
        for short, word in PARTS.iter_unpack(b"".join(keys)):
            words[short & mask] |= _PAIRS[word & 4095] | _PAIRS[word >> 12 & 4095]
        self.added += len(keys)


class FilterBuilder:
    """A filter of all keys in the store, made in small steps beside other work.

    Keys that enter meanwhile must be added to `filter` as well.
    """

    def __init__(self, rows: RowStore, words: int) -> None:
        self.filter = BloomFilter(words)
        self._rows = rows
        self._start = b""

    def step(self) -> list[bytes] | None:
        """Read some rows; their keys, or None when all have been read."""
        rows = self._rows.scan("seen", self._start, None, _SLICE, once=True)
        keys = [key for key, _ in rows]
        self.filter.add(keys)
        if len(keys) < _SLICE:
            return None
        self._start = keys[-1] + b"\0"
        return keys


PARTS: Final = Struct("<4xIQ")
"""A seen key without its host: 32 bits, 64 bits."""

_PLACES = Struct("<4xI2xI2x")
"""What a key's bucket depends on: bits that are not in its slot, and bits that are."""
_KEPT = 10
"""Offset of the part of a key that its slot keeps."""
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
    """A cache of keys that are in the seen set, 6 to 24 bytes each; a Python set takes 100.

    It may forget keys, and never contains a key that was not added. The table has buckets of eight
    slots and grows by linear hashing: one bucket is divided at a time, so that no growth takes long
    or doubles the memory. In a full bucket the oldest key makes room.

    A slot keeps 48 of the 96 bits that a key has for its URL. Its bucket comes from 16 of the
    others and, as far as the table has grown, from the 48. So with 16 million slots a new key is
    taken for a known one once in 10 ** 12 times.

    Args:
        limit: Keys that it may have room for; the memory is six bytes for each.

    Attributes:
        added: Keys that were added so far, while it grew.
        grows: Whether it may become larger; else its oldest keys make room for the next.
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
        self.grows = True

    @property
    def room(self) -> int:
        """Keys that there is room for now."""
        return len(self._slots) // _SLOT

    def unknown(self, keys: Sequence[bytes]) -> list[bytes]:
        """Those keys that are not in it, in their order."""
        find, base, hash_mask = self._slots.find, self._base, self._rest
        low, divided = self._low, self._divided
        high = low << 1 | 1
        absent = []
        for key, (short, tail) in zip(keys, _PLACES.iter_unpack(b"".join(keys)), strict=True):
            place = short & base | tail & hash_mask
            bucket = place & low
            if bucket < divided:
                bucket = place & high
            first = bucket * _BUCKET
            at = find(key[_KEPT:], first, first + _BUCKET)
            if at < 0 or ((at - first) % _SLOT and self._at(first, key) < 0):
                absent.append(key)
        return absent

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys that are not in it."""
        slots = self._slots
        for key, first in self._firsts(keys):
            slots[first + _SLOT : first + _BUCKET] = slots[first : first + _BUCKET - _SLOT]
            slots[first : first + _SLOT] = key[_KEPT:]
        self.added += len(keys)
        if not self.grows:  # keys added meanwhile must not cause growth at once
            self.added = min(self.added, self._buckets * _LOAD)
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
        for key, (short, tail) in zip(keys, _PLACES.iter_unpack(b"".join(keys)), strict=True):
            place = short & self._base | tail & self._rest
            bucket = place & self._low
            if bucket < self._divided:
                bucket = place & (self._low << 1 | 1)
            yield key, bucket * _BUCKET

    def _at(self, first: int, key: bytes) -> int:
        """Place of a key in a bucket; -1 for none."""
        tail = key[_KEPT:]
        for at in range(first, first + _BUCKET, _SLOT):
            if self._slots[at : at + _SLOT] == tail:
                return at
        return -1

    def _divide(self) -> None:
        """Split a bucket: move the keys that belong to the new bucket from now on."""
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


_LATEST = 50_000
"""Keys of one generation."""
_MOVED = 32
"""Keys that enter the cache at once; more where more are entered at once."""
_WINDOW = 50_000
"""Keys not among the latest, known and new, after which it is decided whether the cache grows."""
_WORTH = 8
"""It grows while one in so many of them was known. Where fewer are, as in a place without end, each
of whose URLs is met once, it would only take memory: the store is asked about so few."""
_SMALLEST = 1 << 13
_GROWTH = 8
_PAUSE = 32
"""Keys for each step of making the filter."""
_USELESS = 4
"""If there are so many times the keys that a filter is good for, none is made."""


class SeenSet:
    """The seen set, of keys of 16 bytes.

    Args:
        rows: The store; its family `seen` has the keys.
        recent: Known keys that are to be remembered; the filter is good for as many. 0: next to
            none, and no filter.
        expected: Estimated number of keys.
    """

    def __init__(self, rows: RowStore, recent: int, expected: int = 0) -> None:
        self._rows = rows
        self._size = max(min(recent // 2, _LATEST), 1)
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()
        self._waiting: deque[bytes] = deque()
        self._cache = KeyCache(recent)
        self._most = 1 << (recent // KEYS_A_WORD).bit_length() >> 1
        self._filter: BloomFilter | None = None
        self._making: FilterBuilder | None = None
        self._due = _PAUSE
        self._asked = self._met_again = 0
        self._make(expected)

    def contains(self, keys: Sequence[bytes]) -> list[bool]:
        """Return whether each key is in the set; one batched look-up at most."""
        later = self._later(keys)
        absent = self._absent(self._unknown(later))
        self._note_use(len(later), len(later) - len(absent))
        return [key not in absent for key in keys]

    def enter(self, keys: Sequence[bytes]) -> list[bool]:
        """Add keys; True for each that is new (once, where it is given twice)."""
        if self._making is not None:
            self._make_on(len(keys))
        later = self._later(keys)
        unknown = self._unknown(later)
        absent = self._absent(unknown)
        self._note_use(len(later), len(later) - len(absent))
        self._remember(later)
        self._wait(unknown)
        if not absent:
            return [False] * len(keys)
        self._to_filters(list(absent))
        fresh = []
        for key in keys:
            new = key in absent
            if new:
                absent.discard(key)
                self._rows.put("seen", key, b"")
            fresh.append(new)
        return fresh

    def forget(self, key: bytes) -> None:
        """Take a key out, so that its URI may enter again."""
        self._rows.delete("seen", key)
        self._young.discard(key)
        self._old.discard(key)
        self._cache.forget(key)

    def _later(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those keys that are not among the latest."""
        return set(keys).difference(self._young, self._old)

    def _remember(self, keys: set[bytes]) -> None:
        self._young |= keys
        if len(self._young) >= self._size:
            self._old, self._young = self._young, set()

    def _wait(self, keys: list[bytes]) -> None:
        """Keys that are not in the cache enter it before they leave the latest, if any ever do."""
        waiting = self._waiting
        waiting.extend(keys)
        if self._old and waiting:
            young, old = self._young, self._old
            number = min(len(waiting), max(_MOVED, 2 * len(keys)))
            leaving = [waiting.popleft() for _ in range(number)]
            # What is not among the latest any more was forgotten meanwhile.
            self._cache.add([key for key in leaving if key in young or key in old])

    def _note_use(self, looked_up: int, present: int) -> None:
        """Count look-ups, and decide at intervals whether the cache may grow.

        Args:
            looked_up: Keys that were not among the latest keys.
            present: Those of them that the cache or the store has.
        """
        self._asked += looked_up
        self._met_again += present
        if self._asked >= _WINDOW:
            self._cache.grows = self._met_again * _WORTH >= self._asked
            self._asked = self._met_again = 0

    def _unknown(self, keys: set[bytes]) -> list[bytes]:
        """Those keys that are not in the cache."""
        return self._cache.unknown(list(keys)) if keys and self._cache.added else list(keys)

    def _absent(self, unknown: list[bytes]) -> set[bytes]:
        """Those keys that are not in the set; none is in the cache."""
        if not unknown:
            return set()
        absent = set(unknown)
        candidates = unknown if self._filter is None else self._filter.perhaps(unknown)
        if candidates:
            values = self._rows.get_many("seen", candidates)
            present = [
                key for key, value in zip(candidates, values, strict=True) if value is not None
            ]
            absent.difference_update(present)
        return absent

    def _to_filters(self, keys: list[bytes]) -> None:
        making = self._making
        if making is not None:
            making.filter.add(keys)
        if self._filter is not None:
            self._filter.add(keys)
            if self._filter.full and self._making is None and len(self._filter) < self._most:
                self._make(self._filter.added)

    # ---- the filter

    def _make(self, expected: int) -> None:
        """Begin to make a filter that is good for many more keys than these."""
        words = _SMALLEST
        while words * KEYS_A_WORD < expected * 2:
            words *= _GROWTH
        words = min(words, self._most)
        if words * KEYS_A_WORD * _USELESS > expected:
            self._making = FilterBuilder(self._rows, words)

    def _make_on(self, keys: int) -> None:
        """Some steps of making it, as many keys enter."""
        self._due += keys
        while self._due >= _PAUSE and self._making is not None:
            self._due -= _PAUSE
            read = self._making.step()
            if read is None:
                self._filter, self._making = self._making.filter, None
            elif self._filter is None:
                self._cache.add(self._cache.unknown(read))
