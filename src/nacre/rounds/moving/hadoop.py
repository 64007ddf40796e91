"""Files of Hadoop, read without Java: SequenceFile 6, MapFile, and the values of `Writable`.

Plain, record-compressed and block-compressed files with zlib, gzip, bzip2 or zstd. A large file is
read in ranges: each begins at its first sync mark and ends at the first sync mark after it, so that
the ranges contain every record once. Lengths in a file are checked against its size before memory
is allocated. Source: Hadoop, `SequenceFile` and `AbstractMapWritable`.
"""

import bz2
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

import zstandard

from nacre.errors import ConfigError, DamageError

MOST = 1 << 28
"""Bytes that a value or a block may have when it is unpacked."""
ESCAPE = b"\xff\xff\xff\xff"
"""The value in place of a record length before a sync mark."""

_SYNC = 16
_CHUNK = 1 << 20
_LENGTHS = struct.Struct(">ii")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_FLOAT = struct.Struct(">f")
_DOUBLE = struct.Struct(">d")


class WritableError(ValueError):
    """A value does not have the format of its class; the message says why."""


class SequenceHeader(NamedTuple):
    """The header of a SequenceFile.

    Attributes:
        key_class: Java class of the keys.
        value_class: Java class of the values.
        codec: Java class that compresses them; "" if they are not compressed.
        blocks: Many records are packed together.
        sync: Its sync mark, 16 bytes.
        start: Offset of the first byte after the header.
    """

    key_class: str
    value_class: str
    codec: str
    blocks: bool
    sync: bytes
    start: int


class SequenceRecord(NamedTuple):
    """A record: the offset of its record or block in the file, its number from 0, key, value."""

    offset: int
    number: int
    key: bytes
    value: bytes


class FileRange(NamedTuple):
    """A byte range of a file, with the records at its sync marks; `high` 0: to the end."""

    path: str
    low: int = 0
    high: int = 0


OnDamage = Callable[[str], None]
"""Receives a message about unreadable data; reading resumes after it."""


# ---- values


class ByteCursor:
    """Reads the values of a record, and never beyond its end.

    Args:
        data: The bytes.
        at: Offset of the first byte to read.

    Attributes:
        data: The bytes.
        at: Offset of the next byte.
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, size: int) -> bytes:
        """Return the next bytes.

        Raises:
            WritableError: There are fewer bytes; so do all methods.
        """
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise WritableError(f"{size} bytes wanted at {self.at}, of {len(self.data)}")
        data = self.data[self.at : end]
        self.at = end
        return data

    def byte(self) -> int:
        """A signed byte."""
        at = self.at
        if at >= len(self.data):
            raise WritableError(f"a byte wanted at {at}, of {len(self.data)}")
        self.at = at + 1
        value = self.data[at]
        return value - 256 if value > 127 else value

    def unsigned(self) -> int:
        """A byte, 0 to 255."""
        at = self.at
        if at >= len(self.data):
            raise WritableError(f"a byte wanted at {at}, of {len(self.data)}")
        self.at = at + 1
        return self.data[at]

    def integer(self) -> int:
        """Four bytes."""
        at = self.at
        if at + 4 > len(self.data):
            raise WritableError(f"4 bytes wanted at {at}, of {len(self.data)}")
        self.at = at + 4
        value: int = _INT.unpack_from(self.data, at)[0]
        return value

    def long(self) -> int:
        """Eight bytes."""
        value: int = _LONG.unpack(self.take(8))[0]
        return value

    def short(self) -> int:
        """Two bytes."""
        return int.from_bytes(self.take(2), "big", signed=True)

    def single(self) -> float:
        """A float of four bytes."""
        value: float = _FLOAT.unpack(self.take(4))[0]
        return value

    def double(self) -> float:
        """A float of eight bytes."""
        value: float = _DOUBLE.unpack(self.take(8))[0]
        return value

    def varying(self) -> int:
        """A number of one to nine bytes (`WritableUtils.readVLong`)."""
        first = self.byte()
        if first >= -112:
            return first
        negative = first < -120
        size = -(first + 120) if negative else -(first + 112)
        value = int.from_bytes(self.take(size), "big")
        return ~value if negative else value

    def text(self) -> str:
        """A `Text`: its length, then UTF-8; invalid bytes are replaced, as in Java."""
        at, data = self.at, self.data
        # Most texts are short: their length is one byte.
        if at < len(data) and (end := at + 1 + data[at]) <= len(data) and data[at] < 128:
            self.at = end
            return data[at + 1 : end].decode("utf-8", "replace")
        return self.take(self.varying()).decode("utf-8", "replace")

    def java_text(self) -> str:
        """A text of `DataOutput.writeUTF`: two bytes of length."""
        size = int.from_bytes(self.take(2), "big")
        return self.take(size).decode("utf-8", "replace")

    def count(self, least: int = 1) -> int:
        """The number of the following values, each of which has `least` bytes or more."""
        number = self.integer()
        if number < 0 or number * least > len(self.data) - self.at:
            raise WritableError(f"{number} things are said to follow at {self.at}")
        return number

    def take_rest(self) -> bytes:
        """Return all remaining bytes."""
        return self.take(len(self.data) - self.at)


# ---- packed bytes


def _inflate(data: bytes, bits: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while data:
        stream = zlib.decompressobj(bits)
        pieces.append(stream.decompress(data, MOST + 1 - size))
        size += len(pieces[-1])
        if not stream.eof:
            if size > MOST:
                break
            raise WritableError("the packed bytes end too early")
        data = stream.unused_data if bits > 15 else b""
    return b"".join(pieces)


def _unpack_zlib(data: bytes) -> bytes:
    return _inflate(data, 15)


def _unpack_gzip(data: bytes) -> bytes:
    return _inflate(data, 31)


def _unpack_bzip2(data: bytes) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while data and size <= MOST:
        stream = bz2.BZ2Decompressor()
        pieces.append(stream.decompress(data, MOST + 1 - size))
        size += len(pieces[-1])
        if not stream.eof and size <= MOST:
            raise WritableError("the packed bytes end too early")
        data = stream.unused_data
    return b"".join(pieces)


def _unpack_zstd(data: bytes) -> bytes:
    pieces: list[bytes] = []
    size = 0
    with zstandard.ZstdDecompressor().stream_reader(
        BytesIO(data), read_across_frames=True
    ) as reader:
        while size <= MOST and (part := reader.read(_CHUNK)):
            pieces.append(part)
            size += len(part)
    return b"".join(pieces)


_CODECS = {
    "DefaultCodec": _unpack_zlib,
    "DeflateCodec": _unpack_zlib,
    "GzipCodec": _unpack_gzip,
    "BZip2Codec": _unpack_bzip2,
    "ZStandardCodec": _unpack_zstd,
}


def unpack(codec: str, data: bytes) -> bytes:
    """Decompress bytes.

    Args:
        codec: Java class that compressed them; "" for plain bytes.
        data: The bytes.

    Raises:
        WritableError: They are damaged, or more than `MOST` bytes.
    """
    if not codec or not data:
        return data
    try:
        plain = _CODECS[codec.rpartition(".")[2]](data)
    except (zlib.error, OSError, EOFError, zstandard.ZstdError) as error:
        raise WritableError(f"the packed bytes are damaged: {error}") from None
    if len(plain) > MOST:
        raise WritableError(f"it has more than {MOST >> 20} MiB when it is unpacked")
    return plain


# ---- files


def read_header(file: BinaryIO, name: str) -> SequenceHeader:
    """The header of a SequenceFile.

    Args:
        file: The file, at its beginning.
        name: Its name in messages.

    Raises:
        ConfigError: It is no SequenceFile, of another version, or packed by an unknown codec.
        DamageError: Its header ends too early.
    """
    head = file.read(4)
    if head[:3] != b"SEQ":
        raise ConfigError(f"{name} is no SequenceFile of Hadoop: it does not begin with SEQ")
    if head[3:] != b"\x06":
        raise ConfigError(
            f"{name} is a SequenceFile of version {head[3] if head[3:] else '?'}, and version 6 is "
            "read here: copy it with a tool of a newer Hadoop, such as Nutch's mergedb"
        )
    cursor = ByteCursor(head + file.read(_CHUNK), 4)
    try:
        key_class, value_class = cursor.text(), cursor.text()
        packed, blocks = cursor.byte(), cursor.byte()
        codec = cursor.text() if packed else ""
        for _ in range(cursor.count(2)):
            cursor.text()
            cursor.text()
        sync = cursor.take(_SYNC)
    except WritableError as error:
        raise DamageError(f"{name}: the header of the SequenceFile is damaged: {error}") from None
    if codec and codec.rpartition(".")[2] not in _CODECS:
        raise ConfigError(
            f"{name} is packed by {codec}, and here are: {', '.join(_CODECS)}. Write it again with "
            "one of these, such as by mergedb with "
            "-Dmapreduce.output.fileoutputformat.compress.codec"
        )
    return SequenceHeader(key_class, value_class, codec, bool(blocks), sync, cursor.at)


class SequenceFile:
    """An open SequenceFile.

    Args:
        path: The file.

    Attributes:
        path: The file.
        header: Its header.
        size: Its bytes.

    Raises:
        ConfigError: See `read_header`; or it cannot be opened.
        DamageError: See `read_header`.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        try:
            self._file = self.path.open("rb", buffering=_CHUNK)
            self.size = self.path.stat().st_size
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
        try:
            self.header = read_header(self._file, str(path))
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def __enter__(self) -> Self:
        """It is open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def records(
        self, low: int = 0, high: int = 0, on_damage: OnDamage | None = None
    ) -> Iterator[SequenceRecord]:
        """The records of a range.

        Args:
            low: Offset of the first sync mark, or less; 0: from the first record.
            high: Records end before the first sync mark at this offset or later; 0: at the end.
            on_damage: Receives damage, and reading resumes at the next sync mark; None: raises.

        Raises:
            DamageError: A record is damaged: its file, offset, number.
        """
        end = high or self.size + 1
        # Records before the first sync mark belong to the range that begins at 0.
        first = not low
        at = self.header.start if first else self._next_sync(max(low, self.header.start))
        number = 0
        read = self._blocks if self.header.blocks else self._plain
        while at < self.size and (first or at < end):
            first = False
            try:
                for record in read(at, end, number):
                    number = record.number + 1
                    yield record
            except _BadPlaceError as fault:
                message = f"{self.path}: record {number} at byte {fault.offset:,}: {fault}"
                at = fault.offset + 1
            else:
                return
            if on_damage is None:
                raise DamageError(f"{message}. `--salvage` goes on at the next sync mark")
            on_damage(message)
            at = self._next_sync(at)

    def _plain(self, at: int, end: int, number: int) -> Iterator[SequenceRecord]:
        file, codec = self._file, self.header.codec
        file.seek(at)
        while head := file.read(4):
            if head == ESCAPE:
                if at >= end:
                    return
                self._expect_sync(at)
                at += 4 + _SYNC
                continue
            head += file.read(4)
            if len(head) < 8:
                raise _BadPlaceError(at, "the file ends within it")
            size, key_size = _LENGTHS.unpack(head)
            if not 0 <= key_size <= size <= MOST or at + 8 + size > self.size:
                raise _BadPlaceError(
                    at, f"it is said to have {size:,} bytes, {key_size:,} of the key"
                )
            data = file.read(size)
            if len(data) < size:
                raise _BadPlaceError(at, "the file ends within it")
            try:
                value = unpack(codec, data[key_size:])
            except WritableError as error:
                raise _BadPlaceError(at, str(error)) from None
            yield SequenceRecord(at, number, data[:key_size], value)
            number += 1
            at += 8 + size

    def _expect_sync(self, at: int) -> None:
        if self._file.read(_SYNC) != self.header.sync:
            raise _BadPlaceError(at, "its sync mark is another than that of the file")

    def _blocks(self, at: int, end: int, number: int) -> Iterator[SequenceRecord]:
        file = self._file
        file.seek(at)
        while at < self.size and at < end:
            if file.read(4) != ESCAPE:
                raise _BadPlaceError(at, "a block does not begin with a sync mark")
            self._expect_sync(at)
            count = self._varying(at)
            if not 0 <= count <= MOST:
                raise _BadPlaceError(at, f"{count:,} records are said to follow")
            try:
                key_sizes, keys, sizes, values = (self._buffer(at) for _ in range(4))
                keys_at, values_at = ByteCursor(key_sizes), ByteCursor(sizes)
                key_bytes, value_bytes = ByteCursor(keys), ByteCursor(values)
                for _ in range(count):
                    key = key_bytes.take(keys_at.varying())
                    value = value_bytes.take(values_at.varying())
                    yield SequenceRecord(at, number, key, value)
                    number += 1
            except WritableError as error:
                raise _BadPlaceError(at, str(error)) from None
            at = file.tell()

    def _buffer(self, at: int) -> bytes:
        size = self._varying(at)
        if not 0 <= size <= MOST or self._file.tell() + size > self.size:
            raise _BadPlaceError(at, f"a part of the block is said to have {size:,} bytes")
        return unpack(self.header.codec, self._file.read(size))

    def _varying(self, at: int) -> int:
        first = self._file.read(1)
        if not first:
            raise _BadPlaceError(at, "the file ends within it")
        more = 0 if not 128 <= first[0] < 144 else (136 if first[0] < 136 else 144) - first[0]
        try:
            return ByteCursor(first + self._file.read(more)).varying()
        except WritableError as error:
            raise _BadPlaceError(at, str(error)) from None

    def _next_sync(self, at: int) -> int:
        """Return the offset of the next sync mark; the size of the file if there is none."""
        mark = ESCAPE + self.header.sync
        self._file.seek(at)
        tail = b""
        while chunk := self._file.read(_CHUNK):
            data = tail + chunk
            index = data.find(mark)
            if index >= 0:
                return at - len(tail) + index
            tail = data[-(len(mark) - 1) :]
            at += len(chunk)
        return self.size


class _BadPlaceError(Exception):
    """Damage at an offset."""

    def __init__(self, offset: int, reason: str) -> None:
        self.offset = offset
        super().__init__(reason)


def data_files(directory: Path) -> list[Path]:
    """The SequenceFiles of the parts of a directory of Hadoop, by name.

    A part is a SequenceFile `part-*`, or a MapFile: a directory with `data` and `index`. Tables of
    Nutch have theirs in `current`.

    Raises:
        ConfigError: There is no part.
    """
    if not directory.is_dir():
        raise ConfigError(f"there is no directory {directory}")
    home = directory / "current" if (directory / "current").is_dir() else directory
    files = []
    for path in sorted(home.glob("part-*")):
        if path.is_dir() and (path / "data").is_file():
            files.append(path / "data")
        elif path.is_file() and not path.name.endswith(".crc"):
            files.append(path)
    if not files:
        raise ConfigError(f"{directory} has no part-* of Hadoop, and no `current` with some")
    return files


def ranges(paths: Iterable[Path], size: int) -> list[FileRange]:
    """Divide files into ranges of about `size` bytes."""
    file_ranges = []
    for path in paths:
        whole = path.stat().st_size
        number = max(1, -(-whole // size))
        ends = [whole * piece // number for piece in range(number + 1)]
        ends[-1] = 0
        file_ranges += [FileRange(str(path), ends[at], ends[at + 1]) for at in range(number)]
    return file_ranges
