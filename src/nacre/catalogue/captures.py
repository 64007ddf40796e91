"""A line of an index (CDXJ) as a capture with its place (pure).

Lines of other crawlers are read too: numbers as text or as numbers, more fields, bytes that are not
UTF-8. A difference (`archive.delta`) is a capture of the page that it belongs to.

Source: CDXJ as pywb, cdxj-indexer and browsertrix write it; the WACZ specification, section 5.2.2.
"""

import re
from typing import NamedTuple

import msgspec

from nacre.archive.delta import MEDIA, TARGET, page_url
from nacre.archive.index_facts import PostQuery
from nacre.uri.surt import index_key

LONGEST_LINE = 1 << 20
"""Bytes of a line; longer lines are no captures."""

REVISIT = "warc/revisit"
"""Media type of a revisit record in an index."""

_DIGITS = re.compile(r"\d{14,20}", re.ASCII)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_STATUS = re.compile(r"\d{1,3}", re.ASCII)
_MOST = (1 << 63) - 1


CaptureOrder = tuple[str, str, int, str, int]
"""Key, time, number of the member, WARC, offset."""


class IndexedCapture(NamedTuple):
    """A capture, as a line of an index has it.

    Attributes:
        key: Its index key (`uri.indexkey`); of a difference that of its page.
        timestamp: When it was captured, UTC, 14 digits.
        url: Its URL; of a difference that of its page.
        mime: Media type as written; "" if absent, `warc/revisit` for a revisit,
            `archive.delta.MEDIA` for a difference.
        status: HTTP status; 0 if absent. A difference is of a reply with status 200.
        digest: Payload digest as written; "" if absent.
        warc: Name of its WARC, without folders.
        offset: Offset of its record in the WARC, bytes.
        length: Bytes of its record there; 0 if unknown.
        method: Method of its request; "" for GET.
        query: What the body of its request adds to the key (`archive.index_facts`).
        member: Number of its member in the holding.
    """

    key: str
    timestamp: str
    url: str
    mime: str
    status: int
    digest: str
    warc: str
    offset: int
    length: int
    method: str = ""
    query: str = ""
    member: int = 0

    @property
    def id(self) -> str:
        """Its name within a member: `WARC:OFFSET`."""
        return f"{self.warc}:{self.offset}"

    @property
    def order(self) -> CaptureOrder:
        """Its place among all captures: by key, time, member, WARC and offset."""
        return self.key, self.timestamp, self.member, self.warc, self.offset

    @property
    def position(self) -> str:
        """Its `order` as text, for a request that continues there; see `read_position`."""
        return f"{self.key} {self.timestamp} {self.member} {self.offset} {self.warc}"

    @property
    def is_revisit(self) -> bool:
        """Whether its record refers to another record for its payload."""
        return self.mime == REVISIT

    @property
    def is_delta(self) -> bool:
        """Whether its record is a difference from an earlier capture."""
        return self.mime == MEDIA


def read_position(text: str) -> CaptureOrder | None:
    """Return the order in a text that `IndexedCapture.position` gave; None for other texts."""
    words = text.split(" ", 4)
    if len(words) != 5 or not (words[2].isdecimal() and words[3].isdecimal()):
        return None
    if len(words[2]) > 9 or len(words[3]) > 19:
        return None
    return words[0], words[1], int(words[2]), words[4], int(words[3])


class _Fields(msgspec.Struct):
    """The object of a line; numbers are often texts."""

    url: str
    filename: str
    offset: int | str
    length: int | str | None = 0
    mime: str | None = ""
    status: int | str | None = ""
    digest: str | None = ""
    method: str | None = ""
    requestBody: str | None = ""  # noqa: N815 - the name in CDXJ


_DECODER = msgspec.json.Decoder(_Fields)


def read_capture(line: bytes, member: int = 0) -> IndexedCapture | None:
    """Return the capture of a line; None for other lines: a head, a comment, half a line.

    Args:
        line: The line, with or without its end.
        member: Number of its member in the holding.
    """
    words = line.split(b" ", 2)
    if len(words) != 3 or len(line) > LONGEST_LINE:
        return None
    try:
        return _capture(words[0].decode(), words[1].decode(), words[2], member)
    except UnicodeDecodeError:
        return _read_other_charset(line, member)
    except (ValueError, RecursionError):  # no JSON, too deep, or a number that is none
        return None


def own_key(capture: IndexedCapture) -> str:
    """Return the key that Nacre looks a capture up by, whatever its index has."""
    url = capture.url
    if capture.method:
        url = PostQuery(capture.method, capture.query).appended(url)
    return index_key(url).replace(" ", "%20")


def normal_line(line: bytes) -> bytes | None:
    """Return a line of any index as Nacre has it: UTF-8, with `own_key` and 14 digits.

    None for lines that are no captures.
    """
    capture = read_capture(line)
    if capture is None:
        return None
    text = line.split(b" ", 2)[2].strip()
    if capture.is_delta:
        return b"%b %b %b" % (line.partition(b" ")[0], capture.timestamp.encode(), text)
    try:
        text.decode()
    except UnicodeDecodeError:
        text = _escaped(text)
    return b"%b %b %b" % (own_key(capture).encode(), capture.timestamp.encode(), text)


def _escaped(line: bytes) -> bytes:
    return _NOT_ASCII.sub(lambda match: b"%%%02X" % match[0][0], line)


def _read_other_charset(line: bytes, member: int) -> IndexedCapture | None:
    """Return the capture of a line that is not UTF-8; its bytes become escapes, as in a URL."""
    capture = read_capture(_escaped(line), member)
    return None if capture is None else capture._replace(key=capture.key.lower())


def _capture(key: str, timestamp: str, text: bytes, member: int) -> IndexedCapture | None:
    if not key or _DIGITS.fullmatch(timestamp) is None:
        return None
    fields = _DECODER.decode(text)
    offset, length = int(fields.offset), int(fields.length or 0)
    mime, status, url = fields.mime or "", str(fields.status or ""), fields.url
    warc = fields.filename.rpartition("/")[2]
    if not (url and warc and 0 <= offset <= _MOST and 0 <= length <= _MOST):
        return None
    if mime == MEDIA and url.startswith(TARGET):
        url, status = page_url(url), "200"
        key = index_key(url).replace(" ", "%20")
    method = fields.method or ""
    return IndexedCapture(
        key,
        timestamp[:14],
        url,
        "" if mime == "-" else mime,
        int(status) if _STATUS.fullmatch(status) else 0,
        fields.digest or "",
        warc,
        offset,
        length,
        "" if method == "GET" else method,
        fields.requestBody or "",
        member,
    )
