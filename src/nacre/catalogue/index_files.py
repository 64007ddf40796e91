"""Sorted access to the lines of an index: a sorted file, an index that still grows, ZipNum.

A sorted file is searched by halves, with a few dozen short reads and nothing in memory but the
first of these. An index of a WARC that is still being written has its lines in the order of
writing: their keys are in memory, and only its new end is read. A file of ZipNum (`index.cdx.gz`
with `.idx`, as in WACZ) is gzip blocks, of which one is unpacked for a look-up.

Files are opened for each read: they may be closed, renamed and removed meanwhile, and a holding
may have more files than a process may open.

Source: ZipNum as pywb reads it; the WACZ specification, section 5.2.2.
"""

import errno
import os
import zlib
from bisect import bisect_left, insort
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from nacre.catalogue.captures import LONGEST_LINE

SORTED, GROWING, ZIPNUM = "sorted", "growing", "zipnum"
"""Kinds of indexes."""

_BLOCK: Final = 1 << 12
_PORTION: Final = 1 << 16
_GROWTH: Final = 1 << 24
_REMEMBERED: Final = 256
"""Probes of a search that a sorted file remembers: its first eight halves."""
_LONGEST_BLOCK: Final = 64 << 20
_BLOCKS: Final = 4
_LONGEST_LIST: Final = 1 << 30


class FilePart(msgspec.Struct, frozen=True):
    """Some bytes of a file.

    Attributes:
        path: The file.
        start: Where they begin, bytes.
        size: Their number; -1: up to the end of the file.
    """

    path: Path
    start: int = 0
    size: int = -1


class IndexPlace(msgspec.Struct, frozen=True):
    """The place of an index.

    Attributes:
        kind: `sorted`, `growing` or `zipnum`.
        part: Its bytes; of ZipNum its list of blocks (`.idx`).
        blocks: Of ZipNum, the names and places of the files with the blocks.
    """

    kind: str
    part: FilePart
    blocks: tuple[tuple[str, FilePart], ...] = ()


class LineIndex(Protocol):
    """The lines of an index by their order; lines have no end of line.

    Both methods raise OSError if the file cannot be read, or was replaced meanwhile (ESTALE).
    """

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """Yield the lines from the first that is not less than a text."""
        ...

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """Yield the lines that are less than a text, the greatest first."""
        ...


def open_lines(place: IndexPlace) -> LineIndex:
    """Return the access to an index.

    Raises:
        OSError: The list of blocks of ZipNum cannot be read.
    """
    if place.kind == ZIPNUM:
        return ZipNumFile(place)
    return GrowingFile(place.part.path) if place.kind == GROWING else SortedFile(place.part)


def all_lines(place: IndexPlace) -> Iterator[bytes]:
    """Yield all lines of an index in its order; of one that grows up to its present end.

    Raises:
        OSError: It cannot be read.
    """
    lines = SortedFile(place.part) if place.kind == GROWING else open_lines(place)
    yield from lines.lines_from(b"")


class _Opened(NamedTuple):
    """A file that was opened for a look-up: handle and identity."""

    handle: int
    mark: tuple[int, int, int]
    size: int


def _open(path: Path) -> _Opened:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    facts = os.fstat(handle)
    return _Opened(handle, (facts.st_dev, facts.st_ino, facts.st_mtime_ns), facts.st_size)


class _Probe(NamedTuple):
    """A line in a sorted file: where it begins, and its beginning."""

    start: int
    text: bytes


class SortedFile:
    """A file whose lines are sorted by their bytes.

    Args:
        part: Its bytes.
    """

    def __init__(self, part: FilePart) -> None:
        self._part = part
        self._mark: tuple[int, int, int] = (0, 0, 0)
        self._probes: dict[int, _Probe] = {}

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_from`. Lines of more than 1 MiB are left out."""
        at, mark = self._begin(target)
        rest, size, is_cut, has_more = b"", _BLOCK, False, True
        while has_more:
            data, has_more = self._read(at, size, mark)
            at += len(data)
            lines = (rest + data).split(b"\n")
            if is_cut:
                is_cut, lines = len(lines) == 1, lines[1:] or [b""]
            rest = lines.pop() if has_more or not lines[-1] else b""
            if len(rest) > LONGEST_LINE:
                rest, is_cut = b"", True
            yield from filter(None, lines)
            size = min(size * 4, _PORTION)

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_before`. Lines of more than 1 MiB are left out."""
        end, mark = self._begin(target)
        first, rest, is_cut = self._part.start, b"", False
        while end > first:
            at = max(end - _BLOCK, first)
            lines = (self._read(at, end - at, mark)[0] + rest).split(b"\n")
            if is_cut:
                is_cut, lines = len(lines) == 1, lines[:-1] or [b""]
            rest = lines.pop(0) if at > first else b""
            if len(rest) > LONGEST_LINE:
                rest, is_cut = b"", True
            yield from filter(None, reversed(lines))
            end = at

    def _begin(self, target: bytes) -> tuple[int, tuple[int, int, int]]:
        """Return where the first line not less than a text begins, and the identity of the file."""
        opened = _open(self._part.path)
        try:
            if opened.mark != self._mark:
                self._mark, self._probes = opened.mark, {}
            end = self._end(opened.size)
            return self._search(opened.handle, target, self._part.start, end), opened.mark
        finally:
            os.close(opened.handle)

    def _end(self, size: int) -> int:
        return size if self._part.size < 0 else min(size, self._part.start + self._part.size)

    def _search(self, handle: int, target: bytes, low: int, end: int) -> int:
        """Halve until a block is left; `low` is where a line begins, as is `result`."""
        high = result = end
        while high - low > _BLOCK:
            middle = (low + high) // 2
            probe = self._probe(handle, middle, high, len(target))
            if probe is None:
                high = middle
            elif probe.text < target:
                low = probe.start
            else:
                high, result = middle, probe.start
        return _first_line(handle, target, low, result)

    def _probe(self, handle: int, middle: int, high: int, least: int) -> _Probe | None:
        """Return the first line that begins in a range; None: no line does."""
        probe = self._probes.get(middle)
        if probe is None or len(probe.text) < least:
            start = _next_start(handle, middle, high)
            if start >= high:
                return None
            text = os.pread(handle, max(least, 160), start).partition(b"\n")[0]
            probe = _Probe(start, text.ljust(least, b"\n"))
            if len(self._probes) < _REMEMBERED or middle in self._probes:
                self._probes[middle] = probe
        return probe if probe.start < high else None

    def _read(self, at: int, size: int, mark: tuple[int, int, int]) -> tuple[bytes, bool]:
        """Read some bytes of the file that has an identity, and whether more follow.

        Raises:
            OSError: ESTALE: another file has its name now.
        """
        opened = _open(self._part.path)
        try:
            if opened.mark != mark:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self._part.path))
            end = self._end(opened.size)
            data = os.pread(opened.handle, max(min(size, end - at), 0), at)
            return data, bool(data) and at + len(data) < end
        finally:
            os.close(opened.handle)


def _first_line(handle: int, target: bytes, low: int, high: int) -> int:
    """Where the first line not less than a text begins; `high` if all lines before it are less."""
    size = max(_BLOCK, len(target) + 1)
    while low < high:
        data, at = os.pread(handle, min(size, high - low), low), 0
        line_end = data.find(b"\n")
        if line_end < 0:
            if data >= target:
                return low
            low = _next_start(handle, low + len(data), high)
        while line_end >= 0:
            if data[at:line_end] >= target:
                return low + at
            at, line_end = line_end + 1, data.find(b"\n", line_end + 1)
        low += at
    return min(low, high)


def _next_start(handle: int, at: int, end: int) -> int:
    """Where the next line after a place begins; the end if there is none."""
    while at < end:
        data = os.pread(handle, min(_BLOCK, end - at), at)
        line_end = data.find(b"\n")
        if line_end >= 0:
            return at + line_end + 1
        if not data:
            return end
        at += len(data)
    return end


class GrowingFile:
    """An index in the order of writing, to which a crawl adds lines.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark = (0, 0)
        self._read_up_to = 0
        self._entries: list[bytes] = []  # key, time and place of a line, as one text

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_from`."""
        self._refresh()
        for entry in self._entries[bisect_left(self._entries, target) :]:
            yield self._line(entry)

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_before`."""
        self._refresh()
        for number in reversed(range(bisect_left(self._entries, target))):
            yield self._line(self._entries[number])

    def _refresh(self) -> None:
        """Take the lines that were added; the last one may be half written."""
        opened = _open(self._path)
        try:
            identity = opened.mark[:2]
            if identity != self._mark or opened.size < self._read_up_to:
                self._mark, self._read_up_to, self._entries = identity, 0, []
            while self._read_up_to < opened.size:
                data = os.pread(opened.handle, _GROWTH, self._read_up_to)
                data = data[: data.rfind(b"\n") + 1]
                if not data:
                    return
                self._add(data)
        finally:
            os.close(opened.handle)

    def _add(self, data: bytes) -> None:
        at, entries = self._read_up_to, []
        for line in data.split(b"\n")[:-1]:
            words = line.split(b" ", 2)
            if len(words) == 3:
                entries.append(b"%b %b\n%b" % (words[0], words[1], at.to_bytes(8, "big")))
            at += len(line) + 1
        self._read_up_to = at
        if len(entries) < 8:
            for entry in entries:
                insort(self._entries, entry)
        else:
            self._entries += entries
            self._entries.sort()

    def _line(self, entry: bytes) -> bytes:
        opened = _open(self._path)
        try:
            if opened.mark[:2] != self._mark:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self._path))
            start = int.from_bytes(entry[-8:], "big")
            data, end = b"", -1
            while end < 0 and len(data) <= LONGEST_LINE:
                more = os.pread(opened.handle, max(_BLOCK, len(data)), start + len(data))
                data += more
                end = data.find(b"\n")
                if not more:
                    break
            return data[:end] if end >= 0 else data
        finally:
            os.close(opened.handle)


class _Block(NamedTuple):
    """A block of ZipNum: its first key, and its bytes in a file."""

    first: bytes
    part: FilePart


class _BlockPlace(msgspec.Struct):
    """The object of a line of `.idx`."""

    offset: int
    length: int
    filename: str = ""


class ZipNumFile:
    """An index of gzip blocks with the list of their first keys.

    Args:
        place: Its place.

    Raises:
        OSError: The list cannot be read, or is longer than 1 GiB.
    """

    def __init__(self, place: IndexPlace) -> None:
        self._blocks = sorted(read_blocks(place), key=lambda block: block.first)
        self._firsts = [block.first for block in self._blocks]
        self._unpacked: dict[int, list[bytes]] = {}

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_from`."""
        first = max(bisect_left(self._firsts, target) - 1, 0)
        for number in range(first, len(self._blocks)):
            lines = self._lines(number)
            yield from lines[bisect_left(lines, target) if number == first else 0 :]

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_before`."""
        first = max(bisect_left(self._firsts, target) - 1, 0)
        for number in reversed(range(min(first + 1, len(self._blocks)))):
            lines = self._lines(number)
            end = bisect_left(lines, target) if number == first else len(lines)
            yield from reversed(lines[:end])

    def _lines(self, number: int) -> list[bytes]:
        lines = self._unpacked.pop(number, None)
        if lines is None:
            lines = unpack_block(self._blocks[number].part).split(b"\n")
            lines = [line for line in lines if line]
        self._unpacked[number] = lines  # the one that was used last is the last
        if len(self._unpacked) > _BLOCKS:
            del self._unpacked[next(iter(self._unpacked))]
        return lines


def unpack_block(part: FilePart) -> bytes:
    """Return the content of a gzip block of ZipNum.

    Raises:
        OSError: It cannot be read, is damaged, or has more than 64 MiB.
    """
    opened = _open(part.path)
    try:
        data = os.pread(opened.handle, min(part.size, _LONGEST_BLOCK), part.start)
    finally:
        os.close(opened.handle)
    inflater = zlib.decompressobj(31)
    try:
        text = inflater.decompress(data, _LONGEST_BLOCK)
    except zlib.error as error:
        raise OSError(errno.EIO, f"a damaged block of the index: {error}", str(part.path)) from None
    if not inflater.eof:
        reason = "a block of the index is cut off, or has more than 64 MiB"
        raise OSError(errno.EIO, reason, str(part.path))
    return text


def read_blocks(place: IndexPlace) -> Iterator[_Block]:
    """Yield the blocks in a list of ZipNum: objects in lines, as in WACZ, or tabs, as in pywb.

    Raises:
        OSError: The list cannot be read, or is too long.
    """
    part = place.part
    size = part.size if part.size >= 0 else part.path.stat().st_size - part.start
    if size > _LONGEST_LIST:
        raise OSError(errno.EFBIG, "the list of blocks is longer than 1 GiB", str(part.path))
    files = dict(place.blocks)
    only = place.blocks[0][0] if len(files) == 1 else ""
    for line in SortedFile(part).lines_from(b""):
        block = _block_place(line)
        if block is None:
            continue
        first, part = block
        file = files.get(part.filename.rpartition("/")[2] or only)
        if file is not None and part.offset >= 0 and part.length > 0:
            yield _Block(first, FilePart(file.path, file.start + part.offset, part.length))


def _block_place(line: bytes) -> tuple[bytes, _BlockPlace] | None:
    """Return the first key and the place of a block; None for other lines."""
    try:
        if b"\t" in line:
            first, name, offset, length = line.split(b"\t")[:4]
            return first, _BlockPlace(int(offset), int(length), name.decode())
        key, timestamp, text = line.split(b" ", 2)
        if key.startswith(b"!"):
            return None
        place = msgspec.json.decode(text, type=_BlockPlace, strict=False)
    except ValueError:
        return None
    return b"%b %b" % (key, timestamp), place
