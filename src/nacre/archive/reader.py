"""A WARC reader that continues after damage, reports each error with its place, in little memory.

It reads files of other programs (WARC 0.17 to 1.1, plain or gzip) and Nacre's own files; what a
strict reader would refuse is noted and read anyway where that is possible. Source: WARC 1.1 clauses
4, 5 and annex D.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from nacre.archive.source import CHUNK, MAGIC, GzipSource, MemberSource, Note, PlainSource, section
from nacre.machine.local_files import open_ordinary

HEADER_LIMIT = 8 << 20
"""Longest record header that is read, bytes."""

HEADER_USUAL = 1 << 16
"""Longer headers are noted."""

MAX_LENGTH = 2**63 - 1

_TRAILER = 5
"""Bytes after a block that are read to reach the end of its gzip member: two CRLF, and one more."""

_VERSION = re.compile(rb"WARC/(\d+\.\d+)\r*\n\Z")
_BOM = b"\xef\xbb\xbf"
_CONTROL = bytes(range(9)) + bytes(range(11, 13)) + bytes(range(14, 32)) + b"\x7f"


def ignore_defect(code: str, offset: int, message: str) -> None:
    """Take no notice."""


class WarcEntry:
    """One record of a file. Its block is read in order, before the next record is requested.

    Attributes:
        offset: Offset of its gzip member, or of the record in a plain file, bytes.
        version: `1.1` and so on.
        fields: Names and values in order, blanks around the values dropped.
        length: Content-Length; -1 when it is absent or no number.
        size: Bytes of its gzip member (of several records in one, only the last has it), or in a
            plain file up to the end of the block; known after the next record is requested.
        left: Bytes of the block that were not read yet.
        gzip_header: The first ten bytes of its gzip member; b"" in a plain file.
    """

    def __init__(self, source: MemberSource, offset: int, version: str) -> None:
        self.offset = offset
        self.version = version
        self.fields: list[tuple[str, str]] = []
        self.length = -1
        self.size = 0
        self.gzip_header = source.header
        self.left = 0
        self._source = source
        self._first: dict[str, str] = {}

    def take_fields(self, fields: list[tuple[str, str]]) -> None:
        """Set the fields, once."""
        self.fields = fields
        self._first = {name.lower(): value for name, value in reversed(fields)}

    def begin_block(self, length: int) -> None:
        """Note how long the block is that follows, bytes."""
        self.length = self.left = length

    def note_size(self, size: int) -> None:
        """Note how many bytes of the file it takes; 0 while that is not known."""
        self.size = size

    def get(self, name: str) -> str | None:
        """First value of a field, whatever the case of its name; None when absent."""
        return self._first.get(name.lower())

    def read(self, size: int = CHUNK) -> bytes:
        """Return more of the block; b"" at its end, or if the file ends earlier."""
        data = self._source.read(min(size, self.left))
        self.left -= len(data)
        return data

    def skip(self, size: int) -> None:
        """Leave out bytes of the block; a plain file is not read for it."""
        size = min(size, self.left)
        self._source.skip(size)
        self.left -= size

    def is_sound(self) -> bool:
        """Return whether the block ends where it says, with the right checksum if it has any.

        The block must have been read before.
        """
        if self.left:
            return False
        self._source.peek(_TRAILER)
        return not self._source.damaged


class WarcReader:
    """The records of a file, in order.

    Args:
        file: The file, opened for reading bytes, at its start.
        note: Receives defects of the structure.
    """

    def __init__(self, file: BinaryIO, note: Note = ignore_defect) -> None:
        self._note = note
        self.compressed = file.read(3) == MAGIC
        file.seek(0)
        self._source: MemberSource = (
            GzipSource(file, note) if self.compressed else PlainSource(file)
        )

    def __iter__(self) -> Iterator[WarcEntry]:
        source = self._source
        more = source.next_member()
        while more:
            start, last = source.start, None
            for entry in self._member():
                last = entry
                yield entry
            more = source.next_member()
            if last and self.compressed:
                last.note_size(source.end - start)

    def _member(self) -> Iterator[WarcEntry]:
        """Yield the records of one member, which should be one; a plain file is one member."""
        source, count = self._source, 0
        start = source.start
        while source.peek(1):
            entry = self._begin(count)
            if entry is None:
                return
            count += 1
            if self.compressed and count == 2:
                self._note("member-shared", start, "several records in one gzip member")
            yield entry
            if not self._finish(entry):
                return
        if not count and not source.damaged:
            self._note("member-empty", start, "a gzip member without a record")

    def _begin(self, count: int) -> WarcEntry | None:
        """Read a record header, after skipping bytes that are none; None at the end."""
        source = self._source
        self._blank_lines(source.start, count)
        offset = source.start
        match = self._version(offset)
        while match is None:
            if self.compressed or not source.find_record(offset):
                return None
            offset = source.start
            match = self._version(offset)
        entry = WarcEntry(source, offset, match[1].decode())
        if not match[0].endswith(b"\r\n") or b"\r\r" in match[0]:
            self._note("line-end", offset, "the version line does not end with one CR LF")
        self._fields(entry)
        self._length(entry)
        return entry

    def _version(self, offset: int) -> re.Match[bytes] | None:
        line = self._line()
        if line.startswith(_BOM):
            self._note("byte-order-mark", offset, "a byte order mark before the record")
            line = line.removeprefix(_BOM)
        match = _VERSION.match(line)
        if match is None and line:
            self._note("no-record", offset, f"no record begins here, but {line[:40]!r}")
        return match

    def _blank_lines(self, offset: int, count: int) -> None:
        blank = False
        while self._source.peek(1) in (b"\r", b"\n"):
            self._source.read(1)
            blank = True
        if blank and not count:
            self._note("blank-lines", offset, "blank lines before the record")

    def _line(self) -> bytes:
        """Return the next line with its end; b"" when there is none within the limit."""
        size = 1024
        while True:
            window = self._source.peek(size)
            end = window.find(b"\n")
            if end >= 0:
                return self._take(end + 1)
            if len(window) < size or size >= HEADER_LIMIT:
                return self._take(len(window))
            size *= 4

    def _take(self, size: int) -> bytes:
        parts = []
        while size:
            data = self._source.read(size)
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def _fields(self, entry: WarcEntry) -> None:
        total = 0
        fields: list[list[bytes]] = []
        notes: dict[str, str] = {}
        while True:
            line = self._line()
            total += len(line)
            if line and not line.strip(b"\r\n"):
                break
            if not line.endswith(b"\n") or total > HEADER_LIMIT:
                notes["header-truncated"] = "the file ends, or nothing ends, inside the header"
                break
            _add_line(fields, line, notes)
        if total > HEADER_USUAL:
            notes["header-long"] = f"{total} bytes of header"
        if line == b"\n":
            notes["line-end"] = "a header line does not end with CR LF"
        entry.take_fields([(_text(k, notes), _text(v, notes)) for k, v in fields])
        for code, message in notes.items():
            self._note(code, entry.offset, message)

    def _length(self, entry: WarcEntry) -> None:
        text = entry.get("Content-Length")
        if text is None:
            self._note("length-missing", entry.offset, "no Content-Length")
        elif not (text.isascii() and text.isdigit()) or len(text) > 19 or int(text) > MAX_LENGTH:
            self._note("length-invalid", entry.offset, f"Content-Length is {text[:40]!r}")
        else:
            entry.begin_block(int(text))

    def _finish(self, entry: WarcEntry) -> bool:
        """Leave the record; False when nothing more is to be read from its member."""
        source = self._source
        block = source.start - (entry.length - entry.left)
        if entry.length < 0:
            return self._recover(entry, source.start)
        while entry.left and entry.read():
            pass
        entry.note_size(0 if self.compressed else source.start - entry.offset)
        if entry.left:
            message = f"{entry.left} bytes of the block are missing"
            self._note("block-truncated", entry.offset, message)
            return self._recover(entry, block)
        if source.peek(4) == b"\r\n\r\n":
            source.read(4)
            self._surplus(entry)
            return True
        return self._bad_trailer(entry, block)

    def _surplus(self, entry: WarcEntry) -> None:
        surplus = 0
        while self._source.peek(1) in (b"\r", b"\n"):
            self._source.read(1)
            surplus += 1
        if surplus:
            self._note("trailer", entry.offset, f"{surplus} bytes of blank lines too many behind")

    def _bad_trailer(self, entry: WarcEntry, block: int) -> bool:
        """Skip data that is no end of a record, up to the beginning of the next one."""
        source = self._source
        next_bytes = source.peek(12)
        lead = len(next_bytes) - len(next_bytes.lstrip(b"\r\n"))
        self._note("trailer", entry.offset, f"not two CRLF behind the block but {next_bytes[:8]!r}")
        if not next_bytes or next_bytes[lead:].startswith(b"WARC/") or lead == len(next_bytes):
            source.read(lead)
            return True
        return self._recover(entry, block)

    def _recover(self, entry: WarcEntry, block: int) -> bool:
        """Look for the next record from the start of the block on, in a plain file."""
        if self.compressed:
            return False
        source = self._source
        reached = source.start
        more = source.find_record(max(block - 1, 0))
        if more and source.start < reached:
            text = f"Content-Length {entry.length} reaches into the record at {source.start}"
            self._note("length-overrun", entry.offset, text)
        elif more and source.start > reached and entry.length >= 0:
            self._note("junk", reached, f"{source.start - reached} bytes that are not a record")
        return more


def _add_line(fields: list[list[bytes]], line: bytes, notes: dict[str, str]) -> None:
    """Take one header line: a field, or the rest of the one before."""
    if not line.endswith(b"\r\n"):
        notes["line-end"] = "a header line does not end with CR LF"
    text = line.rstrip(b"\r\n")
    if text.translate(None, _CONTROL) != text or b"\r" in text:
        notes["header-control"] = f"a control character in the header: {text[:60]!r}"
    if text[:1] in (b" ", b"\t") and fields:
        notes["header-folded"] = f"a folded header line: {text[:60]!r}"
        fields[-1][1] = (fields[-1][1] + b" " + text.strip(b" \t")).strip(b" ")
        return
    name, colon, value = text.partition(b":")
    if not colon or not name or name != name.strip(b" \t"):
        notes["header-line"] = f"a header line that is not a field: {text[:60]!r}"
    if colon:
        fields.append([name.strip(b" \t"), value.strip(b" \t")])


def _text(raw: bytes, notes: dict[str, str]) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        notes["header-encoding"] = f"not UTF-8 in the header: {raw[:60]!r}"
        return raw.decode("latin-1")


@contextmanager
def record_at(path: Path, offset: int) -> Iterator[WarcEntry | None]:
    """The record that begins at an offset of a file, to be read meanwhile; None when none does.

    Raises:
        OSError: The file cannot be read.
    """
    with open_ordinary(path) as file:
        end = file.seek(0, io.SEEK_END)
        yield next(iter(WarcReader(section(file, offset, end))), None)
