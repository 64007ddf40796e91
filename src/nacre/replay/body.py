"""The body of an archived exchange as a file: read in pieces, sought, never held whole if large."""

import io
from collections.abc import Callable, Iterator

Pieces = Callable[[int], Iterator[bytes]]
"""Yields the body from an offset on; may be called again."""


class ArchivedBody(io.RawIOBase):
    """A body that is read in pieces from a WARC; seeking backwards begins again.

    Reading raises `ReplayError` if the record turns out to be damaged.

    Args:
        pieces: The body from an offset on.
        length: Its bytes; -1 if the number is unknown before it was read.
    """

    def __init__(self, pieces: Pieces, length: int = -1) -> None:
        super().__init__()
        self._pieces = pieces
        self._length = length
        self._at = 0
        self._reading: Iterator[bytes] | None = None
        self._buffer = b""

    @property
    def length(self) -> int:
        """Its bytes; -1 if that is not known: `measure` reads it for that."""
        return self._length

    def measure(self) -> int:
        """Return its length in bytes, after reading it once if need be."""
        if self._length < 0:
            self._length = sum(len(piece) for piece in self._pieces(0))
        return self._length

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position, bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position; from the end only after measuring."""
        base = 0 if whence == io.SEEK_SET else self._at
        if whence == io.SEEK_END:
            base = self.measure()
        position = max(base + offset, 0)
        if position != self._at:
            self._stop()
            self._at = position
        return position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # stub: any buffer
        """Read into a buffer; 0 at the end."""
        if self._reading is None:
            self._reading = self._pieces(self._at)
        while not self._buffer:
            piece = next(self._reading, None)
            if piece is None:
                return 0
            self._buffer = piece
        data = self._buffer[: len(buffer)]
        self._buffer = self._buffer[len(data) :]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def read_start(self, size: int) -> bytes:
        """Return the first bytes of the body; all of them, if it has at most `size`."""
        self.seek(0)
        pieces: list[bytes] = []
        while size > 0 and (data := self.read(size)):
            pieces.append(data)
            size -= len(data)
        return b"".join(pieces)

    def close(self) -> None:
        """Close the file that it is read from."""
        self._stop()
        super().close()

    def _stop(self) -> None:
        self._reading = None  # which closes the file
        self._buffer = b""


def body_of(data: bytes) -> ArchivedBody:
    """Return the body of some bytes in memory."""
    return ArchivedBody(lambda since: iter((data[since:],)), len(data))


def skip_bytes(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield pieces without their first bytes, which are read and dropped."""
    for piece in pieces:
        if size < len(piece):
            yield piece[size:]
        size = max(size - len(piece), 0)
