"""The pages that may be open at once on this machine: locks that all jobs of a user share."""

import asyncio
import fcntl
import os
import random
from pathlib import Path
from typing import Final

PAGE_MEMORY: Final = 400_000_000
"""Memory that a page is expected to need, bytes; measured: 134 MB at rest, 60 MB more a page."""
_FIRST_WAIT: Final = 0.02
_LONGEST_WAIT: Final = 0.25
"""Seconds between two looks for a slot; the lock of another process sends no event."""


def count_slots(pages: int, cores: int, memory: int) -> int:
    """Return the number of pages that may be open at once, at least 1.

    Args:
        pages: The setting; 0: by cores and memory.
        cores: Cores that this process may use.
        memory: Free memory, bytes.
    """
    return pages or max(1, min(cores, memory // PAGE_MEMORY))


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


class PageSlot:
    """The right to have one page open, until `release`.

    Attributes:
        number: From 0; no two pages of this machine's user have the same.
    """

    def __init__(self, number: int, descriptor: int) -> None:
        self.number = number
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the slot back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class PageSlots:
    """Hands out the slots of a directory; the end of a process gives its slots back."""

    def __init__(self, directory: Path, count: int) -> None:
        """Use a directory that all jobs of a user share.

        Args:
            directory: Made if it does not exist.
            count: Number of slots that this process uses.
        """
        self.count = count
        self._directory = directory

    async def acquire(self) -> PageSlot:
        """Wait for a slot."""
        wait = _FIRST_WAIT
        while (slot := self.take()) is None:
            await asyncio.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
            wait = min(wait * 2, _LONGEST_WAIT)
        return slot

    def take(self) -> PageSlot | None:
        """Return a slot that is free now, or None."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in range(self.count):
            path = self._directory / f"page-{number}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
            else:
                return PageSlot(number, descriptor)
        return None
