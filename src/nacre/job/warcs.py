"""The WARC files and indexes that a store knows: find missing ones, rebuild indexes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from nacre.archive.index import index_name, rebuild_index
from nacre.errors import NacreError
from nacre.inspect.stored_job import require_store
from nacre.inspect.view import reading
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from nacre.store.commit import GroupCommit
from nacre.store.disk import RealDisk
from nacre.store.file_table import delete_row, file_rows, put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.lost_found import move_file
from nacre.store.recovery import ExaminedFile, examine_files
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.writer import write_whole


def find_index(store: Store, warc: str) -> tuple[int, FileRow] | None:
    """Number and row of the index of a WARC, by its final name; None when it has none."""
    final = index_name(warc)
    for number, row in file_rows(store):
        if row.kind == FileKind.INDEX and row.final == final:
            return number, row
    return None


async def remake_index(store: Store, commit: GroupCommit, disk: Disk, warc: str) -> None:
    """Make it from the content of the WARC (final name, relative to the job).

    The row never says more than the file has, so that no start takes it for damage.
    """
    stored = find_index(store, warc)
    data = rebuild_index(Path(commit.files.absolute(warc)))
    final = index_name(warc)
    if stored is None:
        number = store.counter("files") + 1
        store.set_counter("files", number)
        stored = number, FileRow(FileKind.INDEX, final + ".open", final)
    number, row = stored
    row = replace(row, state=FileState.CLOSED, size=len(data))
    if stored[1].size > len(data):
        put_row(store, number, row)
        await commit.flush()
    write_whole(disk, commit.files.absolute(final), data)
    put_row(store, number, row)
    await commit.flush()


async def drop_index(store: Store, commit: GroupCommit, disk: Disk, root: str, warc: str) -> None:
    """The index of a WARC that is gone goes to `lost+found/`."""
    stored = find_index(store, warc)
    if stored is None:
        return
    number, row = stored
    delete_row(store, number)
    await commit.flush()
    path = commit.files.absolute(row.final)
    if disk.size(path) is not None:
        move_file(disk, root, path)


class ReindexedWarc(NamedTuple):
    """One index that was rebuilt.

    Attributes:
        warc: The WARC, absolute.
        index_path: Its index, absolute.
        lines: Number of its lines.
        notes: What is wrong with the WARC's structure: offset, code, details.
    """

    warc: Path
    index_path: Path
    lines: int
    notes: list[str]


def reindex(layout: Layout, settings: JobSettings) -> Iterator[ReindexedWarc]:
    """Make the index of every closed WARC again; one step a WARC.

    The new size is stored for the check of the next start. A WARC that is
    still open (the job was cut off) gets its index when the next start closes it.

    Raises:
        JobError: The job never ran.
        StorageError: It runs, or a file cannot be read or written.
    """
    require_store(layout)
    disk = RealDisk()
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        rows = list(file_rows(store))
        indexes = {row.final: (number, row) for number, row in rows if row.kind == FileKind.INDEX}
        for _, row in rows:
            if row.kind == FileKind.WARC and row.state == FileState.CLOSED:
                final = index_name(row.final)
                number, old = indexes.get(
                    final, (0, FileRow(FileKind.INDEX, final + ".open", final))
                )
                number = number or _number(store)
                yield _remake(layout, disk, store, row, number, old)


def _number(store: Store) -> int:
    number = store.counter("files") + 1
    store.set_counter("files", number)
    return number


def _remake(
    layout: Layout, disk: Disk, store: Store, warc: FileRow, number: int, old: FileRow
) -> ReindexedWarc:
    path = layout.root / warc.final
    notes: list[str] = []
    data = rebuild_index(path, lambda code, at, text: notes.append(f"{at}: {code}: {text}"))
    index = layout.root / old.final
    write_whole(disk, str(index), data)
    put_row(store, number, replace(old, state=FileState.CLOSED, size=len(data)))
    store.commit()
    return ReindexedWarc(path, index, data.count(b"\n"), notes)


def known_files(layout: Layout, settings: JobSettings) -> list[ExaminedFile]:
    """The files that the store knows, as they are; none where it is absent or cannot be read.

    An archive may be checked without it.
    """
    try:
        with reading(layout, settings) as view:
            return examine_files(view.store, RealDisk(), str(layout.root))
    except NacreError:
        return []


def missing_files(files: Sequence[ExaminedFile]) -> Iterator[ExaminedFile]:
    """Yield WARCs that are gone or shorter than their committed size, and indexes that are gone."""
    for file in files:
        if (file.row.kind == FileKind.WARC and file.short) or (
            file.row.kind == FileKind.INDEX and file.size is None
        ):
            yield file


def committed_sizes(files: Sequence[ExaminedFile]) -> dict[str, int]:
    """Committed bytes of the WARCs that are being written, by path."""
    return {
        file.path: file.row.size
        for file in files
        if file.row.kind == FileKind.WARC and file.row.state == FileState.OPEN
    }
