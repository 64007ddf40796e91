"""A connection to a world inside the process: the same bytes, without a socket."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from nacre_simweb.answer import Sending

Respond = Callable[[bytes], Sending | None]
"""Takes the head of a request; gives the reply, or None for a request that is none."""


class MemoryTransport(asyncio.Transport):
    """The crawler's end of a connection.

    Args:
        loop: The loop.
        protocol: The crawler's protocol.
        respond: The world.
        peer: Address and port that the crawler believes to talk to.
        latency: Time from a request to its reply, seconds.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        protocol: asyncio.Protocol,
        respond: Respond,
        peer: tuple[str, int],
        latency: float,
    ) -> None:
        super().__init__({"peername": peer})
        self._loop = loop
        self._protocol = protocol
        self._respond = respond
        self._latency = latency
        self._asked = b""
        self._todo: deque[tuple[float, bytes]] = deque()
        self._ends = False
        self._closed = False
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None

    # ---- what the crawler does

    def write(self, data: Any) -> None:  # noqa: ANN401 - as its base says
        """A request, or a part of one."""
        self._asked += bytes(data)
        while b"\r\n\r\n" in self._asked and not self._closed:
            head, _, self._asked = self._asked.partition(b"\r\n\r\n")
            sending = self._respond(head + b"\r\n\r\n")
            if sending is None:
                self.abort()
                return
            self._ends = self._ends or sending.close
            self._todo.extend(sending.pieces)
            self._next(self._latency)

    def abort(self) -> None:
        """End it at once."""
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._loop.call_soon(self._protocol.connection_lost, None)

    def close(self) -> None:
        """The same: nothing is ever waiting to be sent."""
        self.abort()

    def is_closing(self) -> bool:
        """Return whether it ended."""
        return self._closed

    def pause_reading(self) -> None:
        """Buffer arriving bytes."""
        self._paused = True

    def resume_reading(self) -> None:
        """Let it through again."""
        self._paused = False
        if self._timer is None:
            self._next(0.0)

    # ---- what the world does

    def _next(self, more: float = 0.0) -> None:
        """Set the timer for the next piece, or for the end."""
        if self._timer is not None or self._closed:
            return
        if self._todo:
            self._timer = self._loop.call_later(more + self._todo[0][0], self._deliver)
        elif self._ends:
            self._timer = self._loop.call_later(more, self._end)

    def _deliver(self) -> None:
        self._timer = None
        if self._closed or self._paused:
            return
        _, data = self._todo.popleft()
        self._protocol.data_received(data)
        self._next()

    def _end(self) -> None:
        self._timer = None
        if not self._closed:
            self._protocol.eof_received()
            self.abort()
