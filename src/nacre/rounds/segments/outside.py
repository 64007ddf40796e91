"""Captures of other crawls: their WARC files are named in our archive, and stay where they are.

A segment of its own has the visits whose captures came in, so that `readseg`, `index` and `parse`
find them as those of our own rounds. It was fetched and updated, has one unit, and an empty list.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nacre.crawldb import row
from nacre.rounds.segments.parts import PartFile, PartManifest, UnitPlace, upload_files
from nacre.rounds.storage import Storage, open_storage
from nacre.rounds.tables.tables import TaskPlace, write_arrow
from nacre.rounds.tables.versions import OUTSIDE, TableFile

UNIT = "u0001"
"""The unit of such a segment."""


def write_empty_list(place: TaskPlace, segment: str) -> None:
    """Write the list of such a segment, which has no rows: nothing was listed here."""
    with place.open() as work:
        path = work.scratch / "list.parquet"
        write_arrow(row.SCHEMA.empty_table(), path)
        work.storage.upload(path, f"segments/{segment}/lists/{UNIT}.parquet")


def create_part(
    place: UnitPlace, facts: Sequence[Path], rows: Mapping[str, int], warcs: Sequence[str]
) -> str:
    """Send the facts of a part, with its manifest; its folder.

    Args:
        place: The unit.
        facts: Local files of facts.
        rows: Rows of each kind of fact.
        warcs: Names or paths of the WARC files that the visits are in.
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
    """The path of a WARC file by which other crawls find it, absolute, or a URL.

    Args:
        storage: The storage of the crawl that names it.
        file: What that crawl says of it.
    """
    if file.kind == OUTSIDE:
        return file.path
    local = storage.local_path(file.path)
    return f"{storage.place}/{file.path}" if local is None else str(local.resolve())


def outside_warcs(
    storage: Storage, mine: Mapping[str, TableFile], files: Mapping[str, TableFile], place: str
) -> dict[str, TableFile]:
    """The WARC files of another crawl that can be named here, by name, as they are named.

    A visit has the name of a file without its folder. Where another file of that name is here, the
    one of the other crawl cannot be named.

    Args:
        storage: Ours.
        mine: The files that are named here, by name.
        files: Those of the other crawl.
        place: Its storage.
    """
    theirs = open_storage(place)
    found = {}
    for name, file in files.items():
        path, here = outside_path(theirs, file), mine.get(name)
        if here is not None and not _is_same(here, outside_path(storage, here), file, path):
            continue
        found[name] = here or TableFile(path=path, kind=OUTSIDE, size=file.size)
    return found


def _is_same(here: TableFile, path: str, file: TableFile, other: str) -> bool:
    return path == other or bool(here.sha256 and here.sha256 == file.sha256)
