"""Idle connections, kept for the next request to the same place."""

from collections import OrderedDict

from nacre.fetch.connection import Connection, PoolKey

MAX_IDLE = 256
"""Most idle connections."""
MAX_AGE = 60.0
"""Longest rest before a connection is given up, seconds: routers forget it without a word."""


class Pool:
    """Idle connections, the newest of a place first; the least recently used ones give way."""

    def __init__(self, size: int = MAX_IDLE, max_age: float = MAX_AGE) -> None:
        self._size = size
        self._max_age = max_age
        self._places: dict[PoolKey, list[Connection]] = {}
        self._order: OrderedDict[Connection, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._order)

    def take(self, key: PoolKey, now: float) -> Connection | None:
        """A live connection to a place, or None; `now` is the time of the loop."""
        idle = self._places.get(key)
        while idle:
            connection = idle.pop()
            connection.forget = None
            del self._order[connection]
            if not idle:
                del self._places[key]
            if connection.alive and now - connection.idle_since <= self._max_age:
                return connection
            connection.abort()
        return None

    def put(self, connection: Connection, now: float) -> None:
        """Keep a connection whose exchange ended cleanly."""
        connection.release()
        if not connection.alive:
            connection.abort()
            return
        connection.idle_since = now
        connection.forget = self._remove
        self._places.setdefault(connection.key, []).append(connection)
        self._order[connection] = None
        if len(self._order) > self._size:
            oldest = next(iter(self._order))
            self._remove(oldest)
            oldest.abort()

    def _remove(self, connection: Connection) -> None:
        connection.forget = None
        del self._order[connection]
        idle = self._places[connection.key]
        idle.remove(connection)
        if not idle:
            del self._places[connection.key]

    def close(self) -> None:
        """Abort all."""
        for connection in list(self._order):
            self._remove(connection)
            connection.abort()
