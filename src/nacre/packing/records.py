"""Records of a selection that are not those of the archive: they stand for revisits (pure).

A revisit becomes a response with its own head, time and route, and the body of its original. A
metadata record documents this, with the ids of both. The ids derive from those of the stored
records, so that the same selection has the same records. Source: WARC 1.1 clauses 5.8, 6.3 and 6.7.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nacre.archive.block import BlockFacts
from nacre.archive.expanded import expanded_id
from nacre.archive.fields import digest_label, digest_of, field, micros, strip_brackets, uri_field
from nacre.archive.index_facts import PostQuery, index_facts
from nacre.archive.record import WarcRecord
from nacre.replay.originals import OriginalRecord
from nacre.replay.records import StoredRecord
from nacre.replay.reply import split_head
from nacre.wire.chunks import remove_chunking
from nacre.wire.head import framing_of, parse_head

_ROUTE = ("WARC-IP-Address", "WARC-Protocol", "WARC-Cipher-Suite")
_ORIGINAL = b"X-Archive-Orig-"
_RENEWED = ("content-length", "warc-block-digest")


class ResolvedReply(NamedTuple):
    """The reply that a revisit stands for.

    Attributes:
        head: Its head.
        original: The record that has its body.
        offset: Where the body begins in the block of the original.
        is_decoded: The body is without the chunked coding of the original.
    """

    head: bytes
    original: OriginalRecord
    offset: int
    is_decoded: bool

    def body(self) -> Iterator[bytes]:
        """Yield the body.

        Raises:
            ReplayError: It cannot be read.
        """
        pieces = self.original.record.block.pieces(self.offset)
        return remove_chunking(pieces, []) if self.is_decoded else pieces


def resolve_reply(revisit: StoredRecord, original: OriginalRecord) -> ResolvedReply:
    """Return the reply that a revisit stands for.

    The head is that of the revisit. A revisit without one, or with that of a 304, has the head of
    its original. Where only one of both is chunked, the body is stored without chunks.

    Args:
        revisit: The revisit.
        original: Its original.
    """
    block = original.record.block
    stored, offset = split_head(block.start)
    head = revisit.block.start
    line = parse_head(head).line if head else None
    if line is None or line.status == 304 or stored is None:
        return ResolvedReply(block.start[:offset], original, offset, is_decoded=False)
    was_chunked = framing_of("GET", stored).kind == "chunked"
    is_chunked = framing_of("GET", parse_head(head)).kind == "chunked"
    reply = ResolvedReply(head, original, offset, is_decoded=was_chunked and not is_chunked)
    if is_chunked and not was_chunked:
        length = block.length - offset
        return reply._replace(head=head_without_chunks(head, length))
    return reply


def head_without_chunks(head: bytes, length: int) -> bytes:
    """Return a head for a body that is not chunked; the field of the coding is renamed.

    Args:
        head: The head, with its blank line.
        length: Bytes of the body.
    """
    lines = []
    for line in head.rstrip(b"\r\n").split(b"\n"):
        name = line.partition(b":")[0].strip().lower()
        renamed = name in (b"transfer-encoding", b"content-length")
        lines.append((_ORIGINAL if renamed else b"") + line.rstrip(b"\r"))
    return b"\r\n".join([*lines, b"Content-Length: %d" % length, b"", b""])


class NewRecord(NamedTuple):
    """A record that is made for a selection, in pieces.

    Attributes:
        record: Its header, and its block as far as it is in memory.
        more: The rest of its block.
    """

    record: WarcRecord
    more: Iterable[bytes] = ()

    def pieces(self) -> Iterator[bytes]:
        """Yield the record without the two CRLF after it."""
        yield self.record.head + self.record.prefix
        yield from self.more


def resolved_id(record_id: str) -> str:
    """Return the id of the record that is made in place of another one."""
    return expanded_id(f"{record_id}#resolved")


def resolved_response(
    revisit: StoredRecord, reply: ResolvedReply, post: PostQuery | None
) -> NewRecord:
    """Return the response that a revisit stands for. The body is read twice.

    Args:
        revisit: The revisit.
        reply: The reply.
        post: What its POST or PUT adds to the index line; None for other requests.

    Raises:
        ReplayError: The body cannot be read.
    """
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(reply.head)
    for piece in reply.body():
        facts.feed(piece)
    facts.close()
    own, length = resolved_id(revisit.id), facts.length
    payload = digest_label(facts.payload_digests()[0])
    truncated = reply.original.record.get("WARC-Truncated")
    lines = [
        *_start("response", own, revisit),
        *(f"{name}: {value}" for name, value in revisit.fields if name in _ROUTE),
        *((f"WARC-Truncated: {field(truncated)}",) if truncated else ()),
        f"WARC-Payload-Digest: {payload}",
        f"WARC-Block-Digest: {digest_label(facts.block_digest())}",
        "Content-Type: application/http;msgtype=response",
    ]
    record = _record("response", own, revisit, lines, reply.head, length)
    status, mime = index_facts(reply.head)
    record.digest, record.status, record.mime, record.post = payload, status, mime, post
    return NewRecord(record, reply.body())


def origin_record(revisit: StoredRecord, original: OriginalRecord) -> NewRecord:
    """Return the metadata record that says from what a response was made.

    Args:
        revisit: The revisit.
        original: Its original.
    """
    stored = original.record
    facts = [
        ("resolvedFrom", f"<{revisit.id}>"),
        ("resolvedProfile", revisit.get("WARC-Profile")),
        ("originalRecord", f"<{stored.id}>"),
        ("originalTargetURI", stored.url),
        ("originalDate", stored.get("WARC-Date")),
    ]
    block = "".join(f"{name}: {field(value)}\r\n" for name, value in facts if value).encode()
    own = expanded_id(f"{revisit.id}#origin")
    lines = [
        *_start("metadata", own, revisit),
        f"WARC-Concurrent-To: <{resolved_id(revisit.id)}>",
        f"WARC-Block-Digest: {digest_of(block)}",
        "Content-Type: application/warc-fields",
    ]
    return NewRecord(_record("metadata", own, revisit, lines, block, len(block)))


def _start(kind: str, record_id: str, source: StoredRecord) -> list[str]:
    return [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <{record_id}>",
        f"WARC-Date: {source.get('WARC-Date')}",
        f"WARC-Target-URI: {uri_field(source.url)}",
    ]


def _record(
    kind: str, own: str, source: StoredRecord, lines: list[str], block: bytes, length: int
) -> WarcRecord:
    head = "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode("utf-8", "replace")
    date = micros(source.get("WARC-Date"))
    return WarcRecord(kind, own, head, block, None, length, source.url, date)


def renamed_record(
    fields: Sequence[tuple[str, str]], block: bytes, names: Mapping[str, str], version: str = "1.1"
) -> NewRecord:
    """Return a record with another block, or that belongs to a record with another id.

    Its own id changes as well, and a reference to outlinks is gone: the block has them.

    Args:
        fields: Its header.
        block: Its block.
        names: New ids by old ids, without angle brackets.
        version: Version of WARC of its header.
    """
    lines, kind = [f"WARC/{version}"], ""
    for name, value in fields:
        lower, text = name.lower(), value
        if lower in _RENEWED or (lower == "warc-refers-to" and kind == "metadata"):
            continue
        if lower == "warc-record-id":
            text = f"<{resolved_id(strip_brackets(value))}>"
        elif lower == "warc-concurrent-to":
            text = f"<{names.get(strip_brackets(value), strip_brackets(value))}>"
        elif lower == "warc-type":
            kind = value
        lines.append(f"{name}: {text}")
    lines += [f"WARC-Block-Digest: {digest_of(block)}", f"Content-Length: {len(block)}"]
    head = "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")
    return NewRecord(WarcRecord(kind, "", head, block, None, len(block), "", 0))
