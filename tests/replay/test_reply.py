"""Archived exchanges: heads, codings, revisits, differences, other writers, damage."""

import gzip
import hashlib
import zlib
from contextlib import suppress
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # ships no types
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nacre.archive.delta import MEDIA, TARGET, Delta, delta_block, make_patch
from nacre.archive.fields import digest_of, micros
from nacre.catalogue.captures import IndexedCapture, read_capture
from nacre.replay.records import INLINE, ReplayError
from nacre.replay.reply import (
    ArchivedExchange,
    CapturedRange,
    captured_range,
    page_codec,
    read_exchange,
)
from tests.archive.files import write_crawl
from tests.replay.archives import DATE, PAGE, URL, Archive, record, sha1

LATER = "2026-11-21T10:00:00Z"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "job")


def fails(archive: Archive, *others: Archive, url: str = URL) -> str:
    with pytest.raises(ReplayError) as caught:
        archive.read(url, -1, *others).body.read()
    assert str(caught.value)
    return caught.value.code


@pytest.mark.parametrize("compress", [True, False])
def test_a_page(archive, compress):
    archive.add(record(b"", "warcinfo"), record(PAGE + b"<p>hello"), compress=compress)
    exchange = archive.read()
    assert (exchange.status, exchange.reason) == (200, "OK")
    assert exchange.headers == (("Content-Type", "text/html"),)
    assert exchange.header("content-type") == "text/html"
    assert (exchange.body.length, exchange.body.read()) == (8, b"<p>hello")
    assert (exchange.url, exchange.date, exchange.truncated) == (URL, DATE, "")
    assert exchange.record_id.startswith("urn:uuid:")
    assert exchange.original is None


@pytest.mark.parametrize(
    ("body", "payload", "note"),
    [
        (b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", b"hello!", []),
        (b"5;x=1\r\nhello\r\n0\r\nTrailer: a\r\n\r\n", b"hello", []),
        (b"5\r\nhel", b"hel", ["shortBody"]),
        (b"5\r\nhello\r\nzz\r\nrest", b"hello", ["badChunk"]),
        (b"5\r\nhello\r\n", b"hello", ["shortBody"]),
        (b"0\r\n\r\n", b"", []),
        (b"", b"", []),
        (b"5", b"", ["shortBody"]),
        (b"<p>never chunked</p>\n<p>at all", b"<p>never chunked</p>\n<p>at all", ["badChunk"]),
        (b"hello", b"hello", ["badChunk"]),
    ],
)
def test_chunked_bodies(archive, body, payload, note):
    archive.add(record(CHUNKED + body))
    exchange = archive.read()
    assert exchange.body.read() == payload
    assert [each[:8] for each in exchange.annotations] == [each[:8] for each in note]


TEXT = "<p>你好, hello</p>".encode("gbk") * 40


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)[2:-4]),
        ("br", brotli.compress(TEXT)),
        ("zstd", zstandard.compress(TEXT)),
        ("gzip, br", brotli.compress(gzip.compress(TEXT))),
        ("identity", TEXT),
    ],
)
def test_content_codings_are_removed_on_request(archive, coding, data):
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode()
    archive.add(record(head + data))
    assert archive.read().body.read() == data
    exchange = archive.read(decode=True)
    assert (exchange.body.read(), exchange.annotations) == (TEXT, [])


@pytest.mark.parametrize(
    ("coding", "data", "note"),
    [
        ("gzip", gzip.compress(TEXT)[:-20], "contentEncodingCut:gzip"),
        ("gzip", TEXT, "contentEncodingMismatch:gzip"),
        ("rot13", TEXT, "unsatisfiableContentEncoding:rot13"),
        ("br", b"\0\1\2\3" + TEXT, ""),
    ],
)
def test_damaged_and_false_codings_give_what_there_is(archive, coding, data, note):
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode()
    archive.add(record(head + data))
    exchange = archive.read(decode=True)
    body = exchange.body.read()
    assert body[:10] in (TEXT[:10], data[:10])
    assert len(exchange.annotations) == 1
    assert exchange.annotations[0].startswith(note)


@pytest.mark.parametrize(
    ("block", "status", "headers", "body"),
    [
        (b"<html>HTTP/0.9", 200, (), b"<html>HTTP/0.9"),
        (b"HTTP/1.1 99 Odd\r\nA: b\r\n\r\nx", 99, (("A", "b"),), b"x"),
        (b"HTTP/1.1 204 No\r\n\r\nx", 204, (), b""),
        (b"HTTP/1.1 304 Same\r\nEtag: 1\r\n\r\n", 304, (("Etag", "1"),), b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", 200, None, b"short"),
        (b"HTTP/1.1 200 OK\nA: b\n\nbare", 200, (("A", "b"),), b"bare"),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", 200, (("A", "b"),), b""),
        (b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nx", 200, (("A", "b"),), b"x"),
        (b"ICY 200 OK\r\nA: b\r\n\r\nx", 200, (("A", "b"),), b"x"),
        (b"HTTP/1.1 200 OK\r\nA: 1\rB: 2\0\r\n\r\n", 200, (("A", "1 B: 2 "),), b""),
        ("HTTP/1.1 200 OK\r\nA: 你\r\n\r\n".encode(), 200, (("A", "你"),), b""),
        (b"HTTP/1.1 200 OK\r\nA: \xc4\xe3\r\n\r\n", 200, (("A", "\xc4\xe3"),), b""),
        (b"", 200, (), b""),
    ],
)
def test_heads_as_the_fetcher_reads_them(archive, block, status, headers, body):
    archive.add(record(block))
    exchange = archive.read()
    assert (exchange.status, exchange.body.read()) == (status, body)
    assert headers is None or exchange.headers == headers


def test_a_truncated_capture_says_so(archive):
    archive.add(record(PAGE + b"par", Truncated="length"))
    assert archive.read().truncated == "length"


@pytest.mark.parametrize(
    ("kind", "url", "media"),
    [
        ("resource", URL, "text/html"),
        ("resource", "urn:thumbnail:http://h.test/", "image/png"),
        ("metadata", "urn:pageinfo:http://h.test/", "application/json"),
        ("resource", "dns:h.test", "text/dns"),
        ("response", "dns:h.test", "text/dns"),
        ("response", "ftp://h.test/a", "application/octet-stream"),
        ("conversion", URL, "text/plain"),
    ],
)
def test_records_that_are_no_http(archive, kind, url, media):
    path = archive.add(record(b"content", kind, url, media=media))
    capture = line_of(path, url)
    holding, index = archive.open()
    exchange = read_exchange(holding, index, capture)
    assert (exchange.status, exchange.url) == (200, url)
    assert exchange.headers == (("Content-Type", media),)
    assert exchange.body.read() == b"content"


def line_of(path: Path, url: str = URL, offset: int = 0) -> IndexedCapture:
    return IndexedCapture("k", "20261120100000", url, "", 200, "", path.name, offset, 0)


@pytest.mark.parametrize("version", ["1.0", "0.18"])
def test_other_writers(archive, version):
    """wget puts brackets around URLs, others leave the media type of the record out."""
    archive.add(
        record(PAGE + b"a", url=f"<{URL}>", version=version),
        record(PAGE + b"b", url="http://h.test/b", media="", version=version),
    )
    assert archive.read().body.read() == b"a"
    assert archive.read("http://h.test/b").body.read() == b"b"


def test_records_that_share_a_gzip_member(archive):
    one = record(PAGE + b"a", url="http://h.test/a") + record(PAGE + b"b", url="http://h.test/b")
    archive.add(one)
    assert archive.read("http://h.test/b").body.read() == b"b"


class TestLargeBodies:
    @pytest.mark.parametrize("compress", [True, False])
    def test_they_are_read_in_pieces_and_sought(self, archive, compress):
        body = bytes(range(256)) * (INLINE // 64)
        archive.add(record(PAGE + body, url="http://h.test/v"), compress=compress)
        stream = archive.read("http://h.test/v").body
        assert stream.length == len(body)
        stream.seek(len(body) - 5)
        assert stream.read() == body[-5:]
        stream.seek(1000)
        assert (stream.read(10), stream.tell()) == (body[1000:1010], 1010)
        stream.seek(2 * INLINE + 3)
        assert stream.read(4) == body[2 * INLINE + 3 :][:4]
        stream.seek(0)
        assert stream.read() == body
        assert stream.read() == b""
        stream.close()

    def test_chunked_and_coded(self, archive):
        body = bytes(range(256)) * (INLINE // 64)
        coded = gzip.compress(body, 0)
        chunks = b"".join(
            b"%x\r\n%b\r\n" % (len(part), part)
            for part in (coded[at : at + 9999] for at in range(0, len(coded), 9999))
        )
        head = CHUNKED[:-2] + b"Content-Encoding: gzip\r\n\r\n"
        archive.add(record(head + chunks + b"0\r\n\r\n"))
        stream = archive.read().body
        assert (stream.length, stream.measure()) == (-1, len(coded))
        stream.seek(-9, 2)
        assert stream.read() == coded[-9:]
        exchange = archive.read(decode=True)
        assert exchange.body.readall() == body
        assert exchange.annotations == []

    def test_damage_behind_the_start_is_an_error_when_it_is_reached(self, archive):
        path = archive.add(record(PAGE + bytes(4 * INLINE)), compress=False)
        path.write_bytes(path.read_bytes()[: 3 * INLINE])
        stream = archive.read().body
        assert stream.read(100) == bytes(100)
        with pytest.raises(ReplayError) as caught:
            stream.readall()
        assert caught.value.code == "damaged"


def original_of(archive: Archive, body: bytes = b"original", **fields) -> None:
    archive.add(record(PAGE + body, Payload_Digest=sha1(body), **fields))


IDENTICAL = {"Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"}


class TestRevisits:
    def revisit(self, head: bytes = b"", url: str = URL, body: bytes = b"original", **fields):
        digest = {"Payload_Digest": sha1(body)} if body else {}
        return record(head, "revisit", url, LATER, **(IDENTICAL | digest | fields))

    def test_by_url_and_date_with_its_own_head(self, archive):
        original_of(archive)
        head = b"HTTP/1.1 200 Again\r\nDate: later\r\nContent-Encoding: br\r\n\r\n"
        archive.add(self.revisit(head, Refers_To_Target_URI=URL, Refers_To_Date=DATE))
        exchange = archive.read()
        assert (exchange.reason, exchange.headers) == ("Again", (("Date", "later"),))
        assert exchange.body.read() == b"original"
        assert (exchange.date, exchange.capture.timestamp) == (LATER, "20261121100000")
        assert exchange.original is not None
        assert exchange.original.timestamp == "20261120100000"

    def test_the_original_has_another_url_in_another_job(self, archive, tmp_path):
        other = Archive(tmp_path / "other")
        original_of(other, url="http://other.test/x")
        archive.add(self.revisit(Refers_To_Target_URI="http://other.test/x", Refers_To_Date=DATE))
        assert fails(archive) == "missing-original"
        exchange = archive.read(URL, -1, other)
        assert exchange.body.read() == b"original"
        assert exchange.url == URL
        assert exchange.headers == (("Content-Type", "text/html"),)

    def test_by_digest_under_its_own_url(self, archive):
        original_of(archive, b"other", date="2026-11-20T11:00:00Z")
        original_of(archive)
        archive.add(self.revisit())
        assert archive.read().body.read() == b"original"

    def test_the_digest_of_the_original_must_be_equal(self, archive):
        original_of(archive, b"changed")
        archive.add(self.revisit(Refers_To_Target_URI=URL, Refers_To_Date=DATE))
        assert fails(archive) == "missing-original"

    def test_by_record_id(self, archive):
        archive.add(record(PAGE + b"original", Record_ID="<urn:uuid:abc>"))
        archive.add(self.revisit(body=b"", Refers_To="<urn:uuid:abc>"))
        assert archive.read().body.read() == b"original"

    def test_by_file_and_offset(self, archive):
        path = archive.add(record(PAGE + b"original", url="http://x.test/"), index=b"")
        archive.add(
            self.revisit(
                body=b"", Refers_To_Target_URI="http://x.test/", Refers_To_Date=DATE,
                Refers_To_Filename=path.name, Refers_To_File_Offset="0",
            )
        )  # fmt: skip
        assert archive.read().body.read() == b"original"

    @pytest.mark.parametrize("head", [b"", b"HTTP/1.1 304 Not Modified\r\nEtag: 2\r\n\r\n"])
    def test_not_modified(self, archive, head):
        original_of(archive)
        profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
        archive.add(self.revisit(head, body=b"", Profile=profile))
        exchange = archive.read()
        assert (exchange.status, exchange.body.read()) == (200, b"original")

    def test_a_redirect_or_an_empty_page_needs_no_original(self, archive):
        head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n"
        archive.add(self.revisit(head))
        exchange = archive.read()
        assert (exchange.status, exchange.header("location"), exchange.body.read()) == (
            302, "/b", b"",
        )  # fmt: skip
        archive.add(self.revisit(PAGE, url="http://h.test/empty", body=b"x"))
        assert fails(archive, url="http://h.test/empty") == "missing-original"

    def test_a_revisit_of_a_revisit(self, archive):
        original_of(archive)
        between = "2026-11-20T12:00:00Z"
        index = archive.folder / "w1.cdxj"
        first = record(
            b"", "revisit", URL, between, Refers_To_Target_URI=URL, Refers_To_Date=DATE,
            Payload_Digest=sha1(b"original"), **IDENTICAL,
        )  # fmt: skip
        archive.add(first)
        index.write_bytes(index.read_bytes().replace(b"warc/revisit", b"text/html"))
        archive.add(self.revisit(Refers_To_Target_URI=URL, Refers_To_Date=between))
        assert archive.read().body.read() == b"original"

    def test_revisits_of_each_other_end(self, archive):
        archive.add(self.revisit(Refers_To_Target_URI=URL, Refers_To_Date=LATER))
        archive.add(self.revisit(Refers_To_Target_URI=URL, Refers_To_Date=LATER))
        for name in ("w0", "w1"):
            path = archive.folder / f"{name}.cdxj"
            path.write_bytes(path.read_bytes().replace(b"warc/revisit", b"text/html"))
        assert fails(archive) == "missing-original"

    def test_a_damaged_original_is_damage(self, archive):
        original_of(archive)
        path = archive.folder / "w0.warc.gz"
        path.write_bytes(path.read_bytes()[:-30])
        archive.add(self.revisit())
        assert fails(archive) == "damaged"

    def test_algorithms_and_bases_of_digests_may_differ(self, archive):
        original_of(archive)
        hexadecimal = "sha1:" + hashlib.sha1(b"original").hexdigest()
        archive.add(self.revisit(Payload_Digest=hexadecimal))
        assert archive.read().body.read() == b"original"


BASE_ID = "urn:uuid:ba5e"


def delta_record(base: bytes, block: bytes, date=LATER, base_id=BASE_ID, **fields):
    payload = block.partition(b"\r\n\r\n")[2]
    facts = {
        "base_id": base_id, "base_url": URL, "base_date": micros(DATE),
        "base_digest": digest_of(base), "base_length": len(base), "base_payload": "",
        "digest": digest_of(block), "length": len(block), "payload": digest_of(payload),
        "body_length": len(payload), "payload_length": len(payload),
        "patch": make_patch(base, block),
    }  # fmt: skip
    delta = Delta(**(facts | fields))
    return record(
        delta_block(delta), "metadata", TARGET + URL, date, MEDIA, Refers_To=f"<{base_id}>",
        Payload_Digest="sha1:x",
    )  # fmt: skip


def read_line(archive: Archive, path: Path) -> ArchivedExchange:
    """Read the capture of the only line of an index."""
    capture = read_capture((archive.folder / f"{path.name.partition('.')[0]}.cdxj").read_bytes())
    assert capture is not None
    return read_exchange(*archive.open(), capture)


class TestDifferences:
    FIRST, SECOND = PAGE + b"<p>first page", PAGE + b"<p>second page"

    def test_the_base_is_found_by_the_index(self, archive, tmp_path):
        path = archive.add(delta_record(self.FIRST, self.SECOND))
        with pytest.raises(ReplayError) as caught:
            read_line(archive, path)
        assert caught.value.code == "missing-base"
        other = Archive(tmp_path / "other")
        other.add(record(self.FIRST, Record_ID=f"<{BASE_ID}>", Block_Digest=digest_of(self.FIRST)))
        exchange = archive.read(URL, -1, other)
        assert (exchange.status, exchange.body.read()) == (200, b"<p>second page")
        assert exchange.url == URL

    def test_the_base_is_at_the_stated_place(self, archive):
        base = record(self.FIRST, Record_ID=f"<{BASE_ID}>", Block_Digest=digest_of(self.FIRST))
        path = archive.add(base, index=b"")
        path = archive.add(delta_record(self.FIRST, self.SECOND, base_file=path.name))
        assert read_line(archive, path).body.read() == b"<p>second page"

    def test_a_chain(self, archive):
        archive.add(record(self.FIRST, Record_ID=f"<{BASE_ID}>"))
        second = delta_record(self.FIRST, self.SECOND)
        second = second.replace(b"WARC-Record-ID: <urn:uuid:", b"WARC-Record-ID: <urn:uuid:2nd")
        second_id = second.partition(b"ID: <")[2].partition(b">")[0].decode()
        archive.add(second)
        third = PAGE + b"<p>third"
        archive.add(
            delta_record(
                self.SECOND, third, "2026-11-22T10:00:00Z", second_id, base_date=micros(LATER)
            )
        )
        assert archive.read().body.read() == b"<p>third"

    def test_another_base_is_damage(self, archive):
        archive.add(record(self.SECOND, Record_ID=f"<{BASE_ID}>"))
        archive.add(delta_record(self.FIRST, self.SECOND))
        assert fails(archive) == "damaged"


class TestDamage:
    def test_a_missing_file(self, archive):
        archive.add(record(PAGE)).unlink()
        assert fails_for_line(archive, "w0.warc.gz") == "missing-file"

    def test_an_index_of_another_version(self, archive):
        path = archive.add(record(PAGE, url="http://h.test/other"))
        assert fails_for_line(archive, path.name) == "stale-index"

    @pytest.mark.parametrize("offset", [1, 9, 10_000])
    def test_no_record_is_there(self, archive, offset):
        path = archive.add(record(PAGE + b"x"), compress=False)
        assert fails_for_line(archive, path.name, offset) == "damaged"

    @pytest.mark.parametrize("compress", [True, False])
    def test_it_is_cut(self, archive, compress):
        path = archive.add(record(PAGE + b"text" * 99), compress=compress)
        path.write_bytes(path.read_bytes()[:-60])
        assert fails(archive) == "damaged"

    def test_a_wrong_checksum(self, archive):
        path = archive.add(record(PAGE + b"text" * 99))
        data = bytearray(path.read_bytes())
        data[-6] ^= 1
        path.write_bytes(data)
        assert fails(archive) == "damaged"

    def test_no_length(self, archive):
        path = archive.add(record(PAGE), compress=False)
        path.write_bytes(path.read_bytes().replace(b"Content-Length", b"Content-Size"))
        assert fails(archive) == "damaged"


def fails_for_line(archive: Archive, warc: str, offset: int = 0) -> str:
    holding, index = archive.open()
    capture = line_of(archive.folder / warc, offset=offset)
    with pytest.raises(ReplayError) as caught:
        read_exchange(holding, index, capture)
    return caught.value.code


FIRST = record(PAGE + b"first", Record_ID=f"<{BASE_ID}>", Payload_Digest=sha1(b"first"))
MUTATED = {
    "page": record(PAGE + b"<p>hello" * 9),
    "chunked": record(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"),
    "gzip": record(PAGE[:-2] + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(TEXT)),
    "revisit": record(b"", "revisit", URL, LATER, Refers_To_Date=DATE),
    "delta": delta_record(PAGE + b"first", PAGE + b"second"),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    data=st.data(),
    kind=st.sampled_from(["page", "chunked", "gzip", "revisit", "delta"]),
    compress=st.booleans(),
)
def test_mutated_records_give_an_exchange_or_an_error(tmp_path_factory, data, kind, compress):
    archive = Archive(tmp_path_factory.mktemp("mutated") / "job")
    archive.add(FIRST)
    path = archive.add(MUTATED[kind], compress=compress)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw[: data.draw(st.integers(1, len(raw)))])
    holding, index = archive.open()
    bodies = []
    for capture in index.prefix(""):
        with suppress(ReplayError):
            bodies.append(read_exchange(holding, index, capture, decode=True).body.readall())
    assert b"first" in bodies, "the damage of one file spoils no record of another"


@pytest.mark.parametrize(
    ("head", "body", "codec"),
    [
        ("text/html; charset=big5", "繁體中文", "big5hkscs"),
        ("text/html", '<meta charset="gb2312">中文', "gbk"),
        ("text/html", "这是一个没有声明编码的网页、内容是简体中文。" * 9, "gbk"),
        ("text/html; charset=nonsense", "<p>é", "utf-8"),
        ("text/html; charset=utf-8", "wrong: 中文网页", "utf-8"),
        ("text/css", '@charset "gbk"; a{content:"中"}', "gbk"),
        ("application/json", '{"a":"中"}', "utf-8"),
        ("", "<html>é", "utf-8"),
    ],
)
def test_the_codec_of_a_page(archive, head, body, codec):
    data = body.encode(codec if "wrong" not in body else "gbk")
    archive.add(record(f"HTTP/1.1 200 OK\r\nContent-Type: {head}\r\n\r\n".encode() + data))
    exchange = archive.read()
    assert page_codec(exchange, exchange.body.readall()) == codec


@pytest.mark.parametrize(
    ("field", "body", "part"),
    [
        ("bytes 0-4/5", b"whole", CapturedRange(0, 4, 5)),
        ("bytes 2-4/9", b"par", CapturedRange(2, 4, 9)),
        ("bytes 2-8/9", b"cut", CapturedRange(2, 4, 9)),
        ("bytes 2-8/9", b"", None),
        ("bytes 2-8/*", b"par", None),
        ("bytes 8-2/9", b"par", None),
        ("bytes 0-9/5", b"0123456789", None),
        ("", b"x", None),
    ],
)
def test_the_part_that_a_206_has(archive, field, body, part):
    head = f"HTTP/1.1 206 Part\r\nContent-Range: {field}\r\n\r\n".encode()
    archive.add(record(head + body))
    assert captured_range(archive.read()) == part
    archive.add(record(head.replace(b"206 Part", b"200 OK") + body, date=LATER))
    assert captured_range(archive.read()) is None


@pytest.mark.parametrize("compress", [True, False])
def test_what_nacre_writes(tmp_path, compress):
    """A page, the same again under another URL, chunks, a 304, a look-up, a POST."""
    archive = Archive(tmp_path / "job")
    write_crawl(archive.folder, compress=compress)
    holding, index = archive.open()
    bodies = {}
    for capture in index.prefix(""):
        exchange = read_exchange(holding, index, capture)
        bodies[capture.url, capture.method, capture.mime] = exchange.status, exchange.body.readall()
    page = (200, b"hello world")
    assert bodies == {
        ("http://example.test/", "", "text/html"): page,
        ("http://example.test/copy?b=1&a=2", "", "warc/revisit"): page,
        ("http://example.test/chunked", "", "text/plain"): page,
        ("http://example.test/", "", "warc/revisit"): page,
        ("dns:example.test", "", "text/dns"): (200, b"example.test.\t60\tIN\tA\t127.0.0.1\n"),
        ("http://example.test/", "POST", "text/html"): page,
    }
