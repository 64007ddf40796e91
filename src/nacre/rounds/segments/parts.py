"""The parts of a unit: its checkpoints, and the attempts that make them.

A part is a folder of a segment: WARCs with their indexes, and the facts of their visits. It counts
from the exclusive creation of its manifest `parts/u0007/2-003.json`. An attempt begins with the
creation of `units/u0007/attempt-2`: earlier attempts check for that file, and end. An attempt
builds on the existing parts of the last attempt that made any; the manifests of its parts contain
the number of that attempt and of those parts. Every part therefore has one chain of predecessors.
The driver commits one chain for each unit; no other part is ever listed.
"""

import os
import re
import socket
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from nacre.errors import DamageError
from nacre.rounds.journal import GENERATED
from nacre.rounds.storage import (
    AlreadyThereError,
    MissingFileError,
    Storage,
    file_sha256,
    localize,
    open_storage,
)
from nacre.rounds.tables.versions import CycleVersion

ARCHIVED, ORPHANS = "archive", "orphans"
"""Folders of the storage: records of committed parts, and of superseded attempts."""
RECORDS = (".warc.gz", ".warc", ".cdxj")
"""Ends of the names of WARCs and their indexes."""
_ATTEMPT = re.compile(r"attempt-(\d+)")
_CHECKED = 256 << 20
"""Bytes of a task that compares parts."""
_PART = re.compile(r"(\d+)-(\d+)\.json")
_NO_MARKS = str.maketrans("", "", ".Z")


class PartFile(msgspec.Struct, frozen=True):
    """A file of a part.

    Attributes:
        name: Its name in the storage.
        size: Bytes.
        sha256: Digest of its bytes, hexadecimal.
    """

    name: str
    size: int
    sha256: str


class PartManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A part.

    Attributes:
        unit: The unit.
        attempt: The attempt that made it.
        number: Its number among the parts of the attempt, from 1.
        predecessor: The attempt that its attempt builds on; 0 for none.
        builds_on: How many of the parts of that attempt it builds on.
        scratch: Mark of its scratch directory.
        facts: Number of the first visit that is not in it, in the store of that directory.
        files: WARCs, indexes and facts.
        rows: Rows of the facts by file.
        statuses: Final visits by status.
        bytes: Payload received.
        virtual: Cash that pages gave to the virtual page of `opic`, in 2^-32.
        not_attempted: Number of URLs without an attempt, by reason; {} before the last part.
        last: It is the last part of the unit.
    """

    unit: str
    attempt: int
    number: int
    predecessor: int = 0
    builds_on: int = 0
    scratch: str = ""
    facts: int = 0
    files: tuple[PartFile, ...] = ()
    rows: dict[str, int] = {}
    statuses: dict[int, int] = {}
    bytes: int = 0
    virtual: int = 0
    not_attempted: dict[str, int] = {}
    last: bool = False

    @property
    def name(self) -> str:
        """`2-003`."""
        return f"{self.attempt}-{self.number:03d}"

    @property
    def pages(self) -> int:
        """Replies below 400."""
        return sum(count for status, count in self.statuses.items() if 0 < status < 400)

    @property
    def warc_bytes(self) -> int:
        """Bytes of WARC."""
        records = (file for file in self.files if not file.name.endswith((".parquet", ".cdxj")))
        return sum(file.size for file in records)


def mark_of(segment: str) -> str:
    """The name of a segment in names of WARCs: `20261122T101500123` of `20261122T101500.123Z`."""
    return segment.translate(_NO_MARKS)


class UnitPlace:
    """The files of a unit in the storage of a cycle.

    Args:
        storage: The storage.
        segment: Id of the segment.
        unit: Name of the unit, such as `u0007`.

    Attributes:
        storage, segment, unit: As given.
    """

    def __init__(self, storage: Storage, segment: str, unit: str) -> None:
        self.storage = storage
        self.segment = segment
        self.unit = unit

    @property
    def folder(self) -> str:
        """The segment."""
        return f"segments/{self.segment}"

    @property
    def list(self) -> str:
        """The list of the unit."""
        return f"{self.folder}/lists/{self.unit}.parquet"

    @property
    def hosts(self) -> str:
        """The file with the data of its hosts; it may be missing."""
        return f"{self.folder}/hosts/{self.unit}.parquet"

    @property
    def fetched(self) -> str:
        """The file with the keys of its hosts that are fetched already; it may be missing."""
        return f"{self.folder}/fetched/{self.unit}.parquet"

    @property
    def parts(self) -> str:
        """Folder of its parts."""
        return f"{self.folder}/parts/{self.unit}"

    @property
    def attempts(self) -> str:
        """Folder of its attempts."""
        return f"{self.folder}/units/{self.unit}"

    @property
    def progress(self) -> str:
        """The progress file of the latest attempt, in JSON; may be missing, and out of date."""
        return f"{self.folder}/units/{self.unit}.progress"

    @property
    def stop(self) -> str:
        """A file that ends all units of the segment; they can be resumed."""
        return f"{self.folder}/stop"

    def stops(self) -> bool:
        """Return whether a stop of the units of the segment is requested."""
        path = self.storage.local_path(self.stop)
        if path is not None:
            return path.exists()
        return self.stop in self.storage.list(self.folder)

    def manifests(self) -> dict[tuple[int, int], PartManifest]:
        """All parts, by attempt and number.

        Raises:
            DamageError: A manifest cannot be read.
        """
        parts = {}
        for name in self.storage.list(self.parts):
            match = _PART.fullmatch(name.rpartition("/")[2])
            if match:
                parts[int(match[1]), int(match[2])] = self._manifest(name)
        return parts

    def _manifest(self, name: str) -> PartManifest:
        try:
            return msgspec.json.decode(self.storage.read(name), type=PartManifest)
        except ValueError as error:  # msgspec, or the encoding
            raise DamageError(
                f"{self.storage.place}/{name}: it is no manifest of a part ({error}). Remove it: "
                "the unit then fetches its URLs again."
            ) from error

    def create(self, manifest: PartManifest) -> None:
        """Create the manifest of a part, whose files must exist.

        Raises:
            AlreadyThereError: There is a part of that name.
        """
        self.storage.create(f"{self.parts}/{manifest.name}.json", msgspec.json.encode(manifest))

    # ---- attempts

    def claim(self) -> int:
        """Begin an attempt, which fences earlier ones; return its number, from 1."""
        number = self.latest_attempt() + 1
        facts = {"host": socket.gethostname(), "pid": os.getpid()}
        while True:
            try:
                self.storage.create(f"{self.attempts}/attempt-{number}", msgspec.json.encode(facts))
            except AlreadyThereError:
                number += 1
            else:
                return number

    def latest_attempt(self) -> int:
        """Return the number of the newest attempt; 0 before the first."""
        numbers = [
            int(match[1])
            for name in self.storage.list(self.attempts)
            if (match := _ATTEMPT.fullmatch(name.rpartition("/")[2]))
        ]
        return max(numbers, default=0)


Chain = tuple[PartManifest, ...]
"""Parts that build on each other, in order."""


def chain_of(parts: dict[tuple[int, int], PartManifest], last: PartManifest | None) -> Chain:
    """Return the predecessors of a part, and the part itself; () for None.

    Raises:
        DamageError: A part of the chain is missing.
    """
    chain: list[PartManifest] = []
    while last is not None:
        own = [_require_part(parts, last, (last.attempt, n)) for n in range(1, last.number)]
        chain[:0] = [*own, last]
        before, count = last.predecessor, last.builds_on
        if before >= last.attempt:
            raise _missing_error(last, (before, count))
        last = _require_part(parts, last, (before, count)) if before and count else None
    return tuple(chain)


def _require_part(
    parts: dict[tuple[int, int], PartManifest], last: PartManifest, key: tuple[int, int]
) -> PartManifest:
    part = parts.get(key)
    if part is None:
        raise _missing_error(last, key)
    return part


def _missing_error(last: PartManifest, key: tuple[int, int]) -> DamageError:
    attempt, number = key
    return DamageError(
        f"the part {attempt}-{number:03d} of the unit {last.unit} is missing, on which "
        f"{last.name} builds. Put it back, or remove the later parts: the unit then fetches "
        "their URLs again."
    )


def newest_chain(place: UnitPlace, before: int) -> Chain:
    """Return the chain that an attempt builds on: that of the last earlier attempt with parts."""
    parts = place.manifests()
    earlier = [key for key in parts if key[0] < before]
    return chain_of(parts, parts[max(earlier)] if earlier else None)


def upload_files(storage: Storage, files: Sequence[Path], folder: str) -> Iterator[PartFile]:
    """Upload files to a folder of the storage; yield their entries for the manifest."""
    for path in files:
        name = f"{folder}/{path.name}"
        storage.upload(path, name)
        yield PartFile(name, path.stat().st_size, file_sha256(path))


class PartCheck(NamedTuple):
    """One task: compare the files of some parts with their manifests."""

    storage: str
    parts: tuple[PartManifest, ...]


def checks_of(storage: str, parts: Iterable[PartManifest]) -> list[PartCheck]:
    """Return tasks that check parts; small parts share a task."""
    checks: list[PartCheck] = []
    group: list[PartManifest] = []
    size = 0
    for part in parts:
        group.append(part)
        size += sum(file.size for file in part.files)
        if size >= _CHECKED:
            checks.append(PartCheck(storage, tuple(group)))
            group, size = [], 0
    return [*checks, PartCheck(storage, tuple(group))] if group else checks


def check_parts(spec: PartCheck) -> None:
    """Compare parts in a task, so that no WARC passes through the driver.

    Raises:
        DamageError: A file differs.
        StorageError: A file is missing.
    """
    storage = open_storage(spec.storage)
    for part in spec.parts:
        check_files(storage, part)


def check_files(storage: Storage, part: PartManifest) -> None:
    """Compare the files of a part with its manifest.

    Raises:
        DamageError: A file differs.
        StorageError: A file is missing.
    """
    for file in part.files:
        with tempfile.TemporaryDirectory(prefix="part-") as scratch:
            path = localize(storage, file.name, Path(scratch))
            if not path.is_file():
                raise MissingFileError(f"{path}: there is no such file. Restore the removed file.")
            size, digest = path.stat().st_size, file_sha256(path)
        if (size, digest) != (file.size, file.sha256):
            raise DamageError(
                f"{storage.place}/{file.name}: {size} bytes with the sha256 {digest}; its part "
                f"says {file.size} and {file.sha256}. Remove {part.name}.json of the unit "
                f"{part.unit} and later ones: it then fetches their URLs again."
            )


class KeptSoFar(NamedTuple):
    """The counts of parts.

    Attributes:
        pages: Replies below 400.
        warc_bytes: Bytes of WARC.
    """

    pages: int = 0
    warc_bytes: int = 0


def chains_so_far(storage: Storage, segment: str) -> dict[str, Chain]:
    """Return the parts of a segment by unit: those of the newest attempt that made any.

    Raises:
        DamageError: A manifest cannot be read, or is missing.
    """
    chains = {}
    for name in storage.list(f"segments/{segment}/lists"):
        if name.endswith(".parquet"):
            parts = UnitPlace(storage, segment, Path(name).stem).manifests()
            chains[Path(name).stem] = chain_of(parts, parts[max(parts)] if parts else None)
    return chains


def count_parts_so_far(storage: Storage, segment: str) -> KeptSoFar:
    """Return the counts of the parts of a segment."""
    parts = [part for chain in chains_so_far(storage, segment).values() for part in chain]
    return KeptSoFar(sum(item.pages for item in parts), sum(item.warc_bytes for item in parts))


def with_parts_so_far(
    storage: Storage, version: CycleVersion, names: Sequence[str] = ()
) -> CycleVersion:
    """Return a version in which unfinished segments have their parts so far.

    It is for readers alone, and never committed.

    Args:
        storage: The storage.
        version: The version.
        names: The requested segments; () for all whose parts can be read.

    Raises:
        DamageError: A manifest of a requested segment cannot be read.
    """
    segments = dict(version.segments)
    for name, state in version.segments.items():
        if state.state == GENERATED and (not names or name in names):
            try:
                chains = chains_so_far(storage, name)
            except DamageError:
                if names:
                    raise
                continue  # `storage check` reports the damage
            parts = {
                unit: [f"{UnitPlace(storage, name, unit).parts}/{part.name}" for part in chain]
                for unit, chain in chains.items()
                if chain
            }
            segments[name] = msgspec.structs.replace(state, parts=parts)
    return msgspec.structs.replace(version, segments=segments)
