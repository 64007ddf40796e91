"""Captures read back from a WARC, whole and damaged.

Captures read back with their bodies.
"""

from pathlib import Path

import pytest
from msgspec import structs
from msgspec.structs import asdict

from nacre.archive.delta import Delta, DeltaError, make_patch
from nacre.archive.imported import ImportedPage, imported_records
from nacre.archive.record import IDENTICAL as IDENTICAL_REREADING
from nacre.archive.record import CaptureFacts, capture_records, noted_record, warcinfo_record
from nacre.archive.warc_writer import PLAIN, pack
from nacre.core.capture import Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.history import Base
from nacre.engine.readback import CaptureReader, ReadCapture, read_at, reread
from nacre.history.dedup import IDENTICAL, NOT_MODIFIED
from tests.archive.captures import (
    BEGAN,
    HEAD,
    counting_ids,
    make_capture,
    make_chunked,
    revisit_of,
    sha1,
)
from tests.archive.files import MemoryFiles, make_writer

HELLO = sha1(b"hello world")
LINKS = [
    Outlink("http://example.test/a", Hop.LINK, "a/@href"),
    Outlink("http://example.test/b", Hop.EMBED, "=some words here"),
    Outlink("http://example.test/s.xml", Hop.MANIFEST, "=SITEMAP"),
]
FACTS = CaptureFacts(
    via="http://example.test/via",
    path="LE",
    is_seed=True,
    source="seed line",
    force_fetch=True,
    outlinks=LINKS,
    annotations=["one", "two"],
)


def write(path: Path, *captures: tuple[Capture, CaptureFacts], level: int = 1) -> list[int]:
    """Write a WARC; the offsets where captures end, that of the warcinfo first."""
    ids = counting_ids()
    data = pack(warcinfo_record(ids(), BEGAN, path.name, [("software", "test")]), level)
    ends = [len(data)]
    for capture, facts in captures:
        data += b"".join(pack(record, level) for record in capture_records(capture, facts, ids))
        ends.append(len(data))
    path.write_bytes(data)
    return ends


def read(path: Path, start: int = 0) -> tuple[list[ReadCapture], CaptureReader]:
    reader = CaptureReader(path, start, path.stat().st_size)
    return list(reader), reader


@pytest.mark.parametrize("level", [1, PLAIN])
def test_everything_that_the_records_know(tmp_path: Path, level: int):
    head = HEAD.replace(b"\r\n\r\n", b'\r\nETag: "x"\r\nLast-Modified: yesterday\r\n\r\n')
    path = tmp_path / "a.warc"
    ends = write(path, (make_capture(head), FACTS), level=level)
    (kept,), reader = read(path)
    expected = {
        "url": "http://example.test/",
        "offset": ends[0],
        "date": BEGAN,
        "status": 200,
        "size": len(head) + 11,
        "length": 11,
        "payload_length": 11,
        "chunked": False,
        "digest": HELLO,
        "mime": "text/html",
        "etag": b'"x"',
        "last_modified": b"yesterday",
        "via": "http://example.test/via",
        "path": "LE",
        "source": "seed line",
        "is_seed": True,
        "force_fetch": True,
        "annotations": ["one", "two"],
        "duration": 12,
        "revisit": None,
    }
    assert {name: asdict(kept)[name] for name in expected} == expected
    assert [(o.url, o.hop, o.context, o.sitemap) for o in kept.outlinks] == [
        ("http://example.test/a", Hop.LINK, "a/@href", False),
        ("http://example.test/b", Hop.EMBED, "=some words here", False),
        ("http://example.test/s.xml", Hop.MANIFEST, "=SITEMAP", True),
    ]
    assert (reader.end, reader.count) == (ends[-1], 1)


def test_chunked_bodies_and_revisits(tmp_path: Path):
    path = tmp_path / "a.warc.gz"
    captures = [
        (make_chunked(), CaptureFacts()),
        (make_capture(url="http://example.test/2"), revisit_of(IDENTICAL, "urn:uuid:7")),
        (make_capture(b"HTTP/1.1 304 Not Modified\r\n\r\n", b""), revisit_of(NOT_MODIFIED)),
    ]
    write(path, *captures)
    chunked, same, unmodified = read(path)[0]
    assert (chunked.chunked, chunked.payload_length, chunked.digest) == (True, 11, HELLO)
    assert same.revisit is not None
    assert (same.revisit.kind, same.digest, same.status) == (IDENTICAL, HELLO, 200)
    assert same.revisit.original.record_id == "urn:uuid:7"
    assert same.revisit.original.date == BEGAN - 1
    assert unmodified.revisit is not None
    assert unmodified.revisit.kind == NOT_MODIFIED


@pytest.mark.parametrize("level", [1, PLAIN])
def test_reading_ends_at_the_last_whole_capture_wherever_the_file_is_cut(
    tmp_path: Path, level: int
):
    path = tmp_path / "a.warc"
    captures = [(make_capture(url=f"http://example.test/{n}"), FACTS) for n in range(3)]
    ends = write(path, *captures, level=level)
    data = path.read_bytes()
    for size in range(0, len(data) + 1, 7):
        path.write_bytes(data[:size])
        found, reader = read(path)
        whole = [end for end in ends if end <= size]
        assert reader.end == (whole[-1] if whole else 0)
        assert len(found) == max(len(whole) - 1, 0)


def test_reading_begins_in_the_middle_and_ends_at_damage(tmp_path: Path):
    path = tmp_path / "a.warc.gz"
    captures = [(make_capture(url=f"http://example.test/{n}"), FACTS) for n in range(4)]
    ends = write(path, *captures)
    found, reader = read(path, ends[1])
    assert [kept.offset for kept in found] == ends[1:4]
    data = bytearray(path.read_bytes())
    data[(ends[2] + ends[3]) // 2] ^= 0x10
    path.write_bytes(data)
    found, reader = read(path, ends[1])
    assert [kept.offset for kept in found] == [ends[1]]
    assert reader.end == ends[2]


URL = "http://example.test/copy"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    """Revisits of a page and of an error."""
    files, ids = MemoryFiles(), counting_ids()
    writer = make_writer(files)
    for head, status in ((HEAD, 200), (HEAD.replace(b"200 OK", b"404 No"), 404)):
        capture = make_capture(head, url=URL, status=status)
        writer.write(capture_records(capture, revisit_of(IDENTICAL_REREADING), ids))
    writer.rotate()
    (path,) = files.save(tmp_path)
    return path


def test_a_revisit_has_the_body_of_its_original_and_an_error_stays_one(warc: Path):
    def original(_: object) -> Capture:
        return make_capture()

    page, error = reread(warc, original, lambda _: b"")
    assert (page.stored.status, page.capture.status) == (200, 200)
    assert (error.stored.status, error.capture.status) == (404, 404)
    for found in (page.capture, error.capture):
        assert (found.url, found.began, found.payload(99)) == (URL, BEGAN, b"hello world")


def test_without_its_original_only_an_error_is_known_for_what_it_is(warc: Path):
    page, error = reread(warc, lambda _: None, lambda _: b"")
    assert (page.stored.status, error.stored.status, error.capture.status) == (304, 404, 404)


# ---- differences, and notes that confirm them

OLD, NEW = b"hello world, once more and again", b"hello world, once more and then"
BASE = HEAD + OLD


def difference(base: bytes = BASE) -> tuple[Capture, Delta]:
    """A reply, and what is stored of it in its place."""
    reply = make_capture(body=NEW, began=BEGAN + 5)
    block = reply.head + NEW
    delta = Delta(
        base_id="urn:uuid:base", base_url=reply.url, base_date=BEGAN, base_digest=sha1(base),
        base_length=len(base), base_payload=sha1(OLD), number=3, digest=sha1(block),
        length=len(block), payload=sha1(NEW), body_length=len(NEW), payload_length=len(NEW),
        mime="text/html", etag=b'"e"', patch=make_patch(base, block),
    )  # fmt: skip
    return reply, delta


@pytest.fixture
def kept_so(tmp_path: Path) -> Path:
    """A difference, notes that confirm it by a 304 and by the same bytes, and a lookup."""
    (reply, delta), ids = difference(), counting_ids()
    facts = structs.replace(FACTS, delta=delta, outlinks=())
    records = capture_records(reply, facts, ids)
    notes = [
        make_capture(b"HTTP/1.1 304 No\r\n\r\n", b"", status=304, began=BEGAN + 6),
        make_capture(body=NEW, began=BEGAN + 7),
    ]
    for capture in notes:
        records.append(noted_record(capture, CaptureFacts(confirms=records[0].id), ids))
    lookup = make_capture(b"", b"a.test. 60 IN A 192.0.2.1\n", url="dns:a.test", protocol="dns")
    records += capture_records(lookup, CaptureFacts(), ids)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(pack(record, 1) for record in records))
    return path


def test_a_difference_tells_of_its_capture_without_its_base(kept_so: Path):
    (found,), reader = read(kept_so)
    _, delta = difference()
    assert (found.url, found.status, found.mime) == ("http://example.test/", 200, "text/html")
    assert (found.digest, found.size, found.etag) == (delta.payload, delta.length, b'"e"')
    assert found.base == Base("urn:uuid:base", BEGAN, sha1(OLD), "", 3)
    assert (found.date, found.path, found.via) == (BEGAN + 5, "LE", "http://example.test/via")
    assert reader.count == 2, "the lookup counts too"
    assert reader.end == kept_so.stat().st_size


def test_a_difference_and_what_confirms_it_are_read_back_with_their_body(kept_so: Path):
    found = list(reread(kept_so, lambda _: difference()[0], lambda _: BASE))
    assert [one.stored.status for one in found] == [200, 304, 200]
    assert [one.capture.payload(99) for one in found] == [NEW, b"", NEW]
    assert [one.capture.began for one in found] == [BEGAN + 5, BEGAN + 6, BEGAN + 7]
    revisits = [one.stored.revisit for one in found[1:]]
    kinds = [one and (one.kind, one.original.record_id) for one in revisits]
    record_id = found[0].stored.record_id
    assert kinds == [(NOT_MODIFIED, record_id), (IDENTICAL, record_id)]


def test_a_difference_whose_base_is_lost_is_left_out(kept_so: Path):
    def lost(_: Delta) -> bytes:
        raise DeltaError("delta-unresolved", "nowhere")

    found = list(reread(kept_so, lambda _: None, lost))
    assert [one.stored.status for one in found] == [304, 304]
    assert read_at(kept_so, 0, lost) is None


def test_one_capture_is_read_where_it_lies(kept_so: Path, tmp_path: Path):
    found = read_at(kept_so, 0, lambda _: BASE)
    assert found is not None
    assert (found.status, found.payload(99)) == (200, NEW)
    plain = tmp_path / "plain.warc.gz"
    first, second = write(plain, (make_capture(), FACTS))
    whole = read_at(plain, first, lambda _: b"")
    assert whole is not None
    assert whole.payload(99) == b"hello world"
    assert read_at(plain, 0, lambda _: b"") is None, "a warcinfo is no response"
    assert read_at(plain, second, lambda _: b"") is None, "nothing lies there"
    assert read_at(tmp_path / "gone.warc.gz", 0, lambda _: b"") is None


def test_a_damaged_difference_tells_nothing(tmp_path: Path):
    reply, delta = difference()
    facts = structs.replace(FACTS, delta=structs.replace(delta, patch=b"no frame"))
    path = tmp_path / "x.warc.gz"
    records = capture_records(reply, facts, counting_ids())
    path.write_bytes(b"".join(pack(record, 1) for record in records))
    assert list(reread(path, lambda _: None, lambda _: BASE)) == []


@pytest.mark.parametrize("url", ["http://a.test/", "urn:text:a"])
def test_a_page_whose_head_another_crawler_did_not_keep(tmp_path: Path, url: str):
    ids = counting_ids()
    noted = [("Content-Type", "text/html; charset=GBK"), ("Content-Encoding", "gzip")]
    page = ImportedPage(
        url=url, date=BEGAN, body="书".encode("gbk"), media_type="text/html", fields=noted
    )
    first = pack(warcinfo_record(ids(), BEGAN, "a.warc.gz", [("software", "test")]), 1)
    path = tmp_path / "a.warc.gz"
    path.write_bytes(first + b"".join(pack(one, 1) for one in imported_records(page, ids)))
    found = read_at(path, len(first), lambda _: b"")
    if url.startswith("urn"):
        assert found is None
        return
    assert found is not None
    assert (found.url, found.status, found.payload(10)) == (url, 200, page.body)
    assert found.header(b"content-type") == b"text/html; charset=GBK"
    assert found.header(b"content-encoding") is None, "the body was decoded"
    short = read_at(path, len(first), lambda _: b"", most=1)
    assert short is not None
    assert short.payload(10) == b""


def test_replies_to_a_post_of_a_page_are_no_versions_of_their_url(tmp_path: Path):
    post = b"POST / HTTP/1.1\r\nHost: example.test\r\n\r\nq=1"
    of_page = structs.replace(FACTS, page_id="1")
    path = tmp_path / "a.warc.gz"
    write(
        path, (make_capture(), of_page), (make_capture(request=post), of_page),
        (make_capture(request=post, began=BEGAN + 1_000_000), FACTS),
    )  # fmt: skip
    kept, reader = read(path)
    assert [capture.date for capture in kept] == [BEGAN, BEGAN + 1_000_000]
    assert (reader.count, reader.end) == (3, path.stat().st_size)
    again = [capture.stored.date for capture in reread(path, lambda _: None, _no_base)]
    assert again == [capture.date for capture in kept]


def _no_base(delta: Delta) -> bytes:
    raise DeltaError("delta-unresolved", delta.base_id)
