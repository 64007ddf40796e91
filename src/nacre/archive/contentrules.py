"""What is wrong with the content of a record: digests, HTTP message, chunked coding."""

import re
from collections.abc import Iterator
from typing import Protocol

from nacre.archive.block import BlockFacts, digest_matches, label_of
from nacre.archive.fieldrules import FIELDS, Defect
from nacre.archive.httphead import HEAD_LIMIT
from nacre.archive.reader import WarcEntry

_ELSEWHERE = """
    blake3 blake2b256 blake2s256 crc32 crc32c md4 murmur3 ripemd160 sha512224 sha512256 shake128
    shake256 sm3 tiger whirlpool xxh3 xxh32 xxh64 xxh128
"""
_NOT_HERE = frozenset(_ELSEWHERE.split())
"""Labels of algorithms that cannot be computed here."""
_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^\s]")


class Counts(Protocol):
    """Where compared digests are counted; see `check.Summary`."""

    digests: int
    decoded: int
    wire: int


def content_defects(entry: WarcEntry, facts: BlockFacts, counts: Counts) -> Iterator[Defect]:
    """Everything that is wrong with the block of a record.

    Args:
        entry: The record; its block has been read.
        facts: What that told.
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


def _block_digest(entry: WarcEntry, facts: BlockFacts, counts: Counts) -> Iterator[Defect]:
    text = entry.get("WARC-Block-Digest")
    if text is None:
        return
    counts.digests += 1
    matches = digest_matches(text, facts.block_digest())
    if matches is None:
        yield _unread(text)
    elif not matches:
        yield "block-digest", f"{text} does not match {facts.length} bytes of block"


def _payload_digest(entry: WarcEntry, facts: BlockFacts, counts: Counts) -> Iterator[Defect]:
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
    elif not (_malformed(entry, facts) or facts.endless):  # else nobody knows where it begins
        yield "payload-digest", f"{text} does not match {facts.body_length} bytes of body"


def _unread(text: str) -> Defect:
    known = ":" in text and label_of(text) in _NOT_HERE
    return ("digest-algorithm" if known else "digest-invalid"), text[:80]


def _message(entry: WarcEntry, facts: BlockFacts) -> Iterator[Defect]:
    kind = entry.get("WARC-Type")
    if not facts.length:
        if kind != "revisit":
            yield "http-empty", f"a {kind} record without an HTTP message"
        return
    if _malformed(entry, facts):
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


def _malformed(entry: WarcEntry, facts: BlockFacts) -> bool:
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
            yield "fields-malformed", f"a line that is no field: {line[:40]!r}"
            return


def _framing(facts: BlockFacts) -> Iterator[Defect]:
    if facts.broken_chunks:
        yield "chunks-broken", facts.broken_chunks
    framing = facts.framing
    if framing is None or framing.kind != "length" or not facts.body_length:
        return
    if framing.length != facts.body_length:
        yield "http-length", f"Content-Length {framing.length}, body {facts.body_length} bytes"
