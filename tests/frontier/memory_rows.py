"""Rows in memory, with the crash that a store survives."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence


class MemoryRows:
    """What the frontier needs of a store. `crash` goes back to the last `commit`."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[bytes, bytes]] = {}
        self._order: dict[str, list[bytes]] = {}
        self._undo: list[tuple[str, bytes, bytes | None]] = []
        self.gets = 0

    def get(self, family: str, key: bytes) -> bytes | None:
        return self.rows.get(family, {}).get(key)

    def get_many(self, family: str, keys: Sequence[bytes]) -> list[bytes | None]:
        self.gets += 1
        return [self.get(family, key) for key in keys]

    def put(self, family: str, key: bytes, value: bytes) -> None:
        self._undo.append((family, key, self.get(family, key)))
        self._set(family, key, value)

    def delete(self, family: str, key: bytes) -> None:
        self._undo.append((family, key, self.get(family, key)))
        self._set(family, key, None)

    def scan(
        self,
        family: str,
        start: bytes,
        stop: bytes | None = None,
        limit: int = 0,
        *,
        once: bool = False,
    ) -> Iterator[tuple[bytes, bytes]]:
        order = self._order.get(family, [])
        first = bisect_left(order, start)
        last = len(order) if stop is None else bisect_left(order, stop)
        if limit:
            last = min(last, first + limit)
        rows = self.rows.get(family, {})
        return iter([(key, rows[key]) for key in order[first:last]])

    def commit(self) -> None:
        self._undo.clear()

    def crash(self) -> None:
        for family, key, value in reversed(self._undo):
            self._set(family, key, value)
        self._undo.clear()

    def reopen(self) -> "MemoryRows":
        """Crash, and come back."""
        self.crash()
        return self

    def _set(self, family: str, key: bytes, value: bytes | None) -> None:
        rows = self.rows.setdefault(family, {})
        order = self._order.setdefault(family, [])
        if value is None:
            if rows.pop(key, None) is not None:
                del order[bisect_left(order, key)]
            return
        if key not in rows:
            insort(order, key)
        rows[key] = value
