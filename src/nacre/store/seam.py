"""The seam to the disk: every operation of the durable path goes through `Disk` or `StorageEngine`.

A test puts recorders in their place and sees each write, fsync, rename, truncate and batch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from nacre.errors import StorageError

Rows = Mapping[str, Mapping[bytes, bytes | None]]
"""Family -> key -> value; None deletes the key."""


class Disk(Protocol):
    """File operations. Paths are absolute; every failure is a StorageError."""

    def create(self, path: str) -> int:
        """Make a new file (O_EXCL) for reading and writing; its handle."""
        ...

    def open(self, path: str, *, write: bool = False) -> int:
        """Handle of an existing file."""
        ...

    def close(self, handle: int) -> None:
        """Give a handle back, without a guarantee of durability."""
        ...

    def pwrite(self, handle: int, data: bytes, offset: int) -> None:
        """Write all of `data` at `offset`."""
        ...

    def pwritev(self, handle: int, parts: Sequence[bytes], offset: int) -> None:
        """Write all parts, one after the other, from `offset` on."""
        ...

    def read(self, handle: int, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end."""
        ...

    def fdatasync(self, handle: int) -> None:
        """Make content and size of a file durable."""
        ...

    def fsync_dir(self, path: str) -> None:
        """Make the names in a directory durable."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Rename within a file system, replacing `new`."""
        ...

    def truncate(self, handle: int, size: int) -> None:
        """Cut a file."""
        ...

    def allocate(self, handle: int, size: int) -> None:
        """Take the space of `size` bytes without writing them."""
        ...

    def unlink(self, path: str) -> None:
        """Remove a name; nothing happens when it is not there."""
        ...

    def link(self, old: str, new: str) -> None:
        """Give a file a second name."""
        ...

    def makedirs(self, path: str) -> None:
        """Make a directory and its parents, durably; nothing happens when it is there."""
        ...

    def size(self, path: str) -> int | None:
        """Size of a file in bytes; None when there is no such file."""
        ...

    def list(self, path: str) -> Sequence[str]:
        """Names of the regular files in a directory, sorted; empty when there is none."""
        ...

    def free_space(self, path: str) -> int:
        """Bytes that we may still write on the file system of `path`."""
        ...


class StorageEngine(Protocol):
    """The ordered key-value engine below the store. A batch is atomic, durable by `flush_wal`."""

    @property
    def size_limit(self) -> int:
        """Memory for rows not yet in sorted files, bytes."""
        ...

    def get(self, family: str, key: bytes) -> bytes | None:
        """One value; None when absent."""
        ...

    def get_many(self, family: str, keys: Sequence[bytes]) -> list[bytes | None]:
        """Values in the order of the keys, in one call."""
        ...

    def rows(
        self, family: str, start: bytes, stop: bytes | None, *, once: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Rows with start <= key < stop in key order, as of this call; raises at damage.

        `once`: these rows are not read again soon, so the cache does not keep them.
        """
        ...

    def last_key(self, family: str, start: bytes, stop: bytes) -> bytes | None:
        """Return the greatest key with start <= key < stop; None: there is none."""
        ...

    def write(self, rows: Rows) -> bool:
        """Apply a batch, all or nothing, not yet durable; False: stalled, try again later."""
        ...

    def flush_wal(self) -> None:
        """Make all batches written so far durable."""
        ...

    def flush(self, families: Iterable[str]) -> None:
        """Write the rows of these families to sorted files."""
        ...

    def checkpoint(self, path: str) -> None:
        """Make a copy of the store at `path`, which must not exist yet."""
        ...

    def close(self) -> None:
        """Give everything back, the lock included. May be called twice."""
        ...


class OperationError(StorageError):
    """A file or store operation failed.

    Attributes:
        path: What it worked on.
        operation: Its name: `fdatasync`, `batch` and so on.
        errno: The system's error number; 0 when unknown.
    """

    def __init__(self, operation: str, path: str, errno: int, reason: str, remedy: str) -> None:
        self.operation = operation
        self.path = path
        self.errno = errno
        super().__init__(f"{path}: {operation} failed: {reason}. {remedy}")
