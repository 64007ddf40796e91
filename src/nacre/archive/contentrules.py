"""What is wrong with the content of a record: digests, HTTP message, chunked coding."""

from collections.abc import Iterator
from typing import Protocol

from nacre.archive.block import BlockFacts, digest_matches
from nacre.archive.fieldrules import Defect
from nacre.archive.httphead import header_value
from nacre.archive.reader import WarcEntry


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
    if text is None or entry.get("WARC-Type") == "revisit":
        return
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
    elif not _malformed(entry, facts):  # else nobody can say where the payload begins
        yield "payload-digest", f"{text} does not match {facts.body_length} bytes of body"


def _unread(text: str) -> Defect:
    label, colon, _ = text.partition(":")
    known = digest_matches(text, b"") is None and colon and _unknown(label)
    return ("digest-algorithm" if known else "digest-invalid"), text[:80]


def _unknown(label: str) -> bool:
    return label.lower().replace("-", "") in ("blake3", "xxh3", "xxh128", "sha3256", "sha3512")


def _message(entry: WarcEntry, facts: BlockFacts) -> Iterator[Defect]:
    kind = entry.get("WARC-Type")
    if not facts.length:
        if kind != "revisit":
            yield "http-empty", f"a {kind} record without an HTTP message"
        return
    if _malformed(entry, facts):
        yield "http-malformed", f"the block begins with {facts.start[:40]!r}"
    elif kind == "response" and not entry.get("WARC-Truncated"):
        if facts.cut:
            yield "http-malformed", "the block ends inside the HTTP head"
        yield from _framing(facts)


def _malformed(entry: WarcEntry, facts: BlockFacts) -> bool:
    reply = facts.http and entry.get("WARC-Type") != "request"
    return reply and not facts.start.startswith(b"HTTP/")


def _framing(facts: BlockFacts) -> Iterator[Defect]:
    scanner = facts.chunks
    if scanner is not None:
        if scanner.fault or not scanner.has_last_chunk:
            yield "chunks-broken", scanner.fault or "the last chunk is missing"
        return
    length = header_value(facts.head, b"content-length")
    if facts.body_length and length and length.isascii() and length.isdigit():
        told = int(length[:30])
        if told != facts.body_length:
            yield "http-length", f"Content-Length {told}, body {facts.body_length} bytes"
