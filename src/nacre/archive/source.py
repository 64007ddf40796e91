"""The bytes of a WARC reader: of a plain file, or of the gzip members of a compressed one.

Both give the content of one *member* at a time (a plain file is one), report offsets in the file,
and continue after damage. Memory is bounded for any file.
"""

import io
import zlib
from collections.abc import Callable
from typing import BinaryIO, Protocol

Note = Callable[[str, int, str], None]
"""Receives a defect: code, offset in the file, message."""

CHUNK = 1 << 16
MAGIC = b"\x1f\x8b\x08"
_OUTPUT = 1 << 20
_TRAILER = 8
_STARTS = (b"WARC/", b"\r\n", b"\n")


class MemberSource(Protocol):
    """The source that `WarcReader` reads gzip members from.

    Attributes:
        end: Offset where the member before the current one ended.
        header: The first ten bytes of the gzip member; b"" in a plain file.
        damaged: The current member could not be read to its end; that was noted.
    """

    end: int
    header: bytes
    damaged: bool

    @property
    def start(self) -> int:
        """Offset in the file of the current member, or of the position in a plain file."""
        ...

    def peek(self, size: int) -> bytes:
        """Return the next bytes of the member without taking them; fewer only at its end."""
        ...

    def read(self, size: int) -> bytes:
        """At most `size` bytes; b"" at the end of the member."""
        ...

    def skip(self, size: int) -> None:
        """Leave out bytes of the member, or its rest if it has fewer."""
        ...

    def next_member(self) -> bool:
        """Go to the next member, leaving the rest of this one; False at the end of the file."""
        ...

    def find_record(self, since: int) -> bool:
        """After damage: go to the next line that begins a record; False when there is none.

        Args:
            since: Offset in a plain file at which to begin; other files continue from here.
        """
        ...


class PlainSource:
    """A file without compression."""

    def __init__(self, file: BinaryIO, start: int = 0) -> None:
        self._file = file
        self._data = b""
        self._at = 0
        self._begun = False
        self._base = start
        self.end = 0
        self.header = b""
        self.damaged = False

    @property
    def start(self) -> int:
        """See `MemberSource`."""
        return self._base + self._at

    def peek(self, size: int) -> bytes:
        """See `MemberSource.peek`."""
        while len(self._data) - self._at < size:
            more = self._file.read(max(CHUNK, size))
            if not more:
                break
            self._base += self._at
            self._data = self._data[self._at :] + more
            self._at = 0
        return self._data[self._at : self._at + size]

    def read(self, size: int) -> bytes:
        """See `MemberSource.read`."""
        data = self.peek(min(size, CHUNK))
        self._at += len(data)
        return data

    def skip(self, size: int) -> None:
        """See `MemberSource.skip`."""
        if size > len(self._data) - self._at:
            self._base = self._file.seek(self.start + size)
            self._at, self._data = 0, b""
        else:
            self._at += size

    def next_member(self) -> bool:
        """See `MemberSource.next_member`."""
        if not self._begun:
            self._begun = True
            self._file.seek(self._base)
        return bool(self.peek(1))

    def find_record(self, since: int) -> bool:
        """See `MemberSource.find_record`."""
        self._file.seek(since)
        self._base, self._at, self._data = since, 0, b""
        while True:
            window = self.peek(CHUNK)
            start = _record_start(window)
            if start >= 0:
                self._at += start
                return True
            if len(window) < CHUNK:
                self._at += len(window)
                return False
            self._at += CHUNK - 16


def _record_start(window: bytes) -> int:
    """Offset of a short line that begins with `WARC/` and a digit; -1 for none."""
    at = window.find(b"\nWARC/")
    while at >= 0:
        line = window[at + 6 : at + 13]
        if line[:1].isdigit() and b"\n" in line:
            return at + 1
        at = window.find(b"\nWARC/", at + 1)
    return -1


class GzipSource:
    """A file of gzip members."""

    def __init__(self, file: BinaryIO, note: Note) -> None:
        self._file = file
        self._note = note
        self._raw = b""
        self._raw_at = 0
        self._out = b""
        self._at = 0
        self._member: _Member | None = None
        self._start = 0
        self.end = 0
        self.header = b""
        self.damaged = False

    @property
    def start(self) -> int:
        """See `MemberSource`."""
        return self._start

    def peek(self, size: int) -> bytes:
        """See `MemberSource.peek`."""
        while len(self._out) - self._at < size:
            more = self._inflate()
            if not more:
                break
            self._out = self._out[self._at :] + more
            self._at = 0
        return self._out[self._at : self._at + size]

    def read(self, size: int) -> bytes:
        """See `MemberSource.read`."""
        data = self.peek(min(size, CHUNK))
        self._at += len(data)
        return data

    def skip(self, size: int) -> None:
        """See `MemberSource.skip`."""
        while size and (data := self.read(size)):
            size -= len(data)

    def next_member(self) -> bool:
        """See `MemberSource.next_member`; other bytes are noted and skipped."""
        while self._inflate():
            pass
        self._out, self._at = b"", 0
        self.end, self.damaged = self._raw_at, False
        if not self._fill(10):
            return False
        self._start = self._raw_at
        if not self._raw.startswith(MAGIC):
            self._note("gzip-junk", self._start, "bytes that are not a gzip member")
            if not self._skip_to_member(self._start + 1):
                return False
        self.header = self._raw[:10]
        self._member = _Member()
        return True

    def find_record(self, since: int) -> bool:
        """See `MemberSource.find_record`."""
        return self.next_member()

    def _fill(self, size: int) -> bool:
        """Have at least `size` raw bytes unless the file ends; False when there are none."""
        if len(self._raw) < size:
            self._raw += self._file.read(CHUNK)
        return bool(self._raw)

    def _inflate(self) -> bytes:
        """More of the member; b"" at its end."""
        member = self._member
        while member is not None:
            if not member.pending and not self._fill(1):
                self._note("gzip-truncated", self._start, "the file ends inside a gzip member")
                self._member, self.damaged = None, True
                return b""
            out, used = self._step(member)
            self._raw_at += used
            self._raw = self._raw[used:]
            if member.finished:
                self._member = None
                if member.padding_set():
                    self._note("gzip-padding", self._start, "padding bits of the member are set")
            if out:
                return out
            member = self._member
        return b""

    def _step(self, member: "_Member") -> tuple[bytes, int]:
        try:
            return member.feed(self._raw)
        except zlib.error as error:
            self._note("gzip-damaged", self._start, f"damaged gzip member: {error}")
            self._member, self.damaged = None, True
            self._skip_to_member(self._start + 10)
            return b"", 0

    def _skip_to_member(self, since: int) -> bool:
        """Go to the next place where a gzip member with a record begins."""
        self._file.seek(since)
        self._raw, self._raw_at = b"", since
        while True:
            while len(self._raw) < CHUNK + 1024:
                more = self._file.read(CHUNK)
                if not more:
                    break
                self._raw += more
            start = _member_start(self._raw)
            if start >= 0:
                self._raw, self._raw_at = self._raw[start:], self._raw_at + start
                self._start = self._raw_at
                return True
            step = len(self._raw) - 1024
            if step <= 0 or len(self._raw) < CHUNK + 1024:
                self._raw_at += len(self._raw)
                self._raw = b""
                return False
            self._raw, self._raw_at = self._raw[step:], self._raw_at + step


def _member_start(window: bytes) -> int:
    """Offset of a gzip member whose first bytes look like a record; -1 for none."""
    at = window.find(MAGIC)
    while at >= 0:
        try:
            first = zlib.decompressobj(31).decompress(window[at : at + 1024], 16)
        except zlib.error:
            first = b""
        if first.startswith(_STARTS):
            return at
        at = window.find(MAGIC, at + 1)
    return -1


class _Member:
    """A member being inflated. It keeps an earlier state, to inspect the end of the member."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(31)
        self._back: list[tuple[zlib._Decompress, bytes]] = []
        self.pending = False
        self.finished = False

    def feed(self, raw: bytes) -> tuple[bytes, int]:
        """Inflate some of `raw`: return the data (at most 1 MB), and how many bytes were used."""
        inflater = self._inflater
        self._back.append((inflater.copy(), b""))
        del self._back[:-3]
        out = inflater.decompress(raw, _OUTPUT)
        self.finished = inflater.eof
        unread = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
        used = len(raw) - len(unread)
        self._back = [(state, since + raw[:used]) for state, since in self._back]
        self.pending = len(out) == _OUTPUT and not inflater.eof
        return out, used

    def padding_set(self) -> bool:
        """Return whether a padding bit after the compressed data is set; no checksum covers it.

        Without its highest set bit the last byte gives the same data only if that bit is padding.
        """
        for state, since in reversed(self._back):
            if len(since) > _TRAILER:
                last = since[-_TRAILER - 1]
                if not last:
                    return False
                cleared = last & ~(1 << (last.bit_length() - 1))
                return _inflates(state, since[: -_TRAILER - 1] + bytes([cleared]) + since[-8:])
        return False


def _inflates(state: "zlib._Decompress", data: bytes) -> bool:
    try:
        while data and not state.eof:
            before = data
            out = state.decompress(data, _OUTPUT)
            data = state.unconsumed_tail
            if not out and data == before:
                return False
    except zlib.error:
        return False
    return bool(state.eof and not state.unused_data)


def section(
    file: io.BufferedReader, start: int, end: int, *, closes: bool = False
) -> io.BufferedReader:
    """Return the bytes from `start` up to `end` as a file.

    Args:
        file: The file.
        start: Where the part begins, bytes.
        end: Where it ends, bytes.
        closes: The file is closed with its part.
    """
    return io.BufferedReader(_Section(file, start, end, closes=closes))


class _Section(io.RawIOBase):
    """Part of a file, as a separate file."""

    def __init__(
        self, file: io.BufferedReader, start: int, end: int, *, closes: bool = False
    ) -> None:
        self._file = file
        self._start = start
        self._end = end
        self._closes = closes
        file.seek(start)

    def close(self) -> None:
        if self._closes:
            self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # stub: any buffer
        bytes_left = max(self._end - self._file.tell(), 0)
        data = self._file.read(min(len(buffer), bytes_left))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (self._start, self._file.tell(), self._end)[whence]
        return self._file.seek(base + offset) - self._start

    def tell(self) -> int:
        return self._file.tell() - self._start
