"""Checksums that Hadoop keeps beside a local file: `.part-00000.crc` of `part-00000`.

Source: Hadoop, `ChecksumFileSystem`: the bytes `crc` and 0, the size of a chunk, and the CRC-32 of
each chunk of the file, all numbers of four bytes, the greatest byte first.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nacre.errors import ConfigError

_MAGIC = b"crc\0"
_HEAD = len(_MAGIC) + 4
_NUMBER = struct.Struct(">I")
_READ = 1 << 20


class BadChunk(NamedTuple):
    """A range of a file whose bytes do not have their checksum.

    Attributes:
        start: Offset of its first byte.
        end: Offset after its last byte.
        reason: The fault, for a message.
    """

    start: int
    end: int
    reason: str


def checksum_file(path: Path) -> Path:
    """Return the path of the checksums of a file, which may not exist."""
    return path.with_name(f".{path.name}.crc")


def bad_chunks(path: Path, low: int = 0, high: int = 0) -> Iterator[BadChunk]:
    """Yield the chunks of a range that differ from their checksums; none without checksums.

    Args:
        path: The file.
        low: Offset of the range.
        high: Offset after the range; 0: to the end.

    Raises:
        ConfigError: One of the two files cannot be read.
    """
    sums = checksum_file(path)
    try:
        data = sums.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{sums} cannot be read: {error.strerror or error}") from error
    size = path.stat().st_size
    chunk = _NUMBER.unpack(data[4:_HEAD])[0] if len(data) >= _HEAD else 0
    if not data.startswith(_MAGIC) or not chunk:
        yield BadChunk(0, size, f"{sums} is no file of checksums")
        return
    number = (len(data) - _HEAD) // _NUMBER.size
    expected = -(-size // chunk)
    if number != expected:
        start = min(number, expected) * chunk
        yield BadChunk(min(start, size), size, f"{sums} has {number} checksums, not {expected}")
    first, last = low // chunk, min(number, expected, -(-(high or size) // chunk))
    yield from _compare(path, data, chunk, (first, last))


def _compare(path: Path, data: bytes, chunk: int, places: tuple[int, int]) -> Iterator[BadChunk]:
    """Yield the chunks of a range of numbers that differ from their checksums."""
    first, last = places
    step = max(1, _READ // chunk)
    try:
        with path.open("rb") as file:
            file.seek(first * chunk)
            for begin in range(first, last, step):
                block = file.read(min(step, last - begin) * chunk)
                for number in range(begin, min(begin + step, last)):
                    at = (number - begin) * chunk
                    piece = block[at : at + chunk]
                    [checksum] = _NUMBER.unpack_from(data, _HEAD + number * _NUMBER.size)
                    if zlib.crc32(piece) != checksum:
                        start = number * chunk
                        yield BadChunk(start, start + len(piece), "its checksum differs")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error
