import hashlib
from base64 import b32encode

from hypothesis import given
from hypothesis import strategies as st

from nacre.core.capture import BytesBody
from nacre.fetch.digest import STEP, digest_capture


def expected(data: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(data).digest()).decode()


def test_known_digest() -> None:
    digests = digest_capture(b"", BytesBody(b""), (), chunked=False)
    assert digests == ("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",) * 2


@given(st.binary(), st.binary())
def test_block_is_head_and_body_and_payload_the_body(head: bytes, body: bytes) -> None:
    digests = digest_capture(head, BytesBody(body), (), chunked=False)
    assert digests == (expected(head + body), expected(body))


def test_payload_of_chunks_is_their_runs_in_pieces_too() -> None:
    body = bytes(range(256)) * (STEP // 256 * 3)
    runs = [(5, 10), (100, STEP * 2), (STEP * 2 + 500, 7)]
    payload = b"".join(body[offset : offset + size] for offset, size in runs)
    digests = digest_capture(b"head", BytesBody(body), runs, chunked=True)
    assert digests == (expected(b"head" + body), expected(payload))
    small = BytesBody(body[:1000])
    digests = digest_capture(b"head", small, [(5, 10), (20, 30)], chunked=True)
    assert digests.payload == expected(body[5:15] + body[20:50])


def test_a_chunked_body_without_chunks_has_an_empty_payload() -> None:
    assert digest_capture(b"", BytesBody(b"0\r\n\r\n"), (), chunked=True).payload == expected(b"")
