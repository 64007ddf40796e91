"""The index of one closed WARC made again while the job's group commit runs."""

from pathlib import Path

from msgspec.structs import replace

from nacre.archive.index import rebuild_index
from nacre.job.holdings.warcs import index_name
from nacre.store.commit import GroupCommit
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.lostfound import move_file
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import delete_row, file_rows, put_row
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
    found = find_index(store, warc)
    data = rebuild_index(Path(commit.files.absolute(warc)))
    final = index_name(warc)
    if found is None:
        number = store.counter("files") + 1
        store.set_counter("files", number)
        found = number, FileRow(FileKind.INDEX, final + ".open", final)
    number, row = found
    row = replace(row, state=FileState.CLOSED, size=len(data))
    if found[1].size > len(data):
        put_row(store, number, row)
        await commit.flush()
    write_whole(disk, commit.files.absolute(final), data)
    put_row(store, number, row)
    await commit.flush()


async def drop_index(store: Store, commit: GroupCommit, disk: Disk, root: str, warc: str) -> None:
    """The index of a WARC that is gone goes to `lost+found/`."""
    found = find_index(store, warc)
    if found is None:
        return
    number, row = found
    delete_row(store, number)
    await commit.flush()
    path = commit.files.absolute(row.final)
    if disk.size(path) is not None:
        move_file(disk, root, path)
