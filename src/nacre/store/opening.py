"""Opening a job's store, at its start and after a storage error, and the free space it needs.

RocksDB cannot even be opened on a full disk, so that a file of known size (`Ballast`) is kept to be
deleted then.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.errors import NacreError, StorageError
from nacre.machine.local_files import close_tree_to_others, make_private
from nacre.store.commit import GroupCommit
from nacre.store.recovery import NORMAL_START, Recovered, StartOptions, recover
from nacre.store.rocks import Memory
from nacre.store.seam import Disk
from nacre.store.store import MEMORY, Store

MARGIN: Final = 64_000_000
"""Free space beyond the need of the store and one group, bytes."""
LOOK: Final = 5.0
"""Time between checks of free space while a job waits for it, seconds."""


def space_to_reserve(buffers: int, largest: int) -> int:
    """Bytes that must be free on every file system used.

    Args:
        buffers: Memory of the store for rows not yet in sorted files (`Engine.size_limit`), bytes.
        largest: Size of the largest group so far, bytes; 0 before the first.
    """
    return 2 * buffers + largest + MARGIN


def shortage(disk: Disk, places: Sequence[str], need: int) -> str:
    """Return the missing space, for the operator; "" when all of them have `need` bytes free.

    Args:
        disk: Has the places.
        places: A directory on each file system used, absolute.
        need: Bytes.
    """
    lines = [
        f"{place}: {free / 1e6:.0f} MB free, {need / 1e6:.0f} MB needed"
        for place in places
        if (free := disk.free_space(place)) < need
    ]
    return "; ".join(lines)


async def wait_for_space(  # noqa: PLR0913 - conditions of a wait
    disk: Disk,
    places: Sequence[str],
    need: int,
    clock: Clock,
    max_wait: float | None,
    report: Callable[[str], None],
    *,
    gives_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until every place has `need` bytes free.

    Args:
        disk: Has the places.
        places: A directory on each file system used, absolute.
        need: Bytes.
        clock: For waiting.
        max_wait: Give up after so many seconds; None for never.
        report: Called with each new description of missing data.
        gives_up: Whether the wait shall end.

    Returns:
        False when `max_wait` passed first, or the wait was given up.
    """
    began, last = clock.monotonic(), ""
    while missing := shortage(disk, places, need):
        if missing != last:
            report(missing)
            last = missing
        if gives_up() or (max_wait is not None and clock.monotonic() - began >= max_wait):
            return False
        await clock.sleep(LOOK)
    return True


class Ballast:
    """A file that only holds space, to be freed when the reserve is eaten anyway.

    Args:
        disk: Has the file.
        path: The file, absolute: `state/ballast` of the job.
        size: Its size: the memtable budget (`Engine.size_limit`), bytes.
    """

    def __init__(self, disk: Disk, path: str, size: int) -> None:
        self._disk = disk
        self._path = path
        self._size = size

    def keep(self, directory: str, need: int) -> bool:
        """Make it, unless that would eat into the `need` bytes to be kept free; True if it is."""
        size = self._disk.size(self._path)
        if size == self._size:
            return True
        if self._disk.free_space(directory) + (size or 0) < need + self._size:
            return False
        self._disk.unlink(self._path)
        handle = self._disk.create(self._path)
        try:
            self._disk.allocate(handle, self._size)
        finally:
            self._disk.close(handle)
        return True

    def drop(self) -> None:
        """Throw it away: the job is finished. If that fails, it only costs its space."""
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


STORE = "state/store"
"""Directory of the store, relative to the job."""
BALLAST = "state/ballast"
"""File that holds space for a full disk, relative to the job."""


class Opened(NamedTuple):
    """A store ready for work.

    Attributes:
        store: Its rows.
        commit: Makes them durable; its `run` belongs into the job's task group.
        recovered: What the start found and did.
        ballast: To be kept, or freed when space gets short.
    """

    store: Store
    commit: GroupCommit
    recovered: Recovered
    ballast: Ballast

    def close(self) -> frozenset[str]:
        """Drop uncommitted data and release the store; return the suspects for the next opening."""
        suspects = self.commit.suspects
        self.commit.close()
        self.store.close()
        return suspects


def open_for_work(
    root: str, disk: Disk, clock: Clock, *, memory: int = MEMORY, start: StartOptions = NORMAL_START
) -> Opened:
    """Take the lock, recover, and get ready to commit.

    After a `StorageError`: `Opened.close`, then `wait_for_space`, then this again with its
    suspects; everything in memory that came from the store must be dropped before.

    Args:
        root: Directory of the job, absolute.
        disk: Has its files.
        clock: For the age of groups.
        memory: Memory of the store, bytes.
        start: How to start; `accept_loss` and `salvage` are the operator's.

    Raises:
        DamageError: Files and store do not fit each other.
        StorageError: The job is running, the disk is full, or something failed.
    """
    state = f"{root}/{STORE}".rpartition("/")[0]
    disk.makedirs(state)
    _close(Path(state))
    buffers = Memory(memory).buffers
    ballast = Ballast(disk, f"{root}/{BALLAST}", buffers)
    ballast.free(state, 2 * buffers)
    store = Store.open(f"{root}/{STORE}", memory=memory)
    try:
        recovered = recover(store, disk, root, start)
        commit = GroupCommit(store, disk, root, clock, start.sort_index)
        ballast.keep(state, space_to_reserve(buffers, 0))
    except NacreError:
        store.close()
        raise
    return Opened(store, commit, recovered, ballast)


def _close(state: Path) -> None:
    """Make the store readable by its owner only: it has cookies and logins. Others' stay as is."""
    with suppress(OSError):
        make_private(state)
        close_tree_to_others(state)
