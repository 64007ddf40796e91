"""How a seed list is written: UTF-8 or UTF-16, or what its bytes look like where it is neither.

Operators save lists in whatever their editor has: UTF-16 by a spreadsheet, GBK or Big5 by an older
Windows, Latin-1. What is guessed wrongly would be fetched under a wrong name, so a line with bytes
that its encoding does not have is no seed.
"""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from gzip import GzipFile
from io import BufferedReader
from typing import BinaryIO

from nacre.wire.charset import decode
from nacre.wire.labels import codec_of

LONGEST = 65_536
"""Bytes of the longest line that can be a seed; a longer one comes in pieces."""

SeedBytes = BinaryIO | BufferedReader | GzipFile
_WESTERN = "cp1252"
_WIDE_LETTERS = re.compile(rb"(?:[^\0]\0){2}|(?:\0[^\0]){2}")
_HIGH = re.compile(rb"[\x80-\xff]+")
_PAIRS = re.compile(rb"(?:[\xa1-\xf7][\xa1-\xfe])+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
UTF_8 = "utf-8"
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
    text = b"\n".join(sample)
    if broken * _STRAY <= sound and not (broken == 0 and _by_chance(text.decode(UTF_8, "replace"))):
        return UTF_8
    return _looks_like(text)


def _by_mark(head: bytes) -> str:
    """The codec that a byte order mark tells, or the NUL bytes of Latin letters; "" for none."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec
    if _WIDE_LETTERS.match(head):
        return "utf-16-be" if head.startswith(b"\0") else "utf-16-le"
    return ""


def decoded_lines(file: SeedBytes, codec: str) -> Iterator[str]:
    """The lines of a seed list; U+FFFD where a byte means nothing in its encoding.

    Args:
        file: The list, at its start.
        codec: As `coding_of` says.
    """
    if codec.startswith(WIDE):
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


def _by_chance(text: str) -> bool:
    """True for what is hardly UTF-8 though it could be: pairs of bytes that are GBK too.

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

    found = detect(sample, Detection(excluded=frozenset(("UTF-8",)))).encoding
    codec = codec_of(found or "") or _WESTERN
    return "gbk" if codec == _WESTERN and _is_in_pairs(sample, at_all=not found) else codec


def _is_in_pairs(sample: bytes, *, at_all: bool) -> bool:
    """True for bytes that are GBK throughout, though too few for the detector.

    Four letters beyond ASCII in a row are rare in Western text; two are not, so that these count
    only where the detector has nothing better (`at_all`).
    """
    runs = _HIGH.findall(sample)
    in_pairs = all(_PAIRS.fullmatch(run) for run in runs)
    return in_pairs and (at_all or any(len(run) > 2 for run in runs))
