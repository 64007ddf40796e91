"""Room for pages in a browser: of each queue one at a time, and without all workers in them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

WAITING = 4
"""Visits per place in the browser that wait for it without taking up a worker."""


class PageRoom:
    """Lets visits in that run their pages.

    A page takes seconds, most of them in a queue for a browser. So the engine works with another
    toe meanwhile, for each page that is open and a few that wait. Beyond it toes wait, and with
    them the frontier.

    Args:
        places: Returns the number of pages that may be open at once.
        lend: Lets the engine work with one more toe meanwhile.
        is_halting: Whether the crawl pauses or ends: no page is opened any more.
    """

    def __init__(
        self,
        places: Callable[[], int],
        lend: Callable[[], AbstractContextManager[None]],
        is_halting: Callable[[], bool],
    ) -> None:
        self._places = places
        self._lend = lend
        self._is_halting = is_halting
        self._free: asyncio.Semaphore | None = None
        self._lent = 0
        self._queues: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def enter(self, queue: str) -> AsyncIterator[bool]:
        """Be the only page of a queue, and one of as many pages as there are places.

        Returns:
            Whether the page may be opened; False if the crawl halted meanwhile.
        """
        lock, users = self._queues.get(queue) or (asyncio.Lock(), 0)
        self._queues[queue] = lock, users + 1
        is_lent = self._lent < self._places() * (1 + WAITING)
        self._lent += is_lent
        try:
            with self._lend() if is_lent else nullcontext():
                async with lock, self._gate():
                    yield not self._is_halting()
        finally:
            self._lent -= is_lent
            self._leave(queue)

    def _gate(self) -> asyncio.Semaphore:
        if self._free is None:
            self._free = asyncio.Semaphore(self._places())
        return self._free

    def _leave(self, queue: str) -> None:
        lock, users = self._queues[queue]
        if users == 1:
            del self._queues[queue]
        else:
            self._queues[queue] = lock, users - 1
