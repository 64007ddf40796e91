"""One capture of a job, a collection or a file: its record, its reply, and its neighbours."""

from collections.abc import Iterator
from io import RawIOBase
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import unquote

from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import open_index
from nacre.catalogue.query import search_captures
from nacre.catalogue.rows import CatalogueItem
from nacre.errors import JobError
from nacre.messages import message
from nacre.replay.reply import ArchivedExchange, read_exchange

_PIECE: Final = 64 << 10
_NAME: Final = 100
"""Characters of the name of a downloaded file."""


class RecordBytes(NamedTuple):
    """The bytes of a record as they are in its WARC.

    Attributes:
        file: The bytes from the beginning of the record on.
        length: Bytes of the record.
        is_gzip: The record is a member of gzip.
    """

    file: BinaryIO
    length: int
    is_gzip: bool


def capture_at(holding: Holding, name: str) -> CatalogueItem:
    """Return the capture of an id, `WARC:OFFSET`, from the catalogue.

    Raises:
        ConfigError: It is no id.
        JobError: There is no such capture, or the catalogue does not have it yet.
    """
    items = search_captures(holding, CatalogueQuery(ids=(name,), limit=1)).items
    if not items:
        raise JobError(
            message(
                "ops.no-capture",
                "{name} has no capture {id}; if its catalogue is being built, try again later",
                name=holding.name,
                id=name,
            )
        )
    return items[0]


def exchange_at(holding: Holding, capture: IndexedCapture, *, decode: bool) -> ArchivedExchange:
    """Return the exchange of a capture.

    Args:
        holding: Where its files are.
        capture: The capture.
        decode: Remove the content coding of the body.

    Raises:
        ReplayError: It cannot be read.
    """
    return read_exchange(holding, open_index(holding), capture, decode=decode)


def record_at(holding: Holding, capture: IndexedCapture) -> RecordBytes:
    """Return the record of a capture as it is in its WARC.

    Raises:
        JobError: Its WARC is not there, or the length of the record is not known.
    """
    missing = JobError(
        message(
            "ops.no-record",
            "the record at byte {offset} of {warc} is not there; copy the file back",
            offset=str(capture.offset),
            warc=capture.warc,
        )
    )
    if not capture.length:
        raise missing
    try:
        file = holding.open(capture)
    except OSError:
        raise missing from None
    return RecordBytes(file, capture.length, capture.warc.endswith(".gz"))


def read_pieces(file: BinaryIO | RawIOBase, length: int = -1) -> Iterator[bytes]:
    """Yield a file in pieces, and close it.

    Args:
        file: The file.
        length: Bytes at most; -1 for all.
    """
    with file:
        while length and (data := file.read(_PIECE if length < 0 else min(_PIECE, length)) or b""):
            length -= len(data) if length > 0 else 0
            yield data


def file_name(url: str) -> str:
    """Return a name for the download of a URL: letters, digits, `-`, `_` and `.` (pure)."""
    path = unquote(url.partition("?")[0].rstrip("/").rpartition("/")[2])
    name = "".join(char if char.isalnum() or char in "-_." else "_" for char in path[:_NAME])
    return name.lstrip(".") or "capture"
