"""Recovery at the start of a job: every file and the store are brought to the same commit.

The same code follows a storage error in a running job. First every file is compared with its row in
the store (`examine_files`), and nothing is changed. Three things can be wrong. A file that is
shorter or gone has lost data that was committed. A file that is longer than the groups in flight
could explain, or carries a name that only a later commit can have given it, shows that the store is
older than the archive; both are refused. All other differences are effects of a crash, and are
repaired. Each step may be cut off by a crash and is then done again by the next start. See
docs/internals.md, "Durability".
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from nacre.errors import DamageError
from nacre.store.commit import sort_lines
from nacre.store.file_table import delete_row, file_rows, journal_rows, put_row
from nacre.store.files import TAIL_LIMIT, FileKind, FileRow, FileState
from nacre.store.lost_found import move_file, move_tail, rewritten
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.writer import SortIndex, write_sorted

SUFFIXES = (".warc", ".warc.gz", ".cdxj", ".open", ".tmp")
"""Names in archive directories that are ours; other files there are left alone."""


class ExaminedFile(NamedTuple):
    """A file of the table and its state on disk.

    Attributes:
        number: Its number.
        row: Its row in the store.
        path: Its absolute path; the expected path when it is gone.
        size: Bytes there are; None when it is gone.
        lines: Bytes of its lines in the journal.
        early: Whether it has its final name already, which the store has not recorded.
    """

    number: int
    row: FileRow
    path: str
    size: int | None
    lines: int
    early: bool

    @property
    def short(self) -> bool:
        """Whether committed bytes are missing."""
        return self.size is None or self.size < self.row.size

    @property
    def tail(self) -> bool:
        """Whether it is a WARC that holds more than was committed."""
        return self.row.kind == FileKind.WARC and (self.size or 0) > self.row.size

    @property
    def ahead(self) -> bool:
        """Whether it contains bytes that only commits missing in the store can have written."""
        if self.early:
            return True
        extra = (self.size or 0) - self.row.size
        if self.row.kind == FileKind.WARC:
            return extra > (self.row.tail or TAIL_LIMIT)
        return self.row.state != FileState.CLOSED and extra > self.lines


class StrayFile(NamedTuple):
    """A file in an archive directory that is not in the table."""

    path: str
    size: int

    @property
    def ahead(self) -> bool:
        """Whether groups in flight cannot have left so much, or closed it: only a commit does."""
        return self.size > TAIL_LIMIT or self.path.endswith((".warc", ".warc.gz"))


def examine_files(store: Store, disk: Disk, root: str) -> list[ExaminedFile]:
    """Return every file of the table as it is on disk, without lost files."""
    return [
        _look_at(store, disk, root, number, row)
        for number, row in file_rows(store)
        if row.state != FileState.LOST
    ]


def _look_at(store: Store, disk: Disk, root: str, number: int, row: FileRow) -> ExaminedFile:
    closed = row.state == FileState.CLOSED
    names = [str(PurePosixPath(root, name)) for name in (row.path, row.final)]
    expected_path, alternative = reversed(names) if closed else names
    if closed and row.kind == FileKind.INDEX:
        alternative = expected_path
    lines = 0
    if row.kind != FileKind.WARC and not closed:
        lines = sum(len(value) for _, value in journal_rows(store, number))
    size = disk.size(expected_path)
    if size is None and disk.size(alternative) is not None:
        return ExaminedFile(
            number, row, alternative, disk.size(alternative), lines, early=not closed
        )
    return ExaminedFile(number, row, expected_path, size, lines, early=False)


def stray_files(
    disk: Disk, root: str, rows: Sequence[FileRow], directories: Sequence[str]
) -> Iterator[StrayFile]:
    """Yield Nacre's files in the archive directories that have no row."""
    names = [name for row in rows for name in (row.path, row.final)]
    expected = {str(PurePosixPath(root, name)) for name in names}
    places = {str(PurePosixPath(root, name)) for name in directories}
    places |= {
        str(PurePosixPath(root, row.path).parent) for row in rows if row.kind != FileKind.LOG
    }
    for place in sorted(places):
        for name in disk.list(place):
            path = str(PurePosixPath(place, name))
            if path not in expected and name.endswith(SUFFIXES):
                yield StrayFile(path, disk.size(path) or 0)


def refuse_damage(
    files: Sequence[ExaminedFile], unknown: Sequence[StrayFile], *, accept_loss: bool, salvage: bool
) -> None:
    """Stop the start over damage that must not be repaired silently.

    Raises:
        DamageError: Naming every such file, and the remedy.
    """
    ahead = [] if salvage else [*_ahead(files, unknown)]
    if ahead:
        raise DamageError(
            "The store is older than the archive: it was restored from a copy, or its log is "
            "damaged.\n" + "\n".join(ahead) + "\nNothing was changed. `nacre archive JOB salvage` "
            "registers these captures; then the job can be resumed."
        )
    short = [_loss(file) for file in files if file.short]
    if short and not accept_loss:
        raise DamageError(
            "Data that was committed is missing.\n" + "\n".join(short) + "\nNothing was changed. "
            "Put the files back, or continue without them: `nacre run JOB --accept-loss` fetches "
            "their content again."
        )


def _ahead(files: Sequence[ExaminedFile], unknown: Sequence[StrayFile]) -> Iterator[str]:
    for file in files:
        if file.early:
            yield f"  {file.path}: closed, but according to the store it is still being written"
        elif file.ahead:
            yield (
                f"  {file.path}: {file.size} bytes, but the store knows of "
                f"{file.row.size + file.lines}"
            )
    for stray in unknown:
        if stray.ahead:
            yield f"  {stray.path}: {stray.size} bytes, but the store does not know this file"


def _loss(file: ExaminedFile) -> str:
    if file.size is None:
        return f"  {file.path}: missing; {file.row.size} bytes were committed"
    return f"  {file.path}: {file.size} bytes; {file.row.size} were committed"


class LostData(NamedTuple):
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
    """Bytes that are not recorded in the store, for salvage.

    Attributes:
        number: Number of their WARC in the table.
        path: The WARC, absolute.
        start: Their offset.
        end: Their end: the size of the file.
    """

    number: int
    path: str
    start: int
    end: int


Salvage = Callable[[Tail], int]
"""Registers the captures of a tail in the open group; returns the end of the last whole record."""


class Recovered(NamedTuple):
    """The result of a recovery.

    Attributes:
        epoch: The new epoch.
        moved: Files moved to `lost+found/`, absolute paths there.
        lost: Ranges whose loss was accepted; the caller requeues their URIs.
        replayed: Bytes of lines written again from the journal.
    """

    epoch: int
    moved: Sequence[str]
    lost: Sequence[LostData]
    replayed: int


class StartOptions(NamedTuple):
    """The options of a start.

    Attributes:
        archives: Archive directories, relative to the job, beside those of known files.
        sort_index: What closing an index does to its lines.
        accept_loss: Continue without files or parts of files that are gone.
        salvage: Registers captures that are not in the store; None: refuse to start with such
            captures.
        suspects: Absolute paths whose fsync failed in this process: never synced again.
    """

    archives: Sequence[str] = ()
    sort_index: SortIndex = sort_lines
    accept_loss: bool = False
    salvage: Salvage | None = None
    suspects: Collection[str] = ()


NORMAL_START = StartOptions()


def recover(store: Store, disk: Disk, root: str, start: StartOptions = NORMAL_START) -> Recovered:
    """Bring files and store to the same commit, and begin a new epoch.

    Args:
        store: Just opened, so that its lock is held.
        disk: Has the files.
        root: Directory of the job, absolute.
        start: How.

    Raises:
        DamageError: Committed data is missing, or the store is older than the archive.
        StorageError: A step failed; the next start does it again.
    """
    files = examine_files(store, disk, root)
    rows = [row for _, row in file_rows(store)]
    unknown = list(stray_files(disk, root, rows, start.archives))
    refuse_damage(files, unknown, accept_loss=start.accept_loss, salvage=start.salvage is not None)
    repair = _Repair(store, disk, root, start)
    for file in files:
        repair.file(file)
    for stray in unknown:
        repair.stray(stray, rows)
    return repair.finish()


class _Repair:
    """One run of the recovery; rows are committed at its end, names are given after that."""

    def __init__(self, store: Store, disk: Disk, root: str, start: StartOptions) -> None:
        self._store = store
        self._disk = disk
        self._root = root
        self._start = start
        self._epoch = store.counter("epoch") + 1
        self._moved: list[str] = []
        self._lost: list[LostData] = []
        self._replayed = 0
        self._renames: list[tuple[str, str]] = []
        self._obsolete: list[str] = []

    def file(self, file: ExaminedFile) -> None:
        """Bring one file of the table to its committed state."""
        if file.short:
            file = self._accept(file)
        elif self._start.salvage and (file.ahead or file.tail):
            file = self._accept_lost(file, self._start.salvage)
        if file.row.state == FileState.LOST:
            return
        if file.row.kind == FileKind.WARC:
            self._warc(file)
        elif file.row.state == FileState.CLOSED:
            self._rename(file)
        else:
            self._lines(file)

    def _accept(self, file: ExaminedFile) -> ExaminedFile:
        """Continue with the remaining part of a file."""
        size = file.size or 0
        path = file.row.final if file.row.state == FileState.CLOSED else file.row.path
        self._lost.append(LostData(file.number, file.row.kind, path, size, file.row.size))
        row = replace(file.row, size=size)
        if file.size is None:
            if row.kind == FileKind.LOG and row.state == FileState.OPEN:
                self._disk.close(self._disk.create(file.path))
                self._disk.fsync_dir(str(PurePosixPath(file.path).parent))
            else:
                row = replace(row, state=FileState.LOST)
                self._drop_lines(file.number)
        put_row(self._store, file.number, row)
        return file._replace(row=row, size=size)

    def _accept_lost(self, file: ExaminedFile, salvage: Salvage) -> ExaminedFile:
        """Accept the bytes of lost groups; their lines were acknowledged, so they stay."""
        size = file.size or 0
        if file.row.kind == FileKind.WARC:
            size = salvage(Tail(file.number, file.path, file.row.size, size))
        else:
            self._drop_lines(file.number)
        row = replace(file.row, size=size)
        put_row(self._store, file.number, row)
        return file._replace(row=row)

    def _warc(self, file: ExaminedFile) -> None:
        """Cut to the committed size and close: no epoch writes to the files of another."""
        self._cut(file)
        if file.row.size == 0:
            return self._forget(file)
        if file.row.state != FileState.CLOSED:
            self._put(file, state=FileState.CLOSED, tail=0)
        return self._rename(file)

    def _lines(self, file: ExaminedFile) -> None:
        """Cut a log or an index to its synced part and write the lines of the journal again."""
        data = b"".join(value for _, value in journal_rows(self._store, file.number))
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

    def _replay(self, file: ExaminedFile, data: bytes) -> None:
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

    def _index(self, file: ExaminedFile, size: int) -> None:
        final = self._absolute(file.row.final)
        handle = self._disk.open(file.path)
        try:
            written = write_sorted(self._disk, handle, size, final, self._start.sort_index)
        finally:
            self._disk.close(handle)
        self._put(file, state=FileState.CLOSED, size=written)
        if file.path != final:
            self._obsolete.append(file.path)

    def _cut(self, file: ExaminedFile) -> None:
        if (file.size or 0) > file.row.size:
            sync = file.path not in self._start.suspects
            self._moved.append(
                move_tail(self._disk, self._root, file.path, file.row.size, sync=sync)
            )

    def _rename(self, file: ExaminedFile) -> None:
        """Rename to the final name, and delete the source of an index."""
        path, final = self._absolute(file.row.path), self._absolute(file.row.final)
        if file.path != final:
            self._renames.append((file.path, final))
        elif file.row.kind == FileKind.INDEX and self._disk.size(path) is not None:
            self._obsolete.append(path)

    def _forget(self, file: ExaminedFile) -> None:
        """A file to which nothing was ever committed leaves no trace."""
        delete_row(self._store, file.number)
        self._drop_lines(file.number)
        self._obsolete += {file.path, self._absolute(file.row.final)}

    def stray(self, stray: StrayFile, rows: Sequence[FileRow]) -> None:
        """Put a file that no row names out of the way, or take it over."""
        if stray.path in {self._absolute(row.final) + ".tmp" for row in rows}:
            self._obsolete.append(stray.path)
        elif self._start.salvage and not stray.path.endswith((".cdxj", ".cdxj.open", ".tmp")):
            self._salvage_stray(stray, self._start.salvage)
        else:
            self._moved.append(move_file(self._disk, self._root, stray.path))

    def _salvage_stray(self, stray: StrayFile, salvage: Salvage) -> None:
        """A WARC that lost groups had made gets a number and is closed at its last whole record."""
        number = self._store.counter("files") + 1
        self._store.set_counter("files", number)
        size = salvage(Tail(number, stray.path, 0, stray.size))
        path = self._relative(stray.path)
        row = FileRow(FileKind.WARC, path, path.removesuffix(".open"), size=size)
        self._warc(ExaminedFile(number, row, stray.path, stray.size, 0, early=False))

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

    def _put(self, file: ExaminedFile, **changes: FileState | int) -> None:
        put_row(self._store, file.number, replace(file.row, **changes))

    def _drop_lines(self, number: int) -> None:
        for key, _ in journal_rows(self._store, number):
            self._store.delete("journal", key)

    def _absolute(self, path: str) -> str:
        return str(PurePosixPath(self._root, path))

    def _relative(self, path: str) -> str:
        inside = PurePosixPath(path).is_relative_to(self._root)
        return str(PurePosixPath(path).relative_to(self._root)) if inside else path
