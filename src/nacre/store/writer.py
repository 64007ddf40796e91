"""The writer's steps of a commit: file operations of a sealed group before and after its batch.

Order of a commit: directories of new files; WARC bytes and fdatasync; the batch, on the loop
thread; `flush_wal`; then lines into logs and indexes, and new names.
"""

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from nacre.core.capture import Body
from nacre.store.file_table import FileTable, JournalLines, journal_lines, put_row
from nacre.store.files import TAIL_LIMIT, FileKind, FileRow, OpenFile
from nacre.store.seam import Disk, StorageEngine
from nacre.store.store import CommitGroup, Store

SortIndex = Callable[[bytes], bytes]
"""Turns the lines of an index, in the order written, into the bytes of the closed index."""

_CHUNK = 1 << 20


class Append:
    """Bytes of a group for one WARC."""

    __slots__ = ("file", "offset", "parts")

    def __init__(self, file: OpenFile, offset: int, parts: Sequence[bytes | Body]) -> None:
        self.file = file
        self.offset = offset
        self.parts = parts


class CommitWork:
    """Seals the open group and lists its file operations. Made on the loop thread.

    Attributes:
        group: The group, sealed; its rows hold the new sizes, states and the journal.
        appends: What goes into WARCs.
        announced: Rows to be durable before any of that: more than `TAIL_LIMIT` is coming.
        lines: What goes into logs and indexes once the group is durable.
        closed: WARCs that get nothing more.
        ended: Indexes and logs that get nothing more.
    """

    def __init__(self, store: Store) -> None:
        group = store.group
        self.appends: list[Append] = []
        self.announced: list[tuple[int, FileRow]] = []
        self.lines: list[JournalLines] = [
            journal_lines(store, file, text) for file, text in group.lines.items()
        ]
        self.closed = [file for file in group.closing if file.row.kind == FileKind.WARC]
        self.ended = [file for file in group.closing if file.row.kind != FileKind.WARC]
        for file, parts in group.appends.items():
            self._append(file, parts)
        for file in self.closed:
            file.close()
        for file in self.ended:
            file.begin_closing()
        for file in {*group.appends, *group.closing}:
            put_row(store, file.number, file.row)
        self.group: CommitGroup = store.seal()

    def _append(self, file: OpenFile, parts: Sequence[bytes | Body]) -> None:
        offset = file.row.size
        self.appends.append(Append(file, offset, parts))
        if file.end - offset > TAIL_LIMIT:
            self.announced.append((file.number, replace(file.row, tail=file.end - offset)))
        file.note_size(file.end)


class GroupWriter:
    """The steps of a commit that wait for the disk; all run in the writer thread.

    Args:
        disk: Has the files.
        engine: The engine of the store.
        files: Knows where the files are, and owns their handles.
        sort_index: What closing an index does to its lines.
    """

    def __init__(
        self, disk: Disk, engine: StorageEngine, files: FileTable, sort_index: SortIndex
    ) -> None:
        self._disk = disk
        self._engine = engine
        self._absolute = files.absolute
        self._release = files.release
        self._sort_index = sort_index

    def name(self, work: CommitWork) -> None:
        """Make the names of new files durable, so that a batch may name them."""
        directories = work.group.directories
        for directory in sorted(directories):
            self._disk.fsync_dir(directory)
        directories.clear()

    def before(self, work: CommitWork) -> None:
        """Make durable all files that the batch of the group refers to."""
        self.name(work)
        for append in work.appends:
            write_parts(self._disk, append.file.handle, append.offset, append.parts)
        for file in {file.number: file for file in self._touched_files(work)}.values():
            self._disk.fdatasync(file.handle)

    @staticmethod
    def _touched_files(work: CommitWork) -> list[OpenFile]:
        return [*(append.file for append in work.appends), *work.closed]

    def after(self, work: CommitWork) -> dict[OpenFile, int]:
        """Make the batch durable, then do all that is only allowed after it.

        Returns:
            Final sizes of the indexes and logs that ended.
        """
        self._engine.flush_wal()
        for lines in work.lines:
            self._disk.pwrite(lines.file.handle, lines.data, lines.offset)
        for file in work.closed:
            self._rename(self._absolute(file.row.path), self._absolute(file.row.final))
            self._release(file.handle)
        for old, new in work.group.renames:
            self._rename(old, new)
        for path in work.group.obsolete:
            self._disk.unlink(path)
        return {file: self._end(file) for file in work.ended}

    def _end(self, file: OpenFile) -> int:
        """Sync a log; rewrite an index, sorted. Both still are in the journal."""
        size = file.end
        if file.row.kind == FileKind.INDEX:
            final = self._absolute(file.row.final)
            size = write_sorted(self._disk, file.handle, size, final, self._sort_index)
        else:
            self._disk.fdatasync(file.handle)
        self._release(file.handle)
        return size

    def _rename(self, old: str, new: str) -> None:
        if old != new:
            self._disk.rename(old, new)
            self._disk.fsync_dir(str(PurePosixPath(new).parent))


def write_parts(disk: Disk, handle: int, offset: int, parts: Sequence[bytes | Body]) -> None:
    """Write parts one after the other; bodies are copied piece by piece and closed."""
    small: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            small.append(part)
            continue
        offset = _write_small(disk, handle, offset, small)
        for place in range(0, part.length, _CHUNK):
            disk.pwrite(handle, part.read(place, _CHUNK), offset + place)
        offset += part.length
        part.close()
    _write_small(disk, handle, offset, small)


def _write_small(disk: Disk, handle: int, offset: int, parts: list[bytes]) -> int:
    if parts:
        disk.pwritev(handle, parts, offset)
        offset += sum(map(len, parts))
        parts.clear()
    return offset


def write_sorted(disk: Disk, handle: int, size: int, final: str, sort_index: SortIndex) -> int:
    """Write the sorted form of an index to its final name, durably; its size in bytes."""
    data = sort_index(disk.read(handle, 0, size))
    write_whole(disk, final, data)
    return len(data)


def write_whole(disk: Disk, path: str, data: bytes) -> None:
    """Write a file so that its name never shows less than all of it, durably."""
    temporary = f"{path}.tmp"
    disk.unlink(temporary)
    handle = disk.create(temporary)
    try:
        disk.pwrite(handle, data, 0)
        disk.fdatasync(handle)
    finally:
        disk.close(handle)
    disk.rename(temporary, path)
    disk.fsync_dir(str(PurePosixPath(path).parent))
