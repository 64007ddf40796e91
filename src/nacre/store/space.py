"""Free space: what a job must find before it starts or goes on, and ballast for a full disk.

RocksDB cannot even be opened on a full disk, so that a file of known size is kept to be thrown
overboard.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from nacre.core.clock import Clock
from nacre.errors import StorageError
from nacre.store.seam import Disk

MARGIN: Final = 64_000_000
"""Free space beyond what the store and one group need, bytes."""
LOOK: Final = 5.0
"""How often free space is looked at while a job waits for it, seconds."""


def reserve(buffers: int, largest: int) -> int:
    """Bytes that must be free on every file system used.

    Args:
        buffers: Memory of the store for rows not yet in sorted files (`Engine.size_limit`), bytes.
        largest: Size of the largest group so far, bytes; 0 before the first.
    """
    return 2 * buffers + largest + MARGIN


def shortage(disk: Disk, places: Sequence[str], need: int) -> str:
    """What is missing where, for the operator; "" when all of them have `need` bytes free.

    Args:
        disk: Where the places are.
        places: A directory on each file system used, absolute.
        need: Bytes.
    """
    lines = [
        f"{place}: {free / 1e6:.0f} MB free, {need / 1e6:.0f} MB needed"
        for place in places
        if (free := disk.free_space(place)) < need
    ]
    return "; ".join(lines)


async def wait_for_space(  # noqa: PLR0913 - what a wait depends on
    disk: Disk,
    places: Sequence[str],
    need: int,
    clock: Clock,
    max_wait: float | None,
    told: Callable[[str], None],
    *,
    gives_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until every place has `need` bytes free.

    Args:
        disk: Where the places are.
        places: A directory on each file system used, absolute.
        need: Bytes.
        clock: For waiting.
        max_wait: Give up after so many seconds; None for never.
        told: Called with each new description of what is missing.
        gives_up: Whether somebody wants the wait to end.

    Returns:
        False when `max_wait` passed first, or the wait was given up.
    """
    began, last = clock.monotonic(), ""
    while missing := shortage(disk, places, need):
        if missing != last:
            told(missing)
            last = missing
        if gives_up() or (max_wait is not None and clock.monotonic() - began >= max_wait):
            return False
        await clock.sleep(LOOK)
    return True


class Ballast:
    """A file that only holds space, to be freed when the reserve is eaten anyway.

    Args:
        disk: Where it is.
        path: The file, absolute: `state/ballast` of the job.
        size: Its size: the memtable budget (`Engine.size_limit`), bytes.
    """

    def __init__(self, disk: Disk, path: str, size: int) -> None:
        self._disk = disk
        self._path = path
        self._size = size

    def keep(self, directory: str, need: int) -> bool:
        """Make it, unless that would eat into the `need` bytes to be kept free; True if it is."""
        found = self._disk.size(self._path)
        if found == self._size:
            return True
        if self._disk.free_space(directory) + (found or 0) < need + self._size:
            return False
        self._disk.unlink(self._path)
        handle = self._disk.create(self._path)
        try:
            self._disk.allocate(handle, self._size)
        finally:
            self._disk.close(handle)
        return True

    def drop(self) -> None:
        """Throw it away: the job is finished. Where that fails, it only costs its space."""
        with suppress(StorageError):
            self._disk.unlink(self._path)

    def free(self, directory: str, need: int) -> bool:
        """Throw it overboard when less than `need` bytes are free; True if it was.

        Call it before the store is opened: with nothing free, that would fail.
        """
        if self._disk.size(self._path) is None or self._disk.free_space(directory) >= need:
            return False
        self._disk.unlink(self._path)
        return True
