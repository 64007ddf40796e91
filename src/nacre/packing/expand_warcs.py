"""Makes ordinary WARC records of what `recrawl --keep delta` and `lean` stored in less.

Each difference becomes a `response`, each note that confirms one a `revisit`, and each metadata
record with a reference to its outlinks one that has them. The job is not changed.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nacre import __version__
from nacre.archive.delta import DeltaError
from nacre.archive.expanded import (
    Expanded,
    expand_fields,
    expanded_id,
    metadata_record,
    response_record,
    revisit_record,
)
from nacre.archive.fields import micros, strip_brackets
from nacre.archive.index import index_line, sort_index
from nacre.archive.link_files import FIELDS, LinkFiles, may_refer, reference_of
from nacre.archive.link_reference import LONGEST, LinksError, with_links
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.record import (
    WarcRecord,
    warcinfo_record,
)
from nacre.archive.restoring import BaseFiles, difference_at, difference_of, is_delta, restore_block
from nacre.archive.warc_writer import CONFORMS, PLAIN, TRAILER, pack
from nacre.machine.local_files import open_ordinary

_LEVEL = 1
_DIGITS = 18


class DifferencePlace(NamedTuple):
    """A place where a record may be.

    Attributes:
        path: The WARC.
        offset: Its offset there, bytes.
    """

    path: Path
    offset: int


class _File(NamedTuple):
    """The differences of one WARC, in the order of their names."""

    path: Path
    names: "array[int]"
    offsets: "array[int]"


class DifferencePlaces:
    """Differences by their record ids. The key has 64 bits of the id: a lookup compares the ids."""

    def __init__(self) -> None:
        self._files: list[_File] = []
        self._path: Path | None = None
        self._current: dict[int, int] = {}

    def begin(self, path: Path) -> None:
        """Set the WARC of the records that are added from now on."""
        if self._path is not None and self._current:
            rows = sorted(self._current.items())
            names, offsets = (array("Q", column) for column in zip(*rows, strict=True))
            self._files.append(_File(self._path, names, offsets))
        self._path, self._current = path, {}

    def add(self, record_id: str, offset: int) -> None:
        """One difference of the current WARC."""
        self._current[_name(record_id)] = offset

    def find(self, record_id: str) -> Iterator[DifferencePlace]:
        """The places where it may be, the latest WARC first."""
        name = _name(record_id)
        if self._path is not None and name in self._current:
            yield DifferencePlace(self._path, self._current[name])
        for path, names, offsets in reversed(self._files):
            at = bisect_left(names, name)
            if at < len(names) and names[at] == name:
                yield DifferencePlace(path, offsets[at])


def _name(record_id: str) -> int:
    digest = blake2b(record_id.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class ExpandedWarc(NamedTuple):
    """One WARC that was made.

    Attributes:
        source: The WARC with differences.
        path: The WARC; its index is in the same directory.
        responses: Responses in it.
        revisits: Revisits in it.
        metadata: Metadata records in it.
        defects: Records that could not be made whole: offset in the source, code, message.
    """

    source: Path
    path: Path
    responses: int
    revisits: int
    metadata: int
    defects: list[str]


def expand(
    warcs: list[Path], folder: Path, only: Collection[Path] | None = None
) -> Iterator[ExpandedWarc]:
    """Make a WARC of each one that holds differences or references, one step a WARC.

    Args:
        warcs: All WARCs of the job, in their order; referenced records are searched in all of them.
        folder: Where the new ones go; made where it is missing. Files of these names are replaced.
        only: The WARCs that may hold some; None: all are searched.

    Raises:
        OSError: A file cannot be read or written.
    """
    bases, links, places = BaseFiles(warcs), LinkFiles(warcs), DifferencePlaces()
    for path in warcs:
        if only is not None and path not in only:
            continue
        expansion = _Expansion(path, folder, bases, links, places)
        if expansion.has_work():
            folder.mkdir(parents=True, exist_ok=True)
            yield expansion.make()


class _Expansion:
    """One WARC.

    Args:
        source: The WARC with differences.
        folder: Where the new one goes.
        bases: Finds bases.
        links: Finds outlinks.
        known: The differences that were rebuilt so far.
    """

    def __init__(
        self,
        source: Path,
        folder: Path,
        bases: BaseFiles,
        links: LinkFiles,
        places: DifferencePlaces,
    ) -> None:
        self._source = source
        self._bases = bases
        self._links = links
        self._known = places
        name = source.name.removesuffix(".open")
        self._level = _LEVEL if name.endswith(".gz") else PLAIN
        stem = name.removesuffix(".gz").removesuffix(".warc") + "-expanded"
        self._target = folder / (stem + (".warc" if self._level == PLAIN else ".warc.gz"))
        self._index = folder / f"{stem}.cdxj"
        self._lines: list[bytes] = []
        self._counts = {"response": 0, "revisit": 0, "metadata": 0}
        self._defects: list[str] = []

    def has_work(self) -> bool:
        """Whether there is something to be made of it."""
        with open_ordinary(self._source) as file:
            return any(is_delta(entry) or self._represents(entry) for entry in WarcReader(file))

    def _represents(self, entry: WarcEntry) -> bool:
        """Whether a metadata record represents others."""
        block = _block(entry)
        note = _note(block)
        confirms = note is not None and any(self._known.find(note.confirms))
        return confirms or reference_of(entry, block) is not None

    def _original(self, record_id: str) -> Expanded | None:
        """The response made of a difference, read again; None when none was made."""
        for path, offset in self._known.find(record_id):
            try:
                entry, delta = difference_at(path, offset)
            except DeltaError:
                continue
            if strip_brackets(entry.get("WARC-Record-ID") or "") == record_id:
                return expand_fields(entry, delta)
        return None

    def make(self) -> ExpandedWarc:
        """Make the new WARC and its index."""
        part = self._target.with_name(self._target.name + ".open")
        with part.open("wb") as file:
            for record in self._records():
                self._write(file, record)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._target)
        self._index.write_bytes(sort_index(b"".join(self._lines)))
        counts = self._counts
        return ExpandedWarc(
            self._source,
            self._target,
            counts["response"],
            counts["revisit"],
            counts["metadata"],
            self._defects,
        )

    def _write(self, file: BinaryIO, record: WarcRecord) -> None:
        offset, member = file.tell(), pack(record, self._level)
        file.write(member)
        length = len(member) - (len(TRAILER) if self._level == PLAIN else 0)
        self._lines.append(index_line(record, self._target.name, offset, length))
        if record.type in self._counts:
            self._counts[record.type] += 1

    def _records(self) -> Iterator[WarcRecord]:
        self._known.begin(self._source)
        with open_ordinary(self._source) as file:
            for number, entry in enumerate(WarcReader(file)):
                if not number:
                    yield self._warcinfo(entry)
                if is_delta(entry):
                    yield from self._response(entry)
                else:
                    yield from self._noted(entry, _block(entry))

    def _noted(self, entry: WarcEntry, block: bytes) -> Iterator[WarcRecord]:
        """The records that a metadata record represents."""
        note, reference = _note(block), reference_of(entry, block)
        original = self._original(note.confirms) if note is not None else None
        if note is not None and original is not None:
            yield revisit_record(entry, original, note.head)
        if reference is not None:
            try:
                lines = self._links.lines(reference)
            except LinksError as error:
                self._defects.append(f"{entry.offset}: {error.code}: {error}")
                return
            yield metadata_record(entry, with_links(block, lines))

    def _response(self, entry: WarcEntry) -> Iterator[WarcRecord]:
        try:
            delta = difference_of(entry).delta
            record = response_record(entry, delta, restore_block(delta, self._bases.block))
        except DeltaError as error:
            self._defects.append(f"{entry.offset}: {error.code}: {error}")
            return
        self._known.add(strip_brackets(entry.get("WARC-Record-ID") or ""), entry.offset)
        yield record

    def _warcinfo(self, first: WarcEntry) -> WarcRecord:
        """Dated and named after that of the source, so that the same is made each time."""
        name = expanded_id(strip_brackets(first.get("WARC-Record-ID") or self._source.name))
        raw = bytes.fromhex(name.removeprefix("urn:uuid:").replace("-", ""))
        fields = [
            ("software", f"Nacre/{__version__}"),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", CONFORMS),
            ("description", f"what the differences and references in {self._source.name} mean"),
        ]
        return warcinfo_record(raw, micros(first.get("WARC-Date")), self._target.name, fields)


class _Note(NamedTuple):
    """The contents of a note: the difference that it confirms, and the head of the reply."""

    confirms: str
    head: bytes


def _block(entry: WarcEntry) -> bytes:
    """The block of a note, or of a record with a reference; b"" for others, which are not read."""
    is_note = (
        entry.get("WARC-Type") == "metadata"
        and entry.get("Content-Type") == FIELDS
        and entry.get("WARC-Concurrent-To") is None
    )
    if not (is_note or may_refer(entry)) or entry.length > LONGEST:
        return b""
    return b"".join(iter(entry.read, b""))


def _note(block: bytes) -> _Note | None:
    """The note in a block; None for other blocks."""
    fields, _, verbatim = block.partition(b"\r\n\r\n")
    headers = dict(line.partition(b": ")[::2] for line in fields.split(b"\r\n"))
    name = headers.get(b"confirms", b"").strip(b"<>").decode("utf-8", "replace")
    size = headers.get(b"replyHead", b"0")
    length = int(size) if size.isdigit() and len(size) <= _DIGITS else 0
    return _Note(name, verbatim[-length:] if length else b"") if name else None
