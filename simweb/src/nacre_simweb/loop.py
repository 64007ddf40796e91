"""An event loop whose time is simulated, and whose network is a world.

Time stands still while anything is to be done: callbacks that are ready, bytes in flight (they are
callbacks), work for threads (done on the spot). Only when every task sleeps does it jump to the
moment that the first of them waits for. So months pass in seconds, the same way each time, and the
crawler on it does not know.
"""

import asyncio
import math
import selectors
from collections.abc import Callable
from typing import TypeVar

from nacre_simweb.memory import MemoryTransport, Respond

T = TypeVar("T")
_OTHERS_WAIT = 0.05
"""While a process or socket of the machine is waited for, time stands still, seconds."""


class _Selector(selectors.DefaultSelector):
    """Waits by moving the clock of its loop."""

    loop: "SimLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See `selectors.BaseSelector`."""
        has_others = len(self.get_map()) > 1
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if has_others:
            return super().select(_OTHERS_WAIT)
        if timeout is None:
            raise RuntimeError("every task waits, and none for a time: the simulation stands still")
        self.loop.advance(timeout)
        return []


class SimLoop(asyncio.SelectorEventLoop):
    """The loop.

    Args:
        respond: Gives what the world sends for what a connection sent.
        latency: Time from a request to its reply, seconds.
    """

    def __init__(self, respond: Respond, latency: float = 0.02) -> None:
        self._simulated = 0.0
        self._respond = respond
        self._latency = latency
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        """Simulated seconds since the beginning."""
        return self._simulated

    def advance(self, seconds: float) -> None:
        """Let time pass, if only by the smallest amount that there is."""
        later = self._simulated + seconds
        self._simulated = max(later, math.nextafter(self._simulated, math.inf))

    def run_in_executor(
        self,
        executor: object,
        func: Callable[..., T],
        *args: object,
    ) -> asyncio.Future[T]:
        """Do the work at once: threads would come back at moments that vary."""
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as a thread would hand it over
            future.set_exception(error)
        return future

    async def create_connection(  # type: ignore[override]  # only what the dialer uses
        self,
        protocol_factory: Callable[[], asyncio.Protocol],
        host: str | None = None,
        port: int | None = None,
        **options: object,
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        """Connect to the world, whatever the address."""
        await asyncio.sleep(self._latency)
        protocol = protocol_factory()
        peer = (host or "", port or 0)
        transport = MemoryTransport(self, protocol, self._respond, peer, self._latency)
        protocol.connection_made(transport)
        return transport, protocol
