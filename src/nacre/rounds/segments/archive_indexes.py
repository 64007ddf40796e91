"""Rebuild damaged or missing indexes of the archive from their WARCs."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nacre.archive.index import rebuild_index
from nacre.rounds.engine import TaskEngine
from nacre.rounds.storage import localize
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import TableFile
from nacre.runs.manifest import index_name


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
