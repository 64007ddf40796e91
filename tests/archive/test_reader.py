import gzip
import hashlib
from base64 import b32encode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.block import PayloadDigest, PayloadDigests
from nacre.archive.reader import WarcReader, record_at
from tests.archive.files import MemoryFiles, make_writer, small_crawl
from tests.archive.warcs import make_record


def read_all(data: bytes) -> tuple[list[tuple[int, dict[str, str], bytes]], list[tuple[str, int]]]:
    notes: list[tuple[str, int]] = []
    found = []
    reader = WarcReader(BytesIO(data), lambda code, offset, _: notes.append((code, offset)))
    for entry in reader:
        block = b""
        while piece := entry.read():
            block += piece
        found.append((entry.offset, dict(entry.fields), block))
    return found, notes


@pytest.mark.parametrize("compress", [True, False])
def test_what_was_written_is_read(compress):
    files = MemoryFiles()
    writer = make_writer(files, compress=compress)
    written = [w for records in small_crawl() for w in writer.write(records)]
    found, notes = read_all(bytes(files.data[0]))
    assert notes == []
    for place, (offset, fields, block) in zip(written, found[1:], strict=True):
        body = place.record.body
        assert offset == place.offset
        assert fields["WARC-Record-ID"] == f"<{place.record.id}>"
        assert block == place.record.prefix + (body.read(0, body.length) if body else b"")


def test_one_record_is_read_where_it_lies(tmp_path):
    files = MemoryFiles()
    writer = make_writer(files)
    *_, last = [w for records in small_crawl() for w in writer.write(records)]
    (warc,) = files.save(tmp_path)
    with record_at(warc, last.offset) as entry:
        assert entry is not None
        assert entry.get("WARC-Record-ID") == f"<{last.record.id}>"
    with record_at(warc, warc.stat().st_size) as entry:
        assert entry is None


@given(st.lists(st.binary(max_size=2000), min_size=1, max_size=4), st.booleans())
def test_any_block_is_read_back(blocks, compress):
    members = [make_record(block, n=str(n)) for n, block in enumerate(blocks)]
    data = b"".join(gzip.compress(m, 1, mtime=0) if compress else m for m in members)
    found, notes = read_all(data)
    assert [block for _, _, block in found] == blocks
    assert notes == []


@given(st.binary(max_size=300), st.integers(0, 400))
def test_no_bytes_raise_or_hang(data, at):
    good = make_record(b"one") + make_record(b"two")
    packed = gzip.compress(make_record(b"one"), mtime=0) + gzip.compress(
        make_record(b"two"), mtime=0
    )
    for file in (good, packed):
        for odd in (file[:at] + data + file[at:], file[:at] + data, data):
            found, notes = read_all(odd)
            assert found or notes or not odd.strip(b"\r\n")


def test_a_damaged_member_does_not_hide_the_next():
    one, two, three = (gzip.compress(make_record(bytes([c]) * 50), mtime=0) for c in b"123")
    damaged = two[:30] + bytes(8) + two[38:]
    found, notes = read_all(one + damaged + three)
    assert [block for _, _, block in found if len(block) == 50] == [b"1" * 50, b"3" * 50]
    assert ("gzip-damaged", len(one)) in notes


def test_a_record_behind_garbage_is_read_even_far_behind():
    good = make_record(b"good")
    garbage = b"no record\n" + b"x" * 200_000 + b"\n"
    found, notes = read_all(good + garbage + good)
    assert [offset for offset, _, _ in found] == [0, len(good) + len(garbage)]
    assert notes == [("no-record", len(good))]
    packed = gzip.compress(good, mtime=0)
    found, notes = read_all(packed + garbage + packed)
    assert [offset for offset, _, _ in found] == [0, len(packed) + len(garbage)]
    assert notes == [("gzip-junk", len(packed))]


def test_a_bomb_is_read_in_small_pieces():
    length: dict[str, Any] = {"Content-Length": "20000000"}
    head = make_record(b"", **length).partition(b"\r\n\r\n")[0]
    member = gzip.compress(head + b"\r\n\r\n" + bytes(20_000_000) + b"\r\n\r\n", 1, mtime=0)
    largest = total = 0
    for entry in WarcReader(BytesIO(member)):
        while piece := entry.read(1 << 30):
            largest, total = max(largest, len(piece)), total + len(piece)
    assert (largest, total) == (1 << 16, 20_000_000)


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"X: a\n", "line-end"),
        (b"X: a\r\n b\r\n", "header-folded"),
        (b"X\r\n", "header-line"),
        (b"X : a\r\n", "header-line"),
        (b"X: \x00\r\n", "header-control"),
        (b"X: \xff\r\n", "header-encoding"),
        (b"X: " + b"a" * 70_000 + b"\r\n", "header-long"),
    ],
)
def test_odd_headers_are_noted_and_read(header, code):
    good = make_record(b"block")
    found, notes = read_all(good.replace(b"\r\nWARC-Type", b"\r\n" + header + b"WARC-Type", 1))
    assert found[0][2] == b"block"
    assert notes == [(code, 0)]


def test_a_header_without_end_is_cut_off():
    found, notes = read_all(b"WARC/1.1\r\nX: " + b"a" * 9_000_000)
    assert len(found) == 1
    assert notes[0] == ("header-truncated", 0)


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
