"""WARC records of a capture: pure, hand-assembled, with a fixed field order.

Every header field and every line of a metadata block that Nacre writes is defined here; those of
expanded captures (`nacre archive expand`) are in `archive.expanded`. Source: WARC 1.1 (ISO
28500:2017), clause 6.4 for metadata; what pywb makes of each form; Heritrix 3 (names and order of
the metadata lines).
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from nacre.archive.certificates import CHAIN_FIELD, CHAIN_MEDIA, StoredChain
from nacre.archive.delta import MEDIA, TARGET, Delta, delta_block
from nacre.archive.fields import (
    DATE_DIGITS,
    cut_date,
    date_text,
    digest_label,
    digest_of,
    field,
    record_uri,
    uri_field,
)
from nacre.archive.index_facts import HEAD_LIMIT, PostQuery, head_end, index_facts, post_query
from nacre.archive.link_reference import LinkReference, reference_lines
from nacre.core.capture import Body, Capture
from nacre.core.crawluri import Outlink
from nacre.core.history import RevisitProfile


class CaptureFacts(msgspec.Struct, frozen=True):
    """The facts about a capture from the crawl.

    Attributes:
        via: URL of the page that led there; "" for a seed.
        path: Hop path from the seed; "" for a seed.
        is_seed: A seed.
        source: Source tag; "" when tags are off.
        force_fetch: Was fetched though seen before.
        outlinks: Links found in it, in order.
        same_links: The record that has these outlinks, to refer to it; None: they are written.
        annotations: As in crawl.log.
        charset: Charset used to read it; "" when none was.
        robots: Directives of meta robots and X-Robots-Tag, lower case, obeyed or not.
        verdict: Result of the comparison with the history: `new`, `changed` …; "" for none.
        wall: Kind of wall, if the reply is no page of the site; "" for a page.
        preferences: What it states on the use of its content, if that differs from the version
            before: source and line; `none` if it states nothing any more.
        revisit: Set when it is not to be stored in full.
        delta: Set if it is to be stored as a difference.
        confirms: Record id of the stored difference that the reply confirms; "" for none.
        chain: The record of the server's certificate chain; "" if it is not stored.
        date_digits: Digits of a second in dates, 0 to 6; the time of the capture is cut to them.
        page_id: UUID of the page in a browser that it belongs to; "" for none.
        resource: What that page wanted it for, as in `WARC-Resource-Type`; "" if that is not known.
    """

    via: str = ""
    path: str = ""
    is_seed: bool = False
    source: str = ""
    force_fetch: bool = False
    outlinks: Sequence[Outlink] = ()
    same_links: LinkReference | None = None
    annotations: Sequence[str] = ()
    charset: str = ""
    robots: frozenset[str] = frozenset()
    verdict: str = ""
    wall: str = ""
    preferences: Sequence[str] = ()
    revisit: RevisitProfile | None = None
    delta: Delta | None = None
    confirms: str = ""
    chain: str = ""
    date_digits: int = DATE_DIGITS
    page_id: str = ""
    resource: str = ""


IdSource = Callable[[], bytes]
"""Returns 16 fresh bytes for each record id: random, or fixed in tests."""

IDENTICAL = "identical-payload-digest"
NOT_MODIFIED = "server-not-modified"
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"

_REQUEST = "Content-Type: application/http;msgtype=request\r\n"
_RESPONSE = "Content-Type: application/http;msgtype=response\r\n"
_FIELDS = "Content-Type: application/warc-fields\r\n"
_DNS = "Content-Type: text/dns\r\n"
_CHAIN = f"Content-Type: {CHAIN_MEDIA}\r\n"
_NO_DIGEST = digest_of(b"")
_READ = 1 << 20


class WarcRecord(msgspec.Struct, gc=False):
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
        mime: Media type for the index; None when the block has none.
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


def capture_records(
    capture: Capture, facts: CaptureFacts, ids: IdSource, response: WarcRecord | None = None
) -> list[WarcRecord]:
    """Return the records of one capture, in the order of writing.

    First response, revisit, difference or (for `dns:`) resource; then request and metadata, which
    name the first as WARC-Concurrent-To. All bear the same WARC-Date.

    Args:
        capture: The exchange; its body is read only where a digest is missing.
        facts: The facts about it from the crawl.
        ids: Source of record ids.
        response: The record of `response_record`, which is first if it is stored in full; None:
            it is made here.
    """
    if capture.protocol == "dns":
        return [_dns(capture, facts, record_uri(ids()))]
    whole = facts.revisit is None and facts.delta is None
    first = response.id if response is not None and whole else record_uri(ids())
    common = _Common(capture, facts, first)
    main = response if response is not None and whole else _main(capture, facts, common)
    records = [main]
    if capture.request:
        records.append(_request(capture, common, record_uri(ids())))
    not_modified = b""
    if facts.revisit is not None and facts.revisit.kind == NOT_MODIFIED:
        not_modified = _whole(capture)
    block = metadata_block(capture, facts, not_modified)
    lines = common.concurrent + _refers(facts)
    records.append(_metadata(capture, common, record_uri(ids()), lines, block))
    return records


def response_record(
    capture: Capture, digits: int, record_id: bytes, page_id: str, resource: str
) -> WarcRecord:
    """Return the response record of a request of a page, before it is known if it is a revisit.

    Args:
        capture: The exchange, over HTTP.
        digits: See `CaptureFacts.date_digits`.
        record_id: 16 bytes for its id.
        page_id: See `CaptureFacts`.
        resource: See `CaptureFacts`.
    """
    facts = CaptureFacts(date_digits=digits, page_id=page_id, resource=resource)
    return _response(capture, _Common(capture, facts, record_uri(record_id)))


def noted_record(capture: Capture, facts: CaptureFacts, ids: IdSource) -> WarcRecord:
    """A capture of which only a note is kept: its metadata record, with the payload's digest.

    Of a reply that confirms a difference, head or 304 are kept verbatim, as a revisit keeps them.

    Args:
        capture: The exchange.
        facts: The facts about it from the crawl.
        ids: Source of record ids.
    """
    same = capture.status == 304
    if same:
        block = metadata_block(capture, facts, _whole(capture))
    else:
        block = metadata_block(capture, facts, b"", capture.head if facts.confirms else b"")
    digest = b"" if same else f"payloadDigest: {field(capture.payload_digest)}\r\n".encode()
    own = record_uri(ids())
    head = _head(
        "metadata",
        own,
        _target(capture, facts) + _refers(facts),
        _end(digest_of(digest + block), _FIELDS, len(digest) + len(block)),
    )
    size = len(digest) + len(block)
    return WarcRecord("metadata", own, head, digest + block, None, size, capture.url, capture.began)


def suspect_record(
    url: str, date: int, suspect: str, reason: str, record_id: bytes, digits: int = DATE_DIGITS
) -> WarcRecord:
    """Make a note on a stored capture that turned out later to be perhaps another URL's.

    Args:
        url: Its URL.
        date: Time of that discovery, µs since the epoch.
        suspect: Record id of the capture, without angle brackets.
        reason: What is wrong with it, a word.
        record_id: 16 bytes for the id of the note.
        digits: Digits of a second in its date, which is cut to them.
    """
    date = cut_date(date, digits)
    block = f"suspect: {field(reason)}\r\nannotations: suspect:{field(reason)}\r\n".encode()
    own = record_uri(record_id)
    lines = (
        f"WARC-Date: {date_text(date, digits)}\r\nWARC-Target-URI: {uri_field(url)}\r\n"
        f"WARC-Refers-To: <{field(suspect)}>\r\n"
    )
    head = _head("metadata", own, lines, _end(digest_of(block), _FIELDS, len(block)))
    return WarcRecord("metadata", own, head, block, None, len(block), url, date)


def warcinfo_record(
    record_id: bytes,
    date: int,
    filename: str,
    fields: Sequence[tuple[str, str]],
    digits: int = DATE_DIGITS,
) -> WarcRecord:
    """Return the first record of a file.

    Args:
        record_id: 16 bytes for its id.
        date: Time of the file's creation, µs since the epoch.
        filename: Name of the file as it will be once closed.
        fields: Names and values, in order; empty values are left out.
        digits: Digits of a second in its date, which is cut to them.
    """
    block = "".join(f"{field(k)}: {field(v)}\r\n" for k, v in fields if v).encode()
    own, date = record_uri(record_id), cut_date(date, digits)
    lines = f"WARC-Date: {date_text(date, digits)}\r\nWARC-Filename: {field(filename)}\r\n"
    head = _head("warcinfo", own, lines, _end(digest_of(block), _FIELDS, len(block)))
    return WarcRecord("warcinfo", own, head, block, None, len(block), "", date)


def chain_record(
    chain: StoredChain, record_id: bytes, date: int, digits: int = DATE_DIGITS
) -> WarcRecord:
    """Return the record of a certificate chain.

    Args:
        chain: The chain.
        record_id: 16 bytes for its id.
        date: Time of the capture that it came with, µs since the epoch.
        digits: Digits of a second in its date, which is cut to them.
    """
    block, own, date = chain.block, record_uri(record_id), cut_date(date, digits)
    digest = digest_of(block)
    lines = (
        f"WARC-Date: {date_text(date, digits)}\r\nWARC-Target-URI: {chain.uri}\r\n"
        f"WARC-Payload-Digest: {digest}\r\n"
    )
    head = _head("resource", own, lines, _end(digest, _CHAIN, len(block)))
    record = WarcRecord("resource", own, head, block, None, len(block), chain.uri, date)
    record.digest, record.mime = digest, CHAIN_MEDIA
    return record


class _Common:
    """Header lines that the records of one capture share.

    Attributes:
        digits: Digits of a second in dates.
        id: WARC-Record-ID of the first record.
        target: Time and URL, and the page that it belongs to.
        page: That page alone.
        concurrent: The first record, named by the others.
        route: Between whom, and how.
    """

    __slots__ = ("concurrent", "digits", "id", "page", "route", "target")

    def __init__(self, capture: Capture, facts: CaptureFacts, first: str) -> None:
        self.digits = facts.date_digits
        self.id = first
        self.page = page_fields(facts.page_id, facts.resource)
        self.target = _target(capture, facts)
        self.concurrent = f"WARC-Concurrent-To: <{first}>\r\n"
        tls = capture.tls
        version, cipher = (tls.version, tls.cipher) if tls is not None else ("", "")
        self.route = _address(capture) + _protocol(capture.protocol, version, cipher)


def _whole(capture: Capture) -> bytes:
    return capture.head + capture.body.read(0, capture.body.length)


def _target(capture: Capture, facts: CaptureFacts) -> str:
    date, uri = date_text(capture.began, facts.date_digits), uri_field(capture.url)
    page = page_fields(facts.page_id, facts.resource)
    return f"WARC-Date: {date}\r\nWARC-Target-URI: {uri}\r\n{page}"


def page_fields(page_id: str, resource: str) -> str:
    """Return the fields of a record of a page in a browser, as Browsertrix writes them.

    Args:
        page_id: UUID of the page; "" for a record of none, which has no such fields.
        resource: Type of the resource; "" if it is not known.
    """
    if not page_id:
        return ""
    kind = f"WARC-Resource-Type: {field(resource)}\r\n" if resource else ""
    return f"WARC-Page-ID: {field(page_id)}\r\n{kind}"


def _head(kind: str, record_id: str, lines: str, end: str) -> bytes:
    start = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{record_id}>\r\n"
    return f"{start}{lines}{end}".encode()


def _end(digest: str, content_type: str, length: int) -> str:
    """Return the last lines; `content_type` is a whole line, or "" for none."""
    return f"WARC-Block-Digest: {digest}\r\n{content_type}Content-Length: {length}\r\n\r\n"


def _address(capture: Capture) -> str:
    """WARC-IP-Address; none through a proxy, where the server's address is not known."""
    if capture.proxied or not capture.address:
        return ""
    return f"WARC-IP-Address: {field(capture.address)}\r\n"


@lru_cache(maxsize=64)
def _protocol(protocol: str, version: str, cipher: str) -> str:
    """One WARC-Protocol a layer, as readers agree on, and the cipher suite.

    Args:
        protocol: That of HTTP.
        version: Version of TLS, `TLSv1.3`; "" without TLS.
        cipher: Name of the cipher suite; "" for none.
    """
    line = f"WARC-Protocol: {field(protocol)}\r\n"
    if not version:
        return line
    suite = f"WARC-Cipher-Suite: {field(cipher)}\r\n" if cipher else ""
    return f"{line}WARC-Protocol: {_tls_name(version)}\r\n{suite}"


def _tls_name(text: str) -> str:
    """`tls/1.3` for `TLSv1.3`, `tls/1.0` for `TLSv1`, `ssl/3` for `SSLv3`."""
    name, _, version = text.lower().partition("v")
    return field(f"{name}/{version if name != 'tls' or '.' in version else version + '.0'}")


def _main(capture: Capture, facts: CaptureFacts, common: _Common) -> WarcRecord:
    revisit = facts.revisit
    if facts.delta is not None:
        return _difference(capture, facts.delta, common)
    if revisit is None:
        return _response(capture, common)
    return _revisit(capture, common, revisit)


def _response(capture: Capture, common: _Common) -> WarcRecord:
    body = capture.body
    length = len(capture.head) + body.length
    digest = "" if _bodiless(capture) else capture.payload_digest or _NO_DIGEST
    truncated = f"WARC-Truncated: {field(capture.truncated)}\r\n" if capture.truncated else ""
    payload = f"WARC-Payload-Digest: {field(digest)}\r\n" if digest else ""
    head = _head(
        "response",
        common.id,
        f"{common.target}{common.route}{truncated}{payload}",
        _end(field(capture.block_digest or _block_digest(capture)), _RESPONSE, length),
    )
    start = capture.head
    if not start.endswith((b"\n\r\n", b"\n\n")):
        # Without a whole head (HTTP/0.9) a reader of the file takes the body's lines for one.
        start += body.read(0, HEAD_LIMIT)
    status, mime = index_facts(start)
    return WarcRecord(
        "response", common.id, head, capture.head, body, length, capture.url, capture.began,
        digest, mime, status, post_query(capture.request),
    )  # fmt: skip


def _difference(capture: Capture, delta: Delta, common: _Common) -> WarcRecord:
    """Return a reply as a difference. Its payload digest is in the block.

    That of the record is of the block itself: indexers take a record without one for empty.
    """
    block, target = delta_block(delta), TARGET + capture.url
    digest = digest_of(block)
    lines = (
        f"WARC-Date: {date_text(capture.began, common.digits)}\r\nWARC-Target-URI: "
        f"{uri_field(target)}\r\n",
        common.page,
        common.route,
        f"WARC-Refers-To: <{field(delta.base_id)}>\r\n",
        f"WARC-Payload-Digest: {digest}\r\n",
    )
    end = _end(digest, f"Content-Type: {MEDIA}\r\n", len(block))
    head = _head("metadata", common.id, "".join(lines), end)
    record = WarcRecord("metadata", common.id, head, block, None, len(block), target, capture.began)
    record.digest, record.mime = digest, MEDIA
    return record


def _bodiless(capture: Capture) -> bool:
    """Return whether there was no body, also for readers: then there is no payload digest."""
    head = capture.head
    return not capture.body.length and head_end(head) in (-1, len(head))


def _block_digest(capture: Capture) -> str:
    sha1 = hashlib.sha1(capture.head)
    for offset in range(0, capture.body.length, _READ):
        sha1.update(capture.body.read(offset, _READ))
    return digest_label(sha1.digest())


def _revisit(capture: Capture, common: _Common, profile: RevisitProfile) -> WarcRecord:
    """A revisit keeps the head; `server-not-modified` has no block (pywb replays it as empty)."""
    identical = profile.kind == IDENTICAL
    block = capture.head if identical else b""
    original = profile.original
    refers = f"WARC-Refers-To: <{field(original.record_id)}>\r\n" if original.record_id else ""
    lines = (
        common.target,
        common.route,
        f"WARC-Profile: {PROFILE}{profile.kind}\r\n",
        refers,
        f"WARC-Refers-To-Target-URI: {uri_field(original.url)}\r\n",
        f"WARC-Refers-To-Date: {date_text(original.date, common.digits)}\r\n",
        "WARC-Truncated: length\r\n" if identical else "",
        f"WARC-Payload-Digest: {field(profile.digest)}\r\n" if profile.digest else "",
    )
    end = _end(digest_of(block), _RESPONSE if block else "", len(block))
    head = _head("revisit", common.id, "".join(lines), end)
    return WarcRecord(
        "revisit", common.id, head, block, None, len(block), capture.url, capture.began,
        profile.digest, "warc/revisit", index_facts(block)[0],
    )  # fmt: skip


def _request(capture: Capture, common: _Common, own: str) -> WarcRecord:
    block = capture.request
    lines = f"{common.target}{common.concurrent}{common.route}"
    head = _head("request", own, lines, _end(digest_of(block), _REQUEST, len(block)))
    return WarcRecord("request", own, head, block, None, len(block), capture.url, capture.began)


def _refers(facts: CaptureFacts) -> str:
    """Return WARC-Refers-To of a metadata record: the record with its outlinks, if another."""
    same = facts.same_links
    return "" if same is None else f"WARC-Refers-To: <{field(same.record_id)}>\r\n"


def _metadata(capture: Capture, common: _Common, own: str, lines: str, block: bytes) -> WarcRecord:
    head = _head(
        "metadata", own, common.target + lines, _end(digest_of(block), _FIELDS, len(block))
    )
    return WarcRecord("metadata", own, head, block, None, len(block), capture.url, capture.began)


def _dns(capture: Capture, facts: CaptureFacts, own: str) -> WarcRecord:
    """Return a `dns:` look-up: a resource whose payload is its block."""
    body = capture.body
    digest = capture.block_digest or _block_digest(capture)
    payload = f"WARC-Payload-Digest: {field(digest)}\r\n"
    lines = f"{_target(capture, facts)}{_address(capture)}{payload}"
    head = _head("resource", own, lines, _end(field(digest), _DNS, body.length))
    record = WarcRecord("resource", own, head, b"", body, body.length, "", capture.began)
    record.url, record.digest, record.mime = capture.url, digest, "text/dns"
    return record


def metadata_block(
    capture: Capture, facts: CaptureFacts, not_modified: bytes, head: bytes = b""
) -> bytes:
    """`application/warc-fields`, then the replies that are kept verbatim.

    `interimReplies: N`, `notModifiedReply: N` and `replyHead: N` give the lengths in bytes of the
    1xx replies, of the 304 reply and of the head of another one, which follow the blank line in
    this order, exactly as they were received.

    Args:
        capture: The exchange.
        facts: The facts about it from the crawl.
        not_modified: The 304 reply, when the capture became a `server-not-modified` revisit.
        head: Head of the reply, if only a note records that it equals a stored difference.
    """
    lines = _fact_lines(facts)
    lines.append(f"fetchTimeMs: {capture.duration}")
    if facts.charset:
        lines.append("charsetForLinkExtraction: " + field(facts.charset))
    if facts.robots:
        lines.append("robotsDirectives: " + field(", ".join(sorted(facts.robots))))
    if facts.verdict:
        lines.append("verdict: " + field(facts.verdict))
    if facts.wall:
        lines.append("wall: " + field(facts.wall))
    lines += ["preference: " + field(line) for line in facts.preferences]
    if facts.confirms:
        lines.append(f"confirms: <{field(facts.confirms)}>")
    if facts.annotations:
        lines.append("annotations: " + field(",".join(facts.annotations)))
    lines += _tls(capture, facts.chain)
    if facts.same_links is not None:
        lines += reference_lines(facts.same_links)
    elif facts.outlinks:
        lines.append(outlink_lines(facts.outlinks))
    verbatim = capture.interim + not_modified + head
    if verbatim:
        lines += _lengths(capture.interim, not_modified, head)
        lines.append("")
    lines.append("")
    return "\r\n".join(lines).encode() + verbatim


def _lengths(*verbatim: bytes) -> list[str]:
    names = ("interimReplies", "notModifiedReply", "replyHead")
    return [f"{name}: {len(part)}" for name, part in zip(names, verbatim, strict=True) if part]


def _fact_lines(facts: CaptureFacts) -> list[str]:
    """How it was found. A seed has an empty hop path (WARC 1.1 clause 6.4)."""
    lines = ["seed: "] if facts.is_seed else []
    if facts.via:
        lines.append("via: " + uri_field(facts.via))
    lines.append("hopsFromSeed: " + field(facts.path))
    if facts.source:
        lines.append("sourceTag: " + field(facts.source))
    if facts.force_fetch:
        lines.append("force-fetch: ")
    return lines


def _tls(capture: Capture, chain: str) -> list[str]:
    """Return what verifying the certificate gave, the requested name, and the chain's record."""
    if capture.tls is None:
        return []
    return [
        "tlsVerified: " + field(capture.tls.verified),
        "tlsServerName: " + field(capture.tls.sni),
        *([f"{CHAIN_FIELD}: {chain}"] if chain else ()),
    ]


def outlink_lines(outlinks: Sequence[Outlink]) -> str:
    """One `outlink: URL HOP CONTEXT` a link; no CRLF after the last."""
    text = "\r\noutlink: ".join([" ".join((o.url, o.hop, o.context)) for o in outlinks])
    breaks = 2 * (len(outlinks) - 1)
    # One search of the whole shows that no value holds a line break.
    if text.isascii() and text.count("\r") + text.count("\n") == breaks:
        return "outlink: " + text
    return "\r\n".join(
        [f"outlink: {uri_field(o.url)} {field(o.hop)} {field(o.context)}" for o in outlinks]
    )
