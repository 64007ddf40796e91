"""Archived exchanges: the record of a capture as a reply, with its original if it is a revisit.

The head is read as the fetcher read it (`wire.head`), the transfer coding is removed, and the
content coding on request. A revisit has the body of its original, found by the index; a difference
is applied to its base, found in the same way. Source: WARC 1.1 clauses 5.8 and 6.7; RFC 9112.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.archive.delta import MEDIA
from nacre.archive.index_facts import HEAD_LIMIT
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import Holding
from nacre.catalogue.lookup import CaptureIndex
from nacre.core.capture import LONGEST_TYPE
from nacre.extract.text import text_charset
from nacre.messages import message
from nacre.replay.body import ArchivedBody, body_of, skip_bytes
from nacre.replay.originals import Originals
from nacre.replay.records import INLINE, RecordBlock, ReplayError, StoredRecord, read_record
from nacre.wire.charset import detect
from nacre.wire.chunks import remove_chunking
from nacre.wire.coding import decode_pieces
from nacre.wire.head import Head, blank_line_end, find_start, framing_of, parse_head

DECODED_LIMIT = 1 << 32
"""Bytes of a body without content coding at most; the rest of a bomb is left out."""

_MAX_INTERIM = 64
_CONTROLS = dict.fromkeys([*range(9), *range(10, 32), 127], " ")
_HTTP_URLS = ("http:", "https:")
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)


class ArchivedExchange(NamedTuple):
    """A reply as it is in the archive.

    Attributes:
        capture: Its capture.
        original: The capture that has the body of a revisit, if it is another; else None.
        status: HTTP status, 10 to 999; 200 for records that are no HTTP.
        reason: Reason phrase; "" for none.
        headers: Names and values as captured, in order; UTF-8 where they are that, else Latin-1.
            Control characters are spaces.
        body: Its body without transfer coding, and without content coding if that was requested.
        record_id: WARC-Record-ID of the capture, without angle brackets; "" for none.
        url: WARC-Target-URI; for a difference, the URL of the page.
        date: WARC-Date as written.
        truncated: WARC-Truncated of the record with the body; "" if it is whole.
        fields: Header fields of the record of the capture.
        annotations: What was odd of the body, as in crawl.log; of a body over `INLINE` bytes it is
            complete only when the body was read.
    """

    capture: IndexedCapture
    original: IndexedCapture | None
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: ArchivedBody
    record_id: str
    url: str
    date: str
    truncated: str
    fields: tuple[tuple[str, str], ...] = ()
    annotations: Sequence[str] = ()

    def header(self, name: str) -> str:
        """First value of a header, whatever the case of its name; "" when absent."""
        return _first_value(self.headers, name)


class CapturedRange(NamedTuple):
    """The part of a representation that a captured 206 has.

    Attributes:
        first: Its first byte.
        last: Its last byte, included.
        total: Bytes of the whole representation.
    """

    first: int
    last: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole representation, as browsers get media."""
        return self.first == 0 and self.last == self.total - 1

    def has(self, byte: int) -> bool:
        """Whether a byte of the representation is in it."""
        return self.first <= byte <= self.last


def captured_range(exchange: ArchivedExchange) -> CapturedRange | None:
    """Return the part that an exchange has; None unless it is a 206 with a valid Content-Range.

    A part that was cut while it was captured ends where it was cut. Source: RFC 9110 clause 14.4.
    """
    match = _CONTENT_RANGE.fullmatch(exchange.header("content-range"))
    if exchange.status != 206 or match is None:
        return None
    first, last, total = (int(number) for number in match.groups())
    last = min(last, first + exchange.body.measure() - 1)
    return CapturedRange(first, last, total) if first <= last < total else None


class _Reply(NamedTuple):
    """The reply in a record.

    Attributes:
        head: Its head; None without any: HTTP/0.9, a revisit without block, another record.
        offset: Where its body begins in the block.
        block: The block.
        media: Content-Type of a record that is no HTTP; "" for HTTP.
    """

    head: Head | None
    offset: int
    block: RecordBlock
    media: str = ""

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Names and values as text."""
        if self.head is None:
            return (("Content-Type", self.media),) if self.media else ()
        return tuple((_text(name), _text(value)) for name, value in self.head.headers)


def read_exchange(
    holding: Holding, index: CaptureIndex, capture: IndexedCapture, *, decode: bool = False
) -> ArchivedExchange:
    """Read the exchange of a capture.

    Args:
        holding: Where its files are.
        index: Finds the originals of revisits and the bases of differences.
        capture: The capture.
        decode: Remove the content coding. What could be decoded of a damaged body is there.

    Raises:
        ReplayError: It cannot be replayed; see there.
    """
    originals = Originals(holding, index)
    record = originals.restored(read_record(holding, capture))
    reply = _reply_of(record)
    if record.type != "revisit":
        return _exchange(record, reply, reply, record.get("WARC-Truncated"), None, decode=decode)
    status = reply.head.line.status if reply.head else 0
    original = originals.find(record)
    if original is None:
        if _has_no_body(record, status):
            return _exchange(record, reply, _without_body(reply), "", None, decode=decode)
        raise _missing_original(record)
    base = _reply_of(original.record)
    own = base if reply.head is None or status == 304 else reply
    truncated = original.record.get("WARC-Truncated")
    return _exchange(record, own, base, truncated, original.capture, decode=decode)


def page_codec(exchange: ArchivedExchange, body: bytes) -> str:
    """Return the codec in which a browser reads a text, for whoever rewrites it.

    A declared charset counts even if it is wrong, since the browser will read the page so. Of a
    text that declares none it is found as the crawler finds it.

    Args:
        exchange: The exchange.
        body: Its body without content coding, or the beginning.
    """
    media = exchange.header("content-type")[:LONGEST_TYPE].lower()
    label = media.partition("charset=")[2].partition(";")[0].strip(" \t\"'") or None
    is_page = "html" in media.partition(";")[0] or not media.strip()
    find = detect if is_page else text_charset
    return find(body, label, exchange.url)[0]


def _exchange(
    record: StoredRecord,
    head: _Reply,
    body: _Reply,
    truncated: str,
    original: IndexedCapture | None,
    *,
    decode: bool,
) -> ArchivedExchange:
    """Put an exchange together.

    Args:
        record: The record of the capture.
        head: The reply with its head.
        body: The reply with its body.
        truncated: WARC-Truncated.
        original: The capture of the body, if it is another.
        decode: See `read_exchange`.
    """
    annotations: list[str] = []
    line = head.head.line if head.head else None
    headers = head.headers()
    if head is not body:
        headers = _with_coding_of(headers, body.headers())
    return ArchivedExchange(
        capture=record.block.capture,
        original=original,
        status=line.status if line else 200,
        reason=_text(line.reason) if line else "",
        headers=headers,
        body=_body(body, annotations, decode=decode),
        record_id=record.id,
        url=record.url,
        date=record.get("WARC-Date"),
        truncated=truncated,
        fields=record.fields,
        annotations=annotations,
    )


def _reply_of(record: StoredRecord) -> _Reply:
    """Read the head of a record.

    Raises:
        ReplayError: There is nothing to show in such a record.
    """
    media = record.get("Content-Type")
    is_http = media.lower().lstrip().startswith("application/http") or (
        record.type in ("response", "revisit") and record.url.lower().startswith(_HTTP_URLS)
    )
    if media == MEDIA:  # a difference, which was restored
        is_http = True
    if not is_http:
        return _Reply(None, 0, record.block, media or "application/octet-stream")
    head, offset = split_head(record.block.start)
    return _Reply(head, offset, record.block)


def split_head(block: bytes) -> tuple[Head | None, int]:
    """Return the final head of a reply, and where its body begins.

    Args:
        block: The reply, or its beginning of at least `HEAD_LIMIT` bytes.

    Returns:
        The head, None for a reply without any (HTTP/0.9), and the offset of the body. A head that
        does not end within the limit is read as far as it goes, and has no body.
    """
    offset, head = 0, None
    for _ in range(_MAX_INTERIM):
        data = block[offset : offset + HEAD_LIMIT]
        start = find_start(data)
        if start < 0:
            break
        end = blank_line_end(data, start)
        head = parse_head(data if end < 0 else data[:end])
        offset = len(block) if end < 0 else offset + end
        if not 100 <= head.line.status < 200 or head.line.status == 101:
            break
    return head, offset


def _body(reply: _Reply, annotations: list[str], *, decode: bool) -> ArchivedBody:
    """Return the body of a reply; in memory if its block is."""
    codings = _content_codings(reply) if decode else []
    kind = framing_of("GET", reply.head).kind if reply.head else "close"
    length = reply.block.length - reply.offset
    if kind == "none" or not length:
        return body_of(b"")

    def from_offset(since: int) -> Iterator[bytes]:
        if kind != "chunked" and not codings:
            return reply.block.pieces(reply.offset + since)
        annotations.clear()
        payload = reply.block.pieces(reply.offset)
        if kind == "chunked":
            payload = remove_chunking(payload, annotations)
        if codings:
            payload = decode_pieces(payload, codings, DECODED_LIMIT, annotations)
        return skip_bytes(payload, since)

    if reply.block.length <= INLINE:
        return body_of(b"".join(from_offset(0)))
    is_plain = kind != "chunked" and not codings
    return ArchivedBody(from_offset, length if is_plain else -1)


def _content_codings(reply: _Reply) -> list[bytes]:
    if reply.head is None:
        return []
    return [value for name, value in reply.head.headers if name.lower() == b"content-encoding"]


def _with_coding_of(
    headers: tuple[tuple[str, str], ...], of_body: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return the headers of a revisit with the content coding of the body of its original."""
    coding = [field for field in of_body if field[0].lower() == "content-encoding"]
    return (*(field for field in headers if field[0].lower() != "content-encoding"), *coding)


def _has_no_body(record: StoredRecord, status: int) -> bool:
    """Whether a revisit needs no original: a redirect, or a reply without content."""
    digest = record.get("WARC-Payload-Digest")
    return 300 <= status < 400 or status == 204 or digest.endswith(_EMPTY_SHA1)


_EMPTY_SHA1 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def _without_body(reply: _Reply) -> _Reply:
    empty = reply.block._replace(length=0, start=b"")
    return reply._replace(block=empty, offset=0)


def _missing_original(record: StoredRecord) -> ReplayError:
    return ReplayError(
        "missing-original",
        message(
            "replay.missing-original",
            "this capture of {url} only states that the page had not changed; the capture with its "
            "content, {original}, is not in the archive. Add the job or the WARC that has it.",
            url=record.url,
            original=_describe_original(record),
        ),
    )


def _describe_original(record: StoredRecord) -> str:
    words = [
        record.get("WARC-Refers-To-Target-URI"),
        record.get("WARC-Refers-To-Date"),
        record.get("WARC-Payload-Digest"),
    ]
    return " ".join(word for word in words if word) or record.get("WARC-Refers-To") or "?"


def _first_value(headers: tuple[tuple[str, str], ...], name: str) -> str:
    lower = name.lower()
    return next((value for key, value in headers if key.lower() == lower), "")


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text if text.isprintable() else text.translate(_CONTROLS)
