"""Records of a holding, read at the place that an index states, in bounded memory.

Whatever is wrong with a file is a `ReplayError` with a code, the place and a remedy.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from nacre.archive.delta import page_url
from nacre.archive.fields import strip_brackets
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.errors import NacreError, StorageError, URIError
from nacre.messages import error_text, message
from nacre.uri.surt import index_key

INLINE = 1 << 20
"""Bytes of a block that are kept in memory; the rest of a longer block is read again when used."""

_SHARED = 10_000
"""Records of one gzip member that are searched for a capture."""

_TYPES = frozenset(("response", "revisit", "resource", "metadata", "conversion"))


class ReplayError(NacreError):
    """A capture cannot be replayed; the message has the place and the remedy.

    Attributes:
        code: `damaged`, `stale-index`, `missing-file`, `missing-original`, `missing-base` (of a
            difference), or `not-replayable` (a record without content to show).
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class RecordBlock(NamedTuple):
    """The block of a record.

    Attributes:
        holding: Where the WARC is.
        capture: The capture whose record it is.
        length: Bytes of the block.
        start: Its first bytes; all of them, if there are at most `INLINE`.
    """

    holding: Holding
    capture: IndexedCapture
    length: int
    start: bytes

    def pieces(self, since: int = 0) -> Iterator[bytes]:
        """Yield the block from an offset on.

        Raises:
            ReplayError: The record is damaged, or the file was removed.
        """
        if since < len(self.start):
            yield self.start[since:]
            since = len(self.start)
        if since >= self.length:
            return
        with _open_entry(self.holding, self.capture) as entry:
            entry.skip(since)
            yield from _read_to_end(self.capture, entry)


class StoredRecord(NamedTuple):
    """A record of a capture.

    Attributes:
        fields: Names and values of its header, in order.
        block: Its block.
    """

    fields: tuple[tuple[str, str], ...]
    block: RecordBlock

    def get(self, name: str) -> str:
        """First value of a field, whatever the case of its name; "" when absent."""
        lower = name.lower()
        return next((value for key, value in self.fields if key.lower() == lower), "")

    @property
    def type(self) -> str:
        """WARC-Type, in lower case."""
        return self.get("WARC-Type").lower()

    @property
    def id(self) -> str:
        """WARC-Record-ID without angle brackets; "" when absent."""
        return strip_brackets(self.get("WARC-Record-ID"))

    @property
    def url(self) -> str:
        """URL of its content; that of a difference is the URL of the page."""
        return page_url(strip_brackets(self.get("WARC-Target-URI")))


def read_record(holding: Holding, capture: IndexedCapture) -> StoredRecord:
    """Return the record of a capture.

    Raises:
        ReplayError: It is damaged, another record is there, or the file is missing.
    """
    with _open_entry(holding, capture) as entry:
        if entry.length < 0:
            raise damaged(capture, "it has no valid Content-Length")
        parts: list[bytes] = []
        size = 0
        for data in _read_to_end(capture, entry):
            parts.append(data)
            size += len(data)
            if size > INLINE:
                break
        block = RecordBlock(holding, capture, entry.length, b"".join(parts))
        return StoredRecord(tuple(entry.fields), block)


def damaged(capture: IndexedCapture, reason: str) -> ReplayError:
    """Make the error of a record that cannot be read."""
    return ReplayError(
        "damaged",
        message(
            "replay.damaged",
            "the record at byte {offset} of {warc} is damaged: {reason}. Run `nacre archive check` "
            "on the file, or restore it from a copy.",
            offset=str(capture.offset), warc=capture.warc, reason=reason,
        ),
    )  # fmt: skip


def _missing_file(warc: str) -> ReplayError:
    return ReplayError(
        "missing-file",
        message(
            "replay.missing-file",
            "the file {warc} is in the index, but it is not there. Put it back where it was, or "
            "add the place to which it was moved.",
            warc=warc,
        ),
    )  # fmt: skip


def _read_to_end(capture: IndexedCapture, entry: WarcEntry) -> Iterator[bytes]:
    while data := entry.read():
        yield data
    if not entry.is_sound():
        missing = f"{entry.left} bytes are missing" if entry.left else "its checksum is wrong"
        raise damaged(capture, missing)


@contextmanager
def _open_entry(holding: Holding, capture: IndexedCapture) -> Iterator[WarcEntry]:
    """Open the file at a record.

    Raises:
        ReplayError: It cannot be opened, or there is no such record.
    """
    try:
        with holding.open(capture) as file:
            yield _matching_entry(WarcReader(file), capture)
    except FileNotFoundError:
        raise _missing_file(capture.warc) from None
    except (OSError, StorageError, ValueError, EOFError, zlib.error) as error:
        raise damaged(capture, error_text(error)) from error


def _matching_entry(reader: WarcReader, capture: IndexedCapture) -> WarcEntry:
    """Return the entry of a capture; old writers put several records into one gzip member."""
    first = ""
    for number, entry in enumerate(reader):
        if entry.offset != 0 or number == _SHARED:
            break
        if _is_of(entry, capture):
            return entry
        first = first or f"{entry.get('WARC-Type')} {entry.get('WARC-Target-URI')}"[:200]
    if not first:
        raise damaged(capture, "no record begins there")
    raise ReplayError(
        "stale-index",
        message(
            "replay.stale-index",
            "according to the index {url} is at byte {offset} of {warc}, but there is {record}. "
            "The index belongs to another version of the file: make it again with "
            "`nacre archive JOB index`.",
            url=capture.url, offset=str(capture.offset), warc=capture.warc, record=first,
        ),
    )  # fmt: skip


def _is_of(entry: WarcEntry, capture: IndexedCapture) -> bool:
    if (entry.get("WARC-Type") or "").lower() not in _TYPES:
        return False
    digits = "".join(c for c in entry.get("WARC-Date") or "" if c.isdigit())[:14]
    url = page_url(strip_brackets(entry.get("WARC-Target-URI") or ""))
    return digits == capture.timestamp and _same_url(url, capture.url)


def _same_url(url: str, second: str) -> bool:
    if url == second or url.replace(" ", "%20") == second:
        return True
    try:
        return index_key(url) == index_key(second)
    except URIError:
        return False
