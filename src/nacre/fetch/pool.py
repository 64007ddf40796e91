"""Idle connections for the next request to the same place, and data that they still receive.

A connection on which anything comes unasked is never used again, and neither is any other to its
place: its replies could be those of other requests. A connection that is given up while a
reply on it is unproven lingers, unused, until it has been quiet for long enough.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from math import inf

from nacre.fetch.connection import Connection, PoolKey
from nacre.wire.head import find_start, parse_head

MAX_IDLE = 256
"""Most idle connections."""
MAX_LINGERING = 1024
"""Most connections that are read to their end before they are given up."""
MAX_AGE = 60.0
"""Longest idle time before a connection is closed, seconds: routers drop it silently."""
MAX_UNPROVEN = 64
"""Most replies on one connection without a quiet period; then it is closed."""
_MAX_DISTRUSTED = 4096
_TIRED = 408
_SHORTEST_FAREWELL, _LONGEST_FAREWELL = 0.1, 1.0
_FAREWELL_TURNS = 10
_BEAT = 0.5
"""Seconds between two beats: a quarter of the shortest quiet time."""


class Pool:
    """Idle connections, the newest of a place first; the least recently used are evicted."""

    def __init__(self, size: int = MAX_IDLE, max_age: float = MAX_AGE) -> None:
        self._size = size
        self._max_age = max_age
        self._places: dict[PoolKey, list[Connection]] = {}
        self._order: OrderedDict[Connection, None] = OrderedDict()
        self._lingering: OrderedDict[Connection, asyncio.TimerHandle] = OrderedDict()
        self._distrusted: OrderedDict[PoolKey, None] = OrderedDict()
        self._ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._last_beat = self._resumed = -inf

    def __len__(self) -> int:
        return len(self._order)

    def take(self, key: PoolKey, now: float) -> Connection | None:
        """Return a live and quiet connection to a place, or None; `now` is the time of the loop."""
        idle = self._places.get(key)
        while idle:
            connection = idle.pop()
            connection.wake()
            del self._order[connection]
            if not idle:
                del self._places[key]
            self._prove(connection, now)
            if not connection.alive or now - connection.idle_since > self._max_age:
                self._give_up(connection)
            elif connection.has_unread():
                self._keep(connection)  # it is checked in a moment
            else:
                return connection
        return None

    def put(self, connection: Connection, now: float) -> None:
        """Keep a connection whose exchange ended cleanly."""
        if connection.key in self._distrusted or len(connection.unproven) >= MAX_UNPROVEN:
            self.linger(connection, now)
            return
        connection.release()
        if not connection.alive:
            connection.abort()
            return
        connection.fall_idle(now)
        connection.go_idle(self._remove)
        self._places.setdefault(connection.key, []).append(connection)
        self._order[connection] = None
        if connection.unproven and self._timer is None:
            self._wait_for_beat()
        if len(self._order) > self._size:
            oldest = next(iter(self._order))
            self._remove(oldest)
            self._give_up(oldest)

    def linger(self, connection: Connection, now: float) -> None:
        """End a connection, once it is quiet where a reply on it is unproven."""
        connection.release()
        connection.fall_idle(now)
        self._give_up(connection)

    def surplus(self, connection: Connection, data: bytes) -> None:
        """Handle unsolicited bytes: the replies that they make doubtful are reported.

        A server that ends an idle connection may send a 408 before: it answers no request.
        """
        if connection in self._order:
            self._prove(connection, asyncio.get_running_loop().time())
        start = find_start(data)
        if start >= 0 and parse_head(data[start:]).line.status == _TIRED:
            connection.unproven.clear()
        self.accuse(connection, by_reply=start >= 0)

    def accuse(self, connection: Connection, *, by_reply: bool) -> None:
        """See `Connection.accuse`; its place is not trusted any more."""
        if connection.accuse(by_reply=by_reply):
            self.distrust(connection.key)

    def distrust(self, key: PoolKey) -> None:
        """Use no connection to a place for more than one request from now on."""
        self._distrusted[key] = None
        if len(self._distrusted) > _MAX_DISTRUSTED:
            self._distrusted.popitem(last=False)
        for connection in list(self._places.get(key, ())):
            self._remove(connection)
            self._give_up(connection)

    async def settle(self) -> None:
        """Read the remaining data of connections with unproven replies, and end them.

        A server without an open reply closes at once. For one that does not close, the wait is four
        times the duration of its slowest reply, from 0.1 to 1 s.
        """
        now = asyncio.get_running_loop().time()
        for connection in self._order:
            self._prove(connection, now)
        doubtful = [c for c in (*self._order, *self._lingering) if c.unproven and c.alive]
        if not doubtful:
            return
        for connection in doubtful:
            connection.say_goodbye()
        longest = max(connection.quiet_time for connection in doubtful)
        slowest = max(4.0 * connection.slowest for connection in doubtful)
        patience = min(max(slowest, _SHORTEST_FAREWELL), _LONGEST_FAREWELL, longest)
        # In turns: a time in which this process did not run shows nothing about a server.
        for _ in range(_FAREWELL_TURNS):
            with suppress(TimeoutError):
                async with asyncio.timeout(patience / _FAREWELL_TURNS):
                    while any(connection.alive for connection in doubtful):
                        self._ended.clear()
                        await self._ended.wait()
        for connection in doubtful:
            self._end(connection)

    def _prove(self, connection: Connection, now: float) -> None:
        """A connection that was idle long enough has no open reply.

        A time in which this process did not run shows nothing about a server: its data was not read
        meanwhile.
        """
        if not connection.unproven or now - connection.idle_since < connection.quiet_time:
            return
        self._note_stall()
        if now - self._resumed >= connection.quiet_time:
            connection.unproven.clear()

    def _wait_for_beat(self) -> None:
        loop = asyncio.get_running_loop()
        self._last_beat = loop.time()
        self._timer = loop.call_later(_BEAT, self._beat)

    def _beat(self) -> None:
        """Note stalls, for as long as idle connections have unproven replies."""
        self._note_stall()
        now = asyncio.get_running_loop().time()
        for connection in self._order:
            self._prove(connection, now)
        self._timer = None
        if any(connection.unproven for connection in self._order):
            self._wait_for_beat()

    def _note_stall(self) -> None:
        """Note when the process went on, if a beat is long overdue."""
        now = asyncio.get_running_loop().time()
        if self._timer is not None and now - self._last_beat >= 2 * _BEAT:
            self._last_beat = self._resumed = now

    def _give_up(self, connection: Connection) -> None:
        if connection.alive and connection.unproven:
            self._keep(connection)
        else:
            connection.abort()

    def _keep(self, connection: Connection) -> None:
        """Let it linger."""
        connection.go_idle(self._remove)
        self._listen(connection, self._listen_on)
        if len(self._lingering) > MAX_LINGERING:
            self._end(next(iter(self._lingering)))

    def _listen(self, connection: Connection, then: Callable[[Connection], None]) -> None:
        """Half of its quiet time: one in which this process did not run ends no connection."""
        self._lingering[connection] = asyncio.get_running_loop().call_later(
            connection.quiet_time / 2, then, connection
        )

    def _listen_on(self, connection: Connection) -> None:
        self._listen(connection, self._end)

    def _end(self, connection: Connection) -> None:
        self._remove(connection)
        connection.abort()

    def _remove(self, connection: Connection) -> None:
        connection.wake()
        self._ended.set()
        timer = self._lingering.pop(connection, None)
        if timer is not None:
            timer.cancel()
        if connection not in self._order:
            return
        del self._order[connection]
        idle = self._places[connection.key]
        idle.remove(connection)
        if not idle:
            del self._places[connection.key]

    def close(self) -> None:
        """Abort all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in (*self._order, *self._lingering):
            self._end(connection)
