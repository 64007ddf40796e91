"""Visits for the tests of the reports."""

from typing import Any

from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit

BEGAN = 1_795_168_800_123_456  # 2026-11-20T10:00:00.123456Z
NOW = 1_795_168_801.5
HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


def make_capture(body: bytes = b"hello", **facts: Any) -> Capture:
    values: dict[str, Any] = {
        "url": "http://example.test/",
        "request": b"",
        "head": HEAD,
        "body": BytesBody(body),
        "status": 200,
        "began": BEGAN,
        "duration": 12,
        "payload_digest": "sha1:AAAA",
        "payload_length": len(body),
    }
    return Capture(**(values | facts))


def make_visit(
    url: str = "http://example.test/",
    status: int = 200,
    capture: Capture | None = None,
    uri: dict[str, Any] | None = None,
    **facts: Any,
) -> Visit:
    if capture is None and status > 0:
        capture = make_capture(url=url)
    crawl_uri = CrawlURI(url, b"k" * 16, "test,example,", **(uri or {}))
    return Visit(crawl_uri, status=status, capture=capture, **facts)
