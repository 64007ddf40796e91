"""Which URIs are known: what lies in memory before the store, so that it is rarely asked.

Of the links of a long crawl most are known and a few are new. Two generations of the latest keys
are the quickest to ask; before a key leaves them, it enters a cache that knows of most other keys
that they are in the store (`keycache`). A filter knows of nearly all new ones that they
are not (`keyfilter`). The store is asked about the rest, and about all new ones while the filter is
being made. Without these, the share of keys that it must be asked about, 4 to 25 µs each, is what
makes a visit dearer as a crawl grows.
"""

from collections import deque
from collections.abc import Sequence

from nacre.frontier.keycache import KeyCache
from nacre.frontier.keyfilter import KEYS_A_WORD, KeyFilter, Making
from nacre.frontier.rows import Rows

_LATEST = 50_000
"""Keys of one generation."""
_MOVED = 32
"""Keys that enter the cache at once; more where more are entered at once."""
_SMALLEST = 1 << 13
_GROWTH = 8
_PAUSE = 32
"""Keys for each step of making the filter."""
_USELESS = 4
"""Where there are so many times the keys that a filter is good for, none is made."""


class Seen:
    """The seen set, of keys of 16 bytes.

    Args:
        rows: The store, in whose family `seen` it lies.
        recent: Known keys that are to be remembered; the filter is good for as many. 0: next to
            none, and no filter.
        known: About how many keys there are.
    """

    def __init__(self, rows: Rows, recent: int, known: int = 0) -> None:
        self._rows = rows
        self._size = max(min(recent // 2, _LATEST), 1)
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()
        self._waiting: deque[bytes] = deque()
        self._cache = KeyCache(recent)
        self._most = 1 << (recent // KEYS_A_WORD).bit_length() >> 1
        self._filter: KeyFilter | None = None
        self._making: Making | None = None
        self._due = _PAUSE
        self._make(known)

    def known(self, keys: Sequence[bytes]) -> list[bool]:
        """Whether each key is in the set; one batched look-up at most."""
        absent = self._absent(self._unknown(self._later(keys)))
        return [key not in absent for key in keys]

    def enter(self, keys: Sequence[bytes]) -> list[bool]:
        """Add keys; True for each that is new (once, where it is given twice)."""
        if self._making is not None:
            self._make_on(len(keys))
        later = self._later(keys)
        unknown = self._unknown(later)
        absent = self._absent(unknown)
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

    def _unknown(self, keys: set[bytes]) -> list[bytes]:
        """Those keys that are not in the cache."""
        return self._cache.unknown(list(keys)) if keys and self._cache.added else list(keys)

    def _absent(self, unknown: list[bytes]) -> set[bytes]:
        """Those keys that are not in the set; none is in the cache."""
        if not unknown:
            return set()
        absent = set(unknown)
        asked = unknown if self._filter is None else self._filter.perhaps(unknown)
        if asked:
            values = self._rows.get_many("seen", asked)
            found = [key for key, value in zip(asked, values, strict=True) if value is not None]
            absent.difference_update(found)
        return absent

    def _to_filters(self, keys: list[bytes]) -> None:
        if self._making is not None:
            self._making.filter.add(keys)
        if self._filter is not None:
            self._filter.add(keys)
            if self._filter.full and self._making is None and len(self._filter) < self._most:
                self._make(self._filter.added)

    # ---- the filter

    def _make(self, known: int) -> None:
        """Begin to make a filter that is good for many more keys than these."""
        words = _SMALLEST
        while words * KEYS_A_WORD < known * 2:
            words *= _GROWTH
        words = min(words, self._most)
        if words * KEYS_A_WORD * _USELESS > known:
            self._making = Making(self._rows, words)

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
