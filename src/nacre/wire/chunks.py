"""Chunked transfer coding, parsed without removing it: the places of the payload in the body.

Source: RFC 9112 clause 7.1.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import overload

from nacre.annotations import BAD_CHUNK, SHORT_BODY, TOO_MANY_CHUNKS, TRAILER_TRUNCATED
from nacre.wire.head import MAX_LENGTH

MAX_LINE = 16 * 1024
"""Longest chunk-size line with its extensions, bytes."""
MAX_TRAILER = 64 * 1024
"""Most bytes of trailers, bytes."""
MAX_RUNS = 2_000_000
"""Most chunks of one body: 32 MB of memory."""
MAX_TINY = 100_000
"""Most chunks when their mean is under `TINY` bytes."""
TINY = 16

_HEX = b"0123456789abcdefABCDEF"
_SIZE_LINE = re.compile(rb"[0-9a-fA-F]{1,16}[ \t]*(?:;[^\n]*)?\r?\Z")


class ChunkRuns(Sequence[tuple[int, int]]):
    """(offset, size) of each run of payload in a body, 16 bytes of memory each."""

    __slots__ = ("_numbers",)

    def __init__(self, runs: Sequence[tuple[int, int]] = ()) -> None:
        self._numbers = array("Q", [number for run in runs for number in run])

    def append(self, offset: int, size: int) -> None:
        """Append a run."""
        self._numbers.append(offset)
        self._numbers.append(size)

    def clip(self, length: int) -> None:
        """Cut the payload off after `length` bytes of body."""
        numbers = self._numbers
        while numbers and numbers[-2] >= length:
            del numbers[-2:]
        if numbers:
            numbers[-1] = min(numbers[-1], length - numbers[-2])

    def total(self) -> int:
        """Bytes of payload."""
        return sum(self._numbers[1::2])

    def __len__(self) -> int:
        return len(self._numbers) // 2

    def __iter__(self) -> Iterator[tuple[int, int]]:
        numbers = self._numbers
        return zip(numbers[::2], numbers[1::2], strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, index: slice) -> "ChunkRuns": ...
    def __getitem__(self, index: int | slice) -> "tuple[int, int] | ChunkRuns":
        if isinstance(index, slice):
            return ChunkRuns(list(self)[index])
        at = range(len(self))[index] * 2
        return self._numbers[at], self._numbers[at + 1]


class _Part(Enum):
    SIZE = "size"
    DATA = "data"
    AFTER = "after"
    TRAILER = "trailer"


class ChunkScanner:
    """Follows the chunks of one body, in pieces of any size.

    Attributes:
        runs: Places of the payload.
        finished: The end of the body was found.
        fault: Annotation of the framing error; "" while there is none.
        fault_at: Offset in the body of the line that broke it.
        offset: Bytes of body seen.
    """

    __slots__ = (
        "_left", "_line", "_part", "_payload", "_trailer", "fault", "fault_at", "finished",
        "offset", "runs",
    )  # fmt: skip

    def __init__(self) -> None:
        self.runs = ChunkRuns()
        self.finished = False
        self.fault = ""
        self.fault_at = 0
        self.offset = 0
        self._part = _Part.SIZE
        self._left = 0
        self._line = b""
        self._trailer = 0
        self._payload = 0

    @property
    def has_last_chunk(self) -> bool:
        """The chunk of size 0 was seen: the payload is whole, even if no blank line follows."""
        return self.finished or self._part is _Part.TRAILER

    @property
    def bogus(self) -> bool:
        """Broken before one good chunk: the body is not a chunked coding, and its own payload."""
        return bool(self.fault) and not len(self.runs) and not self.has_last_chunk

    def feed(self, data: bytes) -> int:
        """Follow `data`; gives the number of its bytes that belong to the body.

        Fewer than all are taken only at the end of the body or at a fault.
        """
        position, size = 0, len(data)
        while position < size and not self.finished and not self.fault:
            if self._part is _Part.SIZE and not self._line:
                quick = self._whole_chunks(data, position)
                self.offset += quick - position
                position = quick
            if self._part is _Part.DATA:
                step = min(self._left, size - position)
                self._left -= step
                self.offset += step
                position += step
                if not self._left:
                    self._part = _Part.AFTER
            else:
                position = self._line_from(data, position)
        return position

    def _whole_chunks(self, data: bytes, position: int) -> int:
        """Read complete plain chunks in `data`; return the position after them.

        What is odd, cut, or the last chunk is left to the lines.
        """
        runs, base, size = self.runs, self.offset - position, len(data)
        count = len(runs)
        while count < MAX_TINY:
            end = data.find(b"\r\n", position, position + 12)
            if end < 0 or data[position:end].translate(None, _HEX):
                break
            length = int(data[position:end] or b"0", 16)
            stop = end + 2 + length
            if not length or stop + 2 > size or data[stop : stop + 2] != b"\r\n":
                break
            runs.append(base + end + 2, length)
            self._payload += length
            position = stop + 2
            count += 1
        return position

    def _line_from(self, data: bytes, position: int) -> int:
        """Read a line, or the part of it that is in `data`; return the position after it."""
        limit = MAX_LINE - len(self._line)
        end = data.find(b"\n", position, position + limit)
        stop = end + 1 if end >= 0 else min(len(data), position + limit)
        line = data[position:stop] if not self._line else self._line + data[position:stop]
        self.offset += stop - position
        if end >= 0:
            self._line = b""
            self._read_line(line)
        elif len(line) >= MAX_LINE:
            self._fail(BAD_CHUNK, line)
        else:
            self._line = line
        return stop

    def _read_line(self, line: bytes) -> None:
        if self._part is _Part.SIZE:
            self._read_size(line)
        elif self._part is _Part.AFTER:
            self._part = _Part.SIZE
            if line not in (b"\r\n", b"\n"):
                self._fail(BAD_CHUNK, line)
        else:
            self._trailer += len(line)
            if line in (b"\r\n", b"\n"):
                self.finished = True
            elif self._trailer > MAX_TRAILER:
                self._fail(TRAILER_TRUNCATED, line)

    def _read_size(self, line: bytes) -> None:
        digits = line.rstrip(b"\r\n").partition(b";")[0].strip(b" \t")
        number = digits.lstrip(b"0")
        if not digits or len(number) > 16 or digits.translate(None, _HEX):
            self._fail(BAD_CHUNK, line)
            return
        size = int(digits, 16)
        if size > MAX_LENGTH - self.offset:
            self._fail(BAD_CHUNK, line)
        elif not size:
            self._part = _Part.TRAILER
        elif self._too_many():
            self._fail(TOO_MANY_CHUNKS, line)
        else:
            self._payload += size
            self.runs.append(self.offset, size)
            self._part = _Part.DATA
            self._left = size

    def _too_many(self) -> bool:
        count = len(self.runs)
        return count >= MAX_RUNS or (count >= MAX_TINY and self._payload < count * TINY)

    def _fail(self, annotation: str, line: bytes) -> None:
        self.fault = annotation
        self.fault_at = self.offset - len(line)


def remove_chunking(body: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """Yield the payload of a body with chunked coding, in bounded memory.

    A body without any chunk is its own payload: some programs store it decoded, with its old head.

    Args:
        body: The body as received, in pieces.
        notes: Receives the annotation of a fault, where the payload ends.
    """
    scanner, runs_read = ChunkScanner(), 0
    undecided = b""
    pieces = iter(body)
    for data in pieces:
        base = scanner.offset
        scanner.feed(data)
        if not len(scanner.runs) and not scanner.has_last_chunk:
            undecided += data
            if scanner.bogus:
                notes.append(scanner.fault)
                yield undecided
                yield from pieces
                return
            continue
        undecided = b""
        while runs_read < len(scanner.runs):
            offset, size = scanner.runs[runs_read]
            if part := data[max(offset - base, 0) : offset + size - base]:
                yield part
            if offset + size > base + len(data):
                break
            runs_read += 1
        if scanner.fault or scanner.finished:
            break
    if undecided and not _SIZE_LINE.match(undecided):
        notes.append(BAD_CHUNK)
        yield undecided
    elif scanner.fault or not scanner.has_last_chunk:
        notes.append(scanner.fault or SHORT_BODY)
