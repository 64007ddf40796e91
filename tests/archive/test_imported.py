"""Records of what another crawler fetched: with its head, without it, with codings that went."""

import gzip

import pytest

from nacre.archive.imported import ImportedPage, imported_records, whole_head
from nacre.archive.record import IdSource

BODY = "国家图书馆".encode("gbk")


def ids() -> IdSource:
    numbers = iter(range(100))
    return lambda: bytes([next(numbers)] * 16)


def page(**more: object) -> ImportedPage:
    return ImportedPage(url="http://a.example/国", date=10**15, body=BODY, **more)  # type: ignore[arg-type]


def test_a_page_with_its_head_is_a_response():
    head = b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 10\n"
    request = b"GET / HTTP/1.1\r\n\r\n"
    found = imported_records(page(head=head, request=request, address="192.0.2.1"), ids())
    assert [one.type for one in found] == ["response", "request", "metadata"]
    assert found[0].prefix == head.replace(b"\n", b"\r\n") + b"\r\n"
    assert (found[0].status, found[0].mime) == ("200", "text/html")
    assert b"WARC-IP-Address: 192.0.2.1\r\n" in found[0].head
    assert b"annotations: imported" in found[2].prefix


def test_a_page_without_a_head_is_a_resource_with_what_was_noted():
    fields = [("Server", "x\r\nWARC-Type: forged"), ("a:b", "书")]
    found = imported_records(page(media_type="text/html; charset=gbk", fields=fields), ids())
    assert [one.type for one in found] == ["resource", "metadata"]
    assert found[0].mime == "text/html"
    assert b"Content-Type: text/html; charset=gbk\r\nContent-Length: 10\r\n\r\n" in found[0].head
    assert found[1].prefix == (
        "Server: x%0D%0AWARC-Type: forged\r\na%3Ab: 书\r\nannotations: imported\r\n".encode()
    )


@pytest.mark.parametrize(
    ("line", "body", "kept"),
    [
        (b"Content-Encoding: gzip", b"plain", b"X-Crawler-Content-Encoding: gzip"),
        (b"Content-Encoding: gzip", gzip.compress(b"x", mtime=0), b"Content-Encoding: gzip"),
        (b"Transfer-Encoding: chunked", b"x", b"X-Crawler-Transfer-Encoding: chunked"),
        (b"content-length: 7", b"12345",
         b"X-Crawler-content-length: 7\r\nContent-Length: 5"),
        (b"content-length: 5", b"12345", b"content-length: 5"),
    ],
)  # fmt: skip
def test_header_fields_fit_the_body(line: bytes, body: bytes, kept: bytes):
    assert whole_head(b"HTTP/1.1 200 OK\r\n" + line, body) == (
        b"HTTP/1.1 200 OK\r\n" + kept + b"\r\n\r\n"
    )


def test_what_is_no_head():
    assert whole_head(b"", b"x") == b""
    assert whole_head(b"<html>", b"x") == b""
