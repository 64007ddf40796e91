r"""The server side of HTTP/1.1, sans-io: reads the requests of a browser, and frames its replies.

Requests are read strictly, since their only sender is a browser or a program that its user chose:
what contradicts itself is refused. Replies go on verbatim if HTTP/1.1 allows their framing::

    reader = RequestReader()
    reader.feed(b"GET http://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n")
    assert reader.complete and reader.head.target == "http://h.test/"

Source: RFC 9112.
"""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from nacre.wire.chunks import ChunkScanner
from nacre.wire.head import Framing, Head, blank_line_end, framing_of, is_persistent, parse_head

MAX_HEAD = 65_536
"""Longest head of a request, bytes."""
MAX_BODY = 16 * 1024 * 1024
"""Longest body of a request, bytes."""

_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])\Z")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_FIELDS_OF_CONNECTION = frozenset((
    b"connection", b"keep-alive", b"te", b"transfer-encoding", b"upgrade", b"expect", b"trailer",
))  # fmt: skip
_FRAMING_FIELDS = frozenset((
    b"content-length", b"transfer-encoding", b"connection", b"keep-alive", b"proxy-connection",
))  # fmt: skip
_BREAKS = bytes.maketrans(b"\r\n\0", b"   ")


class RequestHead(NamedTuple):
    """The head of a request.

    Attributes:
        method: Method, as sent.
        target: Request target, as sent; bytes outside ASCII as surrogates.
        headers: All header fields in order; values without the blanks around them.
        is_persistent: Whether the connection may carry another request.
    """

    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]
    is_persistent: bool

    def header(self, name: bytes) -> bytes:
        """Return the first value of a field, by its name in lower case; b"" for none."""
        size = len(name)
        for key, value in self.headers:
            if len(key) == size and key.lower() == name:
                return value
        return b""

    def tokens(self, name: bytes) -> set[bytes]:
        """Return the comma-separated words of all values of a field, in lower case."""
        size = len(name)
        values = [v for key, v in self.headers if len(key) == size and key.lower() == name]
        if not values:
            return set()
        return {word.strip().lower() for word in b",".join(values).split(b",")} - {b""}

    @property
    def is_websocket(self) -> bool:
        """Whether it asks for a WebSocket. Source: RFC 6455 clause 4.1."""
        asks = b"websocket" in self.tokens(b"upgrade")
        return asks and b"upgrade" in self.tokens(b"connection")

    def forwarded_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """Return the fields in order, without those of the connection and of the proxy."""
        dropped = _FIELDS_OF_CONNECTION | self.tokens(b"connection")
        return tuple(
            (name, value)
            for name, value in self.headers
            if (key := name.lower()) not in dropped and not key.startswith(b"proxy-")
        )


class RequestReader:
    """Reads the requests of a connection, one after the other.

    Attributes:
        head: Head of the request; None until it is whole.
        complete: Whether the request is whole, with its body.
        failure: Why the connection has to be closed; "" while there is no reason.
    """

    __slots__ = (
        "_body", "_left", "_max_body", "_max_head", "_pending", "_scanned", "_scanner",
        "complete", "failure", "head",
    )  # fmt: skip

    def __init__(self, *, max_head: int = MAX_HEAD, max_body: int = MAX_BODY) -> None:
        self._max_head = max_head
        self._max_body = max_body
        self._pending = bytearray()
        self._scanned = 0
        self._body = bytearray()
        self._left = 0
        self._scanner: ChunkScanner | None = None
        self.head: RequestHead | None = None
        self.complete = False
        self.failure = ""

    @property
    def is_idle(self) -> bool:
        """Whether no byte of a request has come."""
        return self.head is None and not self._pending

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return len(self._body) + len(self._pending)

    @property
    def wants_continue(self) -> bool:
        """Whether the body comes only after a status of 100."""
        head = self.head
        if head is None or self.complete or self._body:
            return False
        return b"100-continue" in head.tokens(b"expect")

    @property
    def body(self) -> bytes | None:
        """The body of a whole request, without transfer coding; None for none."""
        scanner = self._scanner
        if scanner is not None:
            body = bytes(self._body)
            return b"".join([body[offset : offset + size] for offset, size in scanner.runs])
        if self.head is None or not self.head.header(b"content-length"):
            return None
        return bytes(self._body)

    def feed(self, data: bytes) -> None:
        """Feed received bytes; bytes after a whole request wait for `begin_next`."""
        self._pending += data
        if not self.complete and not self.failure:
            self._read()

    def take_pending(self) -> bytes:
        """Return the bytes behind a whole request, and forget them."""
        behind = bytes(self._pending)
        self._pending.clear()
        return behind

    def begin_next(self) -> None:
        """Forget a whole request, and read the next."""
        self.head = None
        self.complete = False
        self._scanner = None
        self._body = bytearray()
        self._left = self._scanned = 0
        self._read()

    def _read(self) -> None:
        if self.head is None:
            self._read_head()
        if self.head is not None and not self.failure:
            self._read_body()

    def _read_head(self) -> None:
        pending = self._pending
        if not self._scanned:
            while pending and pending[0] in b"\r\n":
                del pending[0]
        end = blank_line_end(pending, max(self._scanned - 2, 0))
        if end < 0 and len(pending) <= self._max_head:
            self._scanned = len(pending)
            return
        if end < 0 or end > self._max_head:
            self.failure = f"the head is longer than {self._max_head} bytes"
            return
        raw = bytes(pending[:end])
        del pending[:end]
        head = _parse_request(raw)
        if head is None:
            self.failure = "the head is not one of HTTP/1.1"
            return
        self.head = head
        self._expect_body(head)

    def _expect_body(self, head: RequestHead) -> None:
        codings = [value for name, value in head.headers if name.lower() == b"transfer-encoding"]
        lengths = [value for name, value in head.headers if name.lower() == b"content-length"]
        if codings:
            if lengths or [value.lower() for value in codings] != [b"chunked"]:
                self.failure = "the framing of the body contradicts itself"
            self._scanner = ChunkScanner()
        elif lengths:
            if len(lengths) > 1 or not lengths[0].isdigit() or len(lengths[0]) > 18:
                self.failure = "Content-Length is not a number"
                return
            self._left = int(lengths[0])
            if self._left > self._max_body:
                self.failure = f"the body is longer than {self._max_body} bytes"

    def _read_body(self) -> None:
        pending, scanner = self._pending, self._scanner
        if scanner is None:
            size = min(self._left, len(pending))
            self._left -= size
            self.complete = not self._left
        else:
            size = scanner.feed(bytes(pending))
            self.complete = scanner.finished
            if scanner.fault:
                self.failure = "the chunks of the body are broken"
        self._body += pending[:size]
        del pending[:size]
        if len(self._body) > self._max_body:
            self.failure = f"the body is longer than {self._max_body} bytes"


def _parse_request(raw: bytes) -> RequestHead | None:
    """Parse a head strictly; None: it is not one."""
    lines = [line.removesuffix(b"\r") for line in raw.split(b"\n")]
    match = _LINE.match(lines[0])
    if match is None:
        return None
    headers: list[tuple[bytes, bytes]] = []
    for line in lines[1:-2]:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.match(name) or b"\0" in value or b"\r" in value:
            return None
        headers.append((name, value.strip(b" \t")))
    method, target = match[1].decode(), match[2].decode("utf-8", "surrogateescape")
    head = RequestHead(method, target, tuple(headers), is_persistent=True)
    options = head.tokens(b"connection") | head.tokens(b"proxy-connection")
    if match[3] == b"1":
        return head._replace(is_persistent=b"close" not in options)
    return head._replace(is_persistent=b"keep-alive" in options)


_DESTINATIONS = {
    b"document": "document", b"iframe": "frame", b"frame": "frame", b"embed": "frame",
    b"object": "frame", b"fencedframe": "frame", b"script": "script", b"json": "script",
    b"style": "style", b"xslt": "style", b"image": "image", b"font": "font", b"audio": "media",
    b"video": "media", b"track": "media", b"empty": "fetch", b"worker": "worker",
    b"sharedworker": "worker", b"serviceworker": "worker", b"audioworklet": "worker",
    b"paintworklet": "worker", b"report": "beacon",
}  # fmt: skip

_ACCEPTS = ((b"text/html", "document"), (b"text/css", "style"), (b"image/", "image"))
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def resource_of(head: RequestHead) -> str:
    """Return what a page wants a request for; see `core.rendered.BrowserRequest.resource`.

    Sec-Fetch-Dest is sent to https and to this machine alone; elsewhere Accept shows some kinds.
    Source: Fetch Metadata Request Headers; Fetch clause 2.2.5.
    """
    if head.is_websocket:
        return "websocket"
    content_type = head.header(b"content-type").lower()
    if content_type.startswith((b"text/ping", b"application/reports+json")):
        return "beacon"
    destination = head.header(b"sec-fetch-dest").lower()
    if not destination:
        accept = head.header(b"accept").lower()
        return next((kind for start, kind in _ACCEPTS if accept.startswith(start)), "other")
    mode = head.header(b"sec-fetch-mode").lower()
    if destination == b"empty" and mode == b"no-cors" and head.method == "POST":
        return "beacon"
    return _DESTINATIONS.get(destination, "other")


def request_url(head: RequestHead, tunnel: str, *, is_tls: bool) -> str | None:
    """Return the absolute URL of a request; None: it has none, or names two hosts.

    Args:
        head: The request.
        tunnel: `host:port` of the CONNECT in front of it; "" for none.
        is_tls: Whether it came through TLS.
    """
    scheme, origin, target = ("https" if is_tls else "http"), tunnel, head.target
    if not tunnel:
        scheme, colon, after = target.partition("://")
        scheme = scheme.lower()
        authority, slash, path = after.partition("/")
        if "?" in authority:
            authority, slash, path = authority.partition("?")[0], "/", after[after.find("?") :]
        origin = _origin(authority, _PORTS[scheme]) if colon and scheme in _PORTS else ""
        target = slash + path or "/"
    if not origin or not target.startswith("/"):
        return None
    authority = _without_default_port(origin, scheme)
    host = head.header(b"host").decode("latin-1").lower()
    if host and _without_default_port(host, scheme) != authority:
        return None
    if head.is_websocket:
        scheme = {"http": "ws", "https": "wss"}.get(scheme, scheme)
    return f"{scheme}://{authority}{target}"


def origin_of_tunnel(target: str) -> str:
    """Return `host:port` of a CONNECT in lower case; "" if it names none."""
    return _origin(target, 0)


def _origin(authority: str, port: int) -> str:
    """Return `host:port` of an authority; "" if it is not one.

    Args:
        authority: With or without a port.
        port: Port if it names none; 0: it has to.
    """
    try:
        parts = urlsplit("//" + authority)
        host, port = parts.hostname or "", parts.port or port
    except ValueError:
        return ""
    if not host or not port or "@" in authority or parts.path or parts.query or parts.fragment:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _without_default_port(authority: str, scheme: str) -> str:
    return authority.removesuffix(f":{_PORTS[scheme]}")


class ReplyFramer:
    """Frames a reply of a server for a browser.

    It goes on verbatim if its framing is one that HTTP/1.1 allows: a browser then sees what it
    would have seen without a proxy. Otherwise the framing is made new, and ends with the
    connection.

    Args:
        method: Method of the request.
        head: The head as the server sent it; b"" for HTTP/0.9.
        framing: How the crawler finds the end of the body; see `core.capture.Capture.framing`.

    Attributes:
        head: The head to send.
        is_verbatim: Whether head and body are sent as they came.
    """

    __slots__ = ("_body_size", "_length", "_persistent", "_scanner", "head", "is_verbatim")

    def __init__(self, method: str, head: bytes, framing: str) -> None:
        parsed = parse_head(head) if head else None
        own = framing_of(method, parsed) if parsed is not None else Framing("close", sound=False)
        switches = parsed is not None and parsed.line.status == 101
        self.is_verbatim = switches or _is_allowed(head, own, framing)
        self.head = head if self.is_verbatim else _frame_anew(parsed)
        self._scanner = ChunkScanner() if framing == "chunked" else None
        self._length = own.length if framing == "length" else 0
        self._body_size = 0
        ends_itself = self.is_verbatim and framing != "close" and not switches
        self._persistent = ends_itself and parsed is not None and is_persistent(parsed)

    def frame(self, data: bytes) -> bytes:
        """Return what to send for a part of the body."""
        self._body_size += len(data)
        scanner = self._scanner
        if scanner is None:
            return data
        base, begun = scanner.offset, len(scanner.runs)
        scanner.feed(data)
        if self.is_verbatim:
            return data
        runs = scanner.runs[max(begun - 1, 0) :]
        return b"".join([data[max(at - base, 0) : max(at + size - base, 0)] for at, size in runs])

    @property
    def is_persistent(self) -> bool:
        """Whether the connection may carry another request after what was framed so far."""
        if not self._persistent:
            return False
        if self._scanner is not None:
            return self._scanner.finished and not self._scanner.fault
        return self._body_size == self._length


def _is_allowed(head: bytes, own: Framing, framing: str) -> bool:
    """Return whether HTTP/1.1 allows the framing, and a browser finds the same end of the body."""
    if not head.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")) or own.kind != framing:
        return False
    return own.sound and (not own.annotation or own.annotation == "repeatedLength")


def _frame_anew(parsed: Head | None) -> bytes:
    """Return a head whose body ends with the connection."""
    if parsed is None:
        return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    status = max(parsed.line.status, 100)
    lines = [b"HTTP/1.1 %d %b" % (status, parsed.line.reason.translate(_BREAKS))]
    for name, value in parsed.headers:
        if name.lower() not in _FRAMING_FIELDS and _NAME.match(name):
            lines.append(name + b": " + value.translate(_BREAKS))
    return b"\r\n".join(lines) + b"\r\nConnection: close\r\n\r\n"
