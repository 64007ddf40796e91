"""WARCs as they are packed: their lines, their whole records, their bytes."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from typing import BinaryIO, Final, NamedTuple

from nacre.archive.index import lines_in
from nacre.archive.reader import WarcReader
from nacre.archive.source import section
from nacre.archive.warc_writer import TRAILER
from nacre.catalogue.captures import LONGEST_LINE, IndexedCapture, read_capture
from nacre.catalogue.holdings import Holding, WarcPlace
from nacre.machine.local_files import open_ordinary
from nacre.packing.container import EntrySink

PIECE: Final = 1 << 20
"""Bytes that are copied at a time."""

Tell = Callable[[int], None]
"""Receives bytes that were read since the last call."""


class IndexedLine(NamedTuple):
    """A line of an index.

    Attributes:
        capture: What it says.
        line: The line, as written.
    """

    capture: IndexedCapture
    line: bytes


def open_place(place: WarcPlace) -> BufferedReader:
    """Open a WARC, also within a WACZ; byte 0 is its first byte.

    Raises:
        OSError: It cannot be opened.
    """
    file = open_ordinary(place.path)
    end = place.start + place.size
    return section(file, place.start, min(end, os.fstat(file.fileno()).st_size), closes=True)


def read_lines(place: WarcPlace, member: int = 0) -> list[IndexedLine]:
    """Return the lines of a WARC in the order of its records, from its index or its content.

    Args:
        place: The WARC.
        member: Number of its member in the holding.

    Raises:
        OSError: It cannot be read.
    """
    lines = [
        IndexedLine(capture, line)
        for line in _raw_lines(place)
        if (capture := read_capture(line, member)) is not None and capture.warc == place.name
    ]
    return sorted(lines, key=lambda line: line.capture.offset)


def _raw_lines(place: WarcPlace) -> Iterator[bytes]:
    if place.index is not None:
        with open_ordinary(place.index) as file:
            while line := file.readline(LONGEST_LINE):
                yield line
    else:
        with open_place(place) as warc:
            yield from lines_in(warc, place.name)


def all_captures(holding: Holding) -> Iterator[IndexedCapture]:
    """Yield all captures of a holding, WARC by WARC.

    Raises:
        OSError: A WARC or an index cannot be read.
    """
    for number, member in enumerate(holding.members):
        for place in member.warcs():
            yield from (line.capture for line in read_lines(place, number))


def whole_size(place: WarcPlace, lines: Sequence[IndexedLine]) -> int:
    """Return the bytes of a WARC up to the end of its last whole record.

    Args:
        place: The WARC; a running job may be writing it.
        lines: Its lines, in order.

    Raises:
        OSError: It cannot be read.
    """
    if not place.is_open:
        return place.size
    last = lines[-1].capture if lines else None
    end = last.offset + last.length if last is not None else 0
    with open_place(place) as file:
        file.seek(end)
        if last is not None and file.read(len(TRAILER)) == TRAILER:
            end += len(TRAILER)  # of a file that is not compressed
        return end + _whole_records(file, end, place.size)


def _whole_records(file: BufferedReader, start: int, end: int) -> int:
    """Return the bytes of the whole records from an offset on."""
    defects: list[int] = []
    reader = WarcReader(section(file, start, end), lambda _, offset, __: defects.append(offset))
    whole = 0
    for entry in reader:
        if defects:
            break
        whole = entry.offset
    else:
        if not defects:
            return end - start
    return min([whole, *defects])


class CopiedRecord(NamedTuple):
    """A record of a WARC that was copied.

    Attributes:
        source: Its line in the index of the WARC.
        digest: `sha256:` and the digest of its bytes; "" if its place is not in the file.
    """

    source: IndexedLine
    digest: str


def copy_warc(
    place: WarcPlace, size: int, lines: Sequence[IndexedLine], sink: EntrySink, tell: Tell
) -> Iterator[CopiedRecord]:
    """Copy the bytes of a WARC, and yield each indexed record after it was copied.

    Args:
        place: The WARC.
        size: Bytes to copy.
        lines: Its lines, in the order of their records.
        sink: Receives the bytes.
        tell: Receives the progress.

    Raises:
        OSError: A file cannot be read or written.
    """
    at = 0
    with open_place(place) as file:
        for source in lines:
            offset, length = source.capture.offset, source.capture.length
            if offset < at or not length or offset + length > size:
                yield CopiedRecord(source, "")
                continue
            _copy(file, offset - at, sink, tell)
            digest = hashlib.sha256()
            _copy(file, length, sink, tell, digest.update)
            at = offset + length
            yield CopiedRecord(source, f"sha256:{digest.hexdigest()}")
        _copy(file, size - at, sink, tell)


def _copy(
    file: BinaryIO, size: int, sink: EntrySink, tell: Tell,
    also: Callable[[bytes], None] | None = None,
) -> None:  # fmt: skip
    while size > 0:
        data = file.read(min(PIECE, size))
        if not data:
            raise OSError(f"{size} bytes are missing at the end of a WARC")
        sink.write(data)
        if also is not None:
            also(data)
        tell(len(data))
        size -= len(data)
