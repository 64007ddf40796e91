"""A turnstile: some visits go on in one turn of the event loop, the others in the next.

Many replies can be ready at once; without it all of them would be parsed and stored in one turn,
and timers, connections and commands would wait for the last.
"""

import asyncio
from collections import deque

ROOM = 300_000
"""Work of one turn, in bytes of documents: about 4 ms, and the rest of the last document."""
VISIT = 30_000
"""Cost of a visit beside its document, in bytes."""


class Turnstile:
    """Lets visits through until a turn of the loop has no room left, first come, first served.

    Who has to wait costs two wake-ups more, 1 % of a visit; so there is room for most.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._whole = room
        self._room = room
        self._armed = False
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    async def enter(self, size: int) -> None:
        """Go on at once, or in a later turn; `size` is that of the document, bytes."""
        if self._room > 0 and not self._waiting:
            self._room -= VISIT + size
            self._arm()
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, size))
        self._arm()
        await future

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """A new turn: the next ones go through."""
        self._armed = False
        self._room = self._whole
        while self._waiting and self._room > 0:
            future, size = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                self._room -= VISIT + size
        if self._waiting:
            self._arm()
