"""The start of a job: every file and the store are brought to the same commit.

Also what follows a storage error in a running job: one code path. Each step may be cut off by a
crash and is then done again by the next start. See docs/architecture.md, "Durability".
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from nacre.store.commit import sort_lines
from nacre.store.examine import Found, Stray, look, refuse, strays
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.journal import waiting
from nacre.store.lostfound import cut, move_file, rewritten
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import delete_row, file_rows, put_row
from nacre.store.writer import SortIndex, write_sorted


class Lost(NamedTuple):
    """Committed bytes that are gone, by the operator's leave.

    Attributes:
        number: Number of the file; digests that point into the range must be dropped.
        kind: What it was.
        path: Its name, relative to the job.
        start: First byte lost.
        end: End of the range, exclusive.
    """

    number: int
    kind: FileKind
    path: str
    start: int
    end: int


class Tail(NamedTuple):
    """Bytes that the store does not know, for salvage.

    Attributes:
        number: Number of their WARC in the table.
        path: The WARC, absolute.
        start: Where they begin.
        end: Where they end: the size of the file.
    """

    number: int
    path: str
    start: int
    end: int


Salvage = Callable[[Tail], int]
"""Registers the captures of a tail in the open group; returns the end of the last whole record."""


class Recovered(NamedTuple):
    """What a start found and did.

    Attributes:
        epoch: The new epoch.
        moved: What went to `lost+found/`, absolute paths there.
        lost: Ranges whose loss was accepted; the caller requeues what was in them.
        replayed: Bytes of lines written again from the journal.
    """

    epoch: int
    moved: Sequence[str]
    lost: Sequence[Lost]
    replayed: int


class Start(NamedTuple):
    """How to start.

    Attributes:
        archives: Archive directories, relative to the job, beside those of known files.
        sort_index: What closing an index does to its lines.
        accept_loss: Go on without files or parts of files that are gone.
        salvage: Registers captures that the store does not know; None refuses to start over them.
        suspects: Absolute paths whose fsync failed in this process: never synced again.
    """

    archives: Sequence[str] = ()
    sort_index: SortIndex = sort_lines
    accept_loss: bool = False
    salvage: Salvage | None = None
    suspects: Collection[str] = ()


AS_USUAL = Start()


def recover(store: Store, disk: Disk, root: str, start: Start = AS_USUAL) -> Recovered:
    """Bring files and store to the same commit, and begin a new epoch.

    Args:
        store: Just opened, so that its lock is held.
        disk: Where the files are.
        root: Directory of the job, absolute.
        start: How.

    Raises:
        DamageError: Committed data is missing, or the store is older than the archive.
        StorageError: A step failed; the next start does it again.
    """
    files = look(store, disk, root)
    rows = [row for _, row in file_rows(store)]
    unknown = list(strays(disk, root, rows, start.archives))
    refuse(files, unknown, accept_loss=start.accept_loss, salvage=start.salvage is not None)
    repair = _Repair(store, disk, root, start)
    for file in files:
        repair.file(file)
    for stray in unknown:
        repair.stray(stray, rows)
    return repair.finish()


class _Repair:
    """One run of the recovery; rows are committed at its end, names are given after that."""

    def __init__(self, store: Store, disk: Disk, root: str, start: Start) -> None:
        self._store = store
        self._disk = disk
        self._root = root
        self._start = start
        self._epoch = store.counter("epoch") + 1
        self._moved: list[str] = []
        self._lost: list[Lost] = []
        self._replayed = 0
        self._renames: list[tuple[str, str]] = []
        self._obsolete: list[str] = []

    def file(self, file: Found) -> None:
        """Bring one file of the table to its committed state."""
        if file.short:
            file = self._accept(file)
        elif self._start.salvage and (file.ahead or file.tail):
            file = self._salvaged(file, self._start.salvage)
        if file.row.state == FileState.LOST:
            return
        if file.row.kind == FileKind.WARC:
            self._warc(file)
        elif file.row.state == FileState.CLOSED:
            self._rename(file)
        else:
            self._lines(file)

    def _accept(self, file: Found) -> Found:
        """Go on with what is left of a file."""
        left = file.size or 0
        path = file.row.final if file.row.state == FileState.CLOSED else file.row.path
        self._lost.append(Lost(file.number, file.row.kind, path, left, file.row.size))
        row = replace(file.row, size=left)
        if file.size is None:
            if row.kind == FileKind.LOG and row.state == FileState.OPEN:
                self._disk.close(self._disk.create(file.path))
                self._disk.fsync_dir(str(PurePosixPath(file.path).parent))
            else:
                row = replace(row, state=FileState.LOST)
                self._drop_lines(file.number)
        put_row(self._store, file.number, row)
        return file._replace(row=row, size=left)

    def _salvaged(self, file: Found, salvage: Salvage) -> Found:
        """Take over what lost groups have written; their lines were acknowledged, so they stay."""
        size = file.size or 0
        if file.row.kind == FileKind.WARC:
            size = salvage(Tail(file.number, file.path, file.row.size, size))
        else:
            self._drop_lines(file.number)
        row = replace(file.row, size=size)
        put_row(self._store, file.number, row)
        return file._replace(row=row)

    def _warc(self, file: Found) -> None:
        """Cut to the committed size and close: no epoch writes to the files of another."""
        self._cut(file)
        if file.row.size == 0:
            return self._forget(file)
        if file.row.state != FileState.CLOSED:
            self._put(file, state=FileState.CLOSED, tail=0)
        return self._rename(file)

    def _lines(self, file: Found) -> None:
        """Cut a log or an index to its synced part and write the lines of the journal again."""
        data = b"".join(value for _, value in waiting(self._store, file.number))
        size = file.row.size + len(data)
        self._replayed += len(data)
        if file.row.kind == FileKind.INDEX and size == 0:
            return self._forget(file)
        self._replay(file, data)
        self._drop_lines(file.number)
        if file.row.kind == FileKind.INDEX:
            return self._index(file, size)
        if file.row.state == FileState.OPEN and not file.early:
            return self._put(file, size=size, epoch=self._epoch)
        self._put(file, size=size, state=FileState.CLOSED)
        return self._rename(file)

    def _replay(self, file: Found, data: bytes) -> None:
        if file.path in self._start.suspects:
            return rewritten(self._disk, file.path, file.row.size, data)
        handle = self._disk.open(file.path, write=True)
        try:
            self._disk.truncate(handle, file.row.size)
            if data:
                self._disk.pwrite(handle, data, file.row.size)
            self._disk.fdatasync(handle)
        finally:
            self._disk.close(handle)
        return None

    def _index(self, file: Found, size: int) -> None:
        final = self._absolute(file.row.final)
        handle = self._disk.open(file.path)
        try:
            written = write_sorted(self._disk, handle, size, final, self._start.sort_index)
        finally:
            self._disk.close(handle)
        self._put(file, state=FileState.CLOSED, size=written)
        if file.path != final:
            self._obsolete.append(file.path)

    def _cut(self, file: Found) -> None:
        if (file.size or 0) > file.row.size:
            sync = file.path not in self._start.suspects
            self._moved.append(cut(self._disk, self._root, file.path, file.row.size, sync=sync))

    def _rename(self, file: Found) -> None:
        """Give the final name, and clear away what an index was made from."""
        path, final = self._absolute(file.row.path), self._absolute(file.row.final)
        if file.path != final:
            self._renames.append((file.path, final))
        elif file.row.kind == FileKind.INDEX and self._disk.size(path) is not None:
            self._obsolete.append(path)

    def _forget(self, file: Found) -> None:
        """A file to which nothing was ever committed leaves no trace."""
        delete_row(self._store, file.number)
        self._drop_lines(file.number)
        self._obsolete += {file.path, self._absolute(file.row.final)}

    def stray(self, stray: Stray, rows: Sequence[FileRow]) -> None:
        """Put a file that no row names out of the way, or take it over."""
        if stray.path in {self._absolute(row.final) + ".tmp" for row in rows}:
            self._obsolete.append(stray.path)
        elif self._start.salvage and not stray.path.endswith((".cdxj", ".cdxj.open", ".tmp")):
            self._taken(stray, self._start.salvage)
        else:
            self._moved.append(move_file(self._disk, self._root, stray.path))

    def _taken(self, stray: Stray, salvage: Salvage) -> None:
        """A WARC that lost groups had made gets a number and is closed at its last whole record."""
        number = self._store.counter("files") + 1
        self._store.set_counter("files", number)
        size = salvage(Tail(number, stray.path, 0, stray.size))
        path = self._relative(stray.path)
        row = FileRow(FileKind.WARC, path, path.removesuffix(".open"), size=size)
        self._warc(Found(number, row, stray.path, stray.size, 0, early=False))

    def finish(self) -> Recovered:
        """Commit, then give and remove names."""
        self._store.set_counter("epoch", self._epoch)
        self._store.commit()
        for old, new in self._renames:
            self._disk.rename(old, new)
        for path in self._obsolete:
            self._disk.unlink(path)
        changed = [*(new for _, new in self._renames), *self._obsolete]
        for directory in sorted({str(PurePosixPath(path).parent) for path in changed}):
            self._disk.fsync_dir(directory)
        return Recovered(self._epoch, self._moved, self._lost, self._replayed)

    def _put(self, file: Found, **changes: FileState | int) -> None:
        put_row(self._store, file.number, replace(file.row, **changes))

    def _drop_lines(self, number: int) -> None:
        for key, _ in waiting(self._store, number):
            self._store.delete("journal", key)

    def _absolute(self, path: str) -> str:
        return str(PurePosixPath(self._root, path))

    def _relative(self, path: str) -> str:
        inside = PurePosixPath(path).is_relative_to(self._root)
        return str(PurePosixPath(path).relative_to(self._root)) if inside else path
