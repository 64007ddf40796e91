"""Orphans: records of superseded attempts, which are salvaged into the archive.

A superseded attempt of a unit made real requests; its facts do not count, so that no URL is counted
twice, and its WARCs are in `orphans/`. Salvaged WARCs are ordinary files of the archive. A
truncated or damaged file is reported and stays where it is.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nacre.archive.reader import WarcReader
from nacre.machine.local_files import open_ordinary
from nacre.rounds.engine import TaskEngine
from nacre.rounds.segments.parts import ARCHIVED, ORPHANS, mark_of
from nacre.rounds.storage import Storage, file_sha256, localize
from nacre.rounds.tables.tables import TaskPlace
from nacre.rounds.tables.versions import ARCHIVE, Cycle, CycleChanges, CycleVersion, TableFile

_UNIT = re.compile(r"(\d{8}T\d{9})-(\d+)-\d+")


class OrphanSpec(NamedTuple):
    """One task: inspect a WARC of `orphans/`.

    Attributes:
        place: The work place of the task.
        name: Name of the WARC.
    """

    place: TaskPlace
    name: str


class OrphanFile(NamedTuple):
    """A WARC of a superseded attempt.

    Attributes:
        name: Its name.
        captures: Responses and revisits in it.
        size: Bytes.
        sha256: Digest of its bytes.
        defect: Why it cannot be salvaged; "" if it can.
    """

    name: str
    captures: int
    size: int
    sha256: str
    defect: str = ""


class OrphanSalvage(NamedTuple):
    """The outcome of `segments salvage`.

    Attributes:
        files: WARCs that are in the archive now.
        captures: Their captures.
        size: Their bytes.
        refused: Files that stay in `orphans/`.
        version: The version; None if nothing was committed.
    """

    files: int = 0
    captures: int = 0
    size: int = 0
    refused: Sequence[OrphanFile] = ()
    version: CycleVersion | None = None


def salvage_orphans(
    cycle: Cycle, engine: TaskEngine, place: TaskPlace, clock: int, *, dry: bool = False
) -> OrphanSalvage:
    """Move the records of superseded attempts into the archive.

    Args:
        cycle: The versions.
        engine: Runs a task for each file.
        place: The work place of the tasks.
        clock: The clock of the step, ms.
        dry: Inspect the files, and leave them where they are.

    Raises:
        CommittedByAnotherError: Another driver committed meanwhile.
    """
    storage, version = cycle.storage, cycle.newest()
    archived = {file.path for file in cycle.files(version, ARCHIVE)}
    names = storage.list(ORPHANS)
    warcs = [name for name in names if name.endswith((".warc.gz", ".warc"))]
    salvaged = [name for name in warcs if _archive_path(name) in archived]
    specs = [OrphanSpec(place, name) for name in warcs if name not in salvaged]
    inspected = engine.map(probe_task, specs)
    whole = [orphan for orphan in inspected if not orphan.defect]
    refused = tuple(orphan for orphan in inspected if orphan.defect)
    result = OrphanSalvage(
        len(whole),
        sum(orphan.captures for orphan in whole),
        sum(orphan.size for orphan in whole),
        refused,
    )
    if dry:
        return result
    if not whole:
        _remove(storage, names, salvaged)
        return result
    files = []
    for orphan in whole:
        files.append(_file(version, orphan.name, "warc", orphan.size, orphan.sha256))
        for index in _indexes(names, orphan.name):
            data = storage.read(index)
            files.append(_index_file(version, index, data))
    for file in files:
        storage.copy(f"{ORPHANS}/{file.path.rpartition('/')[2]}", file.path)
    changes = CycleChanges(
        step="segments salvage",
        clock=clock,
        archive=files,
        counters={"files": result.files, "captures": result.captures},
    )
    new_version = cycle.commit(version, changes)
    _remove(storage, names, [*salvaged, *(orphan.name for orphan in whole)])
    return result._replace(version=new_version)


def probe_task(spec: OrphanSpec) -> OrphanFile:
    """Read a WARC to its end."""
    with spec.place.open() as work:
        path = localize(work.storage, spec.name, work.scratch)
        defects: list[str] = []
        captures = 0
        with open_ordinary(path) as file:

            def note(code: str, offset: int, message: str) -> None:
                defects.append(f"{code} at byte {offset}: {message}")

            for entry in WarcReader(file, note):
                while entry.read():
                    pass
                captures += entry.get("WARC-Type") in ("response", "revisit")
        size, digest = path.stat().st_size, file_sha256(path)
        return OrphanFile(spec.name, captures, size, digest, defects[0] if defects else "")


def _archive_path(name: str) -> str:
    return f"{ARCHIVED}/{name.rpartition('/')[2]}"


def _indexes(names: Sequence[str], warc: str) -> list[str]:
    """The index files of a WARC."""
    stem = warc.removesuffix(".gz").removesuffix(".warc")
    return [name for name in names if name.endswith(".cdxj") and name.startswith(stem)]


def _file(version: CycleVersion, name: str, kind: str, size: int, sha256: str) -> TableFile:
    match = _UNIT.search(name)
    segment = unit = ""
    if match is not None:
        unit = match[2]
        segment = next((n for n in version.segments if mark_of(n) == match[1]), "")
    return TableFile(
        path=_archive_path(name), bucket=int(unit or 0), kind=kind, group=segment, size=size,
        sha256=sha256,
    )  # fmt: skip


def _index_file(version: CycleVersion, name: str, data: bytes) -> TableFile:
    import hashlib  # noqa: PLC0415 - for these files alone

    return _file(version, name, "cdxj", len(data), hashlib.sha256(data).hexdigest())


def _remove(storage: Storage, names: Sequence[str], warcs: Sequence[str]) -> None:
    """Remove files that are in the archive now."""
    for warc in warcs:
        for name in (*_indexes(names, warc), warc):
            storage.delete(name)
