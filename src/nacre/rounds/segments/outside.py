"""Captures of other crawls: our archive lists their WARC files, which stay where they are.

A separate segment has the visits of the imported captures, so that `readseg`, `index` and `parse`
find them like the visits of rounds. It is an updated segment with one unit and an empty list.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.archive.index import index_name, rebuild_index
from nacre.crawldb import row
from nacre.rounds.engine import TaskEngine
from nacre.rounds.segments.parts import PartFile, PartManifest, UnitPlace, upload_files
from nacre.rounds.storage import Storage, localize, open_storage
from nacre.rounds.tables.tables import TaskPlace, write_arrow
from nacre.rounds.tables.versions import OUTSIDE, TableFile


class RemadeIndex(NamedTuple):
    """An index that was rebuilt.

    Attributes:
        name: Its name in the storage.
        expected: Its sha256, as it was committed.
        found: Its sha256 now; "" if the rebuild is only planned.
    """

    name: str
    expected: str
    found: str

    @property
    def is_same(self) -> bool:
        """Whether it has the committed bytes."""
        return self.found == self.expected


class RemakeSpec(NamedTuple):
    """One task: make an index from its WARC.

    Attributes:
        place: The work place of the task.
        warc: Name of the WARC.
        target: Name of the index.
        expected: The committed sha256 of the index.
    """

    place: TaskPlace
    warc: str
    target: str
    expected: str


def remake_indexes(
    engine: TaskEngine,
    place: TaskPlace,
    files: Sequence[TableFile],
    damaged: Mapping[str, str],
    *,
    dry: bool = False,
) -> tuple[RemadeIndex, ...]:
    """Rebuild damaged indexes of an archive whose WARCs are whole.

    Args:
        engine: Runs a task for each index.
        place: The work place of the tasks.
        files: The files of the archive.
        damaged: The expected sha256 of its damaged files, by name.
        dry: Return the planned indexes, and make none.
    """
    specs = [
        RemakeSpec(place, file.path, index, damaged[index])
        for file in files
        if file.kind == "warc" and file.path not in damaged
        if (index := index_name(file.path)) in damaged
    ]
    if dry:
        return tuple(RemadeIndex(spec.target, spec.expected, "") for spec in specs)
    return tuple(engine.map(remake_task, specs))


def remake_task(spec: RemakeSpec) -> RemadeIndex:
    """Make the index of a WARC from its content."""
    with spec.place.open() as work:
        data = rebuild_index(localize(work.storage, spec.warc, work.scratch))
        work.storage.put(spec.target, data)
    return RemadeIndex(spec.target, spec.expected, hashlib.sha256(data).hexdigest())


UNIT = "u0001"
"""The unit of such a segment."""


def write_empty_list(place: TaskPlace, segment: str) -> None:
    """Write the list of such a segment, which has no rows."""
    with place.open() as work:
        path = work.scratch / "list.parquet"
        write_arrow(row.SCHEMA.empty_table(), path)
        work.storage.upload(path, f"segments/{segment}/lists/{UNIT}.parquet")


def create_part(
    place: UnitPlace, facts: Sequence[Path], rows: Mapping[str, int], warcs: Sequence[str]
) -> str:
    """Upload the facts of a part, with its manifest; return its folder.

    Args:
        place: The unit.
        facts: Local files of facts.
        rows: Rows of each kind of fact.
        warcs: Names or paths of the WARC files of the visits.
    """
    attempt = place.claim()
    folder = f"{place.parts}/{attempt}-001"
    sent = upload_files(place.storage, facts, folder)
    place.create(
        PartManifest(
            unit=UNIT,
            attempt=attempt,
            number=1,
            files=(*(PartFile(name, 0, "") for name in warcs), *sent),
            rows=dict(rows),
            last=True,
        )
    )
    return folder


def outside_path(storage: Storage, file: TableFile) -> str:
    """Return the path of a WARC file for other crawls: an absolute path or a URL.

    Args:
        storage: The storage of the crawl that lists it.
        file: The entry in the archive of that crawl.
    """
    if file.kind == OUTSIDE:
        return file.path
    local = storage.local_path(file.path)
    return f"{storage.place}/{file.path}" if local is None else str(local.resolve())


def outside_warcs(
    storage: Storage, mine: Mapping[str, TableFile], files: Mapping[str, TableFile], place: str
) -> dict[str, TableFile]:
    """Return the WARC files of another crawl that our archive can list, by name.

    A visit has the name of a file without its folder. If our archive has another file of that name,
    the file of the other crawl cannot be listed.

    Args:
        storage: Our storage.
        mine: The files of our archive, by name.
        files: The files of the other crawl, by name.
        place: The storage of the other crawl.
    """
    theirs = open_storage(place)
    files_by_name = {}
    for name, file in files.items():
        path, own_file = outside_path(theirs, file), mine.get(name)
        if own_file is not None and not _is_same(
            own_file, outside_path(storage, own_file), file, path
        ):
            continue
        files_by_name[name] = own_file or TableFile(path=path, kind=OUTSIDE, size=file.size)
    return files_by_name


def _is_same(own_file: TableFile, path: str, file: TableFile, other_path: str) -> bool:
    return path == other_path or bool(own_file.sha256 and own_file.sha256 == file.sha256)
