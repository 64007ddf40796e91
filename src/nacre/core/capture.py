"""The capture of one exchange with a server: the bytes as transferred, and the facts.

`Trust` records whether a reply is the answer to its request, while that can still change.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec


class Trust:
    """The trust in one reply.

    A server may send a reply without a request, such as a late one. It looks like the
    true one until that comes as a surplus: then this reply, and all others since the connection was
    last quiet, may belong to other requests.

    Attributes:
        first: The first reply on its connection, before which nothing was requested: only another
            complete reply after it makes it suspect.
        suspect: Whether a surplus was received.
    """

    __slots__ = ("_listener", "first", "suspect")

    def __init__(self, *, first: bool = False) -> None:
        self.first = first
        self.suspect = False
        self._listener: Callable[[], None] | None = None

    def tell(self, listener: Callable[[], None]) -> None:
        """Call a listener when a surplus comes; there is one at most."""
        self._listener = listener

    def accuse(self) -> None:
        """Note a surplus; it is reported once."""
        if not self.suspect:
            self.suspect = True
            if self._listener is not None:
                self._listener()


LONGEST_TYPE = 1000
"""Bytes of a Content-Type that are parsed; the latest results are cached."""


class Body(Protocol):
    """Bytes in memory or in a spool file; the spool itself is in `fetch`."""

    @property
    def length(self) -> int:
        """Number of bytes."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`; fewer only at the end."""
        ...

    def close(self) -> None:
        """Release the bytes; reading afterwards is an error. May be called twice."""
        ...


class BytesBody:
    """A body in memory."""

    __slots__ = ("data", "length")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.length = len(data)

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`."""
        if offset == 0 and size >= self.length:
            return self.data
        return self.data[offset : offset + size]

    def close(self) -> None:
        """Nothing to free."""


class TlsFacts(msgspec.Struct, frozen=True):
    """The facts of a TLS connection. Nothing is enforced by default; all is recorded.

    Attributes:
        version: `TLSv1.3` and so on.
        cipher: IANA name of the cipher suite.
        chain: Certificates as DER, the server's own first; the leaf alone where no more is known.
        verified: The result that a verification would have given: `ok`, or the reason against.
        sni: Server name sent; "" when none was.
    """

    version: str
    cipher: str
    chain: tuple[bytes, ...] = ()
    verified: str = "ok"
    sni: str = ""


class Capture(msgspec.Struct):
    """One exchange, exactly as it crossed the wire. Decoding is a view, never stored.

    Attributes:
        url: The URL requested.
        request: Request bytes as sent (of the last request, if it was repeated).
        head: Final status line to the blank line, verbatim; b"" for HTTP/0.9 and for `dns:`.
        body: Message body as received, transfer coding and trailers included.
        interim: 1xx replies before the final one, verbatim.
        status: HTTP status code, or 1 for `dns:`.
        reason: Reason phrase as received.
        headers: Names and values of the head, in order, as bytes, whitespace trimmed.
        framing: How the body was delimited: `length`, `chunked`, `close` or `none`.
        chunks: For `chunked`: (offset, size) in `body` of each run of payload; else empty.
        payload_length: Bytes of payload (transfer coding removed).
        address: Address connected to; "" through a proxy or when none was needed.
        port: Port connected to; 0 when none was.
        protocol: `http/1.1`, `http/1.0`, `http/0.9`, `h2`, `dns`.
        proxied: Went through a proxy.
        reused: Travelled on a connection used before.
        tls: TLS facts; None for plain text.
        began: Start, µs since the epoch (UTC): WARC-Date of all its records.
        duration: Time to the last byte, ms.
        first_byte: Time to the first byte of the reply, ms.
        block_digest: `sha1:BASE32` of head + body.
        payload_digest: `sha1:BASE32` of the payload, transfer coding removed; "" when none.
        truncated: WARC-Truncated: `length`, `time`, `disconnect`, `unspecified`; "" when whole.
        annotations: What was odd, for crawl.log (`lenTrunc`, `tlsNoCloseNotify` …).
        trust: Whether the reply is the answer to the request; None if nothing else can be.
    """

    url: str
    request: bytes
    head: bytes
    body: Body
    status: int
    interim: bytes = b""
    reason: bytes = b""
    headers: Sequence[tuple[bytes, bytes]] = ()
    framing: str = "none"
    chunks: Sequence[tuple[int, int]] = ()
    payload_length: int = 0
    address: str = ""
    port: int = 0
    protocol: str = "http/1.1"
    proxied: bool = False
    reused: bool = False
    tls: TlsFacts | None = None
    began: int = 0
    duration: int = 0
    first_byte: int = 0
    block_digest: str = ""
    payload_digest: str = ""
    truncated: str = ""
    annotations: list[str] = []
    trust: Trust | None = None

    def take_digests(self, block: str, payload: str) -> None:
        """Set the digests; a reply that can have no body has none of its payload."""
        self.block_digest = block
        self.payload_digest = "" if self.framing == "none" else payload

    def move_body(self, body: Body) -> None:
        """Take a body with the same bytes in place of the present one, which is closed."""
        former, self.body = self.body, body
        former.close()

    def header(self, name: bytes) -> bytes | None:
        """First value of a header, by lower-case name; None when absent."""
        size = len(name)
        for key, value in self.headers:
            if len(key) == size and key.lower() == name:
                return value
        return None

    def header_values(self, name: bytes) -> list[bytes]:
        """Return all values of a header, by lower-case name, in order."""
        size = len(name)
        return [value for key, value in self.headers if len(key) == size and key.lower() == name]

    def payload(self, limit: int) -> bytes:
        """The first `limit` bytes of the payload: transfer coding removed, content coding kept."""
        if self.framing != "chunked":
            return self.body.read(0, min(limit, self.payload_length))
        parts: list[bytes] = []
        for offset, size in self.chunks:
            if limit <= 0:
                break
            parts.append(self.body.read(offset, min(size, limit)))
            limit -= size
        return b"".join(parts)
