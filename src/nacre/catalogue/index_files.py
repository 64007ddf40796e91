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

from nacre.archive.delta import TARGET
from nacre.catalogue.captures import LONGEST_LINE

SORTED, GROWING, ZIPNUM = "sorted", "growing", "zipnum"
"""Kinds of indexes."""

DELTAS: Final = TARGET.encode()
"""Beginning of the lines of differences."""

_REMEMBERED: Final = 4096
_PROBE: Final = 1 << 10
_BLOCK: Final = 1 << 13
_PORTION: Final = 1 << 16
_GROWTH: Final = 1 << 24
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

    The methods raise OSError if the file cannot be read, or was replaced meanwhile (ESTALE).
    """

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """Yield the lines from the first that is not less than a text."""
        ...

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """Yield the lines that are less than a text, the greatest first."""
        ...

    def has_deltas(self) -> bool:
        """Whether lines of differences are in it, as of the last look-up."""
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
    """A part of a file that was opened for a look-up: handle, identity of the file, and its end."""

    handle: int
    mark: tuple[int, int, int]
    end: int

    def read(self, at: int, size: int) -> bytes:
        """Return some bytes of it; fewer only at its end."""
        return os.pread(self.handle, max(min(size, self.end - at), 0), at)


def _open(part: FilePart) -> _Opened:
    handle = os.open(part.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    facts = os.fstat(handle)
    end = facts.st_size if part.size < 0 else min(facts.st_size, part.start + part.size)
    return _Opened(handle, (facts.st_dev, facts.st_ino, facts.st_mtime_ns), end)


def sample_lines(part: FilePart, places: int) -> Iterator[list[bytes]]:
    """Yield neighbouring lines from places spread over a file, in its order; all of a small file.

    Args:
        part: The file.
        places: Number of places at most.

    Raises:
        OSError: It cannot be read.
    """
    opened = _open(part)
    try:
        step = max((opened.end - part.start) // places + 1, 2 * _PORTION)
        for at in range(part.start, opened.end, step):
            start = _next_start(opened, at - 1, opened.end) if at > part.start else at
            stop = min(at + 2 * _PORTION, opened.end)
            end = _next_start(opened, stop - 1, opened.end)
            data = opened.read(start, min(end - start, 4 * LONGEST_LINE))
            yield list(filter(None, data.split(b"\n")))
    finally:
        os.close(opened.handle)


class _Place(NamedTuple):
    """A place in a sorted file.

    Attributes:
        at: Where the first line not less than a text begins, bytes.
        data: The bytes from there on that were read already.
        mark: The identity of the file.
        has_more: Whether more bytes follow these.
    """

    at: int
    data: bytes
    mark: tuple[int, int, int]
    has_more: bool


class SortedFile:
    """A file whose lines are sorted by their bytes.

    The key and time of some lines are remembered, about one for each 64 KiB of the file.

    Args:
        part: Its bytes.
    """

    def __init__(self, part: FilePart) -> None:
        self._part = part
        self._mark: tuple[int, int, int] = (0, 0, 0)
        self._texts: list[bytes] = []
        self._starts: list[int] = []
        self._last: tuple[bytes, _Place] | None = None
        self._has_deltas: bool | None = None

    def has_deltas(self) -> bool:
        """See `LineIndex.has_deltas`."""
        if self._has_deltas is None:
            self._has_deltas = next(self.lines_from(DELTAS), b"").startswith(DELTAS)
        return self._has_deltas

    def lines_from(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_from`. Lines of more than 1 MiB are left out."""
        place = self._find(target)
        at, data, has_more = place.at, place.data, place.has_more
        start, size, is_cut = b"", _BLOCK, False
        while True:
            at += len(data)
            lines = (start + data).split(b"\n")
            if is_cut:
                is_cut, lines = len(lines) == 1, lines[1:] or [b""]
            start = lines.pop() if has_more or not lines[-1] else b""
            if len(start) > LONGEST_LINE:
                start, is_cut = b"", True
            yield from filter(None, lines)
            if not has_more:
                return
            data, has_more = self._read(at, size, place.mark)
            size = min(size * 4, _PORTION)

    def lines_before(self, target: bytes) -> Iterator[bytes]:
        """See `LineIndex.lines_before`. Lines of more than 1 MiB are left out."""
        place = self._find(target)
        end, first, tail, is_cut = place.at, self._part.start, b"", False
        while end > first:
            at = max(end - _BLOCK, first)
            lines = (self._read(at, end - at, place.mark)[0] + tail).split(b"\n")
            if is_cut:
                is_cut, lines = len(lines) == 1, lines[:-1] or [b""]
            tail = lines.pop(0) if at > first else b""
            if len(tail) > LONGEST_LINE:
                tail, is_cut = b"", True
            yield from filter(None, reversed(lines))
            end = at

    def _find(self, target: bytes) -> _Place:
        """Find the first line that is not less than a text."""
        opened = _open(self._part)
        try:
            if opened.mark != self._mark:
                self._mark, self._has_deltas, self._last = opened.mark, None, None
                self._texts, self._starts = [], []
            if self._last is None or self._last[0] != target:
                self._last = target, self._search(opened, target)
            return self._last[1]
        finally:
            os.close(opened.handle)

    def _search(self, opened: _Opened, target: bytes) -> _Place:
        """Halve until a block is left; `low` is where a line begins, as is `result`."""
        low, high = self._part.start, opened.end
        if target.count(b" ") <= 1:  # a remembered text goes on up to the second blank
            number = bisect_left(self._texts, target)
            low = self._starts[number - 1] if number else low
            high = self._starts[number] if number < len(self._starts) else high
        result = high
        while high - low > _BLOCK:
            middle = (low + high) // 2
            start, text, is_whole = _line_behind(opened, middle, high, len(target))
            if start >= high:
                high = middle
                continue
            if is_whole and high - low > _PORTION and len(self._texts) < _REMEMBERED:
                self._remember(start, text)
            if text < target:
                low = start
            else:
                high, result = middle, start
        at, data = _first_line(opened, target, low, result)
        data = data or opened.read(at, _BLOCK)
        return _Place(at, data, opened.mark, bool(data) and at + len(data) < opened.end)

    def _remember(self, start: int, text: bytes) -> None:
        number = bisect_left(self._starts, start)
        if self._starts[number : number + 1] != [start]:
            self._starts.insert(number, start)
            self._texts.insert(number, text)

    def _read(self, at: int, size: int, mark: tuple[int, int, int]) -> tuple[bytes, bool]:
        """Read some bytes of the file that has an identity, and whether more follow.

        Raises:
            OSError: ESTALE: another file has its name now.
        """
        opened = _open(self._part)
        try:
            if opened.mark != mark:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self._part.path))
            data = opened.read(at, size)
            return data, bool(data) and at + len(data) < opened.end
        finally:
            os.close(opened.handle)


def _line_behind(opened: _Opened, at: int, end: int, least: int) -> tuple[int, bytes, bool]:
    """Find the next line behind a place.

    Args:
        opened: The file.
        at: The place.
        end: Where the search ends.
        least: Bytes of the line to return, if it has as many.

    Returns:
        Where it begins, `end` for none; its text up to the second blank; whether all of this is
        there.
    """
    data = opened.read(at, _PROBE)
    line_end = data.find(b"\n")
    if line_end < 0:
        start = _next_start(opened, at + len(data), end) if data else end
        data = b""
    else:
        start = at + line_end + 1
        data = data[line_end + 1 :]
    if start >= end:
        return end, b"", False
    text, is_whole = _up_to_second_blank(data)
    if not is_whole and len(text) < max(least, _PROBE):
        text, is_whole = _up_to_second_blank(opened.read(start, max(least, _PROBE)))
    return start, text, is_whole


def _up_to_second_blank(data: bytes) -> tuple[bytes, bool]:
    """Return the beginning of the first line, and whether its end or the second blank is there."""
    blank = data.find(b" ", data.find(b" ") + 1)
    line_end = data.find(b"\n")
    if blank >= 0 and (line_end < 0 or blank < line_end):
        return data[: blank + 1], data.find(b" ") < blank
    return (data[:line_end], True) if line_end >= 0 else (data, False)


def _first_line(opened: _Opened, target: bytes, low: int, high: int) -> tuple[int, bytes]:
    """Find the first line not less than a text.

    Args:
        opened: The file.
        target: The text.
        low: Where a line begins.
        high: Where the line begins that is the result if all lines before are less.

    Returns:
        Where it begins, and the bytes from there on that were read.
    """
    size = max(_BLOCK, len(target) + 1)
    while low < high:
        data, at = opened.read(low, size), 0
        match = 0 if data.startswith(target) else data.find(b"\n" + target) + 1
        if match or data.startswith(target):
            return low + match, data[match:]
        line_end = data.find(b"\n")
        if line_end < 0:
            if data >= target:
                return low, data
            low = _next_start(opened, low + len(data), high)
        while line_end >= 0 and low + at < high:
            if data[at:line_end] >= target:
                return low + at, data[at:]
            at, line_end = line_end + 1, data.find(b"\n", line_end + 1)
        low += at
    return high, b""


def _next_start(opened: _Opened, at: int, end: int) -> int:
    """Where the next line after a place begins; the end if there is none."""
    while at < end:
        data = opened.read(at, min(_PORTION, end - at))
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

    def has_deltas(self) -> bool:
        """See `LineIndex.has_deltas`."""
        number = bisect_left(self._entries, DELTAS)
        return any(entry.startswith(DELTAS) for entry in self._entries[number : number + 1])

    def _refresh(self) -> None:
        """Take the lines that were added; the last one may be half written."""
        opened = _open(FilePart(self._path))
        try:
            identity = opened.mark[:2]
            if identity != self._mark or opened.end < self._read_up_to:
                self._mark, self._read_up_to, self._entries = identity, 0, []
            while self._read_up_to < opened.end:
                data = opened.read(self._read_up_to, _GROWTH)
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
        opened = _open(FilePart(self._path))
        try:
            if opened.mark[:2] != self._mark:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(self._path))
            start = int.from_bytes(entry[-8:], "big")
            data, end = b"", -1
            while end < 0 and len(data) <= LONGEST_LINE:
                more = opened.read(start + len(data), max(_BLOCK, len(data)))
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

    def has_deltas(self) -> bool:
        """See `LineIndex.has_deltas`."""
        return next(self.lines_from(DELTAS), b"").startswith(DELTAS)

    def samples(self, places: int) -> Iterator[list[bytes]]:
        """Yield the lines of blocks spread over the index, in its order."""
        step = len(self._blocks) // places + 1
        for number in range(0, len(self._blocks), step):
            yield self._lines(number)

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
    opened = _open(part)
    try:
        data = opened.read(part.start, min(part.size, _LONGEST_BLOCK))
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
        first, entry = block
        file = files.get(entry.filename.rpartition("/")[2] or only)
        if file is not None and entry.offset >= 0 and entry.length > 0:
            yield _Block(first, FilePart(file.path, file.start + entry.offset, entry.length))


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
