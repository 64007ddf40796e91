"""The indexes of the archive: those that are damaged or gone are made again of their WARCs."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.archive.index import rebuild_index
from nacre.rounds.engine import TaskEngine
from nacre.rounds.storage import localized
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import TableFile
from nacre.runs.manifest import index_name


class RemadeIndex(NamedTuple):
    """An index that was made again.

    Attributes:
        name: Its name in the storage.
        expected: Its sha256, as it was committed.
        found: Its sha256 now; "" where it is only planned.
    """

    name: str
    expected: str
    found: str

    @property
    def is_same(self) -> bool:
        """Whether it has the bytes that were committed."""
        return self.found == self.expected


class RemakeSpec(NamedTuple):
    """One task: an index that is made of its WARC.

    Attributes:
        place: Where it works.
        warc: Name of the WARC.
        made: Name of the index.
        expected: The sha256 of the index, as it was committed.
    """

    place: TaskPlace
    warc: str
    made: str
    expected: str


def remake_indexes(
    engine: TaskEngine,
    place: TaskPlace,
    files: Sequence[TableFile],
    damaged: Mapping[str, str],
    *,
    dry: bool = False,
) -> tuple[RemadeIndex, ...]:
    """Make damaged indexes of an archive again, as far as their WARCs are whole.

    Args:
        engine: Runs a task for each.
        place: Where they work.
        files: The files of the archive.
        damaged: The expected sha256 of its damaged files, by name.
        dry: Say which ones, and make none.
    """
    specs = [
        RemakeSpec(place, one.path, index, damaged[index])
        for one in files
        if one.kind == "warc" and one.path not in damaged
        if (index := index_name(one.path)) in damaged
    ]
    if dry:
        return tuple(RemadeIndex(one.made, one.expected, "") for one in specs)
    return tuple(engine.map(remake_task, specs))


def remake_task(spec: RemakeSpec) -> RemadeIndex:
    """Make the index of a WARC of its content."""
    with spec.place.open() as work:
        data = rebuild_index(localized(work.storage, spec.warc, work.scratch))
        work.storage.put(spec.made, data)
    return RemadeIndex(spec.made, spec.expected, hashlib.sha256(data).hexdigest())
