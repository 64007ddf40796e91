"""The journal: lines of logs and indexes on their way from the store into their files.

A group's lines for a file are one row: (file number, offset) -> bytes. They are in the batch before
they are in the file, so that the file can be rebuilt from its synced part; and they are written to
the file only when the batch is durable, so that a file with more than its journal explains shows
that the store has lost groups.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from nacre.store.files import OpenFile
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import put_row


class Lines(NamedTuple):
    """Lines of one group for one file, with their place in it."""

    file: OpenFile
    offset: int
    data: bytes


class Synced(NamedTuple):
    """A file that was synced up to `size`; the journal rows `keys` are no longer needed."""

    file: OpenFile
    size: int
    keys: list[bytes]


def journal_key(number: int, offset: int) -> bytes:
    """Key of the lines that go to `offset` of a file."""
    return number.to_bytes(8, "big") + offset.to_bytes(8, "big")


def enter(store: Store, file: OpenFile, lines: Iterable[bytes]) -> Lines:
    """Put the lines of the open group into its batch."""
    data = b"".join(lines)
    offset = file.end
    key = journal_key(file.number, offset)
    store.put("journal", key, data)
    file.waiting.append(key)
    file.end += len(data)
    return Lines(file, offset, data)


def waiting(store: Store, number: int) -> Iterator[tuple[bytes, bytes]]:
    """Journal rows of a file in the order of their lines."""
    return store.scan("journal", number.to_bytes(8, "big"), (number + 1).to_bytes(8, "big"))


def unsynced(files: Iterable[OpenFile]) -> list[Synced]:
    """What a sync begun now covers; all lines of committed groups are in the files already."""
    return [Synced(file, file.end, list(file.waiting)) for file in files if file.waiting]


def sync(disk: Disk, work: Iterable[Synced]) -> None:
    """Sync the files. Runs in the writer thread."""
    for item in work:
        disk.fdatasync(item.file.handle)


def forget(store: Store, work: Iterable[Synced]) -> None:
    """Note in the open group how far the files are synced, and drop the lines from the store."""
    for item in work:
        item.file.row = msgspec.structs.replace(item.file.row, size=item.size)
        put_row(store, item.file.number, item.file.row)
        for key in item.keys:
            store.delete("journal", key)
        del item.file.waiting[: len(item.keys)]
