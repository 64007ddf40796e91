"""A turnstile: so many visits go on in one turn of the event loop, the others in the next.

Many replies can be ready at once; without it all of them would be parsed and stored in one turn,
and timers, connections and commands would wait for the last.
"""

import asyncio
from collections import deque


class Turnstile:
    """Lets `width` visits through per turn of the loop, first come, first served."""

    def __init__(self, width: int = 4) -> None:
        self._width = width
        self._left = width
        self._armed = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Go on at once, or in a later turn."""
        if self._left > 0 and not self._waiting:
            self._left -= 1
            self._arm()
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._arm()
        await future

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """A new turn: the next ones go through."""
        self._armed = False
        self._left = self._width
        while self._waiting and self._left:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._left -= 1
        if self._waiting:
            self._arm()
