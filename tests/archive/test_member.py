import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.member import PLAIN, pack, pack_chunks
from nacre.archive.record import Record
from nacre.core.capture import BytesBody


def make_record(body: bytes) -> Record:
    block = BytesBody(body)
    return Record("response", "i", b"head\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", block, 0, "u", 0)


@given(st.binary(), st.integers(min_value=0, max_value=3))
def test_one_member_holds_the_record(body, level):
    expected = b"head\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + body + b"\r\n\r\n"
    assert gzip.decompress(pack(make_record(body), level)) == expected
    assert gzip.decompress(b"".join(pack_chunks(make_record(body), level))) == expected
    assert pack(make_record(body), PLAIN) == b"".join(pack_chunks(make_record(body), PLAIN))


def test_large_bodies_are_read_in_pieces():
    class Pieces(BytesBody):
        largest = 0

        def read(self, offset: int, size: int) -> bytes:
            Pieces.largest = max(Pieces.largest, size)
            return super().read(offset, size)

    record = make_record(b"")
    record.body = Pieces(bytes(5_000_000))
    chunks = list(pack_chunks(record, 1))
    assert Pieces.largest == 1 << 20
    assert len(gzip.decompress(b"".join(chunks))) == 5_000_000 + 31
    assert max(map(len, pack_chunks(record, PLAIN))) <= 1 << 20


@pytest.mark.parametrize("level", [PLAIN, 1])
def test_a_record_without_a_body(level):
    record = make_record(b"")
    record.body = None
    data = pack(record, level)
    assert (gzip.decompress(data) if level == 1 else data).endswith(b"OK\r\n\r\n\r\n\r\n")
