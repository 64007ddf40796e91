"""A recording proxy on loopback whose handler answers from a function, and clients of it."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ClassVar

from nacre.browser.authority import CertificateAuthority
from nacre.browser.proxy import ProxyListener, RecordingProxy
from nacre.core.rendered import BrowserRequest, ReplyWriter
from nacre.wire.http1 import ReplyReader

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
Answer = Callable[[BrowserRequest], bytes]
"""The whole reply to a request; b"" refuses it."""


class Answers:
    """A handler with a function; it notes the requests.

    Attributes:
        requests: All requests, in order.
    """

    def __init__(self, answer: Answer = lambda _: HELLO) -> None:
        self._answer = answer
        self.requests: list[BrowserRequest] = []

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        self.requests.append(request)
        raw = self._answer(request)
        if not raw:
            return
        reader = ReplyReader(request.method)
        body = reader.feed(raw) + reader.eof()
        reply.begin(reader.status, reader.head, reader.framing)
        if body:
            reply.write(body)
        if reader.truncated:
            reply.refuse()
        else:
            reply.end()


async def wait_until(is_true: Callable[[], bool]) -> None:
    """Wait until a condition holds, a minute at most."""
    async with asyncio.timeout(60):
        while not is_true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


def listening_socket() -> socket.socket:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    return sock


@asynccontextmanager
async def proxying(
    handler: object, authority: CertificateAuthority | None = None, **options: object
) -> AsyncIterator[ProxyListener]:
    """A listener that is closed in the end."""
    proxy = RecordingProxy(authority or CertificateAuthority(), **options)  # type: ignore[arg-type]
    listener = await proxy.serve(listening_socket(), handler)  # type: ignore[arg-type]
    try:
        yield listener
    finally:
        for client in Client.opened:
            client.writer.transport.abort()
        Client.opened.clear()
        listener.close()
        await listener.wait_for_handlers(2)
        await asyncio.sleep(0.005)


class Client:
    """A connection to the proxy; `proxying` ends it."""

    opened: ClassVar[list["Client"]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, listener: ProxyListener) -> "Client":
        client = cls(*await asyncio.open_connection(*listener.address))
        cls.opened.append(client)
        return client

    async def ask(self, data: bytes) -> bytes:
        """Send bytes; the reply to them, or what came until the end."""
        self.writer.write(data)
        return await self.reply(data.partition(b" ")[0].decode("latin-1"))

    async def reply(self, method: str = "GET") -> bytes:
        """Read a reply; b"" for a connection that ends without a byte."""
        reader, received = ReplyReader(method), b""
        while not reader.complete:
            data = await self.read()
            if not data:
                break
            received += data
            reader.feed(data)
        return received

    async def read(self) -> bytes:
        try:
            return await asyncio.wait_for(self.reader.read(65536), 60)
        except ConnectionError:
            return b""

    async def connect(self, origin: str) -> bytes:
        """Send CONNECT; the head of its reply."""
        self.writer.write(f"CONNECT {origin} HTTP/1.1\r\nHost: {origin}\r\n\r\n".encode())
        try:
            return await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 60)
        except asyncio.IncompleteReadError as error:
            return error.partial

    async def begin_tls(self, authority: CertificateAuthority, name: str) -> None:
        context = ssl.create_default_context(cadata=authority.certificate.decode())
        context.set_alpn_protocols(["h2", "http/1.1"])
        await self.writer.start_tls(context, server_hostname=name)

    @property
    def alpn(self) -> str:
        return str(self.writer.get_extra_info("ssl_object").selected_alpn_protocol())
