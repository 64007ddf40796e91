r"""A sans-io reader of HTTP/1.1 replies that keeps every byte and refuses almost nothing.

Feed it the received bytes, in pieces of any size, and call it when the connection ends::

    reader = ReplyReader("GET")
    body = reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
    assert (reader.head[:12], body, reader.complete) == (b"HTTP/1.1 200", b"hi", True)

What `feed` and `eof` return is the body as received, transfer coding and trailers included;
`interim + head + body` are the bytes of the reply, however they were split. Bytes after the end of
the reply are counted in `excess`, never returned. Oddities are in `annotations`.

States: the head (again after each interim reply), then the body by its framing, then complete. A
head or a chunk that breaks the rules never raises: the reply goes on to the close of the
connection, within the caps below. Source: RFC 9112.
"""

from collections.abc import Sequence

from nacre.annotations import (
    EXCESS_DATA,
    HEADER_CUT,
    HEADER_TRUNCATED,
    HTTP_09,
    LENGTH_TRUNCATED,
    MID_FETCH_ABORT,
    NO_REPLY,
    SHORT_BODY,
    TLS_ON_PLAIN_PORT,
    TOO_MANY_INTERIM,
    TRAILER_CUT,
)
from nacre.wire.chunks import ChunkRuns, ChunkScanner
from nacre.wire.head import (
    HEADLESS,
    UNDECIDED,
    Head,
    blank_line_end,
    find_start,
    framing_of,
    is_persistent,
    parse_head,
    starts_with_tls,
)

MAX_HEADER = 300_000
"""Default limit of a head, interim replies included, bytes (what curl allows)."""
MAX_INTERIM = 64
"""Most interim (1xx) replies before the final one."""
MAX_TAIL = 1024 * 1024
"""Bytes kept after a broken chunk."""
_LOOK = 64


class ReplyReader:
    """Reads one reply.

    Attributes:
        head: The final head, verbatim; b"" for HTTP/0.9.
        interim: 1xx replies before the final one, verbatim.
        status: Status code; 0 until there is a head.
        reason: Reason phrase as received.
        headers: Names and values in order, whitespace trimmed.
        protocol: `http/1.1`, `http/1.0` or `http/0.9`.
        framing: `length`, `chunked`, `close` or `none`.
        body_length: Bytes of body returned so far.
        excess: Bytes received after the end of the reply.
        reply_behind: They begin like another reply.
        complete: Nothing more belongs to the reply, or nothing more is wanted.
        truncated: Why it is not whole: `length`, `disconnect`; "" when it is.
        failure: Why there is no usable reply; "" when there is one, or may yet be.
        annotations: What was odd, in order.
    """

    __slots__ = (
        "_blank", "_broken", "_chunks", "_interims", "_left", "_max_body", "_max_header", "_method",
        "_pending", "_scanned", "_sound", "annotations", "body_length", "complete", "excess",
        "failure", "framing", "head", "headers", "interim", "protocol", "reason", "reply_behind",
        "status",
        "truncated",
    )  # fmt: skip

    def __init__(
        self, method: str = "GET", *, max_header: int = MAX_HEADER, max_body: int = 0
    ) -> None:
        """Read the reply to a request.

        Args:
            method: Method of the request, upper case.
            max_header: Longest head with its interim replies, bytes; then it is cut.
            max_body: Longest body, bytes; then it is cut; 0 for no limit.
        """
        self._method = method
        self._max_header = max_header
        self._max_body = max_body
        self._pending = bytearray()
        self._scanned = 0
        self._blank = 0
        self._interims = 0
        self._left = 0
        self._chunks: ChunkScanner | None = None
        self._sound = True
        self._broken = False
        self.head = b""
        self.interim = b""
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.protocol = "http/1.1"
        self.framing = "none"
        self.body_length = 0
        self.excess = 0
        self.reply_behind = False
        self.complete = False
        self.truncated = ""
        self.failure = ""
        self.annotations: list[str] = []

    @property
    def reusable(self) -> bool:
        """The connection may carry another request: the reply ended exactly at its framing."""
        return self._sound and self.complete and not (self.truncated or self.excess)

    @property
    def chunks(self) -> Sequence[tuple[int, int]]:
        """(offset, size) in the body of each run of payload, for chunked framing."""
        return self._chunks.runs if self._chunks and self.framing == "chunked" else ()

    @property
    def payload_length(self) -> int:
        """Bytes of body without its transfer coding, so far."""
        runs = self.chunks
        return runs.total() if isinstance(runs, ChunkRuns) else self.body_length

    def feed(self, data: bytes) -> bytes:
        """Feed received bytes; return the bytes of the body."""
        while not self.status:
            if self.complete or not data:
                return b""
            data = self._read_head(data)
        if not data:
            return b""
        if self.complete:
            self._exceed(data)
            return b""
        return self._read_body(data)

    def eof(self, *, reset: bool = False) -> bytes:
        """Return the connection ended; gives body bytes that were held back (HTTP/0.9 only).

        Args:
            reset: It ended by an error, so that a body delimited by close is cut.
        """
        if self.complete:
            return b""
        body = b"" if self.status else self._end_in_head(reset=reset)
        if not self.complete:
            self._end_in_body(reset=reset)
        return body

    # The head

    def _read_head(self, data: bytes) -> bytes:
        """Search the end of the head; return the bytes after it."""
        buffer: bytes | bytearray = data
        if self._pending:
            self._pending += data
            buffer = self._pending
        room = self._max_header - len(self.interim)
        end = self._find_end(buffer)
        if end < 0 and len(buffer) <= room:
            if buffer is data:
                self._pending = bytearray(data)
            return b""
        self._pending = bytearray()
        self._scanned = self._blank = 0
        if end == 0:
            return self._headless(bytes(buffer))
        if end < 0 or end > room:
            self._cut_head(bytes(buffer[:room]))
            return b""
        self._take_head(bytes(buffer[:end]))
        return bytes(buffer[end:])

    def _find_end(self, buffer: bytes | bytearray) -> int:
        """Return the length of the head; 0 if there is none, -1 if more bytes are needed."""
        begin = self._scanned - 2
        if not self._scanned and not buffer.startswith(b"HTTP/1."):
            begin = find_start(buffer, self._blank)
            if begin == HEADLESS:
                return 0
            if begin == UNDECIDED:
                self._blank = len(buffer) - len(buffer[self._blank :].lstrip(b"\r\n"))
                return -1
        end = blank_line_end(buffer, max(begin, 0))
        if end < 0:
            self._scanned = len(buffer)  # from now on it is known to begin like a head
        return end

    def _headless(self, buffer: bytes) -> bytes:
        """Take all as the body of an HTTP/0.9 reply, unless it is TLS."""
        if starts_with_tls(buffer):
            self._fail(TLS_ON_PLAIN_PORT)
            return b""
        self.status = 200
        self.protocol = "http/0.9"
        self.framing = "close"
        self._sound = False
        self.annotations.append(HTTP_09)
        return buffer

    def _take_head(self, raw: bytes) -> None:
        head = parse_head(raw)
        if 100 <= head.line.status < 200 and head.line.status != 101:
            self._take_interim(raw)
            return
        self._set_head(raw, head)
        framing = framing_of(self._method, head)
        self.framing = framing.kind
        self._left = framing.length
        self._sound = framing.sound and framing.kind != "close" and is_persistent(head)
        if framing.annotation:
            self.annotations.append(framing.annotation)
        if framing.kind == "chunked":
            self._chunks = ChunkScanner()
        elif framing.kind == "none" or (framing.kind == "length" and not framing.length):
            self.complete = True

    def _take_interim(self, raw: bytes) -> None:
        self.interim += raw
        self._interims += 1
        if self._interims > MAX_INTERIM:
            self._fail(TOO_MANY_INTERIM)

    def _set_head(self, raw: bytes, head: Head) -> None:
        self.head = raw
        self.protocol, self.status, self.reason, _ = head.line
        self.headers = head.headers
        self.annotations += head.annotations

    def _cut_head(self, raw: bytes) -> None:
        """Cut a head that is too long; the reply has no body."""
        head = parse_head(_whole_lines(raw))
        if head.line.status < 200 and head.line.status >= 100:
            self._fail(HEADER_TRUNCATED)
            return
        self._set_head(raw, head)
        self.annotations.append(HEADER_TRUNCATED)
        self._finish("length")

    def _end_in_head(self, *, reset: bool) -> bytes:
        """Handle a connection that ended before a complete head: that is no reply.

        Source: RFC 9112 clause 8; a browser shows an error. What has no letter of a head yet is
        HTTP/0.9, unless the connection was reset.
        """
        raw = bytes(self._pending)
        self._pending = bytearray()
        if raw and not raw.strip(b"\r\n") and not reset:
            return self._end_headless(raw)
        self._fail(HEADER_CUT if raw else NO_REPLY)
        return b""

    def _end_headless(self, raw: bytes) -> bytes:
        body = self._headless(raw)
        return self._keep(body) if body else b""

    def _fail(self, reason: str) -> None:
        self.failure = reason
        self._sound = False
        self.complete = True

    # The body

    def _read_body(self, data: bytes) -> bytes:
        if self._chunks is not None:
            return self._read_chunks(data, self._chunks)
        if self.framing == "length":
            bytes_left = self._left
            if len(data) > bytes_left:
                self._exceed(data[bytes_left:])
                data = data[:bytes_left]
            self._left = bytes_left - len(data)
            data = self._keep(data)
            self.complete = self.complete or not self._left
            return data
        return self._keep(data)

    def _read_chunks(self, data: bytes, chunks: ChunkScanner) -> bytes:
        if self._broken:
            return self._read_tail(data)
        consumed = chunks.feed(data)
        if chunks.fault and not 0 < self._max_body < chunks.offset:  # else it is after the cut
            self._break(chunks)
            body = self._keep(data[:consumed])
            return body if self.complete else body + self._read_tail(data[consumed:])
        body = self._keep(data if consumed == len(data) else data[:consumed])
        if chunks.finished and not self.complete:
            self.complete = True
            if consumed < len(data):
                self._exceed(data[consumed:])
        return body

    def _break(self, chunks: ChunkScanner) -> None:
        """The chunks are broken: keep a tail; without one good chunk the body is taken as it is."""
        self._sound = False
        self._broken = True
        self.annotations.append(chunks.fault)
        self._left = chunks.fault_at + MAX_TAIL
        if chunks.bogus:
            self.framing = "close"

    def _read_tail(self, data: bytes) -> bytes:
        room = self._left - self.body_length
        body = self._keep(data[:room])
        if len(data) > room:
            self._finish("length")
        return body

    def _keep(self, body: bytes) -> bytes:
        """Count body bytes, and cut them at the limit."""
        length = self.body_length + len(body)
        if self._max_body and length > self._max_body:
            body = body[: self._max_body - self.body_length]
            length = self._max_body
            self.body_length = length
            self.annotations.append(LENGTH_TRUNCATED)
            self._finish("length")
        self.body_length = length
        return body

    def _end_in_body(self, *, reset: bool) -> None:
        chunks = self._chunks
        if chunks is not None and not self._broken and not chunks.has_last_chunk:
            self._note_cut()
        elif chunks is not None and not self._broken:
            self.annotations.append(TRAILER_CUT)
            self._finish("")
        elif self.framing == "length":
            self._note_cut()
        else:
            self._finish("disconnect" if reset else "")

    def _note_cut(self) -> None:
        self.annotations.append(SHORT_BODY)
        self._finish("disconnect")

    def _exceed(self, data: bytes) -> None:
        if self.truncated:
            return
        if not self.excess:
            self.annotations.append(EXCESS_DATA)
            self.reply_behind = find_start(data[:_LOOK]) >= 0
        self.excess += len(data)

    def stop(self, reason: str) -> None:
        """Read no more: the reply ends here, cut for a reason of `WARC-Truncated`."""
        if not self.complete:
            self._finish(reason)

    def abandon(self) -> None:
        """Drop the body: a rule does not want it (`midFetchAbort`)."""
        self.body_length = 0
        self.annotations.append(MID_FETCH_ABORT)
        self._finish("unspecified")

    def _finish(self, truncated: str) -> None:
        self.truncated = truncated
        self.complete = True
        self._sound = False
        if self._chunks is not None:
            self._chunks.runs.clip(self.body_length)


def _whole_lines(raw: bytes) -> bytes:
    """A head that is cut off, without the field that is cut: half of a value would mislead."""
    whole = raw[: raw.rfind(b"\n") + 1]
    return whole if whole.strip(b"\r\n") else raw
