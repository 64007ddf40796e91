"""The source of seed lines: the configuration, or a file of any length, plain or gzip.

A list is UTF-8 or UTF-16; else its encoding is guessed by its bytes. Operators save lists in
whatever their editor has: UTF-16 by a spreadsheet, GBK or Big5 by an older Windows, Latin-1. What
is guessed wrongly would be fetched under a wrong name, so a line with bytes that its encoding does
not have is not a seed.
"""

import codecs
import errno
import gzip
import io
import re
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from gzip import GzipFile
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import home_path, open_ordinary
from nacre.wire.charset import decode
from nacre.wire.guess import codec_of

LONGEST = 65_536
"""Bytes of the longest line that can be a seed; a longer one comes in pieces."""

SeedBytes = BinaryIO | BufferedReader | GzipFile
_WESTERN = "cp1252"
_WIDE_LETTERS = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}")
_HIGH = re.compile(rb"[\x80-\xff]+")
_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
UTF_8 = "utf-8"
UNREADABLE = (OSError, EOFError, zlib.error)
"""Errors of a seed file that is missing, damaged or no text."""
WIDE = ("utf-16", "utf-32")
"""How the codecs begin in which ASCII has more than a byte."""
_MARKS = (
    (b"\xef\xbb\xbf", UTF_8),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 65_536
"""Bytes of non-ASCII lines that are examined."""
_STRAY = 4
"""UTF-8 lines per other line for which the list is UTF-8, and the other line broken."""
_SHOWN = {"gbk": "GBK", "gb18030": "GB18030", "big5hkscs": "Big5", "cp1252": "Latin-1",
          "cp932": "Shift_JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR"}  # fmt: skip


def coding_of(file: SeedBytes) -> str:
    """Return the codec of a seed list, by its byte order mark or by all of its lines.

    Args:
        file: The list, at its start; it is read to its end, and must be able to go back.
    """
    head = file.read(4)
    marked = _by_mark(head)
    if marked:
        return marked
    file.seek(0)
    sound = broken = size = 0
    sample: list[bytes] = []
    for line in _lines_beyond_ascii(file):
        if line.isascii():
            if b"\0" in line:
                return UTF_8  # it is not text, which the reader reports
            continue
        if _is_utf8(line):
            sound += 1
        else:
            broken += 1
        if size < _SAMPLE:
            sample.append(line)
            size += len(line)
    text = b"\n".join(sample)
    if broken * _STRAY <= sound and not (broken == 0 and _by_chance(text.decode(UTF_8, "replace"))):
        return UTF_8
    return _looks_like(text)


def _by_mark(head: bytes) -> str:
    """The codec according to a byte order mark, or to NUL bytes of Latin letters; "" for none."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec
    if _WIDE_LETTERS.match(head):
        return "utf-16-be" if head.startswith(b"\0") else "utf-16-le"
    return ""


def decode_lines(file: SeedBytes, codec: str) -> Iterator[str]:
    """Yield the lines of a seed list; U+FFFD where a byte means nothing in its encoding.

    Args:
        file: The list, at its start.
        codec: The result of `coding_of`.
    """
    if codec.startswith(WIDE):
        decoder = codecs.getincrementaldecoder(codec)("replace")
        tail = decoder.decode(file.read(4)).removeprefix("\ufeff")
        while chunk := file.read(LONGEST):
            tail += decoder.decode(chunk)
            *lines, tail = tail.replace("\r\n", "\n").split("\n")
            yield from lines
            if len(tail) > LONGEST:
                yield tail
                tail = ""
        yield tail + decoder.decode(b"", final=True)
        return
    for line in _raw_lines(file):
        yield decode(line, codec)


def coding_name(codec: str) -> str:
    """Return an encoding as people call it: `GBK`, `UTF-16-LE`."""
    return _SHOWN.get(codec, codec.upper().replace("_", "-"))


def _raw_lines(file: SeedBytes) -> Iterator[bytes]:
    """Lines without their ends: LF, CR LF, or CR alone."""
    for line in iter(lambda: file.readline(LONGEST), b""):
        yield from line.splitlines()


def _lines_beyond_ascii(file: SeedBytes) -> Iterator[bytes]:
    """Lines as `_raw_lines` returns them, without most of those that are ASCII without NUL."""
    while block := file.read(LONGEST):
        block += file.readline(LONGEST)
        if not block.isascii() or b"\0" in block:
            yield from _raw_lines(io.BytesIO(block))


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode(UTF_8)
    except UnicodeDecodeError:
        return len(line) >= LONGEST - 4  # cut in a character
    return True


def _by_chance(text: str) -> bool:
    """Return whether text is valid UTF-8 by chance only: its byte pairs are GBK too.

    `通知` in GBK is U+0368 U+05AA in UTF-8: a mark without a letter, then one of another script.
    Characters of three bytes and more are never so by chance.
    """
    if any(sign > "\u07ff" for sign in text):
        return False
    for run in _BEYOND_ASCII.findall(text):
        scripts = {unicodedata.name(sign, "?").partition(" ")[0] for sign in run}
        if not run[0].isalpha() or len(scripts) > 1:
            return True
    return False


def _looks_like(sample: bytes) -> str:
    from turbohtml.detect import Detection, detect  # noqa: PLC0415 - slow, and rarely needed

    encoding = detect(sample, Detection(excluded=frozenset(("UTF-8",)))).encoding
    codec = codec_of(encoding or "") or _WESTERN
    return "gbk" if codec == _WESTERN and _is_in_pairs(sample, at_all=not encoding) else codec


def _is_in_pairs(sample: bytes, *, at_all: bool) -> bool:
    """Return True for bytes that are GBK throughout, though too few for the detector.

    Four letters beyond ASCII in a row are rare in Western text; two are not, so that these count
    only if the detector has no better answer (`at_all`).
    """
    runs = _HIGH.findall(sample)
    in_pairs = all(_PAIRS.fullmatch(run) for run in runs)
    return in_pairs and (at_all or any(len(run) > 2 for run in runs))


def seed_lines(named: str | Sequence[str], root: Path) -> Iterator[str]:
    """Yield the lines of a seed list, one at a time.

    Args:
        named: The setting `seeds`: a file, relative to the job (`.gz`: compressed), or the lines.
        root: The job's directory.

    Raises:
        ConfigError: The file cannot be read.
    """
    if isinstance(named, str):
        yield from file_lines(root / home_path(named), named)
    else:
        yield from named


def file_lines(path: Path, named: str) -> Iterator[str]:
    """Yield the lines of a seed file, in whatever encoding it is written.

    Args:
        path: The file.
        named: How the operator named it.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        codec = file_coding(path)
    except UNREADABLE as error:
        raise unreadable(named, why_unreadable(error)) from error
    yield from lines_in(path, named, codec)


def lines_in(path: Path, named: str, codec: str) -> Iterator[str]:
    """Return the lines of a seed file, one at a time.

    Args:
        path: The file.
        named: How the operator named it.
        codec: The result of `file_coding`.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        with open_bytes(path) as file:
            yield from of_a_text(decode_lines(file, codec))
    except UNREADABLE as error:
        raise unreadable(named, why_unreadable(error)) from error


def why_unreadable(error: Exception) -> str:
    """Return why a seed file cannot be read, by one of the errors `UNREADABLE`."""
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return error.strerror or str(error)
    return f"it is damaged ({error})"


def of_a_text(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines, as long as they are of a text.

    Raises:
        OSError: There is a NUL in one.
    """
    for line in lines:
        if "\0" in line:
            raise OSError(errno.EINVAL, "it is not text: there are NUL bytes in it")
        yield line


def file_coding(path: Path) -> str:
    """Return the codec of a seed file.

    Raises:
        OSError: It cannot be read, or is not a file: a device never ends.
        EOFError, zlib.error: It is compressed, and damaged.
    """
    with open_bytes(path) as file:
        return coding_of(file)


def open_bytes(path: Path) -> io.BufferedReader | gzip.GzipFile:
    """Open a file; one whose name ends with `.gz` is decompressed."""
    file = open_ordinary(path)
    return _Unpacked(file) if path.suffix == ".gz" else file


class _Unpacked(gzip.GzipFile):
    """What is in a compressed file; closing it closes the file, too."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        super().__init__(fileobj=packed, mode="rb")

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._packed.close()


def unreadable(named: str, reason: str) -> ConfigError:
    """Return the error for a seed list that cannot be read."""
    problem = Problem("seeds", f"{named} cannot be read: {reason}", "a file with one URL a line")
    return ConfigError([problem])
