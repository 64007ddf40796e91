"""Odd servers on 127.0.0.1, and a fetcher to send at them."""

import asyncio
import os
import resource
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import uvloop

from nacre.core.capture import Capture
from nacre.fetch.http import HttpFetcher
from nacre.fetch.request import FetchRequest, FetchResult
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Spool

T = TypeVar("T")
Handler = Callable[["Peer"], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"
QUICK = FetchSettings(silence_timeout=0.3, timeout=5, connect_timeout=2, handshake_timeout=1)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop, as the engine does."""
    return uvloop.run(main)


class SystemClock:
    """The real time: what is measured here is real."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class AllowAll:
    def refusal(self, address: str) -> str:
        return ""


@dataclass
class Peer:
    """The server's side of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int

    async def request(self) -> bytes:
        """The head of the next request; b"" when the client is gone."""
        try:
            return await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""

    async def send(self, *pieces: bytes, pause: float = 0.001) -> None:
        """Send pieces, each in a packet of its own."""
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(pause)
            self.writer.write(piece)
            await self.writer.drain()

    async def wait_for_end(self) -> None:
        """Hold the connection until the client ends it."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass

    def reset(self) -> None:
        """End with RST."""
        self.writer.transport.abort()


@dataclass
class Server:
    """A running server.

    Attributes:
        port: Where it listens.
        connections: How many connections it took.
        errors: What its handler raised.
    """

    port: int = 0
    connections: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def url(self, path: str = "/", scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(
    handler: Handler, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Server]:
    """Serve with a handler per connection; it closes when the handler returns."""
    facts = Server()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        facts.connections += 1
        writers.append(writer)
        try:
            await handler(Peer(reader, writer, facts.connections))
        except (ConnectionError, RuntimeError):
            pass  # the client has ended it; uvloop says so by a RuntimeError
        except Exception as error:  # noqa: BLE001 - shown by the test
            facts.errors.append(error)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    facts.port = server.sockets[0].getsockname()[1]
    try:
        yield facts
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)
    assert not facts.errors, facts.errors


@asynccontextmanager
async def fetching(
    guard: Any = None, roots: Path | None = None, spool: Spool | None = None
) -> AsyncIterator[HttpFetcher]:
    """A fetcher that is closed in the end."""
    fetcher = HttpFetcher(SystemClock(), guard or AllowAll(), roots=roots, spool=spool)
    try:
        yield fetcher
    finally:
        await fetcher.close()
        await asyncio.sleep(0.005)


def ask(url: str, **more: Any) -> FetchRequest:
    """A request to 127.0.0.1, whatever the name."""
    more.setdefault("addresses", ("127.0.0.1",))
    return FetchRequest(url, **more)


def fetch_from(
    handler: Handler, count: int = 1, settings: FetchSettings = QUICK, **request: Any
) -> list[FetchResult]:
    """Fetch `/0`, `/1` … one after the other from a server with that handler."""

    async def main() -> list[FetchResult]:
        async with serving(handler) as server, fetching() as fetcher:
            return [
                await fetcher.fetch(ask(server.url(f"/{number}"), **request), settings)
                for number in range(count)
            ]

    return run(main())


def replies(*pieces: bytes, hold: bool = False) -> Handler:
    """A handler that sends the pieces to the first request of each connection, then ends."""

    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(*pieces)
        if hold:
            await peer.wait_for_end()

    return handler


async def polite(peer: Peer) -> None:
    """Answers every request."""
    while await peer.request():
        await peer.send(HELLO)


def capture_of(result: FetchResult) -> Capture:
    """The capture, which must be there."""
    assert result.capture is not None, result
    return result.capture


def wire_bytes(capture: Capture) -> bytes:
    """All bytes of a reply that a capture holds."""
    return capture.interim + capture.head + capture.body.read(0, capture.body.length)


async def relay(
    peer: Peer, port: int, first: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Pass bytes on between a peer and another server, until either ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(first)

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
        except (ConnectionError, RuntimeError):
            pass
        finally:
            sink.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(pump(peer.reader, writer))
        group.create_task(pump(reader, peer.writer))
    return reader, writer


@contextmanager
def no_file_handles() -> Iterator[None]:
    """This process can open no file and no socket meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
