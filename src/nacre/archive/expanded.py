"""Records of expanded captures (`nacre archive expand`), which differences and notes represent.

Their ids derive from those of the stored records, so that they are the same each time.
"""

from hashlib import blake2b
from typing import NamedTuple, Protocol

from nacre.archive.delta import Delta, page_url
from nacre.archive.fields import digest_of, micros, record_uri, strip_brackets, uri_field
from nacre.archive.index_facts import index_facts
from nacre.archive.record import IDENTICAL, NOT_MODIFIED, PROFILE, WarcRecord

_ROUTE = ("WARC-IP-Address", "WARC-Protocol", "WARC-Cipher-Suite")


class StoredFields(Protocol):
    """The header of a record that was read; see `reader.WarcEntry`."""

    fields: list[tuple[str, str]]

    def get(self, name: str) -> str | None:
        """Return the first value of a field; None when it is missing."""


class Expanded(NamedTuple):
    """A response that was rebuilt from a difference.

    Attributes:
        url: Its WARC-Target-URI.
        date: Its WARC-Date, as written.
        record_id: Its WARC-Record-ID, without angle brackets.
        payload: Its payload digest.
    """

    url: str
    date: str
    record_id: str
    payload: str


def expanded_id(record_id: str) -> str:
    """Return the id of the record that is made from another record."""
    return record_uri(blake2b(record_id.encode("utf-8", "replace"), digest_size=16).digest())


def expand_fields(entry: StoredFields, delta: Delta) -> Expanded:
    """Return the record that is rebuilt from a difference; `entry` is its record."""
    own = strip_brackets(entry.get("WARC-Record-ID") or "")
    url = page_url(strip_brackets(entry.get("WARC-Target-URI") or ""))
    return Expanded(url, entry.get("WARC-Date") or "", expanded_id(own), delta.payload)


def response_record(entry: StoredFields, delta: Delta, block: bytes) -> WarcRecord:
    """Return the response that a difference represents.

    Args:
        entry: The record of the difference.
        delta: Its content.
        block: The block rebuilt from it.
    """
    own, fields = strip_brackets(entry.get("WARC-Record-ID") or ""), expand_fields(entry, delta)
    route = [f"{name}: {value}" for name, value in entry.fields if name in _ROUTE]
    lines = [
        *_start_expanded("response", fields.record_id, fields.date, fields.url),
        f"WARC-Concurrent-To: <{own}>",
        *route,
        f"WARC-Payload-Digest: {delta.payload}",
        f"WARC-Block-Digest: {delta.digest}",
        "Content-Type: application/http;msgtype=response",
    ]
    record = _make_expanded("response", lines, block, fields)
    record.status, record.mime = index_facts(block)
    return record


def revisit_record(entry: StoredFields, original: Expanded, head: bytes) -> WarcRecord:
    """Return the revisit that a note represents.

    Args:
        entry: The record of the note.
        original: The response that it confirms.
        head: Head of the reply; b"" when it was a 304.
    """
    own = strip_brackets(entry.get("WARC-Record-ID") or "")
    date = entry.get("WARC-Date") or ""
    fields = Expanded(original.url, date, expanded_id(own), original.payload)
    lines = [
        *_start_expanded("revisit", fields.record_id, date, original.url),
        f"WARC-Concurrent-To: <{own}>",
        f"WARC-Profile: {PROFILE}{IDENTICAL if head else NOT_MODIFIED}",
        f"WARC-Refers-To: <{original.record_id}>",
        f"WARC-Refers-To-Target-URI: {uri_field(original.url)}",
        f"WARC-Refers-To-Date: {original.date}",
        *(("WARC-Truncated: length",) if head else ()),
        f"WARC-Payload-Digest: {original.payload}",
        f"WARC-Block-Digest: {digest_of(head)}",
        *(("Content-Type: application/http;msgtype=response",) if head else ()),
    ]
    record = _make_expanded("revisit", lines, head, fields)
    record.mime, record.status = "warc/revisit", index_facts(head)[0]
    return record


def metadata_record(entry: StoredFields, block: bytes) -> WarcRecord:
    """Return the metadata record that one with a reference to its outlinks represents.

    Args:
        entry: The record with the reference.
        block: Its block with the outlinks.
    """
    own = strip_brackets(entry.get("WARC-Record-ID") or "")
    url, date = strip_brackets(entry.get("WARC-Target-URI") or ""), entry.get("WARC-Date") or ""
    fields = Expanded(url, date, expanded_id(own), "")
    concurrent = entry.get("WARC-Concurrent-To")
    lines = [
        *_start_expanded("metadata", fields.record_id, date, url),
        f"WARC-Concurrent-To: <{own}>",
        *((f"WARC-Concurrent-To: {concurrent}",) if concurrent else ()),
        f"WARC-Block-Digest: {digest_of(block)}",
        "Content-Type: application/warc-fields",
    ]
    return _make_expanded("metadata", lines, block, fields)


def _start_expanded(kind: str, record_id: str, date: str, url: str) -> list[str]:
    return [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <{record_id}>",
        f"WARC-Date: {date}",
        f"WARC-Target-URI: {uri_field(url)}",
    ]


def _make_expanded(kind: str, lines: list[str], block: bytes, fields: Expanded) -> WarcRecord:
    lines.append(f"Content-Length: {len(block)}\r\n\r\n")
    head = "\r\n".join(lines).encode()
    record = WarcRecord(kind, fields.record_id, head, block, None, len(block), fields.url, 0)
    record.date, record.digest = micros(fields.date), fields.payload
    return record
