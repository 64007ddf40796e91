"""The record of the files of a segment: their digests, for the detection of damage.

`segments/20261122T101500.123Z/files-1a2b….json` lists the lists, settings and notes of a segment,
and the committed parts with their facts. It is written before the version that contains its sha256
(`SegmentState.files`), and never changed; each step that changes the segment writes a new record.
Segments of earlier versions of Nacre have none.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from nacre.errors import DamageError, StorageError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.segments.frozen_settings import CONF, conf_name
from nacre.rounds.segments.parts import PartFile, PartManifest
from nacre.rounds.storage import Storage, StoredFile, file_sha256, localize, open_storage
from nacre.rounds.storage.local import TEMPORARY
from nacre.rounds.tables.versions import SegmentState

FETCH_START = "fetch.json"
"""The note of the first start of a fetch, in the folder of the segment."""

_KINDS = ("lists", "hosts", "fetched")
_NOTES = ("choice.json", "known.json")
_FACTS = ".parquet"
_NOTE = re.compile(r"segments/[^/]+/(?:choice|fetch|files-[0-9a-f]+)\.json")
_TASK_BYTES = 256 << 20
_TASK_FILES = 256


class SegmentFiles(msgspec.Struct, frozen=True):
    """The files of a segment, by name.

    Attributes:
        files: Lists, hosts, settings, notes, manifests of parts and their facts.
    """

    files: tuple[PartFile, ...]


class FirstStart(msgspec.Struct, frozen=True):
    """The first start of the fetch of a segment, which outlives a kill.

    Attributes:
        began: Its time, seconds since the epoch.
        lease: Remaining seconds of the leases by the clock of the step; 0 without leases.
    """

    began: float
    lease: float = 0.0


class RecordSpec(NamedTuple):
    """One task: compute digests of files.

    Attributes:
        storage: The argument of `open_storage`.
        names: The files; a manifest of a part adds the digests of its facts.
    """

    storage: str
    names: tuple[str, ...]


def record_name(segment: str, sha256: str) -> str:
    """Return the name of the record of a segment.

    Args:
        segment: The segment.
        sha256: Digest of the record.
    """
    return f"segments/{segment}/files-{sha256[:16]}.json"


def is_note(name: str) -> bool:
    """Return whether a file is a note, which steps do not need: of a choice, start, or record."""
    return bool(_NOTE.fullmatch(name))


def read_record(storage: Storage, segment: str, state: SegmentState) -> tuple[PartFile, ...]:
    """Return the files of a segment by its record; () without a record.

    Args:
        storage: The storage of the segment.
        segment: The segment.
        state: Its state.

    Raises:
        DamageError: The record is not the committed one.
        MissingFileError: There is no record.
    """
    if not state.files:
        return ()
    name = record_name(segment, state.files)
    data = storage.read(name)
    digest = hashlib.sha256(data).hexdigest()
    if digest != state.files:
        raise DamageError(
            f"{storage.place}/{name}: its sha256 is {digest}, and the version says {state.files}"
        )
    return msgspec.json.decode(data, type=SegmentFiles).files


def record_segment(
    engine: TaskEngine,
    storage: Storage,
    segment: str,
    state: SegmentState,
    earlier: Sequence[PartFile] = (),
) -> SegmentState:
    """Write a record of the current files of a segment; return its state with the record.

    Args:
        engine: Runs the tasks that compute digests.
        storage: The storage of the segment.
        segment: The segment.
        state: The state to commit.
        earlier: Files with earlier digests; these stay, so that damage is detected.
    """
    return record_segments(engine, storage, {segment: state}, {segment: earlier})[segment]


def record_segments(
    engine: TaskEngine,
    storage: Storage,
    states: Mapping[str, SegmentState],
    earlier: Mapping[str, Sequence[PartFile]],
) -> dict[str, SegmentState]:
    """Write records of several segments; return their states with the records.

    Args:
        engine: See `record_segment`.
        storage: See `record_segment`.
        states: The states by segment.
        earlier: Files with earlier digests, by segment; a segment may be missing.
    """
    files: dict[str, dict[str, PartFile]] = {}
    sizes: dict[str, int] = {}
    for segment, state in states.items():
        parts = {part for unit in state.parts.values() for part in unit}
        earlier_files = earlier.get(segment, ())
        conf = f"segments/{segment}/{conf_name(state)}/"
        files[segment] = {
            file.name: file for file in earlier_files if _stays(file.name, parts, conf)
        }
        names = _recordable_sizes(storage.walk(f"segments/{segment}"), segment, state)
        sizes |= {name: size for name, size in names.items() if name not in files[segment]}
    specs = [RecordSpec(storage.place, group) for group in _groups(sizes)]
    for digests in engine.map(record_task, specs):
        for file in digests:
            files[file.name.split("/", 2)[1]].setdefault(file.name, file)
    return {
        segment: msgspec.structs.replace(state, files=_put_record(storage, segment, files[segment]))
        for segment, state in states.items()
    }


def _put_record(storage: Storage, segment: str, files: Mapping[str, PartFile]) -> str:
    """Write the record of a segment; return its sha256."""
    data = msgspec.json.encode(SegmentFiles(tuple(files[name] for name in sorted(files))))
    digest = hashlib.sha256(data).hexdigest()
    storage.put(record_name(segment, digest), data)
    return digest


def known_files(storage: Storage, segment: str, state: SegmentState) -> tuple[PartFile, ...]:
    """Return the files of `read_record`; () for a damaged record, too."""
    try:
        return read_record(storage, segment, state)
    except StorageError:
        return ()


def _recordable_sizes(
    stored: Sequence[StoredFile], segment: str, state: SegmentState
) -> dict[str, int]:
    """Return the sizes of the files for a record, by name; facts come with their manifests."""
    folder = f"segments/{segment}/"
    notes = {*_NOTES, *((FETCH_START,) if state.state != "generated" else ())}
    manifests = {f"{part}.json" for unit in state.parts.values() for part in unit}
    kinds = (*_KINDS, conf_name(state))
    sizes = {}
    for name, size, _ in stored:
        inner = name.removeprefix(folder)
        kind, _, inner_name = inner.partition("/")
        if name.rpartition("/")[2].startswith(TEMPORARY):
            continue  # it was never finished
        if (kind in kinds and inner_name) or inner in notes or name in manifests:
            sizes[name] = size
    return sizes


def _stays(name: str, parts: Collection[str], conf: str) -> bool:
    """Return whether a recorded file is still in use by the parts and settings of a segment."""
    kind = name.split("/")[2]
    if kind.startswith(CONF):
        return name.startswith(conf)
    if kind != "parts":
        return True
    return name.removesuffix(".json") in parts or name.rpartition("/")[0] in parts


def _groups(sizes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield groups of files of about the same size."""
    group: list[str] = []
    total = 0
    for name, size in sizes.items():
        group.append(name)
        total += size
        if total >= _TASK_BYTES or len(group) >= _TASK_FILES:
            yield tuple(group)
            group, total = [], 0
    if group:
        yield tuple(group)


def record_task(spec: RecordSpec) -> list[PartFile]:
    """Compute the digests of files.

    Raises:
        DamageError: A manifest of a part cannot be read.
    """
    storage = open_storage(spec.storage)
    files = []
    for name in spec.names:
        with TemporaryDirectory(prefix="record-") as scratch:
            path = localize(storage, name, Path(scratch))
            files.append(PartFile(name, path.stat().st_size, file_sha256(path)))
            if "/parts/" in name:
                files += _facts(path.read_bytes(), f"{storage.place}/{name}")
    return files


def _facts(data: bytes, path: str) -> Iterator[PartFile]:
    """Yield the facts of a part; its WARCs are in the archive."""
    try:
        part = msgspec.json.decode(data, type=PartManifest)
    except ValueError as error:  # of msgspec, or the encoding
        raise DamageError(f"{path}: it is no manifest of a part ({error})") from error
    yield from (file for file in part.files if file.name.endswith(_FACTS))
