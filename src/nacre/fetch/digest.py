"""Digests of a capture: of the block as it is stored, and of the payload in it.

Source: WARC 1.1 clauses 5.8 and 5.9; the payload has its transfer coding removed.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha1
from typing import NamedTuple

from nacre.core.base32 import encode_sha1
from nacre.core.capture import Body

STEP = 1024 * 1024
"""Bytes read at once from a spooled body."""


class CaptureDigests(NamedTuple):
    """`sha1:BASE32` of head and body, and of the payload."""

    block: str
    payload: str


def digest_capture(
    head: bytes, body: Body, chunks: Sequence[tuple[int, int]], *, chunked: bool
) -> CaptureDigests:
    """Digest head and body together, and the payload alone.

    Args:
        head: The head, verbatim.
        body: The body as received.
        chunks: Runs of payload in the body; used only when it is chunked.
        chunked: The body has chunked transfer coding.
    """
    block = sha1(head, usedforsecurity=False)
    if body.length > STEP:
        for offset in range(0, body.length, STEP):
            block.update(body.read(offset, STEP))
        parts = _parts(chunks if chunked else ((0, body.length),))
        payload = _digest(body.read(*part) for part in parts)
    else:
        data = body.read(0, body.length)
        block.update(data)
        if chunked:
            payload = _digest(_payload_runs(data, chunks))
        else:
            payload = sha1(data, usedforsecurity=False).digest()
    return CaptureDigests(_text(block.digest()), _text(payload))


def _digest(parts: Iterable[bytes | memoryview]) -> bytes:
    digest = sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _payload_runs(data: bytes, chunks: Sequence[tuple[int, int]]) -> Iterable[memoryview]:
    view = memoryview(data)
    return [view[at : at + size] for at, size in chunks]


def _parts(runs: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Cut runs into pieces of at most `STEP`."""
    for offset, size in runs:
        for at in range(offset, offset + size, STEP):
            yield at, min(STEP, offset + size - at)


def _text(digest: bytes) -> str:
    return "sha1:" + encode_sha1(digest)
