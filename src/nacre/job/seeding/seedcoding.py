"""How a seed list is written: UTF-8 or UTF-16, or what its bytes look like where it is neither.

Operators save lists in whatever their editor has: UTF-16 by a spreadsheet, GBK or Big5 by an older
Windows, Latin-1. What is guessed wrongly would be fetched under a wrong name, so a line with bytes
that its encoding does not have is no seed.
"""

import codecs
from collections.abc import Iterator
from gzip import GzipFile
from io import BufferedReader
from typing import BinaryIO

from nacre.wire.charset import decode
from nacre.wire.labels import codec_of

LONGEST = 65_536
"""Bytes of the longest line that can be a seed; a longer one comes in pieces."""

SeedBytes = BinaryIO | BufferedReader | GzipFile
UTF_8 = "utf-8"
_MARKS = (
    (b"\xef\xbb\xbf", UTF_8),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 65_536
"""Bytes of lines beyond ASCII that are looked at."""
_STRAY = 4
"""So many lines of UTF-8 to one that is not: then the list is UTF-8, and that line is broken."""
_SHOWN = {"gbk": "GBK", "gb18030": "GB18030", "big5hkscs": "Big5", "cp1252": "Latin-1",
          "cp932": "Shift_JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR"}  # fmt: skip


def coding_of(file: SeedBytes) -> str:
    """The codec of a seed list, by its byte order mark or by all of its lines.

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
    for line in _raw_lines(file):
        if line.isascii():
            if b"\0" in line:
                return UTF_8  # it is no text, which who reads it on finds out
            continue
        if _is_utf8(line):
            sound += 1
        else:
            broken += 1
        if size < _SAMPLE:
            sample.append(line)
            size += len(line)
    if broken * _STRAY <= sound:
        return UTF_8
    return _looks_like(b"\n".join(sample))


def _by_mark(head: bytes) -> str:
    """The codec that a byte order mark tells, or the NUL bytes of Latin letters; "" for none."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec
    if len(head) == 4 and head[1:4:2] == b"\0\0":
        return "utf-16-le"
    if len(head) == 4 and head[0:4:2] == b"\0\0":
        return "utf-16-be"
    return ""


def decoded_lines(file: SeedBytes, codec: str) -> Iterator[str]:
    """The lines of a seed list; U+FFFD where a byte means nothing in its encoding.

    Args:
        file: The list, at its start.
        codec: As `coding_of` says.
    """
    if codec.startswith(("utf-16", "utf-32")):
        decoder = codecs.getincrementaldecoder(codec)("replace")
        rest = decoder.decode(file.read(4)).removeprefix("\ufeff")
        while chunk := file.read(LONGEST):
            rest += decoder.decode(chunk)
            *lines, rest = rest.replace("\r\n", "\n").split("\n")
            yield from lines
            if len(rest) > LONGEST:
                yield rest
                rest = ""
        yield rest + decoder.decode(b"", final=True)
        return
    for line in _raw_lines(file):
        yield decode(line, codec)


def coding_name(codec: str) -> str:
    """An encoding as people call it: `GBK`, `UTF-16-LE`."""
    return _SHOWN.get(codec, codec.upper().replace("_", "-"))


def _raw_lines(file: SeedBytes) -> Iterator[bytes]:
    """Lines without their ends: LF, CR LF, or CR alone."""
    for line in iter(lambda: file.readline(LONGEST), b""):
        yield from line.splitlines()


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode(UTF_8)
    except UnicodeDecodeError:
        return len(line) >= LONGEST - 4  # cut in a character
    return True


def _looks_like(sample: bytes) -> str:
    from turbohtml.detect import detect  # noqa: PLC0415 - slow, and rarely needed

    return codec_of(detect(sample).encoding or "") or "cp1252"
