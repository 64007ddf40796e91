"""The rows of a catalogue: a capture as the database has it, and back (pure).

A row is small, as there are many of them: a time takes four bytes, a digest its own bytes without
its letters, a media type the number of its name. The id of a row is the place of its record, so
that a capture that is read twice is one row, and the order of rows does not depend on when they
were read.
"""

import re
from calendar import timegm
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from nacre.archive.delta import MEDIA
from nacre.catalogue.captures import REVISIT, IndexedCapture
from nacre.core.base32 import decode_sha1, encode_sha1
from nacre.uri.parse import host
from nacre.uri.surt import index_key

OFFSET_BITS: Final = 38
"""Bits of the offset in the id of a row: 256 GiB, far above the size of a WARC."""
MOST_WARCS: Final = 1 << 24
"""WARCs of a catalogue."""
_OFFSET: Final = (1 << OFFSET_BITS) - 1

UNKNOWN, UNCHANGED, NEW = "", "none", "new"
VERDICTS: Final = (UNKNOWN, UNCHANGED, NEW, "markup", "noise", "template", "minor", "major")
"""The verdicts by their numbers; "" if no comparison is known."""
VERDICT_GROUPS: Final = {
    "changed": ("minor", "major"),
    "unchanged": (UNCHANGED, "markup", "noise", "template"),
    "unknown": (UNKNOWN,),
}
"""Names for several verdicts."""

_SHA1: Final = re.compile(r"sha1:[A-Z2-7]{32}", re.ASCII)
_SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_MEDIA_MOST: Final = 100
"""Characters of a media type that are stored."""

CapturePack = tuple[int, str, int, int, int, int, int, bytes | str | None, str | None]
"""A row of the table `capture`: id, URL, time, length, status, media type, verdict, digest, method
and query of a request with a body."""


class CatalogueItem(NamedTuple):
    """A capture with what the catalogue has of it.

    Attributes:
        capture: The capture.
        verdict: Result of the comparison with earlier captures, of `VERDICTS`.
        run: The run or the segment that made it; "" if unknown.
    """

    capture: IndexedCapture
    verdict: str
    run: str


def row_id(warc: int, offset: int) -> int:
    """Return the id of a row; -1 if the offset is too large.

    Args:
        warc: Number of its WARC.
        offset: Offset of its record, bytes.
    """
    return warc << OFFSET_BITS | offset if offset <= _OFFSET else -1


def place_of_row(number: int) -> tuple[int, int]:
    """Return the number of the WARC and the offset of the record, from the id of a row."""
    return number >> OFFSET_BITS, number & _OFFSET


def pack_capture(capture: IndexedCapture, warc: int, mime: int) -> CapturePack | None:
    """Return the row of a capture; None if its time is no date, or its offset is too large.

    Args:
        capture: The capture.
        warc: Number of its WARC.
        mime: Number of its media type.
    """
    number, time = row_id(warc, capture.offset), seconds_of(capture.timestamp)
    if time is None or number < 0:
        return None
    posted = f"{capture.method} {capture.query}" if capture.method or capture.query else None
    verdict = VERDICTS.index(UNCHANGED if capture.mime == REVISIT else UNKNOWN)
    return (
        number, capture.url, time, capture.length, capture.status, mime, verdict,
        _pack_digest(capture.digest), posted,
    )  # fmt: skip


def unpack_capture(
    row: CapturePack, warc: str, mime: str, member: int, key: str = ""
) -> IndexedCapture:
    """Return the capture of a row.

    Args:
        row: The row.
        warc: Name of its WARC.
        mime: Its media type.
        member: Number of its member in the holding.
        key: Its key; "" to compute it from its URL.
    """
    number, url, time, length, status, _, _, digest, posted = row
    method, _, query = (posted or "").partition(" ")
    return IndexedCapture(
        key or index_key(url), timestamp_of(time), url, mime, status, _digest_text(digest), warc,
        place_of_row(number)[1], length, method, query, member,
    )  # fmt: skip


def media_name(mime: str) -> str:
    """Return a media type as it is stored: without control characters, and of a limited length."""
    return (mime if mime.isprintable() else repr(mime)[1:-1])[:_MEDIA_MOST]


def _pack_digest(digest: str) -> bytes | str | None:
    if _SHA1.fullmatch(digest):
        return decode_sha1(digest[5:])
    if _SHA256.fullmatch(digest):
        return bytes.fromhex(digest[7:])
    return digest or None


def _digest_text(packed: bytes | str | None) -> str:
    if not isinstance(packed, bytes):
        return packed or ""
    return f"sha1:{encode_sha1(packed)}" if len(packed) == 20 else f"sha256:{packed.hex()}"


# ---- times


def seconds_of(timestamp: str) -> int | None:
    """Return the seconds since the epoch of a time of 14 digits; None if it is no date."""
    hour = _hour(timestamp[:10])
    minutes, seconds = int(timestamp[10:12]), int(timestamp[12:14])
    if hour is None or minutes > 59 or seconds > 59:
        return None
    return hour + 60 * minutes + seconds


def timestamp_of(seconds: int) -> str:
    """Return the 14 digits of a time in seconds since the epoch."""
    hour, in_hour = divmod(seconds, 3600)
    return f"{_hour_digits(hour)}{in_hour // 60:02d}{in_hour % 60:02d}"


@lru_cache(maxsize=4096)
def _hour(digits: str) -> int | None:
    try:
        moment = datetime(
            int(digits[:4]), int(digits[4:6]), int(digits[6:8]), int(digits[8:10]), tzinfo=UTC
        )
    except ValueError:
        return None
    return timegm(moment.timetuple())


@lru_cache(maxsize=4096)
def _hour_digits(hour: int) -> str:
    moment = datetime.fromtimestamp(hour * 3600, UTC)
    return f"{moment.year:04d}{moment:%m%d%H}"


# ---- facets of a capture

FAMILIES: Final = (
    "page", "image", "video", "audio", "style", "script", "font", "document", "data", "text",
    "archive", "revisit", "difference", "none",
)  # fmt: skip
"""Families of media types; a type of none of them is in `data`."""

_EXACT: Final = {
    "": "none", "text/html": "page", "application/xhtml+xml": "page", "text/css": "style",
    "text/javascript": "script", "application/javascript": "script",
    "application/x-javascript": "script", "application/ecmascript": "script",
    "application/pdf": "document", "application/msword": "document", "application/rtf": "document",
    "application/epub+zip": "document", "application/postscript": "document",
    "text/rtf": "document", "application/vnd.ms-fontobject": "font", "application/zip": "archive",
    "application/gzip": "archive", "application/x-gzip": "archive", "application/x-tar": "archive",
    "application/x-7z-compressed": "archive", "application/x-bzip2": "archive",
    "application/vnd.rar": "archive", "text/json": "data", "text/xml": "data", "text/csv": "data",
    "application/vnd.apple.mpegurl": "video", "application/dash+xml": "video",
    REVISIT: "revisit", MEDIA: "difference",
}  # fmt: skip
_BEGINNINGS: Final = (
    ("image/", "image"), ("video/", "video"), ("audio/", "audio"), ("font/", "font"),
    ("application/font", "font"), ("application/x-font", "font"),
    ("application/vnd.openxmlformats", "document"), ("application/vnd.oasis", "document"),
    ("application/vnd.ms-", "document"), ("text/", "text"),
)  # fmt: skip


def media_family(mime: str) -> str:
    """Return the family of a media type, of `FAMILIES`."""
    name = mime.partition(";")[0].strip().lower()
    if (family := _EXACT.get(name)) is not None:
        return family
    return next((family for start, family in _BEGINNINGS if name.startswith(start)), "data")


def host_of_capture(url: str) -> str:
    """Return the host of a URL without its port, in lower case; "" for none."""
    return host(url).lower()
