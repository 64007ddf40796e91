"""Which URIs are known: a bounded memory of recent keys before the store."""

from collections.abc import Sequence

from nacre.frontier.rows import Rows


class Seen:
    """The seen set.

    Two generations of keys known to be in the store spare most look-ups, and keys just found absent
    need none when they are entered.
    """

    def __init__(self, rows: Rows, recent: int) -> None:
        self._rows = rows
        self._size = max(recent // 2, 1)
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()
        self._absent: set[bytes] = set()

    def known(self, keys: Sequence[bytes]) -> list[bool]:
        """Whether each key is in the set; one batched look-up at most."""
        absent = self._look_up(keys)
        if not absent:
            return [True] * len(keys)
        if len(self._absent) > self._size:
            self._absent.clear()
        self._absent |= absent
        return [key not in absent for key in keys]

    def enter(self, keys: Sequence[bytes]) -> list[bool]:
        """Add keys; True for each that is new (once, where it is given twice)."""
        absent = self._look_up(keys)
        if not absent:
            return [False] * len(keys)
        fresh = []
        for key in keys:
            new = key in absent
            if new:
                absent.discard(key)
                self._absent.discard(key)
                self._rows.put("seen", key, b"")
                self._remember(key)
            fresh.append(new)
        return fresh

    def forget(self, key: bytes) -> None:
        """Take a key out, so that its URI may enter again."""
        self._rows.delete("seen", key)
        self._young.discard(key)
        self._old.discard(key)

    def _look_up(self, keys: Sequence[bytes]) -> set[bytes]:
        """The keys that are not in the set."""
        unknown = set(keys).difference(self._young, self._old)
        absent = unknown & self._absent
        asked = list(unknown - absent if absent else unknown)
        if asked:
            found = self._rows.get_many("seen", asked)
            for key, value in zip(asked, found, strict=True):
                if value is None:
                    absent.add(key)
                else:
                    self._remember(key)
        return absent

    def _remember(self, key: bytes) -> None:
        self._young.add(key)
        if len(self._young) >= self._size:
            self._old, self._young = self._young, set()
