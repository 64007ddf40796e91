"""Opening a job's store for work: at its start, and again after a storage error. One code path."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nacre.core.clock import Clock
from nacre.errors import NacreError
from nacre.store.commit import GroupCommit
from nacre.store.private import close_below, make_private
from nacre.store.recovery import AS_USUAL, Recovered, Start, recover
from nacre.store.rocks import Memory
from nacre.store.seam import Disk
from nacre.store.space import Ballast, reserve
from nacre.store.store import MEMORY, Store

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
        """Drop what is not committed and give all back; `Start.suspects` for opening it again."""
        suspects = self.commit.suspects
        self.commit.close()
        self.store.close()
        return suspects


def open_for_work(
    root: str, disk: Disk, clock: Clock, *, memory: int = MEMORY, start: Start = AS_USUAL
) -> Opened:
    """Take the lock, recover, and get ready to commit.

    After a `StorageError`: `Opened.close`, then `wait_for_space`, then this again with its
    suspects; everything in memory that came from the store must be dropped before.

    Args:
        root: Directory of the job, absolute.
        disk: Where its files are.
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
        ballast.keep(state, reserve(buffers, 0))
    except NacreError:
        store.close()
        raise
    return Opened(store, commit, recovered, ballast)


def _close(state: Path) -> None:
    """Cookies and logins lie in the store: nobody else may read it. Another's stays as it is."""
    with suppress(OSError):
        make_private(state)
        close_below(state)
