"""A table of recent entries, bounded by their number and by their letters (pure)."""

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

LETTERS = 8_000_000
"""Letters of one generation: URLs of a session or a token have up to 2,000 each."""


class RecentTable(Generic[K, V]):
    """Entries in two generations. Once the younger is full, the older goes and it takes its place.

    Args:
        most: Entries of one generation.
        letters: Letters of one generation.

    Attributes:
        young: The younger generation, to look up many keys at once.
        old: The older generation.
    """

    __slots__ = ("_left", "_letters", "_most", "old", "young")

    def __init__(self, most: int, letters: int = LETTERS) -> None:
        self._most = most
        self._letters = self._left = letters
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self.young or key in self.old

    def get(self, key: K) -> V | None:
        """Return the value of an entry; None for no entry."""
        value = self.young.get(key)
        return self.old.get(key) if value is None else value

    def put(self, key: K, value: V, letters: int) -> None:
        """Add an entry that has so many letters."""
        if len(self.young) >= self._most or self._left <= 0:
            self.old, self.young, self._left = self.young, {}, self._letters
        self.young[key] = value
        self._left -= letters

    def clear(self) -> None:
        """Forget all entries."""
        self.young, self.old, self._left = {}, {}, self._letters
