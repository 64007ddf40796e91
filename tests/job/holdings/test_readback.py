"""Captures read back from a WARC, whole and damaged."""

from pathlib import Path

import pytest
from msgspec.structs import asdict

from nacre.archive.facts import CaptureFacts
from nacre.archive.member import PLAIN, pack
from nacre.archive.record import capture_records, warcinfo_record
from nacre.core.capture import Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.history.dedup import IDENTICAL, NOT_MODIFIED
from nacre.job.holdings.readback import CaptureReader, Kept
from tests.archive.captures import (
    BEGAN,
    HEAD,
    counting_ids,
    make_capture,
    make_chunked,
    revisit_of,
    sha1,
)

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


def read(path: Path, start: int = 0) -> tuple[list[Kept], CaptureReader]:
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
