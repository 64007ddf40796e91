"""The files that a version lists, with their committed digests.

The lists of files can be damaged, too: a manifest of a table, the record of a segment, the manifest
of a part. They are reported like any other file, and the files of the other lists are compared.
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
"""The value in place of a digest if there is no file."""

_MANIFEST = "a manifest of a part"


class NamedFile(NamedTuple):
    """A file that a version lists.

    Attributes:
        name: Its name in the storage.
        size: Bytes.
        sha256: The committed digest; "" for a file that only has to exist.
    """

    name: str
    size: int
    sha256: str


class DamagedFile(NamedTuple):
    """A file that is not whole.

    Attributes:
        name: Its name in the storage.
        expected: Its committed sha256; without one, a description.
        found: Its sha256 now; `missing` without the file; or why it cannot be read.
    """

    name: str
    expected: str
    found: str


class NamedFiles(NamedTuple):
    """All files that a version lists.

    Attributes:
        files: Files to compare, each once.
        damaged: Damaged lists of files.
    """

    files: tuple[NamedFile, ...]
    damaged: tuple[DamagedFile, ...]


def named_files(cycle: Cycle, version: CycleVersion) -> NamedFiles:
    """Return all files of a version: tables, archive, segments with their facts, seeds."""
    files: dict[str, NamedFile] = {}
    damaged: list[DamagedFile] = []
    for file in _list_files(cycle, version):
        if isinstance(file, DamagedFile):
            damaged.append(file)
        else:
            files[file.name] = file
    return NamedFiles(tuple(files.values()), tuple(damaged))


def _list_files(cycle: Cycle, version: CycleVersion) -> Iterator[NamedFile | DamagedFile]:
    archive = {} if version.archive is None else {ARCHIVE: version.archive}
    other_archives = OtherArchives(cycle.storage)
    for table, table_state in {**version.tables, **archive}.items():
        try:
            files = cycle.files(version, table)
        except (DamageError, MissingFileError) as error:
            yield _damaged_manifest(cycle.storage, table_state, str(error))
            continue
        for file in files:
            if file.kind != OUTSIDE:
                yield NamedFile(file.path, file.size, file.sha256)
                continue
            try:
                exists = other_archives.has(file)
            except StorageError as error:
                yield DamagedFile(file.path, file.sha256 or "a file", f"cannot be read: {error}")
                continue
            if not exists:
                yield NamedFile(file.path, file.size, file.sha256)
    for segment, state in version.segments.items():
        yield from _segment_files(cycle.storage, segment, state)
    for name in version.seeds:
        yield NamedFile(name, 0, "")


class OtherArchives:
    """The archives of other crawls: each object store is opened and listed once.

    Args:
        storage: The storage whose archive lists their WARCs.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._names: dict[str, frozenset[str] | StorageError] = {}

    def has(self, file: TableFile) -> bool:
        """Return whether a WARC exists with its size; a WARC of a job may have grown since.

        Args:
            file: The entry of the WARC in the archive.

        Raises:
            StorageError: The storage of the other crawl cannot be read.
        """
        remote = remote_place(file)
        if remote is None:
            return local_warc(self._storage, file, Path()).is_file()
        place, name = remote
        if place not in self._names:
            self._names[place] = _archive_names(place)
        names = self._names[place]
        if isinstance(names, StorageError):
            raise names
        return name in names


def _archive_names(place: str) -> frozenset[str] | StorageError:
    """Return the names in the archive of a storage, or why they cannot be read."""
    try:
        return frozenset(open_storage(place).list(ARCHIVE))
    except StorageError as error:
        return error


def _damaged_manifest(storage: Storage, state: TableState, reason: str) -> DamagedFile:
    digest = _digest(storage, state.manifest)
    return DamagedFile(state.manifest, state.sha256, reason if digest == state.sha256 else digest)


def _digest(storage: Storage, name: str) -> str:
    try:
        return hashlib.sha256(storage.read(name)).hexdigest()
    except MissingFileError:
        return MISSING


# ---- segments


def _segment_files(
    storage: Storage, segment: str, state: SegmentState
) -> Iterator[NamedFile | DamagedFile]:
    entries = {file.name: file for file in known_files(storage, segment, state)}
    if state.files and not entries:
        name = record_name(segment, state.files)
        yield DamagedFile(name, state.files, _digest(storage, name))
    for file in entries.values():
        if "/parts/" not in file.name:
            yield NamedFile(*msgspec.structs.astuple(file))
    for unit in state.parts.values():
        for part in unit:
            yield from _part_files(storage, part, entries)
    if state.state == "generated":
        if not entries:
            yield from _list_paths(storage, segment, state)
        yield from _first_start(storage, segment)


def damaged_notes(storage: Storage, segment: str, state: SegmentState) -> list[str]:
    """Return the notes of a segment that are not whole, its record included.

    Args:
        storage: The storage of the segment.
        segment: The segment.
        state: Its state.
    """
    entries = known_files(storage, segment, state)
    notes = [record_name(segment, state.files)] if state.files and not entries else []
    notes += [
        file.name
        for file in entries
        if is_note(file.name) and _digest(storage, file.name) != file.sha256
    ]
    if state.state == "generated":
        notes += [file.name for file in _first_start(storage, segment)]
    return list(dict.fromkeys(notes))


def _list_paths(
    storage: Storage, segment: str, state: SegmentState
) -> Iterator[NamedFile | DamagedFile]:
    """Yield the lists of a segment without a record: only their number is known."""
    folder = f"segments/{segment}/lists"
    names = [name for name in storage.list(folder) if name.endswith(".parquet")]
    if len(names) != state.units:
        yield DamagedFile(folder, f"lists: {state.units}", f"lists: {len(names)}")
    yield from (NamedFile(name, 0, "") for name in names)


def _first_start(storage: Storage, segment: str) -> Iterator[DamagedFile]:
    """Yield the note of a begun fetch if it cannot be read; no digest is stored yet."""
    name = f"segments/{segment}/{FETCH_START}"
    try:
        msgspec.json.decode(storage.read(name), type=FirstStart)
    except MissingFileError:
        return
    except ValueError as error:  # msgspec, or the encoding
        yield DamagedFile(name, "the time of the first start", str(error))


def _part_files(
    storage: Storage, part: str, entries: Mapping[str, PartFile]
) -> Iterator[NamedFile | DamagedFile]:
    """Yield the facts of a part; its WARCs are files of the archive."""
    name = f"{part}.json"
    expected = entries[name].sha256 if name in entries else ""
    files: Iterable[PartFile] = entries.values()
    try:
        data = storage.read(name)
        digest = hashlib.sha256(data).hexdigest() if expected else ""
        if digest == expected:
            files = msgspec.json.decode(data, type=PartManifest).files
        else:
            yield DamagedFile(name, expected, digest)
    except MissingFileError:
        yield DamagedFile(name, expected or _MANIFEST, MISSING)
    except ValueError as error:  # msgspec, or the encoding
        yield DamagedFile(name, _MANIFEST, str(error))
    for file in files:
        if file.name.startswith(f"{part}/") and file.name.endswith(".parquet"):
            yield NamedFile(file.name, file.size, file.sha256)
