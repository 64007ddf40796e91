"""WARC records of captures that another crawler made and stored in its own format.

With the head as it was received a page is a `response`; without one it is a `resource`, which
claims nothing of HTTP. A metadata record has the notes of the other crawler, and `imported`. Bodies
of other crawlers are decoded: header fields of a coding that was removed get the prefix
`X-Crawler-`, and Content-Length is that of the body. Source: WARC 1.1, clause 6.
"""

import hashlib
import re
from collections.abc import Sequence

import msgspec

from nacre.archive.fields import date_text, digest_label, digest_of, field, record_uri, uri_field
from nacre.archive.record import CaptureFacts, IdSource, WarcRecord, capture_records
from nacre.core.capture import BytesBody, Capture

IMPORTED = "imported"
"""Annotation of captures that another crawler made."""

_LENGTH = b"content-length"
_CODINGS = (b"content-encoding", b"transfer-encoding")
_MAGIC = {b"gzip": b"\x1f\x8b", b"x-gzip": b"\x1f\x8b", b"zstd": b"\x28\xb5\x2f\xfd"}
_STATUS = re.compile(rb"HTTP/\d[\d.]* +(\d{3})\b")
_FIELDS = "Content-Type: application/warc-fields\r\n"


class ImportedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page that another crawler fetched.

    Attributes:
        url: Its URL.
        date: When it was fetched, µs since the epoch.
        body: Its body, decoded.
        media_type: Its media type; "" when it is not known.
        head: Status line and header of the reply, verbatim; b"" if they were not stored.
        request: The request, verbatim; b"" if it was not stored.
        address: Address of the server; "" when it is not known.
        truncated: WARC-Truncated; "" when it is whole.
        fields: Names and values that the other crawler noted, in order.
    """

    url: str
    date: int
    body: bytes
    media_type: str = ""
    head: bytes = b""
    request: bytes = b""
    address: str = ""
    truncated: str = ""
    fields: Sequence[tuple[str, str]] = ()


def imported_records(page: ImportedPage, ids: IdSource) -> list[WarcRecord]:
    """Return the records of a page, in the order of writing; the first one has its body.

    Args:
        page: The page.
        ids: Source of record ids.
    """
    head = whole_head(page.head, page.body)
    return _response(page, head, ids) if head else _resource(page, ids)


def whole_head(head: bytes, body: bytes) -> bytes:
    """Return the head of a reply that fits a decoded body; b"" if `head` is no head.

    Args:
        head: Status line and header; lines may end with LF alone, and the blank line may lack.
        body: The body.
    """
    lines = head.replace(b"\r\n", b"\n").strip(b"\n").split(b"\n")
    if _STATUS.match(lines[0]) is None:
        return b""
    lines_out = [lines[0]]
    for line in lines[1:]:
        if not line.strip():
            continue
        name, _, value = line.partition(b":")
        plain, coding = name.strip().lower(), value.strip().lower()
        if plain in _CODINGS and not body.startswith(_MAGIC.get(coding, b"\0no such coding")):
            lines_out.append(b"X-Crawler-" + line)
        elif plain == _LENGTH and coding != b"%d" % len(body):
            lines_out += [b"X-Crawler-" + line, b"Content-Length: %d" % len(body)]
        else:
            lines_out.append(line)
    return b"\r\n".join([*lines_out, b"", b""])


def _response(page: ImportedPage, head: bytes, ids: IdSource) -> list[WarcRecord]:
    status = _STATUS.match(head)
    capture = Capture(
        url=page.url,
        request=page.request,
        head=head,
        body=BytesBody(page.body),
        status=int(status[1]) if status else 0,
        framing="length" if page.body else "none",
        payload_length=len(page.body),
        address=page.address,
        protocol="http/1.0" if head.startswith(b"HTTP/1.0") else "http/1.1",
        began=page.date,
        block_digest=digest_label(hashlib.sha1(head + page.body).digest()),
        payload_digest=digest_of(page.body) if page.body else "",
        truncated=page.truncated,
    )
    return capture_records(capture, CaptureFacts(annotations=(IMPORTED,)), ids)


def _resource(page: ImportedPage, ids: IdSource) -> list[WarcRecord]:
    own, digest = record_uri(ids()), digest_of(page.body)
    media = field(page.media_type) or "application/octet-stream"
    about = f"WARC-Date: {date_text(page.date)}\r\nWARC-Target-URI: {uri_field(page.url)}\r\n"
    address = f"WARC-IP-Address: {field(page.address)}\r\n" if page.address else ""
    cut = f"WARC-Truncated: {field(page.truncated)}\r\n" if page.truncated else ""
    payload = f"WARC-Payload-Digest: {digest}\r\n"
    head = _head(
        "resource", own, f"{about}{address}{cut}{payload}", digest, f"Content-Type: {media}\r\n",
        len(page.body),
    )  # fmt: skip
    first = WarcRecord(
        "resource", own, head, b"", BytesBody(page.body), len(page.body), page.url, page.date,
        digest, media.partition(";")[0].strip(), None,
    )  # fmt: skip
    noted = [f"{field(name).replace(':', '%3A')}: {field(value)}" for name, value in page.fields]
    block = "".join(f"{line}\r\n" for line in [*noted, f"annotations: {IMPORTED}"]).encode()
    note = record_uri(ids())
    concurrent = f"{about}WARC-Concurrent-To: <{own}>\r\n"
    head = _head("metadata", note, concurrent, digest_of(block), _FIELDS, len(block))
    second = WarcRecord("metadata", note, head, block, None, len(block), page.url, page.date)
    return [first, second]


def _head(
    kind: str, record_id: str, lines: str, digest: str, content_type: str, length: int
) -> bytes:
    return (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{record_id}>\r\n{lines}"
        f"WARC-Block-Digest: {digest}\r\n{content_type}Content-Length: {length}\r\n\r\n"
    ).encode()
