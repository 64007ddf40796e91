"""WARCs as they are packed: their lines, their whole records, their bytes."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, Self

from nacre.archive.index import lines_in
from nacre.archive.reader import WarcReader
from nacre.archive.source import section
from nacre.archive.warc_writer import TRAILER
from nacre.catalogue.captures import LONGEST_LINE, IndexedCapture, read_capture
from nacre.catalogue.holdings import Holding, WarcPlace
from nacre.machine.local_files import open_ordinary
from nacre.packing.container import EntrySink
from nacre.packing.sorted_lines import SortedLines

PIECE: Final = 1 << 20
"""Bytes that are copied at a time."""

_ORDER: Final = 43
"""Bytes before a line that is sorted."""

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


def read_lines(place: WarcPlace, member: int = 0) -> Iterator[IndexedLine]:
    """Yield the lines of a WARC in the order of its index, or of its records if it has none.

    Args:
        place: The WARC.
        member: Number of its member in the holding.

    Raises:
        OSError: It cannot be read.
    """
    return (line for _, line in _numbered_lines([place], member))


def _numbered_lines(places: Sequence[WarcPlace], member: int) -> Iterator[tuple[int, IndexedLine]]:
    """Yield the lines of WARCs with the same index, each with the number of its WARC in these."""
    numbers = {place.name: number for number, place in reversed([*enumerate(places)])}
    for line in _raw_lines(places[0]):
        capture = read_capture(line, member)
        if capture is not None and capture.warc in numbers:
            yield numbers[capture.warc], IndexedLine(capture, line)


def _raw_lines(place: WarcPlace) -> Iterator[bytes]:
    if place.index is not None:
        with open_ordinary(place.index) as file:
            while line := file.readline(LONGEST_LINE):
                yield line
    else:
        with open_place(place) as warc:
            yield from lines_in(warc, place.name)


def group_by_index(places: Iterable[WarcPlace]) -> list[list[WarcPlace]]:
    """Return WARCs in groups with the same index, each of which is read once for all of them."""
    groups: dict[object, list[WarcPlace]] = {}
    for number, place in enumerate(places):
        groups.setdefault(number if place.index is None else place.index, []).append(place)
    return [*groups.values()]


class OrderedLines:
    """The lines of WARCs in the order of their records, sorted on the disk; a context.

    Args:
        folder: A folder for temporary files.
        places: The WARCs, which have the same index.
        member: Number of their member in the holding.

    Attributes:
        last: The last capture of the last WARC; None if there is none.

    Raises:
        OSError: They cannot be read, or a temporary file cannot be written.
    """

    def __init__(self, folder: Path, places: Sequence[WarcPlace], member: int = 0) -> None:
        self._member = member
        self._sorted = SortedLines(folder, "warc-lines")
        self._ordered: Iterator[bytes] = iter(())
        self._next = b""
        self._number = -1
        self.last: IndexedCapture | None = None
        try:
            self._sort(places)
            self._begin()
        except BaseException:
            self._sorted.close()
            raise

    def _sort(self, places: Sequence[WarcPlace]) -> None:
        last = 0, 0
        for count, (number, (capture, line)) in enumerate(_numbered_lines(places, self._member)):
            if (number, capture.offset) >= last:
                last, self.last = (number, capture.offset), capture
            order = b"%08d %020d %012d " % (number, capture.offset, count)
            self._sorted.add(order + line.rstrip(b"\n"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def of(self, number: int) -> Iterator[IndexedLine]:
        """Yield the lines of a WARC. Those of one before the last WARC are searched from the start.

        Args:
            number: Its number in `places`.

        Raises:
            OSError: A temporary file cannot be read.
        """
        if number <= self._number:
            self._begin()
        self._number, name = number, b"%08d " % number
        while self._next and self._next[: len(name)] < name:
            self._next = next(self._ordered, b"")
        while self._next.startswith(name):
            line = self._next[_ORDER:]
            self._next = next(self._ordered, b"")
            capture = read_capture(line, self._member)
            if capture is not None:
                yield IndexedLine(capture, line)

    def _begin(self) -> None:
        self._ordered = iter(self._sorted)
        self._next = next(self._ordered, b"")

    def close(self) -> None:
        """Remove the temporary files."""
        self._sorted.close()


class HoldingLines:
    """The lines of any WARC of a holding; an index of several WARCs is sorted once for all of them.

    Args:
        holding: The holding.
        folder: A folder for temporary files.
    """

    def __init__(self, holding: Holding, folder: Path) -> None:
        self._holding = holding
        self._folder = folder
        self._index: tuple[int, Path] | None = None
        self._numbers: dict[str, int] = {}
        self._lines: OrderedLines | None = None

    def of(self, place: WarcPlace, member: int) -> Iterator[IndexedLine]:
        """Yield the lines of a WARC; they come fastest for one WARC after the other by name.

        Args:
            place: The WARC.
            member: Number of its member in the holding.

        Raises:
            OSError: It cannot be read, or a temporary file cannot be written.
        """
        if place.index is None or self._holding.members[member].files is None:
            return read_lines(place, member)
        if self._lines is None or self._index != (member, place.index):
            self._lines = self._sorted(place.index, member)
        return self._lines.of(self._numbers[place.name])

    def _sorted(self, index: Path, member: int) -> OrderedLines:
        """Sort the lines of all WARCs with an index."""
        self.close()
        places = self._holding.members[member].warcs()
        group = sorted((place for place in places if place.index == index), key=_name_order)
        self._numbers = {place.name: number for number, place in enumerate(group)}
        self._index = member, index
        return OrderedLines(self._folder, group, member)

    def close(self) -> None:
        """Remove the temporary files."""
        if self._lines is not None:
            self._lines.close()
            self._lines = None


def _name_order(place: WarcPlace) -> str:
    """Return the order in which a selection is written."""
    return quoted(place.name)


def all_captures(holding: Holding) -> Iterator[IndexedCapture]:
    """Yield all captures of a holding, index by index.

    Raises:
        OSError: A WARC or an index cannot be read.
    """
    for number, member in enumerate(holding.members):
        for places in group_by_index(member.warcs()):
            for _, line in _numbered_lines(places, number):
                yield line.capture


def whole_size(place: WarcPlace, last: IndexedCapture | None) -> int:
    """Return the bytes of a WARC up to the end of its last whole record.

    Args:
        place: The WARC; a running job may be writing it.
        last: The last capture in its index; None if there is none.

    Raises:
        OSError: It cannot be read.
    """
    if not place.is_open:
        return place.size
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
    place: WarcPlace, size: int, lines: Iterable[IndexedLine], sink: EntrySink, tell: Tell
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
