"""The files that a version names, with the digests that were committed.

What names files can be damaged itself: a manifest of a table, the record of a segment, the manifest
of a part. It is told like any other file, and what the others name is compared all the same.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.errors import DamageError, StorageError
from nacre.rounds.segments.parts import PartFile, PartManifest
from nacre.rounds.segments.segment_files import (
    FETCH_START,
    FirstStart,
    is_note,
    known_files,
    record_name,
)
from nacre.rounds.storage import MissingFileError, Storage, open_storage
from nacre.rounds.tables.tables import local_warc, remote_place
from nacre.rounds.tables.versions import (
    ARCHIVE,
    OUTSIDE,
    Cycle,
    CycleVersion,
    SegmentState,
    TableFile,
    TableState,
)

MISSING = "missing"
"""What is found in place of a digest where there is no file."""

_MANIFEST = "a manifest of a part"


class NamedFile(NamedTuple):
    """A file that a version names.

    Attributes:
        name: Its name in the storage.
        size: Bytes.
        sha256: The digest that was committed; "" for a file that only has to be there.
    """

    name: str
    size: int
    sha256: str


class DamagedFile(NamedTuple):
    """A file that is not whole.

    Attributes:
        name: Its name in the storage.
        expected: Its sha256, as it was committed; what it should be, where none was.
        found: Its sha256 now; `missing` without the file; or why it cannot be read.
    """

    name: str
    expected: str
    found: str


class NamedFiles(NamedTuple):
    """All files that a version names.

    Attributes:
        files: Those that are to be compared, each once.
        damaged: Those that name others, and are not whole.
    """

    files: tuple[NamedFile, ...]
    damaged: tuple[DamagedFile, ...]


def named_files(cycle: Cycle, version: CycleVersion) -> NamedFiles:
    """All files that a version names: tables, archive, segments with their facts, seeds."""
    found: dict[str, NamedFile] = {}
    damaged: list[DamagedFile] = []
    for one in _named(cycle, version):
        if isinstance(one, DamagedFile):
            damaged.append(one)
        else:
            found[one.name] = one
    return NamedFiles(tuple(found.values()), tuple(damaged))


def _named(cycle: Cycle, version: CycleVersion) -> Iterator[NamedFile | DamagedFile]:
    archive = {} if version.archive is None else {ARCHIVE: version.archive}
    others = OtherArchives(cycle.storage)
    for table, known in {**version.tables, **archive}.items():
        try:
            files = cycle.files(version, table)
        except (DamageError, MissingFileError) as error:
            yield _damaged_manifest(cycle.storage, known, str(error))
            continue
        for file in files:
            if file.kind != OUTSIDE:
                yield NamedFile(file.path, file.size, file.sha256)
                continue
            try:
                there = others.has(file)
            except StorageError as error:
                yield DamagedFile(file.path, file.sha256 or "a file", f"cannot be read: {error}")
                continue
            if not there:
                yield NamedFile(file.path, file.size, file.sha256)
    for segment, state in version.segments.items():
        yield from _of_segment(cycle.storage, segment, state)
    for name in version.seeds:
        yield NamedFile(name, 0, "")


class OtherArchives:
    """The archives of other crawls: each object store is opened and listed once.

    Args:
        storage: The storage that names their WARCs.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._names: dict[str, frozenset[str] | StorageError] = {}

    def has(self, file: TableFile) -> bool:
        """Whether a WARC is where it was; that of a job may have grown since.

        Args:
            file: What the storage says of the WARC.

        Raises:
            StorageError: The storage of the other crawl cannot be read.
        """
        remote = remote_place(file)
        if remote is None:
            return local_warc(self._storage, file, Path()).is_file()
        place, name = remote
        if place not in self._names:
            self._names[place] = _archived(place)
        names = self._names[place]
        if isinstance(names, StorageError):
            raise names
        return name in names


def _archived(place: str) -> frozenset[str] | StorageError:
    """The names in the archive of a storage; why they cannot be read."""
    try:
        return frozenset(open_storage(place).list(ARCHIVE))
    except StorageError as error:
        return error


def _damaged_manifest(storage: Storage, known: TableState, said: str) -> DamagedFile:
    found = _digest(storage, known.manifest)
    return DamagedFile(known.manifest, known.sha256, said if found == known.sha256 else found)


def _digest(storage: Storage, name: str) -> str:
    try:
        return hashlib.sha256(storage.read(name)).hexdigest()
    except MissingFileError:
        return MISSING


# ---- segments


def _of_segment(
    storage: Storage, segment: str, state: SegmentState
) -> Iterator[NamedFile | DamagedFile]:
    known = {file.name: file for file in known_files(storage, segment, state)}
    if state.files and not known:
        name = record_name(segment, state.files)
        yield DamagedFile(name, state.files, _digest(storage, name))
    for file in known.values():
        if "/parts/" not in file.name:
            yield NamedFile(*msgspec.structs.astuple(file))
    for unit in state.parts.values():
        for part in unit:
            yield from _of_part(storage, part, known)
    if state.state == "generated":
        if not known:
            yield from _lists(storage, segment, state)
        yield from _first_start(storage, segment)


def damaged_notes(storage: Storage, segment: str, state: SegmentState) -> list[str]:
    """The notes of a segment that are not whole, its record among them.

    Args:
        storage: Where it lies.
        segment: The segment.
        state: Its state.
    """
    known = known_files(storage, segment, state)
    found = [record_name(segment, state.files)] if state.files and not known else []
    found += [
        one.name for one in known if is_note(one.name) and _digest(storage, one.name) != one.sha256
    ]
    if state.state == "generated":
        found += [one.name for one in _first_start(storage, segment)]
    return list(dict.fromkeys(found))


def _lists(
    storage: Storage, segment: str, state: SegmentState
) -> Iterator[NamedFile | DamagedFile]:
    """The lists of a segment without a record: nobody knows more than their number."""
    folder = f"segments/{segment}/lists"
    names = [name for name in storage.list(folder) if name.endswith(".parquet")]
    if len(names) != state.units:
        yield DamagedFile(folder, f"lists: {state.units}", f"lists: {len(names)}")
    yield from (NamedFile(name, 0, "") for name in names)


def _first_start(storage: Storage, segment: str) -> Iterator[DamagedFile]:
    """The note of a fetch that began, where it cannot be read; its digest is nowhere yet."""
    name = f"segments/{segment}/{FETCH_START}"
    try:
        msgspec.json.decode(storage.read(name), type=FirstStart)
    except MissingFileError:
        return
    except ValueError as error:  # of msgspec, or the encoding
        yield DamagedFile(name, "the time of the first start", str(error))


def _of_part(
    storage: Storage, part: str, known: Mapping[str, PartFile]
) -> Iterator[NamedFile | DamagedFile]:
    """The facts of a part; its WARCs were moved into the archive."""
    name = f"{part}.json"
    expected = known[name].sha256 if name in known else ""
    files: Iterable[PartFile] = known.values()
    try:
        data = storage.read(name)
        found = hashlib.sha256(data).hexdigest() if expected else ""
        if found == expected:
            files = msgspec.json.decode(data, type=PartManifest).files
        else:
            yield DamagedFile(name, expected, found)
    except MissingFileError:
        yield DamagedFile(name, expected or _MANIFEST, MISSING)
    except ValueError as error:  # of msgspec, or the encoding
        yield DamagedFile(name, _MANIFEST, str(error))
    for file in files:
        if file.name.startswith(f"{part}/") and file.name.endswith(".parquet"):
            yield NamedFile(file.name, file.size, file.sha256)
