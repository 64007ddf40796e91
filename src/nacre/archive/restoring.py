"""Replies rebuilt from differences: the difference and its base.

Every digest is compared. `BaseFiles` finds bases in files alone: where a difference says, or
wherever they are. `record.py` makes ordinary records of the replies.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar

from nacre.archive.block import BlockFacts, algorithm, digest_matches
from nacre.archive.delta import LONGEST, MEDIA, Delta, DeltaError, read_delta, rebuild
from nacre.archive.fields import digest_label, strip_brackets
from nacre.archive.reader import WarcEntry, WarcReader, record_at
from nacre.machine.local_files import open_ordinary

T = TypeVar("T")

FindBase = Callable[[Delta], bytes]
"""Gives the block of a base; raises `DeltaError` when it is nowhere."""


class StoredDifference(NamedTuple):
    """A difference with its record.

    Attributes:
        entry: The record; its block has been read.
        delta: Its content.
    """

    entry: WarcEntry
    delta: Delta


def is_delta(entry: WarcEntry) -> bool:
    """A record that contains a difference."""
    return entry.get("WARC-Type") == "metadata" and entry.get("Content-Type") == MEDIA


def difference_of(entry: WarcEntry) -> StoredDifference:
    """Read a record for which `is_delta` holds; its block must not have been read.

    Raises:
        DeltaError: There is no difference in it.
    """
    return StoredDifference(
        entry, read_delta(_block(entry), strip_brackets(entry.get("WARC-Refers-To") or ""))
    )


def difference_at(path: Path, offset: int) -> StoredDifference:
    """Return the difference whose record begins at an offset of a WARC.

    Raises:
        DeltaError: There is none.
    """
    difference: StoredDifference | None = _at(
        path, offset, lambda e: difference_of(e) if is_delta(e) else None
    )
    if difference is None:
        raise DeltaError("delta-invalid", f"no difference at {offset} of {path.name}")
    return difference


def response_at(path: Path, offset: int, record_id: str) -> bytes:
    """Return the block of the response at an offset of a WARC, compared with its own digest.

    Args:
        path: The WARC.
        offset: Offset of the record, bytes.
        record_id: Its WARC-Record-ID, without angle brackets.

    Raises:
        DeltaError: It is not there, is damaged, or is longer than `patch.LONGEST`.
    """

    def read(entry: WarcEntry) -> bytes | None:
        own = strip_brackets(entry.get("WARC-Record-ID") or "")
        if entry.get("WARC-Type") != "response" or own != record_id:
            return None
        block, digest = _block(entry), entry.get("WARC-Block-Digest") or ""
        facts = BlockFacts(http=False, block=algorithm(digest), payload="sha1")
        facts.feed(block)
        if entry.left or not digest_matches(digest, facts.block_digest()):
            raise DeltaError("delta-base", f"<{record_id}> is damaged")
        return block

    block = _at(path, offset, read)
    if block is None:
        raise DeltaError("delta-unresolved", f"<{record_id}> is not at {offset} of {path.name}")
    return block


def restore_block(delta: Delta, find: FindBase) -> bytes:
    """The block of a reply, exactly as it was received: base, block and payload are compared.

    Raises:
        DeltaError: It cannot be rebuilt.
    """
    block = rebuild(delta, find(delta))
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(block)
    facts.close()
    payload = digest_label(facts.payload_digests()[0])
    if delta.payload and payload != delta.payload:
        raise DeltaError("delta-digest", f"its payload is {payload}, not {delta.payload}")
    return block


def _block(entry: WarcEntry) -> bytes:
    if entry.length > LONGEST:
        raise DeltaError("delta-invalid", f"{entry.length} bytes; at most {LONGEST} are read")
    return b"".join(iter(entry.read, b""))


def _at(path: Path, offset: int, read: Callable[[WarcEntry], T | None]) -> T | None:
    try:
        with record_at(path, offset) as entry:
            return None if entry is None else read(entry)
    except OSError:
        return None


class RecordPlace(NamedTuple):
    """The place of a record: its WARC, and the offset there in bytes."""

    path: Path
    offset: int


class RecordFiles:
    """The WARCs that records may be in which others refer to.

    Args:
        kind: Their WARC-Type.
        paths: The files; others may follow by `add`.
    """

    def __init__(self, kind: str, paths: Iterable[Path] = ()) -> None:
        self._kind = kind
        self._paths = {path.name.removesuffix(".open"): path for path in paths}
        self._places: dict[bytes, RecordPlace] | None = None

    def add(self, path: Path) -> None:
        """One file more."""
        self._paths[path.name.removesuffix(".open")] = path
        self._places = None

    def path(self, name: str) -> Path | None:
        """Return the file of a name; None when it is none of them."""
        return self._paths.get(name)

    def place(self, record_id: str) -> RecordPlace | None:
        """Return the place of a record by its id; None: it is in none of the files.

        Files may have been moved or repacked, so all are read once, 100 bytes of memory per record.
        """
        if self._places is None:
            self._places = {}
            for path in self._paths.values():
                self._read(path, self._places)
        return self._places.get(_mark(record_id))

    def _read(self, path: Path, places: dict[bytes, RecordPlace]) -> None:
        try:
            with open_ordinary(path) as file:
                for entry in WarcReader(file):
                    if entry.get("WARC-Type") == self._kind:
                        own = strip_brackets(entry.get("WARC-Record-ID") or "")
                        places[_mark(own)] = RecordPlace(path, entry.offset)
        except OSError:
            return


class BaseFiles:
    """The WARCs that bases may be in.

    Args:
        paths: The files; others may follow by `add`.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._files = RecordFiles("response", paths)
        self._last: tuple[str, bytes] = ("", b"")

    def add(self, path: Path) -> None:
        """See `RecordFiles.add`."""
        self._files.add(path)

    def place(self, record_id: str) -> RecordPlace | None:
        """See `RecordFiles.place`."""
        return self._files.place(record_id)

    def block(self, delta: Delta) -> bytes:
        """See `restoring.FindBase`."""
        if self._last[0] == delta.base_id:
            return self._last[1]
        block = self._find_stated(delta)
        if block is None:
            place = self._files.place(delta.base_id)
            if place is None:
                raise DeltaError("delta-unresolved", f"<{delta.base_id}> is in none of the files")
            block = response_at(place.path, place.offset, delta.base_id)
        self._last = delta.base_id, block
        return block

    def _find_stated(self, delta: Delta) -> bytes | None:
        """Return the base at the place in the difference; None when it is not there."""
        path = self._files.path(delta.base_file)
        if path is None:
            return None
        try:
            return response_at(path, delta.base_offset, delta.base_id)
        except DeltaError as error:
            if error.code == "delta-unresolved":
                return None
            raise


def _mark(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
