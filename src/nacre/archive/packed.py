"""Large records, compressed ahead of their turn: a member in a temporary file.

Compressing runs in a thread; the writer then appends the finished member like any other, so that a
large record too becomes durable whole, in one step with its rows.
"""

import os
from typing import BinaryIO

from nacre.archive.member import pack_chunks
from nacre.archive.record import Record


class PackedMember:
    """A `Body` over a file that holds one member; closing it closes the file.

    Attributes:
        length: Bytes of the member.
    """

    def __init__(self, file: BinaryIO, length: int) -> None:
        self.length = length
        self._file = file

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`; may be called from any thread."""
        wanted = min(size, self.length - offset)
        return os.pread(self._file.fileno(), wanted, offset) if wanted > 0 else b""

    def close(self) -> None:
        """See `Body.close`."""
        self._file.close()


def pack_to_file(record: Record, level: int, file: BinaryIO) -> PackedMember:
    """Compress a record into an empty file, 1 MB at a time.

    Args:
        record: The record; its body is left open.
        level: As for `member.pack`.
        file: An unnamed temporary file, open for reading and writing; the result owns it.

    Raises:
        OSError: The file cannot be written; it is left to the caller.
    """
    length = 0
    for chunk in pack_chunks(record, level):
        file.write(chunk)
        length += len(chunk)
    file.flush()
    return PackedMember(file, length)
