"""The records of a capture in its WARC: those between its neighbours in the index belong to it.

A writer puts request and metadata beside the record that is indexed, before or after it, and they
name it, or it names them (WARC-Concurrent-To). So only the bytes between two indexed records are
read, and no whole file. Source: WARC 1.1 clauses 5.7 and 6; the order of Heritrix, warcio, wget.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import chain, groupby, islice
from typing import Final, NamedTuple

from isal import isal_zlib

from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.source import section
from nacre.archive.warc_writer import GZIP
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import WarcPlace
from nacre.machine.local_files import open_ordinary
from nacre.packing.sources import PIECE, IndexedLine
from nacre.replay.records import damaged

HEADER: Final = isal_zlib.compress(b"", 1, GZIP)[:10]
"""The header of the gzip members that Nacre writes."""
_BELONG: Final = frozenset(("request", "metadata", "resource", "conversion"))
_MOST: Final = 1000
"""Records between two neighbours that are read."""


class WindowRecord(NamedTuple):
    """A record.

    Attributes:
        offset: Its offset in the WARC, bytes.
        size: Bytes of its gzip member, or of the record without the blank lines after it.
        entry: Its header.
        number: Which record of its gzip member it is; 0 for the only one.
        is_shared: Its gzip member has several records.
    """

    offset: int
    size: int
    entry: WarcEntry
    number: int = 0
    is_shared: bool = False


class RecordWindow(NamedTuple):
    """The records of a capture.

    Attributes:
        place: The WARC.
        record: The record that is indexed.
        companions: Those that belong to it, in their order.
    """

    place: WarcPlace
    record: WindowRecord
    companions: tuple[WindowRecord, ...]


class WindowReader:
    """Reads the records of captures of one WARC.

    Args:
        place: The WARC.
        capture: One of its captures.
        lines: All lines of its index, in any order. Memory: 16 bytes for each of them.

    Raises:
        OSError: It cannot be opened.
    """

    def __init__(
        self, place: WarcPlace, capture: IndexedCapture, lines: Iterable[IndexedLine]
    ) -> None:
        self._place = place
        self._name = (capture.member, capture.warc)
        self._offsets, self._lengths = _extents(lines)
        self._file: BufferedReader = open_ordinary(place.path)
        size = os.fstat(self._file.fileno()).st_size - place.start
        self._size = size if place.is_open else min(size, place.size)

    def is_of(self, capture: IndexedCapture) -> bool:
        """Whether a capture is in this WARC."""
        return (capture.member, capture.warc) == self._name

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def around(self, capture: IndexedCapture) -> RecordWindow:
        """Return the records of a capture.

        Raises:
            ReplayError: They are damaged.
            OSError: The file cannot be read.
        """
        at = bisect_left(self._offsets, capture.offset)
        before = self._offsets[at - 1] if at else None
        start = 0 if before is None else min(before + self._lengths[at - 1], capture.offset)
        after = [offset for offset in self._offsets[at : at + 2] if offset > capture.offset]
        records, defects = self._records(start, after[0] if after else self._size)
        if capture.offset in defects:
            raise damaged(capture, defects[capture.offset])
        own = next((record for record in records if _is_record_of(record, capture)), None)
        if own is None:
            raise damaged(capture, "no such record begins there")
        sound = (record for record in records if record.offset not in defects)
        return RecordWindow(
            self._place, own, tuple(record for record in sound if _belongs(record, own))
        )

    def warcinfo(self) -> WindowRecord | None:
        """Return the first record of the WARC if it describes the file; None else.

        Raises:
            OSError: The file cannot be read.
        """
        records, defects = self._records(0, self._offsets[0] if self._offsets else self._size)
        if not records or records[0].offset in defects:
            return None
        return records[0] if records[0].entry.get("WARC-Type") == "warcinfo" else None

    def _records(self, start: int, end: int) -> tuple[list[WindowRecord], dict[int, str]]:
        """Return the records of a part of the WARC, and the defects of some by their offset."""
        defects: dict[int, str] = {}

        def note(code: str, offset: int, text: str) -> None:
            if code in _BROKEN:
                defects.setdefault(start + offset, f"{code}: {text}")

        base = self._place.start
        reader = WarcReader(section(self._file, base + start, base + end), note)
        entries = list(islice(reader, _MOST))
        groups = groupby(entries, lambda entry: entry.offset)
        records = [record for _, group in groups for record in _group(list(group), start)]
        return records, defects

    def stored(self, record: WindowRecord) -> tuple[Iterator[bytes], bool]:
        """Return the bytes of a record as stored, and whether they are a gzip member.

        All gzip members of a file have the same header, so that of other writers is replaced.

        Raises:
            OSError: The file cannot be read.
        """
        header = record.entry.gzip_header
        if record.is_shared or header[3:4] not in (b"", b"\0"):
            return chain([_head(record.entry)], self._pieces(record)), False
        if not header or header == HEADER:
            return self._bytes(record.offset, record.size), bool(header)
        data = self._bytes(record.offset + len(HEADER), record.size - len(HEADER))
        return chain([HEADER], data), True

    def block(self, record: WindowRecord) -> bytes:
        """Return the block of a record.

        Raises:
            OSError: The file cannot be read.
        """
        return b"".join(self._pieces(record))

    def _pieces(self, record: WindowRecord) -> Iterator[bytes]:
        """Yield the block of a record."""
        base = self._place.start + record.offset
        reader = WarcReader(section(self._file, base, self._place.start + self._size))
        for number, entry in enumerate(reader):
            if number == record.number:
                yield from iter(entry.read, b"")
                return

    def _bytes(self, offset: int, size: int) -> Iterator[bytes]:
        at, end = self._place.start + offset, self._place.start + offset + size
        while at < end:
            data = os.pread(self._file.fileno(), min(PIECE, end - at), at)
            if not data:
                raise OSError(f"{self._place.name} was cut while it was read")
            yield data
            at += len(data)


def _extents(lines: Iterable[IndexedLine]) -> tuple["array[int]", "array[int]"]:
    """Return the offsets of records in order, and their lengths; the last line of each counts."""
    offsets, lengths = array("Q"), array("Q")
    for capture, _ in lines:
        offsets.append(capture.offset)
        lengths.append(capture.length)
    ordered, own = array("Q"), array("Q")
    for number in sorted(range(len(offsets)), key=offsets.__getitem__):
        if ordered and ordered[-1] == offsets[number]:
            own[-1] = lengths[number]
        else:
            ordered.append(offsets[number])
            own.append(lengths[number])
    return ordered, own


_BROKEN: Final = frozenset(
    ("block-truncated", "header-truncated", "no-record", "length-missing", "length-invalid",
     "length-overrun", "gzip-damaged", "gzip-truncated", "junk")
)  # fmt: skip


def _group(group: Sequence[WarcEntry], start: int) -> Iterator[WindowRecord]:
    """Yield the records of a gzip member."""
    size = group[-1].size if group else 0
    for number, entry in enumerate(group):
        offset = start + entry.offset
        yield WindowRecord(offset, size, entry, number, len(group) > 1)


def _head(entry: WarcEntry) -> bytes:
    lines = [f"WARC/{entry.version}", *(f"{name}: {value}" for name, value in entry.fields)]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")


def _is_record_of(record: WindowRecord, capture: IndexedCapture) -> bool:
    return record.offset == capture.offset and (
        not record.is_shared or record.entry.get("WARC-Type") not in ("request", "warcinfo")
    )


def _belongs(record: WindowRecord, own: WindowRecord) -> bool:
    """Whether a record belongs to the record of a capture."""
    if record is own or record.entry.get("WARC-Type") not in _BELONG:
        return False
    name, its_id = own.entry.get("WARC-Record-ID"), record.entry.get("WARC-Record-ID")
    if name and name in _named(record.entry):
        return True
    return bool(its_id and its_id in _named(own.entry))


def _named(entry: WarcEntry) -> list[str]:
    """Return the ids of records that a record belongs to."""
    names = ("warc-concurrent-to", "warc-refers-to")
    return [value for name, value in entry.fields if name.lower() in names]
