"""Memory that was freed goes back to the system while a job runs; glibc alone keeps most of it."""

import ctypes
import time
from collections.abc import Callable
from typing import Final

from nacre.core.clock import Clock
from nacre.core.states import ExitStatus

_LOOK: Final = 60.0
"""Seconds between two looks."""
_WORK: Final = 30.0
"""Seconds of CPU time after which memory goes back: that takes 4 ms, 50 with 40,000 gaps."""


def return_freed_memory() -> bool:
    """Give pages that hold nothing back to the system, also between others (`malloc_trim`).

    glibc itself returns only free memory at the top of the heap. What a cache of the store
    replaced, and the tree of a page that was parsed meanwhile, leave gaps: 30 of 204 MB after eight
    million URLs of an endless site.

    Returns:
        False if the C library has no such function.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True


class FreedMemory:
    """A background task that gives freed memory back, each time the process has worked for long.

    Args:
        clock: Paces the looks.
        worked: CPU time of the process, seconds.
        give_back: Gives the memory back.
    """

    name = "freed-memory"
    busy = False

    def __init__(
        self,
        clock: Clock,
        worked: Callable[[], float] = time.process_time,
        give_back: Callable[[], object] = return_freed_memory,
    ) -> None:
        self._clock = clock
        self._worked = worked
        self._give_back = give_back

    async def run(self) -> None:
        """Look once a minute, until cancelled."""
        before = self._worked()
        while True:
            await self._clock.sleep(_LOOK)
            now = self._worked()
            if now - before >= _WORK:
                self._give_back()
                before = now

    async def ending(self, how: ExitStatus) -> None:
        """Nothing is left to do."""
