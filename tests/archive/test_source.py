import gzip
from io import BytesIO

import pytest

from nacre.archive.source import CHUNK, GzipSource, PlainSource

Notes = list[tuple[str, int]]


def members(data: bytes) -> tuple[list[tuple[int, bytes]], Notes]:
    notes: Notes = []
    source = GzipSource(BytesIO(data), lambda code, offset, _: notes.append((code, offset)))
    found = []
    while source.next_member():
        content = b""
        while piece := source.read(1 << 20):
            content += piece
        found.append((source.start, content))
    return found, notes


@pytest.mark.parametrize("size", [0, 1, 1000, CHUNK, 3_000_000])
def test_members_with_their_offsets(size):
    one, two = gzip.compress(b"WARC/" + bytes(size)), gzip.compress(b"WARC/2")
    assert members(one + two) == ([(0, b"WARC/" + bytes(size)), (len(one), b"WARC/2")], [])


@pytest.mark.parametrize("lead", range(CHUNK - 30, CHUNK + 3))
def test_padding_is_seen_wherever_the_reads_fall(lead):
    """The last bytes of the member lie around the end of a read."""
    member = bytearray(gzip.compress(b"WARC/1.1", mtime=0))
    member[-9] |= 0x80
    filler = gzip.compress(b"WARC/", mtime=0)
    count, rest = divmod(lead, len(filler))
    named = gzip.compress(b"WARC/", mtime=0)
    name = b"n" * (rest + len(filler) - len(named) - 1) + b"\0"
    stretched = named[:3] + b"\x08" + named[4:10] + name + named[10:]
    data = filler * (count - 1) + stretched + bytes(member)
    assert members(data)[1] == [("gzip-padding", len(data) - len(member))]


def test_a_member_cut_short():
    data = gzip.compress(b"WARC/1.1" * 100)
    assert members(data[:-5])[1] == [("gzip-truncated", 0)]


def test_plain_files_are_one_member():
    source = PlainSource(BytesIO(b"abc" * 100_000))
    assert source.next_member()
    assert source.peek(3) == b"abc"
    assert source.read(CHUNK * 2) == (b"abc" * 100_000)[:CHUNK]
    assert source.start == CHUNK
    while source.read(CHUNK):
        pass
    assert not source.next_member()


@pytest.mark.parametrize("gap", [0, 1, CHUNK - 14, CHUNK - 10, CHUNK - 5, CHUNK, 3 * CHUNK])
def test_the_next_record_is_found_wherever_it_is(gap):
    source = PlainSource(BytesIO(b"x" * gap + b"\nWARC/no\nWARC/1.1\r\nrest"))
    source.next_member()
    assert source.find_record(0)
    assert source.start == gap + 9
    assert not source.find_record(source.start)
