"""Bodies on their way in: in memory while they are small, then in a file without a name.

The memory of all bodies that are not closed is capped: a body that would exceed the cap goes to
its file early, so that no fetch ever waits for another.
"""

import os
import tempfile
from pathlib import Path
from typing import IO

from nacre.core.capture import Body
from nacre.errors import StorageError
from nacre.messages import message

MEGABYTE = 1_000_000


class Spool:
    """Makes bodies, and counts the memory of those that are open.

    Attributes:
        scratch: Folder of the files; None for the system's.
        body_memory: Longest body kept in memory, bytes.
        total_memory: Most memory of all open bodies, bytes.
        used: Memory in use, bytes.
    """

    def __init__(
        self,
        scratch: Path | None = None,
        *,
        body_memory: int = MEGABYTE,
        total_memory: int = 128 * MEGABYTE,
    ) -> None:
        self.scratch = scratch
        self.body_memory = body_memory
        self.total_memory = total_memory
        self.used = 0

    def sink(self) -> "Sink":
        """Begin a body."""
        return Sink(self)


class Sink:
    """A body being received."""

    __slots__ = ("_file", "_held", "_parts", "_spool", "length")

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._parts: list[bytes] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self.length = 0

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            StorageError: The scratch folder cannot take them.
        """
        size = len(data)
        self.length += size
        self._parts.append(data)
        self._held += size
        spool = self._spool
        spool.used += size
        if self._file or self.length > spool.body_memory or spool.used > spool.total_memory:
            self._spill()

    def _spill(self) -> None:
        spool = self._spool
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=spool.scratch, buffering=0)  # noqa: SIM115 - lives as long as the body
            for part in self._parts:
                write_all(self._file, part)
        except OSError as error:
            self.discard()
            where = spool.scratch or tempfile.gettempdir()
            raise StorageError(
                message(
                    "fetch.body-not-stored",
                    "a body cannot be kept in {where}: {strerror}; free space there",
                    where=where,
                    strerror=error.strerror,
                )
            ) from error
        spool.used -= self._held
        self._held = 0
        self._parts.clear()

    def beginning(self, size: int) -> bytes:
        """Return the first received bytes, at most `size`."""
        if self._file is not None:
            return FileBody(self._file, self.length).read(0, size)
        return b"".join(self._parts)[:size]

    def finish(self) -> Body:
        """Return the body, whole; the sink is used up."""
        if self._file is not None:
            body: Body = FileBody(self._file, self.length)
        else:
            parts = self._parts
            data = parts[0] if len(parts) == 1 else b"".join(parts)
            body = MemoryBody(data, self._spool)
        self._file = None
        self._parts = []
        self._held = 0
        return body

    def discard(self) -> None:
        """Drop the received bytes; may be called twice, and after `finish`."""
        self._spool.used -= self._held
        self._held = 0
        self._parts.clear()
        if self._file is not None:
            self._file.close()
            self._file = None


def write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of `data` to an unbuffered file."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


class MemoryBody:
    """A body in memory; closing it gives the memory back to the spool's count."""

    __slots__ = ("_spool", "data", "length")

    def __init__(self, data: bytes, spool: Spool) -> None:
        self.data = data
        self.length = len(data)
        self._spool: Spool | None = spool

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`."""
        if offset == 0 and size >= self.length:
            return self.data
        return self.data[offset : offset + size]

    def close(self) -> None:
        """See `Body.close`."""
        if self._spool is not None:
            self._spool.used -= self.length
            self._spool = None
            self.data = b""


class FileBody:
    """A body in an unnamed file, gone when it is closed."""

    __slots__ = ("_file", "length")

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file = file
        self.length = length

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`.

        Raises:
            StorageError: The file cannot be read back.
        """
        size = min(size, self.length - offset)
        parts: list[bytes] = []
        try:
            while size > 0 and (part := os.pread(self._file.fileno(), size, offset)):
                parts.append(part)
                offset += len(part)
                size -= len(part)
        except OSError as error:
            raise StorageError(
                message(
                    "fetch.spooled-body-unreadable",
                    "a spooled body cannot be read back: {strerror}",
                    strerror=error.strerror,
                )
            ) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """See `Body.close`."""
        self._file.close()
