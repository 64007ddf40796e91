"""The recording proxy: the only way out of a browser, and the proxy of `nacre record`.

It answers nothing by itself: each request goes to a `core.rendered.RequestHandler`, and the bytes
of its reply go to the browser as they come. A refusal closes the connection without a byte, since a
page sees any reply as the server's. CONNECT is answered at once, and opens nothing; the first byte
behind it shows whether TLS or plain text follows, as browsers send `ws://` through CONNECT too.
"""

import asyncio
import hmac
import socket
import ssl
from base64 import b64decode
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from nacre.browser.authority import CertificateAuthority, ServerTls
from nacre.core.rendered import BrowserRequest, RequestHandler, ServerEnd
from nacre.wire.requests import (
    ReplyFramer,
    RequestHead,
    RequestReader,
    origin_of_tunnel,
    request_url,
    resource_of,
)

MOST_CONNECTIONS = 256
"""Most connections of a listener at once."""
MOST_BODIES = 64 * 1024 * 1024
"""Most bytes of request bodies of a listener that are received at once."""
MOST_WEBSOCKETS = 20
"""Most WebSockets of a listener at once."""
WEBSOCKET_BYTES = 10_000_000
"""Most bytes of a WebSocket, both ways together."""

_PIPELINED = 65_536
_HIGH_WATER = 262_144
_TLS_HANDSHAKE = 0x16
_CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_REFUSED_TUNNEL = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_KEY_WANTED = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="nacre"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class RecordingProxy:
    """Serves browsers on listening sockets, each with its handler.

    Args:
        authority: Makes the certificates of hosts.
        key: Key that each client has to send, as the password of Basic; "" for none.
        patience: Longest time for a request to come, or for a browser to take a part of a reply,
            seconds.
        idle_time: Longest time of a connection between two requests, seconds.
        websockets: Whether WebSockets are passed on; False refuses them.
    """

    def __init__(
        self,
        authority: CertificateAuthority,
        *,
        key: str = "",
        patience: float = 60.0,
        idle_time: float = 300.0,
        websockets: bool = True,
    ) -> None:
        self.authority = authority
        self.key = key.encode()
        self.patience = patience
        self.idle_time = idle_time
        self.websockets = websockets

    async def serve(self, sock: socket.socket, handler: RequestHandler | None) -> "ProxyListener":
        """Serve on a listening socket, which belongs to the listener from now on."""
        listener = ProxyListener(self, handler)
        loop = asyncio.get_running_loop()
        sock.setblocking(False)  # noqa: FBT003 - of the standard library
        server = await loop.create_server(lambda: _Client(self, listener), sock=sock)
        listener.begin(server)
        return listener


class ProxyListener:
    """One listening socket: all that comes to it belongs to one page, or to one person.

    Attributes:
        handler: Answers its requests; None: all are refused.
        running: Requests being answered.
        websockets: WebSockets open.
    """

    def __init__(self, proxy: RecordingProxy, handler: RequestHandler | None) -> None:
        self.handler = handler
        self.running: set[asyncio.Task[None]] = set()
        self.clients: set[_Client] = set()
        self.websockets = 0
        self.resent: set[tuple[str, str]] = set()
        self._proxy = proxy
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> tuple[str, int]:
        """Address and port; ("", 0) after the end."""
        sockets = self._server.sockets if self._server is not None else ()
        return sockets[0].getsockname()[:2] if sockets else ("", 0)

    def begin(self, server: asyncio.Server) -> None:
        """Note the server of its socket."""
        self._server = server

    def assign(self, handler: RequestHandler | None) -> None:
        """Serve another page from now on: connections of the last page end at once.

        Its handler learns it from `ReplyWriter.when_closed`, and ends its requests.
        """
        self.handler = None
        for client in tuple(self.clients):
            client.abort()
        self.resent.clear()
        self.handler = handler

    def stop_accepting(self) -> None:
        """Accept no connection and no request more; replies that have begun go on."""
        self.handler = None
        if self._server is not None:
            self._server.close()
            self._server = None

    def close(self) -> None:
        """Accept nothing more, and end all connections."""
        self.stop_accepting()
        self.assign(None)

    async def wait_for_handlers(self, seconds: float) -> None:
        """Wait until the handlers of all requests have returned; cancel them after a time.

        Args:
            seconds: Longest time.
        """
        running = tuple(self.running)
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def has_room(self) -> bool:
        """Whether request bodies leave memory."""
        return sum(client.body_size for client in self.clients) <= MOST_BODIES


class _Reply:
    """The reply to one request; see `core.rendered.ReplyWriter`."""

    def __init__(self, client: "_Client", request: BrowserRequest, *, goes_on: bool) -> None:
        self._client: _Client | None = client
        self._request = request
        self._goes_on = goes_on
        self._framer: ReplyFramer | None = None
        self._server: ServerEnd | None = None
        self._closed: Callable[[], None] | None = None
        self._is_over = False
        self._passed = 0

    @property
    def has_begun(self) -> bool:
        return self._framer is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is sent."""
        return self._is_over

    @property
    def is_full(self) -> bool:
        return self._client is not None and self._client.is_full

    def begin(self, status: int, head: bytes, framing: str) -> None:
        if self._framer is not None:
            raise RuntimeError(f"a second reply to {self._request.method} {self._request.url}")
        self._framer = ReplyFramer(self._request.method, head, framing)
        if self._client is not None:
            self._client.send(self._framer.head)

    def write(self, data: bytes) -> None:
        if self._client is None or self._framer is None:
            return
        if self._server is not None:
            self._client.send(data)
            self._count(len(data))
        elif framed := self._framer.frame(data):
            self._client.send(framed)

    async def drain(self) -> None:
        if self._client is not None:
            await self._client.drain()

    def end(self) -> None:
        self._is_over = True
        client = self._client
        if client is None:
            return
        self._leave()
        if self._goes_on and self._framer is not None and self._framer.is_persistent:
            client.next_request()
        else:
            client.finish()

    def refuse(self) -> None:
        self._is_over = True
        client = self._client
        if client is None:
            return
        self._leave()
        if not self.has_begun:
            client.note_refusal(self._request)
        client.abort()

    def when_closed(self, listener: Callable[[], None]) -> None:
        self._closed = listener
        if self._client is None and not self._is_over:
            listener()

    def switch(self, server: ServerEnd) -> None:
        self._server = server
        if self._client is None:
            server.close()
        else:
            self._client.switch()

    def send(self, data: bytes) -> None:
        """Send bytes of a WebSocket of the browser to the server."""
        if self._server is not None:
            self._server.send(data)
            self._count(len(data))

    def _count(self, size: int) -> None:
        self._passed += size
        if self._passed > WEBSOCKET_BYTES:
            self.refuse()

    def _leave(self) -> None:
        """Have nothing to do with the connection any more."""
        self._client = None
        if self._server is not None:
            self._server.close()

    def drop(self) -> None:
        """The browser left, or its page ended."""
        if self._client is None:
            return
        self._leave()
        if self._closed is not None and not self._is_over:
            self._closed()


class _Client(asyncio.Protocol):
    """One connection of a browser: plain text, a tunnel of plain text, or TLS within a tunnel."""

    def __init__(self, proxy: RecordingProxy, listener: ProxyListener) -> None:
        self._proxy = proxy
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport = asyncio.Transport()
        self._reader = RequestReader()
        self._reply: _Reply | None = None
        self._tunnel = ""
        self._undecided = False
        self._tls: ServerTls | None = None
        self._requests = 0
        self._has_continued = False
        self._full: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_websocket = self._is_switched = False

    # The transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(_HIGH_WATER)
        if len(self._listener.clients) >= MOST_CONNECTIONS:
            self._transport.abort()
            return
        self._listener.clients.add(self)
        self._set_timer(self._proxy.idle_time)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._undecided and data:
            self._undecided = False
            if data[0] == _TLS_HANDSHAKE and not self._begin_tls():
                return
        if self._tls is None:
            self._receive(data)
            return
        try:
            plain = self._tls.receive(data)
        except ssl.SSLError:
            self.abort()
            return
        self._transport.write(self._tls.outgoing())
        if plain:
            self._receive(plain)
        elif self._tls.is_closed:
            self.abort()

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`: a browser that sends no more takes no more."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._end()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._full = self._loop.create_future()
        self._set_timer(self._proxy.patience)

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._wake()
        self._set_timer(self._proxy.patience if self._transport.is_closing() else 0)

    def abort(self) -> None:
        """End the connection at once."""
        self._end()
        self._transport.abort()

    def finish(self) -> None:
        """End the connection when all bytes are sent."""
        self._drop_reply()
        if self._tls is not None and not self._transport.is_closing():
            self._transport.write(self._tls.close())
        self._transport.close()
        self._set_timer(self._proxy.patience)

    def _end(self) -> None:
        self._listener.clients.discard(self)
        self._set_timer(0)
        self._drop_reply()
        self._wake()

    def _drop_reply(self) -> None:
        self._leave_websocket()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.drop()

    def _leave_websocket(self) -> None:
        if self._is_websocket:
            self._is_websocket = self._is_switched = False
            self._listener.websockets -= 1

    def _wake(self) -> None:
        full, self._full = self._full, None
        if full is not None and not full.done():
            full.set_result(None)

    def _set_timer(self, seconds: float) -> None:
        """End the connection after a time; 0: never."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self.abort) if seconds else None

    # Replies

    @property
    def is_full(self) -> bool:
        """Whether the browser takes bytes more slowly than they come."""
        return self._full is not None

    async def drain(self) -> None:
        """Wait until it has taken most of them."""
        if self._full is not None:
            await asyncio.shield(self._full)

    def send(self, data: bytes) -> None:
        """Send bytes to the browser."""
        if not self._transport.is_closing():
            self._transport.write(data if self._tls is None else self._tls.send(data))

    def switch(self) -> None:
        """The connection is a WebSocket now."""
        self._is_switched = True
        self._transport.resume_reading()
        behind = self._reader.take_pending()
        if behind and self._reply is not None:
            self._reply.send(behind)

    def next_request(self) -> None:
        """Read the next request."""
        self._leave_websocket()
        self._reply = None
        self._requests += 1
        self._has_continued = False
        self._reader.begin_next()
        self._set_timer(self._proxy.idle_time)
        if self._reader.size < _PIPELINED:
            self._transport.resume_reading()
        # Behind what runs now: a row of pipelined requests must not become a deep recursion.
        self._loop.call_soon(self._advance)

    def note_refusal(self, request: BrowserRequest) -> None:
        """Remember a refusal that the browser cannot tell from a connection that was idle too long.

        Chromium sends such a request once more, on a new connection.
        """
        if self._requests:
            self._listener.resent.add((request.method, request.url))

    # Requests

    @property
    def body_size(self) -> int:
        """Bytes of the request in memory."""
        return self._reader.size

    def _begin_tls(self) -> bool:
        try:
            host = (urlsplit("//" + self._tunnel).hostname or "").rstrip(".")
            self._tls = ServerTls(self._proxy.authority.context_for(host))
        except (ValueError, OSError):
            self.abort()
            return False
        return True

    def _receive(self, data: bytes) -> None:
        reply = self._reply
        if reply is not None and self._is_switched:
            reply.send(data)
            return
        if self._reader.is_idle and reply is None:
            self._set_timer(self._proxy.patience)
        self._reader.feed(data)
        if reply is not None and self._reader.size > _PIPELINED:
            self._transport.pause_reading()
        self._advance()

    def _advance(self) -> None:
        """Handle the request if it is whole, and nothing is being answered."""
        reader = self._reader
        if self._reply is not None or self._transport.is_closing():
            return
        if reader.failure or not self._listener.has_room():
            self.abort()
            return
        head = reader.head
        if head is None:
            return
        if not self._is_allowed(head):
            return
        if reader.wants_continue and not self._has_continued:
            self._has_continued = True
            self.send(_CONTINUE)
        if not reader.complete:
            return
        self._set_timer(0)
        if head.method == "CONNECT":
            self._connect(head)
        else:
            self._handle(head)

    def _is_allowed(self, head: RequestHead) -> bool:
        """Check the key of a client; within a tunnel it was checked before."""
        key = self._proxy.key
        if not key or self._tunnel:
            return True
        if hmac.compare_digest(_password(head.header(b"proxy-authorization")), key):
            return True
        self.send(_KEY_WANTED)
        self.finish()
        return False

    def _connect(self, head: RequestHead) -> None:
        origin = origin_of_tunnel(head.target)
        if self._tunnel or self._listener.handler is None or not origin:
            self.send(_REFUSED_TUNNEL)
            self.finish()
            return
        self._tunnel = origin
        self._undecided = True
        self.send(_CONNECTED)
        behind = self._reader.take_pending()
        self._reader.begin_next()
        self._set_timer(self._proxy.idle_time)
        if behind:
            self.data_received(behind)

    def _handle(self, head: RequestHead) -> None:
        request = self._request(head)
        handler = self._listener.handler
        if request is None or handler is None or self._is_resent(request):
            self.abort()
            return
        if head.is_websocket:
            if not self._proxy.websockets or self._listener.websockets >= MOST_WEBSOCKETS:
                self.abort()
                return
            self._is_websocket = True
            self._listener.websockets += 1
        self._reply = reply = _Reply(self, request, goes_on=head.is_persistent)
        task = self._loop.create_task(_answer(handler, request, reply))
        self._listener.running.add(task)
        task.add_done_callback(self._listener.running.discard)

    def _is_resent(self, request: BrowserRequest) -> bool:
        """Whether the browser repeats by itself a request that was refused a moment ago."""
        key = (request.method, request.url)
        if key not in self._listener.resent:
            return False
        self._listener.resent.discard(key)
        return True

    def _request(self, head: RequestHead) -> BrowserRequest | None:
        """Return the request as a handler takes it; None: it cannot be one."""
        url = request_url(head, self._tunnel, is_tls=self._tls is not None)
        if url is None:
            return None
        return BrowserRequest(
            method=head.method,
            url=url,
            headers=head.forwarded_headers(),
            body=self._reader.body,
            resource=resource_of(head),
        )


async def _answer(handler: RequestHandler, request: BrowserRequest, reply: _Reply) -> None:
    """Have a request answered; what its handler leaves open is refused."""
    try:
        await handler.handle(request, reply)
    finally:
        if not reply.is_over and not (reply.has_begun and request.resource == "websocket"):
            reply.refuse()


def _password(value: bytes) -> bytes:
    """Return the password of a Basic value; b"" if there is none."""
    scheme, _, text = value.partition(b" ")
    if scheme.lower() != b"basic":
        return b""
    try:
        return b64decode(text.strip()).partition(b":")[2]
    except ValueError:
        return b""
