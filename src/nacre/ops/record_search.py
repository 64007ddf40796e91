"""The search of a record by its id, which no index has.

First the records that the indexes name are looked at, of which only the header is unpacked: some
10,000 a second. If it is none of them, the WARCs are read whole, for ids of request and metadata
records and for WARCs without an index.
"""

import os
import re
import zlib
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO, Final

from nacre.archive.delta import page_url
from nacre.archive.fields import strip_brackets
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.source import section
from nacre.archive.warc_writer import GZIP
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, WarcPlace
from nacre.catalogue.lookup import CaptureIndex
from nacre.errors import JobError, StorageError
from nacre.machine.local_files import open_ordinary
from nacre.messages import message
from nacre.ops.url_captures import captures_of
from nacre.packing.sources import read_lines

Tell = Callable[[int, int], None]
"""Receives bytes done, and bytes in all."""

_MAIN: Final = frozenset(("response", "revisit", "resource"))
_NEAR: Final = 1_000
"""Records within which the records of a capture are in a WARC."""
_HEADER: Final = 4_096
"""Bytes of a record in which its id is searched."""
_ID: Final = re.compile(rb"^WARC-Record-ID:[ \t]*<?([^>\s]+)", re.IGNORECASE | re.MULTILINE)


def find_record(holding: Holding, urn: str, index: CaptureIndex, tell: Tell) -> IndexedCapture:
    """Return the capture that a record belongs to.

    Args:
        holding: Where it is.
        urn: Its id, lower case, without angle brackets.
        index: The index of the holding.
        tell: Receives the progress when the WARCs are read whole.

    Raises:
        JobError: There is no such record.
        StorageError: An index cannot be read.
    """
    places = [
        (number, place)
        for number, member in enumerate(holding.members)
        for place in reversed(member.warcs())
    ]
    for number, place in places:
        capture = _search_index(place, number, urn)
        if capture is not None:
            return capture
    total, searched = sum(place.size for _, place in places), 0
    for number, place in places:
        capture = _search_warc(place, number, urn, index)
        if capture is not None:
            return capture
        searched += place.size
        tell(searched, total)
    raise JobError(
        message(
            "ops.record-missing",
            "no record of {name} has the id {urn}",
            name=holding.name,
            urn=urn,
        )
    )


def _search_index(place: WarcPlace, member: int, urn: str) -> IndexedCapture | None:
    """Return the capture whose own record has an id; None if it is none of a WARC."""
    with suppress(OSError, StorageError), open_ordinary(place.path) as file:
        for line in read_lines(place, member):
            if _record_id(file, place.start + line.capture.offset) == urn:
                return line.capture
    return None


def _record_id(file: BinaryIO, offset: int) -> str:
    """Return the id of the record at an offset, lower case; "" if none can be read."""
    data = os.pread(file.fileno(), _HEADER, offset)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(GZIP).decompress(data, _HEADER)
        except zlib.error:
            return ""
    match = _ID.search(data.partition(b"\r\n\r\n")[0])
    return match[1].decode("utf-8", "replace").lower() if match else ""


def _search_warc(
    place: WarcPlace, member: int, urn: str, index: CaptureIndex
) -> IndexedCapture | None:
    """Return the capture that a record of a WARC belongs to; None if the WARC does not have it."""
    recent: OrderedDict[str, tuple[int, str]] = OrderedDict()
    target = urn
    with suppress(OSError), open_ordinary(place.path) as file:
        for entry in WarcReader(section(file, place.start, place.start + place.size)):
            own = _id_of(entry, "WARC-Record-ID")
            recent[own] = entry.offset, strip_brackets(entry.get("WARC-Target-URI") or "")
            if len(recent) > _NEAR:
                recent.popitem(last=False)
            if own != target:
                continue
            # A request or metadata record belongs to a record soon before or after.
            target = _id_of(entry, "WARC-Concurrent-To") if _is_companion(entry) else own
            if target in recent:
                return _indexed(index, member, place.name, *recent[target])
    return None


def _is_companion(entry: WarcEntry) -> bool:
    return entry.get("WARC-Type") not in _MAIN and bool(entry.get("WARC-Concurrent-To"))


def _id_of(entry: WarcEntry, name: str) -> str:
    return strip_brackets(entry.get(name) or "").lower()


def _indexed(
    index: CaptureIndex, member: int, warc: str, offset: int, url: str
) -> IndexedCapture | None:
    """Return the capture of a record; None if the index does not have it."""
    with suppress(JobError):
        for capture in captures_of(index, page_url(url)):
            if (capture.member, capture.warc, capture.offset) == (member, warc, offset):
                return capture
    return None
