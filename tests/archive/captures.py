"""Captures and ids for the tests of the archive."""

import hashlib
from base64 import b32encode
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from nacre.archive.record import CaptureFacts
from nacre.core.capture import BytesBody, Capture
from nacre.core.history import Original, RevisitProfile
from nacre.fetch.digest import digest_capture
from nacre.wire.http1 import ReplyReader

BEGAN = 1_795_168_800_123_456  # 2026-11-20T10:00:00.123456Z
REQUEST = b"GET / HTTP/1.1\r\nHost: example.test\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 11\r\n\r\n"


def counting_ids(start: int = 1) -> Callable[[], bytes]:
    numbers: Iterator[int] = count(start)
    return lambda: next(numbers).to_bytes(16, "big")


def sha1(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def make_capture(head: bytes = HEAD, body: bytes = b"hello world", **facts) -> Capture:
    """A capture with the digests that the fetcher would have made."""
    values: dict[str, Any] = {
        "url": "http://example.test/",
        "request": REQUEST,
        "head": head,
        "body": BytesBody(body),
        "status": 200,
        "framing": "length",
        "payload_length": len(body),
        "address": "127.0.0.1",
        "port": 80,
        "began": BEGAN,
        "duration": 12,
        "block_digest": sha1(head + body),
        "payload_digest": sha1(body) if body else "",
    }
    return Capture(**(values | facts))


def fetched(raw: bytes, method: str = "GET", step: int = 0, **facts) -> Capture | None:
    """The capture of a reply, read by the fetcher's reader; None when it is not a usable reply.

    Args:
        raw: What the server sends before it closes the connection.
        method: Method of the request.
        step: Bytes that arrive at once; 0 for all.
        facts: Other attributes of the capture.
    """
    reader = ReplyReader(method)
    pieces = [raw[at : at + step] for at in range(0, len(raw), step)] if step else [raw]
    body = BytesBody(b"".join(map(reader.feed, pieces)) + reader.eof())
    if not reader.status:
        return None
    chunked = reader.framing == "chunked"
    digests = digest_capture(reader.head, body, reader.chunks, chunked=chunked)
    values: dict[str, Any] = {
        "url": "http://example.test/",
        "request": REQUEST,
        "head": reader.head,
        "body": body,
        "status": reader.status,
        "headers": reader.headers,
        "framing": reader.framing,
        "chunks": reader.chunks,
        "payload_length": reader.payload_length,
        "protocol": reader.protocol,
        "address": "127.0.0.1",
        "port": 80,
        "began": BEGAN,
        "duration": 12,
        "truncated": reader.truncated,
        "annotations": reader.annotations,
        "block_digest": digests.block,
        "payload_digest": "" if reader.framing == "none" else digests.payload,
    }
    return Capture(**(values | facts))


CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED_BODY = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


def make_chunked(url: str = "http://example.test/chunked", **facts) -> Capture:
    return make_capture(
        CHUNKED_HEAD,
        CHUNKED_BODY,
        url=url,
        framing="chunked",
        chunks=[(3, 5), (13, 6)],
        payload_length=11,
        payload_digest=sha1(b"hello world"),
        **facts,
    )


def revisit_of(
    kind: str, record_id: str = "urn:uuid:0", original_date: int = BEGAN - 1, **facts
) -> CaptureFacts:
    original = Original("http://example.test/", original_date, record_id)
    return CaptureFacts(revisit=RevisitProfile(kind, original, sha1(b"hello world")), **facts)
