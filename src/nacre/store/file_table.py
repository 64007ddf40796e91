"""The table of a job's files: rows of all, handles of open files, and the journal of lines.

The journal holds lines of logs and indexes on their way from the store into their files. A group's
lines for a file are one row: (file number, offset) -> bytes. They are in the batch before they are
in the file, so that the file can be rebuilt from its synced part; and they are written to the file
only when the batch is durable, so that a file with more than its journal explains shows that the
store has lost groups.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from nacre.errors import StorageError
from nacre.store.files import (
    ROWS,
    FileKind,
    FileRow,
    FileState,
    OpenFile,
    decode_row,
    encode_row,
    row_key,
    row_number,
)
from nacre.store.lost_found import move_file
from nacre.store.seam import Disk
from nacre.store.store import Store


def put_row(store: Store, number: int, row: FileRow) -> None:
    """Note a row in the open group."""
    store.put("meta", row_key(number), encode_row(row))


def delete_row(store: Store, number: int) -> None:
    """Forget a file; its number is not given out again."""
    store.delete("meta", row_key(number))


def get_row(store: Store, number: int) -> FileRow | None:
    """Return the row of a file; None when there is none of that number."""
    value = store.get("meta", row_key(number))
    return None if value is None else decode_row(number, value)


def file_rows(store: Store) -> Iterator[tuple[int, FileRow]]:
    """Yield all files, by number."""
    for key, value in store.scan("meta", *ROWS):
        number = row_number(key)
        yield number, decode_row(number, value)


def warc_bytes_before(store: Store, run: str) -> int:
    """Bytes of the WARCs of all runs but one, as far as they are there.

    Args:
        store: The job's.
        run: Name of the run that is left out; its directory is in the names of its files.
    """
    return sum(
        file.size
        for _, file in file_rows(store)
        if file.kind is FileKind.WARC
        and file.state is not FileState.LOST
        and run not in Path(file.final).parts
    )


class FileTable:
    """The files of a job that are open for writing.

    Args:
        store: Has the rows.
        disk: Has the files.
        root: Directory of the job, absolute.
        epoch: The current epoch (`recovery.recover` begins it).
    """

    def __init__(self, store: Store, disk: Disk, root: str, epoch: int) -> None:
        self._store = store
        self._disk = disk
        self._root = root
        self._epoch = epoch
        self.open: dict[int, OpenFile] = {}
        self._handles: set[int] = set()

    def absolute(self, path: str) -> str:
        """Absolute path of a name in the table; absolute names stay (other output directories)."""
        return str(PurePosixPath(self._root, path))

    def create(self, kind: FileKind, path: str, final: str = "") -> int:
        """Make a new file; the group that refers to it syncs its directory first.

        A log in its way is from a group that was never committed, or not ours: it goes to
        `lost+found/` (recovery does that for archive directories).

        Args:
            kind: What it is.
            path: Name while open, relative to the job.
            final: Name once closed; "" for `path` without `.open`.

        Raises:
            StorageError: It exists, or cannot be made.
        """
        final = final or path.removesuffix(".open")
        if kind == FileKind.INDEX and final == path:
            raise ValueError(f"{path}: an index needs another name while it is open")
        absolute = self.absolute(path)
        directory = str(PurePosixPath(absolute).parent)
        self._disk.makedirs(directory)
        if kind == FileKind.LOG and self._disk.size(absolute) is not None:
            move_file(self._disk, self._root, absolute)
        handle = self._disk.create(absolute)
        group = self._store.group
        group.directories.add(directory)
        number = self._store.counter("files") + 1
        self._store.set_counter("files", number)
        row = FileRow(kind, path, final, epoch=self._epoch)
        put_row(self._store, number, row)
        self._add(number, row, handle)
        return number

    def _add(self, number: int, row: FileRow, handle: int) -> None:
        self._handles.add(handle)
        self.open[number] = OpenFile(number, row, handle)

    def log(self, path: str) -> int:
        """Return the open log of that name, made when there is none."""
        for file in self.open.values():
            if file.row.path == path:
                return file.number
        return self.create(FileKind.LOG, path)

    def adopt(self) -> None:
        """Open the logs that an earlier epoch left open; recovery has made them whole."""
        for number, row in file_rows(self._store):
            if row.state == FileState.OPEN and row.epoch == self._epoch and number not in self.open:
                handle = self._disk.open(self.absolute(row.path), write=True)
                self._add(number, row, handle)

    def release(self, handle: int) -> None:
        """Close one handle."""
        self._handles.discard(handle)
        self._disk.close(handle)

    def close(self) -> None:
        """Give all handles back, whatever state their files are in."""
        self.open.clear()
        while self._handles:
            with suppress(StorageError):  # durable data was synced before
                self._disk.close(self._handles.pop())


class JournalLines(NamedTuple):
    """Lines of one group for one file, with their place in it."""

    file: OpenFile
    offset: int
    data: bytes


class SyncedFile(NamedTuple):
    """A file that was synced up to `size`; the journal rows `keys` are no longer needed."""

    file: OpenFile
    size: int
    keys: list[bytes]


def journal_key(number: int, offset: int) -> bytes:
    """Key of the lines that go to `offset` of a file."""
    return number.to_bytes(8, "big") + offset.to_bytes(8, "big")


def journal_lines(store: Store, file: OpenFile, lines: Iterable[bytes]) -> JournalLines:
    """Put the lines of the open group into its batch."""
    data = b"".join(lines)
    offset = file.end
    key = journal_key(file.number, offset)
    store.put("journal", key, data)
    file.waiting.append(key)
    file.end += len(data)
    return JournalLines(file, offset, data)


def journal_rows(store: Store, number: int) -> Iterator[tuple[bytes, bytes]]:
    """Journal rows of a file in the order of their lines."""
    return store.scan("journal", number.to_bytes(8, "big"), (number + 1).to_bytes(8, "big"))


def unsynced_files(files: Iterable[OpenFile]) -> list[SyncedFile]:
    """The files that a sync begun now covers; all lines of committed groups are in them already."""
    return [SyncedFile(file, file.end, list(file.waiting)) for file in files if file.waiting]


def sync_files(disk: Disk, work: Iterable[SyncedFile]) -> None:
    """Sync the files. Runs in the writer thread."""
    for item in work:
        disk.fdatasync(item.file.handle)


def drop_journal(store: Store, work: Iterable[SyncedFile]) -> None:
    """Note in the open group how far the files are synced, and drop the lines from the store."""
    for item in work:
        item.file.note_size(item.size)
        put_row(store, item.file.number, item.file.row)
        for key in item.keys:
            store.delete("journal", key)
        del item.file.waiting[: len(item.keys)]
