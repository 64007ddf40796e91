import hashlib
from base64 import b32encode
from pathlib import Path

import pytest

from nacre.archive.payloads import PayloadDigest, PayloadDigests

PLAIN = "a页面b".encode()
CHUNKED = b"4\r\na\xe9\xa1\xb5\r\n4\r\n\xe9\x9d\xa2b\r\n0\r\n\r\n"


def sha1(data: bytes) -> str:
    return f"sha1:{b32encode(hashlib.sha1(data).digest()).decode()}"


def record(kind: str, url: str, block: bytes, digest: str, original: str = "") -> bytes:
    refers = f"WARC-Refers-To: <urn:{original}>\r\n" if original else ""
    fields = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Record-ID: <urn:{url}>\r\n{refers}"
        f"WARC-Date: 2026-11-20T15:11:00.123456Z\r\nWARC-Payload-Digest: {digest}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return fields.encode() + block + b"\r\n\r\n"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    path = tmp_path / "a.warc"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    path.write_bytes(
        record("response", "http://a/", head + CHUNKED, sha1(PLAIN))
        + record("response", "http://b/", b"HTTP/1.1 200 OK\r\n\r\n" + PLAIN, sha1(PLAIN))
        + record("revisit", "http://c/", b"HTTP/1.1 200 OK\r\n\r\n", sha1(PLAIN), "http://a/")
        + record("revisit", "http://d/", b"HTTP/1.1 200 OK\r\n\r\n", sha1(PLAIN), "http://b/")
        + record("request", "http://a/", b"GET / HTTP/1.1\r\n\r\n", sha1(b""))
    )
    return path


def test_digests_as_recorded(warc: Path):
    date = "20261120151100"
    assert list(PayloadDigests(raw=False).of(warc)) == [
        PayloadDigest(sha1(PLAIN), date, "http://a/"),
        PayloadDigest(sha1(PLAIN), date, "http://b/"),
        PayloadDigest(sha1(PLAIN), date, "http://c/"),
        PayloadDigest(sha1(PLAIN), date, "http://d/"),
    ]


def test_digests_of_the_bytes_as_they_came(warc: Path):
    found = [one.digest for one in PayloadDigests(raw=True).of(warc)]
    assert found == [sha1(CHUNKED), sha1(PLAIN), sha1(CHUNKED), sha1(PLAIN)]
