"""The record of the files of a segment: their digests, by which damage is found.

`segments/20261122T101500.123Z/files-1a2b….json` names the lists, settings and notes of a segment,
and the parts that count with their facts. It is written before the version that names it by its
sha256 (`SegmentState.files`), and never changed; each step that changes the segment writes another
one. Segments of earlier versions of Nacre have none.
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
from nacre.rounds.storage import Storage, StoredFile, file_sha256, localized, open_storage
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
        began: When it was, seconds since the epoch.
        lease: Seconds that the leases then had left, by the clock of the step; 0: there are none.
    """

    began: float
    lease: float = 0.0


class RecordSpec(NamedTuple):
    """One task: files whose digests are taken.

    Attributes:
        storage: What `open_storage` takes.
        names: The files; of a manifest of a part its facts are taken over, too.
    """

    storage: str
    names: tuple[str, ...]


def record_name(segment: str, sha256: str) -> str:
    """Name of the record of a segment.

    Args:
        segment: The segment.
        sha256: That of the record.
    """
    return f"segments/{segment}/files-{sha256[:16]}.json"


def is_note(name: str) -> bool:
    """Whether a file is a note that a step can do without: of a choice, a start, or a record."""
    return bool(_NOTE.fullmatch(name))


def read_record(storage: Storage, segment: str, state: SegmentState) -> tuple[PartFile, ...]:
    """The files of a segment as its record has them; () without one.

    Args:
        storage: Where it lies.
        segment: The segment.
        state: Its state.

    Raises:
        DamageError: The record is not the one that was committed.
        MissingFileError: It is not there.
    """
    if not state.files:
        return ()
    name = record_name(segment, state.files)
    data = storage.read(name)
    found = hashlib.sha256(data).hexdigest()
    if found != state.files:
        raise DamageError(
            f"{storage.place}/{name}: its sha256 is {found}, and the version says {state.files}"
        )
    return msgspec.json.decode(data, type=SegmentFiles).files


def recorded(
    engine: TaskEngine,
    storage: Storage,
    segment: str,
    state: SegmentState,
    known: Sequence[PartFile] = (),
) -> SegmentState:
    """The state of a segment with a record of the files that it has now.

    Args:
        engine: Runs the tasks that take digests.
        storage: Where it lies.
        segment: The segment.
        state: Its state, as it is to be committed.
        known: Files whose digests were taken before; these stay, so that damage is found.
    """
    return recorded_all(engine, storage, {segment: state}, {segment: known})[segment]


def recorded_all(
    engine: TaskEngine,
    storage: Storage,
    states: Mapping[str, SegmentState],
    known: Mapping[str, Sequence[PartFile]],
) -> dict[str, SegmentState]:
    """The states of segments with records of their files, whose digests are taken together.

    Args:
        engine: See `recorded`.
        storage: See `recorded`.
        states: The states by segment.
        known: Files whose digests were taken before, by segment; a segment may be missing.
    """
    files: dict[str, dict[str, PartFile]] = {}
    sizes: dict[str, int] = {}
    for segment, state in states.items():
        parts = {part for unit in state.parts.values() for part in unit}
        before = known.get(segment, ())
        conf = f"segments/{segment}/{conf_name(state)}/"
        files[segment] = {file.name: file for file in before if _stays(file.name, parts, conf)}
        names = _wanted(storage.walk(f"segments/{segment}"), segment, state)
        sizes |= {name: size for name, size in names.items() if name not in files[segment]}
    specs = [RecordSpec(storage.place, group) for group in _groups(sizes)]
    for found in engine.map(record_task, specs):
        for file in found:
            files[file.name.split("/", 2)[1]].setdefault(file.name, file)
    return {
        segment: msgspec.structs.replace(state, files=_put(storage, segment, files[segment]))
        for segment, state in states.items()
    }


def _put(storage: Storage, segment: str, files: Mapping[str, PartFile]) -> str:
    """Write the record of a segment; its sha256."""
    data = msgspec.json.encode(SegmentFiles(tuple(files[name] for name in sorted(files))))
    digest = hashlib.sha256(data).hexdigest()
    storage.put(record_name(segment, digest), data)
    return digest


def known_files(storage: Storage, segment: str, state: SegmentState) -> tuple[PartFile, ...]:
    """The files that `read_record` finds; () for a record that is damaged, too."""
    try:
        return read_record(storage, segment, state)
    except StorageError:
        return ()


def _wanted(there: Sequence[StoredFile], segment: str, state: SegmentState) -> dict[str, int]:
    """The sizes of the files that a record has, by name; facts come with their manifests."""
    folder = f"segments/{segment}/"
    notes = {*_NOTES, *((FETCH_START,) if state.state != "generated" else ())}
    manifests = {f"{part}.json" for unit in state.parts.values() for part in unit}
    kinds = (*_KINDS, conf_name(state))
    found = {}
    for name, size, _ in there:
        inner = name.removeprefix(folder)
        kind, _, rest = inner.partition("/")
        if name.rpartition("/")[2].startswith(TEMPORARY):
            continue  # it was never finished
        if (kind in kinds and rest) or inner in notes or name in manifests:
            found[name] = size
    return found


def _stays(name: str, parts: Collection[str], conf: str) -> bool:
    """Whether a recorded file is still one of the segment: other parts and settings may count."""
    kind = name.split("/")[2]
    if kind.startswith(CONF):
        return name.startswith(conf)
    if kind != "parts":
        return True
    return name.removesuffix(".json") in parts or name.rpartition("/")[0] in parts


def _groups(sizes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Files in tasks of about the same size."""
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
    """Take the digests of files.

    Raises:
        DamageError: A manifest of a part cannot be read.
    """
    storage = open_storage(spec.storage)
    found = []
    for name in spec.names:
        with TemporaryDirectory(prefix="record-") as scratch:
            path = localized(storage, name, Path(scratch))
            found.append(PartFile(name, path.stat().st_size, file_sha256(path)))
            if "/parts/" in name:
                found += _facts(path.read_bytes(), f"{storage.place}/{name}")
    return found


def _facts(data: bytes, path: str) -> Iterator[PartFile]:
    """The facts of a part; its WARCs are in the archive."""
    try:
        part = msgspec.json.decode(data, type=PartManifest)
    except ValueError as error:  # of msgspec, or the encoding
        raise DamageError(f"{path}: it is no manifest of a part ({error})") from error
    yield from (file for file in part.files if file.name.endswith(_FACTS))
