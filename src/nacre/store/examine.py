"""Before a start: compare every file with what the store knows, and refuse what does not fit.

Nothing is changed here. Three things can be wrong. A file that is shorter or gone has lost data
that was committed. A file that is longer than the groups in flight could explain, or carries a name
that only a later commit can have given it, shows that the store is older than the archive. All
else is what a crash leaves, and `recovery.py` mends it.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from nacre.errors import DamageError
from nacre.store.files import TAIL_LIMIT, FileKind, FileRow, FileState
from nacre.store.journal import waiting
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import file_rows

SUFFIXES = (".warc", ".warc.gz", ".cdxj", ".open", ".tmp")
"""Names in archive directories that are ours; other files there are left alone."""


class Found(NamedTuple):
    """A file of the table and what there is of it.

    Attributes:
        number: Its number.
        row: What the store knows.
        path: Where it is, absolute; where it should be when it is gone.
        size: Bytes there are; None when it is gone.
        lines: Bytes of its lines in the journal.
        early: It carries its final name already, of which the store knows nothing.
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
        """Whether it holds what only commits unknown to the store can have written."""
        if self.early:
            return True
        extra = (self.size or 0) - self.row.size
        if self.row.kind == FileKind.WARC:
            return extra > (self.row.tail or TAIL_LIMIT)
        return self.row.state != FileState.CLOSED and extra > self.lines


class Stray(NamedTuple):
    """A file in an archive directory that the table does not know."""

    path: str
    size: int

    @property
    def ahead(self) -> bool:
        """Whether groups in flight cannot have left so much, or closed it: only a commit does."""
        return self.size > TAIL_LIMIT or self.path.endswith((".warc", ".warc.gz"))


def look(store: Store, disk: Disk, root: str) -> list[Found]:
    """Every file of the table as it is on disk; the lost ones are left out."""
    return [
        _look_at(store, disk, root, number, row)
        for number, row in file_rows(store)
        if row.state != FileState.LOST
    ]


def _look_at(store: Store, disk: Disk, root: str, number: int, row: FileRow) -> Found:
    closed = row.state == FileState.CLOSED
    names = [str(PurePosixPath(root, name)) for name in (row.path, row.final)]
    wanted, other = reversed(names) if closed else names
    if closed and row.kind == FileKind.INDEX:
        other = wanted
    lines = 0
    if row.kind != FileKind.WARC and not closed:
        lines = sum(len(value) for _, value in waiting(store, number))
    size = disk.size(wanted)
    if size is None and disk.size(other) is not None:
        return Found(number, row, other, disk.size(other), lines, early=not closed)
    return Found(number, row, wanted, size, lines, early=False)


def strays(
    disk: Disk, root: str, rows: Sequence[FileRow], directories: Sequence[str]
) -> Iterator[Stray]:
    """Files of ours in the archive directories that no row names."""
    names = [name for row in rows for name in (row.path, row.final)]
    known = {str(PurePosixPath(root, name)) for name in names}
    places = {str(PurePosixPath(root, name)) for name in directories}
    places |= {
        str(PurePosixPath(root, row.path).parent) for row in rows if row.kind != FileKind.LOG
    }
    for place in sorted(places):
        for name in disk.list(place):
            path = str(PurePosixPath(place, name))
            if path not in known and name.endswith(SUFFIXES):
                yield Stray(path, disk.size(path) or 0)


def refuse(
    files: Sequence[Found], unknown: Sequence[Stray], *, accept_loss: bool, salvage: bool
) -> None:
    """Stop the start over what must not be mended silently.

    Raises:
        DamageError: Naming every such file, and the remedy.
    """
    ahead = [] if salvage else [*_ahead(files, unknown)]
    if ahead:
        raise DamageError(
            "The store is older than the archive: it was restored from a copy, or its log is "
            "damaged.\n" + "\n".join(ahead) + "\nNothing was changed. `nacre archive JOB salvage` "
            "registers these captures; then the job can go on."
        )
    short = [_loss(file) for file in files if file.short]
    if short and not accept_loss:
        raise DamageError(
            "Data that was committed is missing.\n" + "\n".join(short) + "\nNothing was changed. "
            "Put the files back, or go on without them: `nacre run JOB --accept-loss` fetches "
            "again what was in them."
        )


def _ahead(files: Sequence[Found], unknown: Sequence[Stray]) -> Iterator[str]:
    for file in files:
        if file.early:
            yield f"  {file.path}: closed, but for the store it is still being written"
        elif file.ahead:
            yield (
                f"  {file.path}: {file.size} bytes, but the store knows of "
                f"{file.row.size + file.lines}"
            )
    for stray in unknown:
        if stray.ahead:
            yield f"  {stray.path}: {stray.size} bytes, but the store does not know this file"


def _loss(file: Found) -> str:
    if file.size is None:
        return f"  {file.path}: missing; {file.row.size} bytes were committed"
    return f"  {file.path}: {file.size} bytes; {file.row.size} were committed"
