import hashlib
from base64 import b32encode, b64encode
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.block import BlockFacts, algorithm, digest_matches

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
BODY = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n"


def read(block: bytes, cuts: list[int], *, http: bool = True) -> BlockFacts:
    facts = BlockFacts(http=http, block="sha1", payload="sha256")
    places = sorted({min(cut, len(block)) for cut in cuts} | {0, len(block)})
    for start, end in pairwise(places):
        facts.feed(block[start:end])
    facts.close()
    return facts


@given(st.lists(st.integers(0, len(HEAD + BODY)), max_size=8))
def test_both_readings_of_a_chunked_body_however_it_comes(cuts):
    facts = read(HEAD + BODY, cuts)
    decoded, wire = facts.payload_digests()
    assert facts.block_digest() == hashlib.sha1(HEAD + BODY).digest()
    assert decoded == hashlib.sha256(b"hello world").digest()
    assert wire == hashlib.sha256(BODY).digest()
    assert (facts.head, facts.body_length) == (HEAD, len(BODY))


def test_what_is_no_http_is_its_own_payload():
    facts = read(b"a\r\n\r\nb", [], http=False)
    assert facts.payload_digests() == (hashlib.sha256(b"a\r\n\r\nb").digest(),) * 2
    assert facts.head == b""


def test_a_head_without_end_leaves_no_body():
    facts = read(b"HTTP/1.1 200 OK\r\nA: b", [3])
    assert (facts.head, facts.body_length) == (b"HTTP/1.1 200 OK\r\nA: b", 0)


def test_an_endless_head_is_not_held():
    facts = BlockFacts(http=True, block="sha1", payload="sha1")
    facts.feed(b"HTTP/1.1 200 OK\r\n")
    for _ in range(40):
        facts.feed(b"x" * 65536)
    facts.close()
    assert (facts.length, facts.head, facts.endless) == (40 * 65536 + 17, b"", True)
    assert len(facts._held or b"") == 0


@pytest.mark.parametrize(
    ("block", "head", "body", "chunked"),
    [
        (b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTransfer-Encoding: xchunked\n\n5\r\n",
         -3, 3, False),
        (b"HTTP/1.1 200 OK\nTransfer-Encoding: xchunked\nTransfer-Encoding: chunked\n\n0\r\n\r\n",
         -5, 5, True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<p>\nno chunks\n", -14, 14, False),
        (b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", -1, 1, False),
        (b"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", None, 0, False),
        (b"<p>old\r\n\r\nstyle", 0, 15, False),
        (b"HTT", 0, 3, False),
    ],
)  # fmt: skip
def test_a_reply_is_read_as_the_fetcher_reads_it(block, head, body, chunked):
    for cuts in ([], [1, 2, 5, 9, 20, 40, 60, 80]):
        facts = read(block, cuts)
        assert facts.head == block[: len(block) if head is None else head]
        assert (facts.body_length, facts.chunks is not None) == (body, chunked)


DIGEST = hashlib.sha1(b"x").digest()


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("sha1:" + b32encode(DIGEST).decode(), True),
        ("SHA-1:" + b32encode(DIGEST).decode().lower(), True),
        ("sha1:" + DIGEST.hex(), True),
        ("sha1:" + b64encode(DIGEST).decode(), True),
        ("sha1:" + "A" * 32, False),
        ("sha1:" + "1" * 32, None),
        ("sha1:" + "\u0660" * 40, None),
        ("sha1:", None),
        ("blake3:00", None),
        ("", None),
    ],
)
def test_digests_in_any_base(text, matches):
    assert digest_matches(text, DIGEST) is matches


@pytest.mark.parametrize(
    ("text", "name"),
    [("SHA-256:x", "sha256"), (None, "sha1"), ("x", "sha1"), ("shake_128:x", "sha1")],
)
def test_algorithms(text, name):
    assert algorithm(text) == name
