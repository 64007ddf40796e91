"""The record with the content of a revisit, and the base of a difference, both found by the index.

Nothing is scanned: an original is at the place, or under the URL, in the fields of the record. It
may be in another WARC, another run, or another member of the holding. Source: WARC 1.1 clause 6.7,
and `WARC-Refers-To-Filename` and `WARC-Refers-To-File-Offset` of Heritrix.
"""

import binascii
from base64 import b32decode
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nacre.archive.delta import LONGEST, MEDIA, Delta, DeltaError, read_delta
from nacre.archive.fields import micros, second_digits, strip_brackets
from nacre.archive.record import NOT_MODIFIED
from nacre.archive.restoring import restore_block
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex
from nacre.errors import URIError
from nacre.messages import message
from nacre.replay.records import ReplayError, StoredRecord, damaged, read_record
from nacre.uri.surt import index_key

_DEEPEST = 8
"""Revisits of revisits, or differences from differences, that are followed."""

_MOST_NEAR = 50
"""Captures near the stated time that are considered first."""

_MOST_READ = 20
"""Candidates for an original that are read."""


class OriginalRecord(NamedTuple):
    """The record that has the content of a revisit.

    Attributes:
        capture: Its line in the index.
        record: The record; a difference is restored.
    """

    capture: IndexedCapture
    record: StoredRecord


class Originals:
    """Finds records that other records refer to.

    Args:
        holding: Where the files are.
        index: Its index.
    """

    def __init__(self, holding: Holding, index: CaptureIndex) -> None:
        self._holding = holding
        self._index = index

    def restored(self, record: StoredRecord, depth: int = 0) -> StoredRecord:
        """Return a record whose block is the reply; only a difference is changed.

        Args:
            record: The record.
            depth: How many differences lie above it.

        Raises:
            ReplayError: Its base is missing, or something is damaged.
        """
        if record.type != "metadata" or record.get("Content-Type") != MEDIA:
            return record
        capture, block = record.block.capture, record.block
        if block.length > LONGEST or depth > _DEEPEST:
            raise damaged(capture, "the difference is too long, or refers to itself")
        try:
            base_id = strip_brackets(record.get("WARC-Refers-To"))
            delta = read_delta(b"".join(block.pieces()), base_id)
            content = restore_block(delta, lambda base: self._base(base, capture, depth))
        except DeltaError as error:
            if error.code == "delta-unresolved":
                raise _missing_base(record) from error
            raise damaged(capture, str(error)) from error
        return record._replace(block=block._replace(length=len(content), start=content))

    def find(self, revisit: StoredRecord, depth: int = 0) -> OriginalRecord | None:
        """Return the original of a revisit; None if it is not in the holding.

        Args:
            revisit: The record.
            depth: How many revisits lie above it.

        Raises:
            ReplayError: The original is there, but it cannot be read.
        """
        failure: ReplayError | None = None
        for capture in self._candidates(revisit):
            try:
                record = read_record(self._holding, capture)
                original = self._original(revisit, capture, record, depth)
            except ReplayError as error:
                failure = failure or error
                continue
            if original is not None:
                return original
        if failure is not None:
            raise failure
        return None

    def _original(
        self, revisit: StoredRecord, capture: IndexedCapture, record: StoredRecord, depth: int
    ) -> OriginalRecord | None:
        """Return the original that a candidate is, or leads to; None if it is not the original."""
        if record.type == "revisit":
            return self.find(record, depth + 1) if depth < _DEEPEST else None
        if not _is_original(revisit, record, capture):
            return None
        return OriginalRecord(capture, self.restored(record))

    def _candidates(self, revisit: StoredRecord) -> Iterator[IndexedCapture]:
        """Yield what may be the original, the likeliest first, each at most once."""
        own = revisit.block.capture
        visited = {(own.member, own.id)}
        for count, capture in enumerate(self._all_candidates(revisit, own)):
            if count >= _MOST_READ * 2 or len(visited) > _MOST_READ:
                return
            if (capture.member, capture.id) not in visited:
                visited.add((capture.member, capture.id))
                yield capture

    def _all_candidates(
        self, revisit: StoredRecord, own: IndexedCapture
    ) -> Iterator[IndexedCapture]:
        url = strip_brackets(revisit.get("WARC-Refers-To-Target-URI")) or own.url
        date = _refers_to_date(revisit)
        file = revisit.get("WARC-Refers-To-Filename")
        offset = revisit.get("WARC-Refers-To-File-Offset")
        if file and offset.isdigit() and date:
            hint = own._replace(url=url, timestamp=date, offset=int(offset[:18]))
            yield from self._in_members(hint, file)
        key = _key_of(url, own)
        near = self._index.closest(key, date or own.timestamp, _MOST_NEAR)
        captures = [capture for capture in near if not capture.is_revisit]
        yield from sorted(captures, key=lambda capture: _rank(capture, revisit, own, date))
        digest = revisit.get("WARC-Payload-Digest")
        for distant in {key: None, own.key: None} if digest else ():
            for capture in self._index.exact(distant):
                if not capture.is_revisit and _same_digest(digest, capture.digest):
                    yield capture

    def _in_members(self, hint: IndexedCapture, file: str) -> Iterator[IndexedCapture]:
        """Yield a place in each member that has a file of that name, that of the hint first."""
        name = file.rpartition("/")[2].removesuffix(".open")
        numbers = range(len(self._holding.members))
        for number in sorted(numbers, key=lambda number: number != hint.member):
            if self._holding.warc(number, name) is not None:
                yield hint._replace(warc=name, member=number)

    def _base(self, delta: Delta, own: IndexedCapture, depth: int) -> bytes:
        """Return the block of a base."""
        failure: ReplayError | None = None
        for capture in self._bases(delta, own):
            try:
                record = read_record(self._holding, capture)
                if record.id == delta.base_id and record.block.length <= LONGEST:
                    return b"".join(self.restored(record, depth + 1).block.pieces())
            except ReplayError as error:
                failure = failure or error
        if failure is not None and failure.code == "damaged":
            raise failure
        raise DeltaError("delta-unresolved", f"<{delta.base_id}> is not there")

    def _bases(self, delta: Delta, own: IndexedCapture) -> Iterable[IndexedCapture]:
        date = second_digits(delta.base_date)
        hint = own._replace(url=delta.base_url, timestamp=date, offset=delta.base_offset, mime="")
        if delta.base_file:
            yield from self._in_members(hint, delta.base_file)
        for capture in self._index.closest(_key_of(delta.base_url, own), date, _MOST_NEAR):
            if capture.timestamp == date and not capture.is_revisit:
                yield capture


def _key_of(url: str, own: IndexedCapture) -> str:
    """Return the index key of a URL; that of a capture, with its form, if it is its URL."""
    try:
        key = index_key(url).replace(" ", "%20")
        return own.key if key == index_key(own.url).replace(" ", "%20") else key
    except URIError:
        return own.key


def _rank(
    capture: IndexedCapture, revisit: StoredRecord, own: IndexedCapture, date: str
) -> tuple[bool, bool, bool, int]:
    """Order candidates: same time and content, same time, same content, the nearest in time."""
    same = _same_digest(revisit.get("WARC-Payload-Digest"), capture.digest)
    aim = date or own.timestamp
    is_exact = capture.timestamp == aim
    distance = abs(int(capture.timestamp) - int(aim))
    return not (is_exact and same is not False), same is not True, not is_exact, distance


def _is_original(revisit: StoredRecord, record: StoredRecord, capture: IndexedCapture) -> bool:
    """Whether a record is what a revisit refers to: by id, else by digest, else by time."""
    refers = strip_brackets(revisit.get("WARC-Refers-To"))
    if refers and refers == record.id:
        return True
    digest = revisit.get("WARC-Payload-Digest")
    same = _same_digest(digest, record.get("WARC-Payload-Digest") or capture.digest)
    if same is not None:
        return same
    if date := _refers_to_date(revisit):
        return date == capture.timestamp
    is_older = capture.timestamp <= revisit.block.capture.timestamp
    return revisit.get("WARC-Profile").endswith(NOT_MODIFIED) and capture.status == 200 and is_older


def _refers_to_date(revisit: StoredRecord) -> str:
    """Return the 14 digits of WARC-Refers-To-Date; "" if it is absent, or no date."""
    date = micros(revisit.get("WARC-Refers-To-Date"))
    return second_digits(date) if date else ""


def _same_digest(first: str, second: str) -> bool | None:
    """Compare two digests; None if one is absent, or another algorithm made it."""
    value, second_value = digest_value(first), digest_value(second)
    if not value or len(value) != len(second_value):
        return None
    return value == second_value


def digest_value(digest: str) -> bytes:
    """Return the bytes of `LABEL:VALUE` or `VALUE`, in base 16 or 32; b"" if it is neither.

    Args:
        digest: The digest, as in a record or an index.
    """
    value = digest.rpartition(":")[2].rstrip("=")
    try:
        if len(value) in (40, 56, 64, 96, 128) or digest.lower().startswith("md5"):
            return bytes.fromhex(value)
        return b32decode(value.upper() + "=" * (-len(value) % 8))
    except (ValueError, binascii.Error):
        return b""


def _missing_base(record: StoredRecord) -> ReplayError:
    return ReplayError(
        "missing-base",
        message(
            "replay.missing-base",
            "this capture of {url} is stored as a difference from record {base}, which is not in "
            "the archive. Add the job or the WARC that has it.",
            url=record.url, base=record.get("WARC-Refers-To"),
        ),
    )  # fmt: skip
