"""Captures that need a record of certain WARCs: revisits of it, and differences from it.

The indexes say which captures may depend on them: revisits with one of their digests, and all
differences. Only the headers of these are read. References to outlinks (`recrawl --keep lean`) are
not searched: no capture needs them to be replayed.
"""

from collections.abc import Collection, Iterator
from hashlib import blake2b
from typing import NamedTuple

from nacre.archive.delta import DeltaError, read_delta
from nacre.archive.fields import micros, second_digits, strip_brackets
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding, WarcPlace
from nacre.packing.sources import read_lines
from nacre.replay.records import ReplayError, StoredRecord, read_record
from nacre.uri.surt import index_key


class WarcName(NamedTuple):
    """A WARC of a holding.

    Attributes:
        member: Number of its member.
        name: Its name.
    """

    member: int
    name: str


class Dependent(NamedTuple):
    """A capture that needs a record of another WARC.

    Attributes:
        capture: The capture.
        original: Time and URL of that record; "" if the capture does not state them.
    """

    capture: IndexedCapture
    original: str


def find_dependents(holding: Holding, warcs: Collection[WarcName]) -> Iterator[Dependent]:
    """Yield the captures of other WARCs that need a record of these.

    Memory: 40 bytes for each capture of these WARCs.

    Args:
        holding: The holding.
        warcs: The WARCs.

    Raises:
        OSError: A WARC or an index cannot be read.
    """
    originals: set[bytes] = set()
    for place, member in _places(holding):
        if WarcName(member, place.name) in warcs:
            for capture, _ in read_lines(place, member):
                if not capture.is_revisit:
                    originals.add(_mark(f"{capture.key} {capture.timestamp}"))
                    originals.add(_mark(capture.digest))
    for place, member in _places(holding):
        if WarcName(member, place.name) in warcs:
            continue
        for capture, _ in read_lines(place, member):
            if _may_depend(capture, originals):
                original = _original(holding, capture, originals)
                if original is not None:
                    yield Dependent(capture, original)


def _places(holding: Holding) -> Iterator[tuple[WarcPlace, int]]:
    for number, member in enumerate(holding.members):
        for place in member.warcs():
            yield place, number


def _may_depend(capture: IndexedCapture, originals: set[bytes]) -> bool:
    if capture.is_delta:
        return True
    return capture.is_revisit and (not capture.digest or _mark(capture.digest) in originals)


def _original(holding: Holding, capture: IndexedCapture, originals: set[bytes]) -> str | None:
    """Return time and URL of the record that a capture needs; None if it is not in the WARCs."""
    try:
        record = read_record(holding, capture)
    except ReplayError:
        return None  # it is lost already
    place = _base(record) if capture.is_delta else _reference(record, capture)
    if place is None:  # an old writer: the digest alone identifies it
        return "" if capture.is_revisit and capture.digest else None
    key, date, url = place
    return f"{date} {url}" if _mark(f"{key} {date}") in originals else None


def _reference(record: StoredRecord, capture: IndexedCapture) -> tuple[str, str, str] | None:
    """Return key, time and URL of the original of a revisit; None if it does not state them."""
    url = strip_brackets(record.get("WARC-Refers-To-Target-URI"))
    moment = micros(record.get("WARC-Refers-To-Date"))
    if not url or not moment:
        return None
    key = capture.key if url == capture.url else _key(url)
    return key, second_digits(moment), url


def _base(record: StoredRecord) -> tuple[str, str, str] | None:
    """Return key, time and URL of the base of a difference; None if it cannot be read."""
    try:
        base = strip_brackets(record.get("WARC-Refers-To"))
        delta = read_delta(b"".join(record.block.pieces()), base)
    except (DeltaError, ReplayError):
        return None
    return _key(delta.base_url), second_digits(delta.base_date), delta.base_url


def _key(url: str) -> str:
    return index_key(url).replace(" ", "%20")


def _mark(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
