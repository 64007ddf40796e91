"""Records made of differences: the `response` that each stands for, for any reader.

What is made is the same each time: ids derive from those of the differences.
"""

from hashlib import blake2b
from typing import NamedTuple

from nacre.archive.delta import Delta, page_url
from nacre.archive.field import digest_of, record_uri, uri_field
from nacre.archive.fieldrules import unbracketed
from nacre.archive.httphead import index_facts
from nacre.archive.instant import micros
from nacre.archive.reader import WarcEntry
from nacre.archive.record import IDENTICAL, NOT_MODIFIED, PROFILE, Record

_RESPONSE = "application/http;msgtype=response"
_ROUTE = ("WARC-IP-Address", "WARC-Protocol", "WARC-Cipher-Suite")


class Expanded(NamedTuple):
    """A response that was made of a difference.

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
    """Id of the record that is made of another one."""
    return record_uri(blake2b(record_id.encode("utf-8", "replace"), digest_size=16).digest())


def expanded(entry: WarcEntry, delta: Delta) -> Expanded:
    """What is made of a difference; `entry` is its record."""
    own = unbracketed(entry.get("WARC-Record-ID") or "")
    url = page_url(unbracketed(entry.get("WARC-Target-URI") or ""))
    return Expanded(url, entry.get("WARC-Date") or "", expanded_id(own), delta.payload)


def response_record(entry: WarcEntry, delta: Delta, block: bytes) -> Record:
    """The response that a difference stands for.

    Args:
        entry: The record of the difference.
        delta: What it holds.
        block: The block rebuilt from it.
    """
    own, made = unbracketed(entry.get("WARC-Record-ID") or ""), expanded(entry, delta)
    route = [f"{name}: {value}" for name, value in entry.fields if name in _ROUTE]
    lines = [
        *_start("response", made.record_id, made.date, made.url),
        f"WARC-Concurrent-To: <{own}>",
        *route,
        f"WARC-Payload-Digest: {delta.payload}",
        f"WARC-Block-Digest: {delta.digest}",
        f"Content-Type: {_RESPONSE}",
    ]
    record = _record("response", lines, block, made)
    record.status, record.mime = index_facts(block)
    return record


def revisit_record(entry: WarcEntry, original: Expanded, head: bytes) -> Record:
    """The revisit that a note stands for.

    Args:
        entry: The record of the note.
        original: The response that it confirms.
        head: Head of the reply; b"" when it was a 304.
    """
    own = unbracketed(entry.get("WARC-Record-ID") or "")
    date = entry.get("WARC-Date") or ""
    made = Expanded(original.url, date, expanded_id(own), original.payload)
    lines = [
        *_start("revisit", made.record_id, date, original.url),
        f"WARC-Concurrent-To: <{own}>",
        f"WARC-Profile: {PROFILE}{IDENTICAL if head else NOT_MODIFIED}",
        f"WARC-Refers-To: <{original.record_id}>",
        f"WARC-Refers-To-Target-URI: {uri_field(original.url)}",
        f"WARC-Refers-To-Date: {original.date}",
        *(("WARC-Truncated: length",) if head else ()),
        f"WARC-Payload-Digest: {original.payload}",
        f"WARC-Block-Digest: {digest_of(head)}",
        *((f"Content-Type: {_RESPONSE}",) if head else ()),
    ]
    record = _record("revisit", lines, head, made)
    record.mime, record.status = "warc/revisit", index_facts(head)[0]
    return record


def _start(kind: str, record_id: str, date: str, url: str) -> list[str]:
    return [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <{record_id}>",
        f"WARC-Date: {date}",
        f"WARC-Target-URI: {uri_field(url)}",
    ]


def _record(kind: str, lines: list[str], block: bytes, made: Expanded) -> Record:
    lines.append(f"Content-Length: {len(block)}\r\n\r\n")
    head = "\r\n".join(lines).encode()
    record = Record(kind, made.record_id, head, block, None, len(block), made.url, 0)
    record.date, record.digest = micros(made.date), made.payload
    return record
