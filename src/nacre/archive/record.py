"""Capture -> WARC records: pure, hand-assembled, with a fixed field order.

Source: WARC 1.1 (ISO 28500:2017); reference/peers.md 2.1-2.3; what pywb makes of each form.
"""

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from nacre.archive.facts import CaptureFacts
from nacre.archive.field import date_text, digest_label, digest_of, field, record_uri, uri_field
from nacre.archive.httphead import HEAD_LIMIT, head_end, index_facts
from nacre.archive.notes import metadata_block
from nacre.archive.postquery import PostQuery, post_query
from nacre.core.capture import Body, Capture, TlsFacts
from nacre.core.history import RevisitProfile

IdSource = Callable[[], bytes]
"""Gives 16 fresh bytes for each record id: random ones, or fixed ones in tests."""

IDENTICAL = "identical-payload-digest"
NOT_MODIFIED = "server-not-modified"
PROFILE = b"http://netpreserve.org/warc/1.1/revisit/"

_REQUEST = b"application/http;msgtype=request"
_RESPONSE = b"application/http;msgtype=response"
_FIELDS = b"application/warc-fields"
_DNS = b"text/dns"
_NO_DIGEST = digest_of(b"")
_READ = 1 << 20


class Record(msgspec.Struct, gc=False):
    """One WARC record, ready to be written: `head`, `prefix`, `body`, two CRLFs.

    Attributes:
        type: WARC-Type.
        id: WARC-Record-ID, without angle brackets.
        head: From `WARC/1.1` to the blank line, both included.
        prefix: The block, or its beginning where `body` follows.
        body: The rest of the block; None when `prefix` is all of it.
        length: Bytes of the block.
        url: WARC-Target-URI; "" for warcinfo.
        date: WARC-Date, µs since the epoch (UTC).
        digest: WARC-Payload-Digest, with its label; "" when absent.
        mime: Media type for the index; None when the block tells none.
        status: HTTP status for the index, as in the block; None when there is none.
        post: What a POST or PUT adds to the index line; None for other requests.
    """

    type: str
    id: str
    head: bytes
    prefix: bytes
    body: Body | None
    length: int
    url: str
    date: int
    digest: str = ""
    mime: str | None = None
    status: str | None = None
    post: PostQuery | None = None


def capture_records(capture: Capture, facts: CaptureFacts, ids: IdSource) -> list[Record]:
    """The records of one capture, in the order of writing.

    First response, revisit or (for `dns:`) resource; then request and metadata, which name the
    first as WARC-Concurrent-To. All bear the same WARC-Date.

    Args:
        capture: The exchange; its body is read only where a digest is missing.
        facts: What the crawl knows of it.
        ids: Source of record ids.
    """
    if capture.protocol == "dns":
        return [_dns(capture, record_uri(ids()))]
    first = record_uri(ids())
    common = _Common(capture, first)
    main = _main(capture, facts, common)
    records = [main]
    if capture.request:
        records.append(_request(capture, common, record_uri(ids())))
    not_modified = b""
    if facts.revisit is not None and facts.revisit.kind == NOT_MODIFIED:
        not_modified = capture.head + capture.body.read(0, capture.body.length)
    block = metadata_block(capture, facts, not_modified)
    records.append(_metadata(capture, common, record_uri(ids()), block))
    return records


def warcinfo_record(
    record_id: bytes, date: int, filename: str, fields: Sequence[tuple[str, str]]
) -> Record:
    """The first record of a file.

    Args:
        record_id: 16 bytes for its id.
        date: Time of the file's creation, µs since the epoch.
        filename: Name of the file as it will be once closed.
        fields: Names and values, in order; empty values are left out.
    """
    block = b"".join(b"%b: %b\r\n" % (field(k), field(v)) for k, v in fields if v)
    own = record_uri(record_id)
    head = b"%bWARC-Filename: %b\r\n%b" % (
        _start(b"warcinfo", own, date_text(date).encode(), b""),
        field(filename),
        _end(digest_of(block), _FIELDS, len(block)),
    )
    return Record("warcinfo", own, head, block, None, len(block), "", date)


class _Common:
    """Header lines that the records of one capture share."""

    __slots__ = ("address", "concurrent", "date", "id", "protocol", "target", "uri")

    def __init__(self, capture: Capture, first: str) -> None:
        self.id = first
        self.date = date_text(capture.began).encode()
        self.uri = uri_field(capture.url)
        self.target = b"WARC-Target-URI: %b\r\n" % self.uri
        self.concurrent = b"WARC-Concurrent-To: <%b>\r\n" % first.encode()
        self.address = _address(capture)
        self.protocol = _protocol(capture)


def _start(kind: bytes, record_id: str, date: bytes, target: bytes) -> bytes:
    return b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <%b>\r\nWARC-Date: %b\r\n%b" % (
        kind,
        record_id.encode(),
        date,
        target,
    )


def _end(digest: str, content_type: bytes, length: int) -> bytes:
    kind = b"Content-Type: %b\r\n" % content_type if content_type else b""
    return b"WARC-Block-Digest: %b\r\n%bContent-Length: %d\r\n\r\n" % (field(digest), kind, length)


def _address(capture: Capture) -> bytes:
    """WARC-IP-Address; none through a proxy, where the server's address is not known."""
    if capture.proxied or not capture.address:
        return b""
    return b"WARC-IP-Address: %b\r\n" % field(capture.address)


def _protocol(capture: Capture) -> bytes:
    """One WARC-Protocol a layer, as readers agree on, and the cipher suite."""
    line = b"WARC-Protocol: %b\r\n" % field(capture.protocol)
    if capture.tls is None:
        return line
    cipher = capture.tls.cipher
    suite = b"WARC-Cipher-Suite: %b\r\n" % field(cipher) if cipher else b""
    return b"%bWARC-Protocol: %b\r\n%b" % (line, _tls_name(capture.tls), suite)


def _tls_name(facts: TlsFacts) -> bytes:
    """`tls/1.3` for `TLSv1.3`, `tls/1.0` for `TLSv1`, `ssl/3` for `SSLv3`."""
    name, _, version = facts.version.lower().partition("v")
    return field(f"{name}/{version if name != 'tls' or '.' in version else version + '.0'}")


def _main(capture: Capture, facts: CaptureFacts, common: _Common) -> Record:
    revisit = facts.revisit
    if revisit is None:
        return _response(capture, common)
    return _revisit(capture, common, revisit)


def _response(capture: Capture, common: _Common) -> Record:
    body = capture.body
    length = len(capture.head) + body.length
    digest = "" if _bodiless(capture) else capture.payload_digest or _NO_DIGEST
    head = b"".join(
        (
            _start(b"response", common.id, common.date, common.target),
            common.address,
            common.protocol,
            b"WARC-Truncated: %b\r\n" % field(capture.truncated) if capture.truncated else b"",
            b"WARC-Payload-Digest: %b\r\n" % field(digest) if digest else b"",
            _end(capture.block_digest or _block_digest(capture), _RESPONSE, length),
        )
    )
    start = capture.head
    if not start.endswith((b"\n\r\n", b"\n\n")):
        # Without a whole head (HTTP/0.9) a reader of the file takes the body's lines for one.
        start += body.read(0, HEAD_LIMIT)
    status, mime = index_facts(start)
    record = Record("response", common.id, head, capture.head, body, length, "", capture.began)
    record.url, record.digest, record.mime, record.status = capture.url, digest, mime, status
    record.post = post_query(capture.request)
    return record


def _bodiless(capture: Capture) -> bool:
    """No body came, and readers see that too: nothing has a payload digest then."""
    head = capture.head
    return not capture.body.length and head_end(head) in (-1, len(head))


def _block_digest(capture: Capture) -> str:
    sha1 = hashlib.sha1(capture.head)
    for offset in range(0, capture.body.length, _READ):
        sha1.update(capture.body.read(offset, _READ))
    return digest_label(sha1.digest())


def _revisit(capture: Capture, common: _Common, profile: RevisitProfile) -> Record:
    """A revisit keeps the head; `server-not-modified` has no block (pywb replays it as empty)."""
    identical = profile.kind == IDENTICAL
    block = capture.head if identical else b""
    original = profile.original
    refers = b"WARC-Refers-To: <%b>\r\n" % field(original.record_id) if original.record_id else b""
    head = b"".join(
        (
            _start(b"revisit", common.id, common.date, common.target),
            common.address,
            common.protocol,
            b"WARC-Profile: %b%b\r\n" % (PROFILE, profile.kind.encode()),
            refers,
            b"WARC-Refers-To-Target-URI: %b\r\n" % uri_field(original.url),
            b"WARC-Refers-To-Date: %b\r\n" % date_text(original.date).encode(),
            b"WARC-Truncated: length\r\n" if identical else b"",
            b"WARC-Payload-Digest: %b\r\n" % field(profile.digest) if profile.digest else b"",
            _end(digest_of(block), _RESPONSE if block else b"", len(block)),
        )
    )
    record = Record("revisit", common.id, head, block, None, len(block), "", capture.began)
    record.url, record.digest, record.mime = capture.url, profile.digest, "warc/revisit"
    record.status = index_facts(block)[0]
    return record


def _request(capture: Capture, common: _Common, own: str) -> Record:
    block = capture.request
    head = b"".join(
        (
            _start(b"request", own, common.date, common.target),
            common.concurrent,
            common.address,
            common.protocol,
            _end(digest_of(block), _REQUEST, len(block)),
        )
    )
    return Record("request", own, head, block, None, len(block), capture.url, capture.began)


def _metadata(capture: Capture, common: _Common, own: str, block: bytes) -> Record:
    head = b"".join(
        (
            _start(b"metadata", own, common.date, common.target),
            common.concurrent,
            _end(digest_of(block), _FIELDS, len(block)),
        )
    )
    return Record("metadata", own, head, block, None, len(block), capture.url, capture.began)


def _dns(capture: Capture, own: str) -> Record:
    """A `dns:` look-up: a resource whose payload is its block."""
    body = capture.body
    digest = capture.block_digest or _block_digest(capture)
    head = b"".join(
        (
            _start(
                b"resource",
                own,
                date_text(capture.began).encode(),
                b"WARC-Target-URI: %b\r\n" % uri_field(capture.url),
            ),
            _address(capture),
            b"WARC-Payload-Digest: %b\r\n" % field(digest),
            _end(digest, _DNS, body.length),
        )
    )
    record = Record("resource", own, head, b"", body, body.length, "", capture.began)
    record.url, record.digest, record.mime = capture.url, digest, "text/dns"
    return record
