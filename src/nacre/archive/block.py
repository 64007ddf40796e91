"""The block of a record, read once: its digests, its payload in both readings, its HTTP head."""

import binascii
import hashlib
import re
from base64 import b32decode, b32encode, b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from nacre.archive.fields import strip_brackets
from nacre.archive.index_facts import HEAD_LIMIT, START, head_end
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.source import CHUNK
from nacre.wire.chunks import ChunkScanner
from nacre.wire.head import (
    HEADLESS,
    UNDECIDED,
    Framing,
    blank_line_end,
    find_start,
    framing_of,
    parse_head,
)

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
    """The facts of a block. A reply is read as the fetcher read it: see `wire.head`.

    Attributes:
        start: Its first bytes, at most 64 KiB.
        length: Bytes that were read of it.
        http: It holds an HTTP message.
        head: The HTTP head, as far as it goes; b"" when it has none (HTTP/0.9), or has no end
            within `HEAD_LIMIT`, or when it is not an HTTP message.
        cut: The block ended before the head did.
        endless: The head has no end within `HEAD_LIMIT`, so that the payload is unknown.
        framing: How its body ends, by its head; None if it is no reply.
        body_length: Bytes after the head.
        behind: Of these, bytes after the end of the chunked coding.
    """

    def __init__(self, *, http: bool, block: str, payload: str, request: bool = False) -> None:
        """Prepare to read a block.

        Args:
            http: It holds an HTTP message.
            block: Name for hashlib of the algorithm of its digest.
            payload: The same of its payload's.
            request: The message is a request, not a reply.
        """
        self.start = b""
        self.length = 0
        self.http = http
        self.head = b""
        self.cut = False
        self.endless = False
        self.framing: Framing | None = None
        self.body_length = 0
        self.behind = 0
        self._find_end = head_end if request else _reply_head_end
        self._is_reply = http and not request
        self._scanner: ChunkScanner | None = None
        self._held = b"" if http else None
        self._block = _hash(block)
        self._wire = _hash(payload)
        self._decoded = _hash(payload)
        self._run = 0

    def block_digest(self) -> bytes:
        """Digest of the whole block."""
        return self._block.digest()

    def payload_digests(self) -> tuple[bytes, bytes]:
        """Digests of the payload without transfer coding, and of its bytes as received."""
        wire = self._wire.digest()
        return (wire if self.chunks is None else self._decoded.digest()), wire

    @property
    def chunks(self) -> ChunkScanner | None:
        """The chunked coding of the body; None when it has none, or none but in name.

        Without a body there is none either: the reply to a HEAD request only describes it.
        """
        scanner = self._scanner
        return scanner if scanner is not None and self.body_length and not scanner.bogus else None

    @property
    def broken_chunks(self) -> str:
        """The fault in the chunked coding that the head declares; "" for none."""
        scanner = self._scanner
        if scanner is None or not self.body_length:
            return ""
        if scanner.fault or not scanner.has_last_chunk:
            return scanner.fault or "the last chunk is missing"
        return f"{self.behind} bytes behind the last chunk" if self.behind else ""

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
        end = self._find_end(self._held)
        if end >= 0 or len(self._held) > _HEAD_MOST:
            self.endless = end < 0
            self._leave_head(max(end, 0))

    def close(self) -> None:
        """The block has ended."""
        if self._held is not None:
            headless = self._is_reply and find_start(self._held) < 0
            self.cut = not headless
            self._leave_head(0 if headless else len(self._held))
        scanner = self._scanner
        if scanner is not None:
            scanner.runs.clip(self.body_length)

    def _leave_head(self, end: int) -> None:
        buffered, self._held = self._held or b"", None
        self.head = buffered[:end]
        if self._is_reply and end:
            self.framing = framing_of("GET", parse_head(self.head))
            if self.framing.kind == "chunked":
                self._scanner = ChunkScanner()
        self._payload(buffered[end:])

    def _payload(self, data: bytes) -> None:
        self.body_length += len(data)
        self._wire.update(data)
        if self._scanner is not None and data:
            self._unchunk(self._scanner, data)

    def _unchunk(self, scanner: ChunkScanner, data: bytes) -> None:
        base = scanner.offset
        consumed = scanner.feed(data)
        self.behind += len(data) - consumed if scanner.finished else 0
        runs = scanner.runs
        while self._run < len(runs):
            offset, size = runs[self._run]
            first = max(offset - base, 0)
            self._decoded.update(data[first : offset + size - base])
            if offset + size > base + len(data):
                return
            self._run += 1


def _reply_head_end(data: bytes) -> int:
    """Length of a reply's head, 0 for none (HTTP/0.9); -1 when more bytes are needed."""
    start = find_start(data)
    if start == HEADLESS:
        return 0
    return -1 if start == UNDECIDED else blank_line_end(data, start)


def read_block(entry: WarcEntry) -> BlockFacts:
    """Read the block of a record to its end, in bounded memory."""
    kind = (entry.get("Content-Type") or "").strip().lower()
    facts = BlockFacts(
        http=kind.startswith("application/http"),
        block=algorithm(entry.get("WARC-Block-Digest")),
        payload=algorithm(entry.get("WARC-Payload-Digest")),
        request=entry.get("WARC-Type") == "request",
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
    """Return whether `LABEL:VALUE` names this digest, in base 16, 32 or 64; None: not readable.

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


_CAPTURES = frozenset(("response", "resource", "revisit"))
_DIGITS = re.compile(r"\D")


class PayloadDigest(NamedTuple):
    """The payload digest of a capture.

    Attributes:
        digest: `sha1:BASE32`; "-" where the record has none. That of a revisit is as recorded
            where its original was not read, or was not chunked.
        date: `WARC-Date` as digits, `20261120151100`.
        url: `WARC-Target-URI`.
    """

    digest: str
    date: str
    url: str


class PayloadDigests:
    """Payload digests of the captures in WARCs; a revisit has that of its original, if read.

    Nacre's `WARC-Payload-Digest` is that of the payload without transfer coding, as the WARC
    standard says. Heritrix over HTTP/1.1 and warcio digest the bytes after the head as received,
    chunk sizes and all; to match such a list, `raw` is needed.

    Args:
        raw: Digest the bytes after the HTTP head as received, with their transfer coding.
    """

    def __init__(self, *, raw: bool) -> None:
        self._raw = raw
        self._as_came: dict[str, str] = {}

    def of(self, warc: Path) -> Iterator[PayloadDigest]:
        """Those of a file, in its order.

        Raises:
            OSError: It cannot be read.
        """
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                if entry.get("WARC-Type") in _CAPTURES:
                    yield self._of(entry)

    def _of(self, entry: WarcEntry) -> PayloadDigest:
        recorded = entry.get("WARC-Payload-Digest") or ""
        url = strip_brackets(entry.get("WARC-Target-URI") or "-")
        date = _DIGITS.sub("", (entry.get("WARC-Date") or "")[:19]) or "-"
        digest = recorded if not self._raw else self._digest_as_came(entry, recorded)
        return PayloadDigest(digest or "-", date, url)

    def _digest_as_came(self, entry: WarcEntry, recorded: str) -> str:
        if entry.get("WARC-Type") == "revisit":
            return self._as_came.get(entry.get("WARC-Refers-To") or "", recorded)
        _, wire = read_block(entry).payload_digests()
        label = label_of(recorded) or "sha1"
        digest = f"{label}:{b32encode(wire).decode().rstrip('=')}"
        if recorded and digest != recorded:
            self._as_came[entry.get("WARC-Record-ID") or ""] = digest
        return digest
