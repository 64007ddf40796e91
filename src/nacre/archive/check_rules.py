"""The rules of a check: the fields of a record, their values, and the content of its block.

Source: WARC 1.1 clauses 5 and 6.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from ipaddress import ip_address
from typing import Protocol

from nacre.archive.block import BlockFacts, digest_matches, label_of
from nacre.archive.fields import strip_brackets
from nacre.archive.index_facts import HEAD_LIMIT
from nacre.archive.reader import WarcEntry

Defect = tuple[str, str]
"""Code and message."""

WITH_URI = frozenset(("response", "resource", "request", "revisit", "conversion", "continuation"))
FIELDS = "application/warc-fields"
TYPES = WITH_URI | {"warcinfo", "metadata"}

_STANDARD = """
    WARC-Type WARC-Record-ID WARC-Date Content-Length Content-Type WARC-Concurrent-To
    WARC-Block-Digest WARC-Payload-Digest WARC-IP-Address WARC-Refers-To WARC-Target-URI
    WARC-Refers-To-Target-URI WARC-Refers-To-Date WARC-Truncated WARC-Warcinfo-ID WARC-Filename
    WARC-Profile WARC-Identified-Payload-Type WARC-Segment-Number WARC-Segment-Origin-ID
    WARC-Segment-Total-Length
"""
_EXTENSIONS = """
    WARC-Protocol WARC-Cipher-Suite WARC-Refers-To-Container WARC-Page-ID WARC-JSON-Metadata
    WARC-Resource-Type WARC-Source-URI WARC-Creation-Date WARC-Etag WARC-Last-Modified
    WARC-Refers-To-Filename WARC-Refers-To-File-Offset
"""
KNOWN = {name.lower(): name for name in (_STANDARD + _EXTENSIONS).split()}
REPEATABLE = frozenset(("warc-concurrent-to", "warc-protocol"))

_NOT_CAPTURED = frozenset(("warcinfo", "conversion", "continuation"))
_FORBIDDEN: dict[str, frozenset[str]] = {
    "warc-target-uri": frozenset(("warcinfo",)),
    "warc-ip-address": _NOT_CAPTURED,
    "warc-concurrent-to": _NOT_CAPTURED,
    "warc-refers-to": TYPES - {"metadata", "revisit", "conversion"},
    "warc-refers-to-target-uri": TYPES - {"revisit"},
    "warc-refers-to-date": TYPES - {"revisit"},
    "warc-filename": TYPES - {"warcinfo"},
    "warc-warcinfo-id": frozenset(("warcinfo",)),
    "warc-payload-digest": frozenset(("warcinfo",)),
    "warc-identified-payload-type": frozenset(("warcinfo",)),
    "warc-segment-origin-id": TYPES - {"continuation"},
    "warc-segment-total-length": TYPES - {"continuation"},
}

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+\Z")
_UUID = re.compile(r"(?i:urn:uuid:)[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z", re.ASCII)
_COARSE_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d:\d\dZ)?)?)?\Z", re.ASCII)
_EARLIEST = "0000-01-01T00:00:00"
"""What a date that is given in part is filled up with."""
_DIGEST = re.compile(r"[A-Za-z0-9_-]+:\S+\Z")
_PROTOCOL = re.compile(r"[a-z0-9]+(/[0-9.]+)?\Z")
_PROFILE = re.compile(
    r"http://netpreserve\.org/warc/(1\.[01])/(revisit/)?"
    r"(identical-payload-digest|server-not-modified|uri-agnostic-identical-payload-digest)\Z"
)
_OLD_PROFILE = re.compile(
    r"http://netpreserve\.org/warc/0\.1[78]/(revisit/)?(identical-payload-digest|server-not-modified)\Z"
)
_NEARLY_OURS = ("netpreserve.org/warc", "/revisit/")
"""A profile with one of these is one of the standard's, perhaps with a mistake in it."""
_BY_DIGEST = "identical-payload-digest"
_REASONS = frozenset(("length", "time", "disconnect", "unspecified"))


def field_defects(entry: WarcEntry) -> Iterator[Defect]:
    """Everything that is wrong with the header of a record by itself."""
    yield from _version(entry)
    yield from _names(entry)
    yield from _absent(entry)
    for name, value in entry.fields:
        check = _VALUES.get(name.lower())
        if check:
            yield from check(entry, value)


def _version(entry: WarcEntry) -> Iterator[Defect]:
    if entry.version in ("0.17", "0.18"):
        yield "version-old", f"WARC/{entry.version}"
    elif entry.version not in ("1.0", "1.1"):
        yield "version-unknown", f"WARC/{entry.version}"


def _names(entry: WarcEntry) -> Iterator[Defect]:
    seen_names: set[str] = set()
    kind = entry.get("WARC-Type") or ""
    for name, _ in entry.fields:
        lower = name.lower()
        standard_name = KNOWN.get(lower)
        if standard_name is None:
            yield "field-unknown", name[:60]
        elif name not in (standard_name, lower, lower.upper(), lower.title()):
            yield "field-case", name
        if lower in seen_names and lower not in REPEATABLE:
            yield "field-repeated", name[:60]
        seen_names.add(lower)
        if kind in _FORBIDDEN.get(lower, ()):
            yield "field-forbidden", f"{name} on a {kind} record"


def _absent(entry: WarcEntry) -> Iterator[Defect]:
    kind = entry.get("WARC-Type")
    if kind is None:
        yield "type-missing", "no WARC-Type"
    if entry.get("WARC-Record-ID") is None:
        yield "id-missing", "no WARC-Record-ID"
    if entry.get("WARC-Date") is None:
        yield "date-missing", "no WARC-Date"
    if kind in WITH_URI and entry.get("WARC-Target-URI") is None:
        yield "uri-missing", f"a {kind} record without WARC-Target-URI"
    if kind == "revisit":
        yield from _revisit(entry)
    if kind == "continuation":
        yield from _continuation(entry)
    if entry.length > 0 and entry.get("Content-Type") is None and kind != "continuation":
        yield "content-type-missing", "no Content-Type"


def _revisit(entry: WarcEntry) -> Iterator[Defect]:
    """What a revisit shall have (WARC 1.1, 6.7)."""
    profile = entry.get("WARC-Profile")
    if profile is None:
        yield "profile-missing", "a revisit without WARC-Profile"
    elif _BY_DIGEST in profile and entry.get("WARC-Payload-Digest") is None:
        yield "digest-missing", "a revisit by digest without WARC-Payload-Digest"


def _continuation(entry: WarcEntry) -> Iterator[Defect]:
    """What a continuation shall have (WARC 1.1, 5.19 and 5.20)."""
    for name in ("WARC-Segment-Number", "WARC-Segment-Origin-ID"):
        if entry.get(name) is None:
            yield "segment-missing", f"a continuation without {name}"


def _type(_: WarcEntry, value: str) -> Iterator[Defect]:
    if value not in TYPES:
        yield "type-unknown", value[:60]


def _identifier(code: str) -> Callable[[WarcEntry, str], Iterator[Defect]]:
    def check(_: WarcEntry, value: str) -> Iterator[Defect]:
        plain = strip_brackets(value)
        bad_uuid = plain.lower().startswith("urn:uuid:") and not _UUID.match(plain)
        if plain == value or not _URI.match(plain) or bad_uuid:
            yield code, value[:80]

    return check


def _date(entry: WarcEntry, value: str) -> Iterator[Defect]:
    match = _DATE.match(value)
    if match is None and not (_COARSE_DATE.match(value) and entry.version == "1.1"):
        yield "date-invalid", value[:40]
        return
    digits = value[:19].removesuffix("Z")
    try:
        datetime.fromisoformat(digits + _EARLIEST[len(digits) :])
    except ValueError:
        yield "date-invalid", value[:40]
    if match and match[1] and entry.version != "1.1":
        yield "date-precision", f"{value} in WARC/{entry.version}"


def _uri(entry: WarcEntry, value: str) -> Iterator[Defect]:
    plain = strip_brackets(value)
    if plain != value and entry.version != "1.0":
        yield "uri-brackets", value[:80]
    if not _URI.match(plain):
        yield "uri-invalid", value[:80]


def _digest(_: WarcEntry, value: str) -> Iterator[Defect]:
    if not _DIGEST.match(value):
        yield "digest-invalid", value[:80]


def _ip(_: WarcEntry, value: str) -> Iterator[Defect]:
    try:
        ip_address(value)
    except ValueError:
        yield "ip-invalid", value[:60]


def _check_truncated(_: WarcEntry, value: str) -> Iterator[Defect]:
    if value not in _REASONS:
        yield "truncated-unknown", value[:40]


def _profile(entry: WarcEntry, value: str) -> Iterator[Defect]:
    match = _PROFILE.match(value)
    if _OLD_PROFILE.match(value) and entry.version != "1.1":
        yield "profile-old", f"{value[:100]} in WARC/{entry.version}"
    elif match is None and _URI.match(value) and not any(part in value for part in _NEARLY_OURS):
        yield "profile-unknown", value[:100]
    elif match is None or match[1] != entry.version:
        yield "profile-invalid", f"{value[:100]} in WARC/{entry.version}"


def _protocol(_: WarcEntry, value: str) -> Iterator[Defect]:
    if not _PROTOCOL.match(value):
        yield "protocol-unknown", value[:40]


def _segment_number(entry: WarcEntry, value: str) -> Iterator[Defect]:
    """Yield the first segment has 1 and is not a continuation; those have 2 and more."""
    later = value.isdecimal() and value.isascii() and value.lstrip("0") not in ("", "1")
    if later != (entry.get("WARC-Type") == "continuation") or not (later or value == "1"):
        yield "segment-invalid", f"WARC-Segment-Number {value[:40]}"


def _total_length(_: WarcEntry, value: str) -> Iterator[Defect]:
    if not (value.isdecimal() and value.isascii()):
        yield "segment-invalid", f"WARC-Segment-Total-Length {value[:40]}"


def _media_type(_: WarcEntry, value: str) -> Iterator[Defect]:
    if "/" not in value.partition(";")[0]:
        yield "content-type-invalid", f"WARC-Identified-Payload-Type {value[:60]}"


def _content_type(entry: WarcEntry, value: str) -> Iterator[Defect]:
    kind = entry.get("WARC-Type")
    media, _, parameters = value.partition(";")
    if "/" not in media:
        yield "content-type-invalid", value[:60]
    message = parameters.lower().replace(" ", "").removeprefix("msgtype=")
    wrong = {"response": "request", "revisit": "request", "request": "response"}
    if media.strip().lower() == "application/http" and message == wrong.get(kind or ""):
        yield "content-type-invalid", f"{value[:60]} on a {kind} record"


_reference = _identifier("reference-invalid")
_VALUES: dict[str, Callable[[WarcEntry, str], Iterator[Defect]]] = {
    "warc-type": _type,
    "warc-record-id": _identifier("id-invalid"),
    "warc-concurrent-to": _reference,
    "warc-refers-to": _reference,
    "warc-warcinfo-id": _reference,
    "warc-date": _date,
    "warc-refers-to-date": _date,
    "warc-target-uri": _uri,
    "warc-refers-to-target-uri": _uri,
    "warc-block-digest": _digest,
    "warc-payload-digest": _digest,
    "warc-ip-address": _ip,
    "warc-truncated": _check_truncated,
    "warc-profile": _profile,
    "warc-protocol": _protocol,
    "warc-segment-number": _segment_number,
    "warc-segment-origin-id": _reference,
    "warc-segment-total-length": _total_length,
    "warc-identified-payload-type": _media_type,
    "content-type": _content_type,
}


_ELSEWHERE = """
    blake3 blake2b256 blake2s256 crc32 crc32c md4 murmur3 ripemd160 sha512224 sha512256 shake128
    shake256 sm3 tiger whirlpool xxh3 xxh32 xxh64 xxh128
"""
_NOT_HERE = frozenset(_ELSEWHERE.split())
"""Labels of algorithms that cannot be computed here."""
_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^\s]")


class CheckCounts(Protocol):
    """Counts the compared digests; see `check.CheckSummary`."""

    digests: int
    decoded: int
    wire: int


def content_defects(entry: WarcEntry, facts: BlockFacts, counts: CheckCounts) -> Iterator[Defect]:
    """Everything that is wrong with the block of a record.

    Args:
        entry: The record; its block has been read.
        facts: The facts of that block.
        counts: Where compared digests are counted.
    """
    if entry.left or entry.length < 0:
        return  # cut off or without end, which is noted; nothing in it can be compared
    yield from _block_digest(entry, facts, counts)
    yield from _payload_digest(entry, facts, counts)
    if facts.http:
        yield from _message(entry, facts)
    elif (entry.get("Content-Type") or "").strip().lower().startswith(FIELDS):
        yield from _lines(facts)


def _block_digest(entry: WarcEntry, facts: BlockFacts, counts: CheckCounts) -> Iterator[Defect]:
    text = entry.get("WARC-Block-Digest")
    if text is None:
        return
    counts.digests += 1
    matches = digest_matches(text, facts.block_digest())
    if matches is None:
        yield _unread(text)
    elif not matches:
        yield "block-digest", f"{text} does not match {facts.length} bytes of block"


def _payload_digest(entry: WarcEntry, facts: BlockFacts, counts: CheckCounts) -> Iterator[Defect]:
    text = entry.get("WARC-Payload-Digest")
    if text is None or entry.get("WARC-Type") == "revisit" or _segment(entry):
        return  # of a revisit it is the original's, of a segment the whole record's
    counts.digests += 1
    decoded, wire = (digest_matches(text, digest) for digest in facts.payload_digests())
    if decoded is None:
        yield _unread(text)
    elif decoded:
        counts.decoded += facts.chunks is not None
    elif wire:
        counts.wire += 1
        yield "payload-digest-wire", "read with its chunked coding"
    elif entry.get("WARC-Truncated"):
        yield "payload-digest-truncated", text
    elif not (_is_malformed(entry, facts) or facts.endless):  # else its beginning is unknown
        yield "payload-digest", f"{text} does not match {facts.body_length} bytes of body"


def _unread(text: str) -> Defect:
    is_unsupported = ":" in text and label_of(text) in _NOT_HERE
    return ("digest-algorithm" if is_unsupported else "digest-invalid"), text[:80]


def _message(entry: WarcEntry, facts: BlockFacts) -> Iterator[Defect]:
    kind = entry.get("WARC-Type")
    if not facts.length:
        if kind != "revisit":
            yield "http-empty", f"a {kind} record without an HTTP message"
        return
    if _is_malformed(entry, facts):
        yield "http-malformed", f"the block begins with {facts.start[:40]!r}"
    elif kind == "response" and not entry.get("WARC-Truncated") and not _segment(entry):
        if facts.cut:
            yield "http-malformed", "the block ends inside the HTTP head"
        elif facts.endless:
            yield "http-malformed", f"the HTTP head is longer than {HEAD_LIMIT} bytes"
        yield from _framing(facts)


def _segment(entry: WarcEntry) -> bool:
    """The block is a part of a record only (WARC 1.1, 7)."""
    return entry.get("WARC-Segment-Number") is not None


def _is_malformed(entry: WarcEntry, facts: BlockFacts) -> bool:
    if entry.get("WARC-Type") == "request":
        return facts.http and not _REQUEST.match(facts.start)
    return facts.http and not facts.start.startswith(b"HTTP/")


def _lines(facts: BlockFacts) -> Iterator[Defect]:
    """The fields of a block: `name: value`, or more of the line before, up to a blank line."""
    whole = facts.start[: facts.start.rfind(b"\n") + 1] or facts.start
    for line in whole.splitlines():
        if not line:
            return
        if line[:1] not in (b" ", b"\t") and b":" not in line:
            yield "fields-malformed", f"a line that is not a field: {line[:40]!r}"
            return


def _framing(facts: BlockFacts) -> Iterator[Defect]:
    if facts.broken_chunks:
        yield "chunks-broken", facts.broken_chunks
    framing = facts.framing
    if framing is None or framing.kind != "length" or not facts.body_length:
        return
    if framing.length != facts.body_length:
        yield "http-length", f"Content-Length {framing.length}, body {facts.body_length} bytes"
