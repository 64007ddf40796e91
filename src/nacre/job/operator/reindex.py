"""The indexes of a stopped job made again, from the content of its WARCs."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from nacre.archive.index import rebuild_index
from nacre.job.configuration.settings import JobSettings
from nacre.job.holdings.warcs import index_name
from nacre.job.layout import Layout
from nacre.job.stored import require_store
from nacre.store.disk import RealDisk
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.store.table import file_rows, put_row
from nacre.store.writer import write_whole


class Reindexed(NamedTuple):
    """One index.

    Attributes:
        warc: The WARC, absolute.
        made: Its index, absolute.
        lines: Number of its lines.
        notes: What is wrong with the WARC's structure: offset, code, details.
    """

    warc: Path
    made: Path
    lines: int
    notes: list[str]


def reindex(layout: Layout, settings: JobSettings) -> Iterator[Reindexed]:
    """Make the index of every closed WARC again; one step a WARC.

    The store is told the new size, so that the next start finds what it expects. A WARC that is
    still open (the job was cut off) gets its index when the next start closes it.

    Raises:
        JobError: The job never ran.
        StorageError: It runs, or a file cannot be read or written.
    """
    require_store(layout)
    disk = RealDisk()
    with Store.open(str(layout.store), memory=settings.store.memory) as store:
        rows = list(file_rows(store))
        known = {row.final: (number, row) for number, row in rows if row.kind == FileKind.INDEX}
        for _, row in rows:
            if row.kind == FileKind.WARC and row.state == FileState.CLOSED:
                final = index_name(row.final)
                number, old = known.get(final, (0, FileRow(FileKind.INDEX, final + ".open", final)))
                number = number or _number(store)
                yield _remake(layout, disk, store, row, number, old)


def _number(store: Store) -> int:
    number = store.counter("files") + 1
    store.set_counter("files", number)
    return number


def _remake(
    layout: Layout, disk: Disk, store: Store, warc: FileRow, number: int, old: FileRow
) -> Reindexed:
    path = layout.root / warc.final
    notes: list[str] = []
    data = rebuild_index(path, lambda code, at, text: notes.append(f"{at}: {code}: {text}"))
    index = layout.root / old.final
    write_whole(disk, str(index), data)
    put_row(store, number, replace(old, state=FileState.CLOSED, size=len(data)))
    store.commit()
    return Reindexed(path, index, data.count(b"\n"), notes)
