"""Reading the block of a record once: its digests, its payload in both readings, its HTTP head."""

import binascii
import hashlib
from base64 import b32decode, b64decode
from typing import Protocol

from nacre.archive.httphead import HEAD_LIMIT, START, head_end, header_value
from nacre.archive.reader import WarcEntry
from nacre.archive.source import CHUNK
from nacre.wire.chunks import ChunkScanner

_ALIKE = """
    md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_384 sha3_512 blake2b blake2s
"""
ALGORITHMS = {name.replace("_", ""): name for name in _ALIKE.split()}
"""Names for hashlib, by labels of digests without case, hyphens and underscores."""
_BASE64 = str.maketrans("-_", "+/")
_HEAD_MOST = HEAD_LIMIT


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


class BlockFacts:
    """What reading a block told.

    Attributes:
        start: Its first bytes, at most 64 KiB.
        length: Bytes that were read of it.
        http: It holds an HTTP message.
        head: The HTTP head, as far as it goes; b"" when it is no HTTP message.
        cut: The block ended before the head did.
        body_length: Bytes behind the head.
        behind: Of these, bytes behind the end of the chunked coding.
        chunks: The chunked coding of the body; None when it has none.
    """

    def __init__(self, *, http: bool, block: str, payload: str) -> None:
        self.start = b""
        self.length = 0
        self.http = http
        self.head = b""
        self.cut = False
        self.body_length = 0
        self.behind = 0
        self.chunks: ChunkScanner | None = None
        self._held = b"" if http else None
        self._block = _hash(block)
        self._wire = _hash(payload)
        self._decoded = _hash(payload)
        self._run = 0

    def block_digest(self) -> bytes:
        """Digest of the whole block."""
        return self._block.digest()

    def payload_digests(self) -> tuple[bytes, bytes]:
        """Digest of the payload with transfer coding removed, and of its bytes as they came."""
        wire = self._wire.digest()
        return (wire if self.chunks is None else self._decoded.digest()), wire

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the block."""
        limit = START if self._held is None else HEAD_LIMIT
        if self.length < limit:
            self.start += data[: limit - self.length]
        self.length += len(data)
        self._block.update(data)
        if self._held is None:
            self._payload(data)
            return
        self._held += data
        end = head_end(self._held)
        if end >= 0 or len(self._held) > _HEAD_MOST:
            self._leave_head(max(end, 0))

    def close(self) -> None:
        """The block has ended."""
        if self._held is not None:
            self.cut = True
            self._leave_head(len(self._held))

    def _leave_head(self, end: int) -> None:
        held, self._held = self._held or b"", None
        self.head = held[:end]
        coding = header_value(self.head, b"transfer-encoding")
        if coding and coding.lower().rpartition(",")[2].strip() == "chunked":
            self.chunks = ChunkScanner()
        self._payload(held[end:])

    def _payload(self, data: bytes) -> None:
        self.body_length += len(data)
        self._wire.update(data)
        if self.chunks is not None and data:
            self._unchunk(self.chunks, data)

    def _unchunk(self, scanner: ChunkScanner, data: bytes) -> None:
        base = scanner.offset
        taken = scanner.feed(data)
        self.behind += len(data) - taken if scanner.finished else 0
        runs = scanner.runs
        while self._run < len(runs):
            offset, size = runs[self._run]
            first = max(offset - base, 0)
            self._decoded.update(data[first : offset + size - base])
            if offset + size > base + len(data):
                return
            self._run += 1


def read_block(entry: WarcEntry) -> BlockFacts:
    """Read the block of a record to its end, in bounded memory."""
    kind = (entry.get("Content-Type") or "").strip().lower()
    facts = BlockFacts(
        http=kind.startswith("application/http"),
        block=algorithm(entry.get("WARC-Block-Digest")),
        payload=algorithm(entry.get("WARC-Payload-Digest")),
    )
    while data := entry.read(CHUNK):
        facts.feed(data)
    facts.close()
    return facts


def label_of(digest: str) -> str:
    """The label of `LABEL:VALUE` without case, hyphens and underscores: `SHA3-256` is `sha3256`."""
    return digest.partition(":")[0].lower().replace("-", "").replace("_", "")


def algorithm(digest: str | None) -> str:
    """Name for hashlib of the algorithm of `LABEL:VALUE`; `sha1` when there is none to be had."""
    return ALGORITHMS.get(label_of(digest or ""), "sha1")


def digest_matches(text: str, digest: bytes) -> bool | None:
    """Whether `LABEL:VALUE` names this digest, in base 16, 32 or 64; None: not readable.

    Writers differ in base and case, so values are compared after decoding.
    """
    if label_of(text) not in ALGORITHMS:
        return None
    value = text.partition(":")[2].rstrip("=")
    try:
        if len(value) == 2 * len(digest):
            return bytes.fromhex(value) == digest
        if len(value) == (len(digest) * 8 + 4) // 5:
            return b32decode(value.upper() + "=" * (-len(value) % 8)) == digest
        if len(value) == (len(digest) * 8 + 5) // 6:
            plain = value.translate(_BASE64) + "=" * (-len(value) % 4)
            return b64decode(plain, validate=True) == digest
    except (ValueError, binascii.Error):
        return None
    return None


def _hash(name: str) -> _Hash:
    return hashlib.new(name, usedforsecurity=False)
