"""The row of a file in the store: its kind, path, state, committed size and epoch.

Each WARC, index and log has one in `meta`. The store, not a suffix, determines which files belong
to the job and how far. See docs/internals.md, "Durability".
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from nacre.errors import DamageError


class FileKind(StrEnum):
    """The kind of a file: WARCs get appends at offsets, the others get lines by the journal."""

    WARC = "warc"
    INDEX = "index"
    LOG = "log"


class FileState(StrEnum):
    """The state of a file."""

    OPEN = "open"
    CLOSING = "closing"
    """An index or log that gets no more lines; its last lines are still in the journal."""
    CLOSED = "closed"
    """Whole, under its final name (the rename itself may still have to be repeated)."""
    LOST = "lost"
    """Gone, and the number stays taken: its loss was accepted, or a part of a unit has the file."""


class FileRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The row of a file in the store.

    Attributes:
        kind: `FileKind`.
        path: Its name while open, relative to the job.
        final: Its name once closed, relative to the job; the same for most logs.
        state: `FileState`.
        size: Committed size, bytes. For an open index or log: the part known to be synced.
        epoch: Epoch that may write to it.
        tail: Bytes beyond `size` that a group in flight may have written; 0 for `TAIL_LIMIT`.
    """

    kind: FileKind
    path: str
    final: str
    state: FileState = FileState.OPEN
    size: int = 0
    epoch: int = 0
    tail: int = 0


TAIL_LIMIT: Final = 16_000_000
"""Bytes that a group may append to one file without announcing it in a separate batch before."""

ROWS = (b"file:", b"file;")
"""First key of the table in `meta`, and its end."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(FileRow).decode


def row_key(number: int) -> bytes:
    """Key of a row in `meta`."""
    return ROWS[0] + number.to_bytes(8, "big")


def row_number(key: bytes) -> int:
    """Number of the file whose key that is."""
    return int.from_bytes(key[len(ROWS[0]) :], "big")


def encode_row(row: FileRow) -> bytes:
    """Return a row as it is stored."""
    return _encode(row)


def decode_row(number: int, value: bytes) -> FileRow:
    """Return a row from the store.

    Raises:
        DamageError: It cannot be read.
    """
    try:
        return _decode(value)
    except msgspec.DecodeError as error:
        raise DamageError(f"Row {number} of the table of files is damaged: {error}.") from error


class OpenFile:
    """A file that this process writes.

    Attributes:
        number: Its number in the table.
        row: Its row as last put into a group.
        handle: Handle of the disk.
        end: Offset of the next append, bytes.
        waiting: Journal keys of lines that are not known to be synced in the file.
    """

    __slots__ = ("end", "handle", "number", "row", "waiting")

    def __init__(self, number: int, row: FileRow, handle: int) -> None:
        self.number = number
        self.row = row
        self.handle = handle
        self.end = row.size
        self.waiting: list[bytes] = []

    def reserve(self, size: int) -> int:
        """Make room for an append of so many bytes; its offset."""
        offset = self.end
        self.end = offset + size
        return offset

    def name_finally(self, final: str) -> None:
        """Change the name that it gets once closed, relative to the job."""
        self.row = replace(self.row, final=final)

    def note_size(self, size: int) -> None:
        """Note its committed size, as in `FileRow.size`."""
        self.row = replace(self.row, size=size)

    def begin_closing(self) -> None:
        """Mark that it gets no more lines; its last lines are still in the journal."""
        self.row = replace(self.row, state=FileState.CLOSING)

    def close(self) -> None:
        """Note that it is whole."""
        self.row = replace(self.row, state=FileState.CLOSED)
