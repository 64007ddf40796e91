"""A recording that runs in a test, and a server that notes the bytes of each exchange."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from nacre.archive.reader import WarcReader
from nacre.core.states import ExitStatus
from nacre.job.job import Job
from nacre.job.recording import Recorder
from nacre.ops.record import RecordRequest, prepare_recording

Reply = Callable[[bytes], bytes]


class Recording:
    """A recording that runs.

    Attributes:
        port: Port of the proxy.
        key: Key of clients.
        authority: Certificate of the proxy, PEM.
        job: The job.
    """

    def __init__(self, root: Path, request: RecordRequest) -> None:
        prepared = prepare_recording(request, root)
        self.plan = prepared.plan
        self.port = self.plan.sock.getsockname()[1]
        self.key = self.plan.key
        self.authority = prepared.certificate.read_text()
        loaded = prepared.loaded
        self.job = Job(
            root,
            loaded.settings,
            origin=loaded.origin,
            companion=lambda session: Recorder(session, self.plan),
        )

    async def fetch(
        self, url: str, *, method: str = "GET", headers: str = "", body: bytes = b""
    ) -> bytes:
        """All bytes of a reply, on its own connection to the proxy."""
        scheme, _, after = url.partition("://")
        authority, slash, path = after.partition("/")
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        target = url
        if scheme == "https":
            writer.write(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            context = ssl.create_default_context(cadata=self.authority)
            await writer.start_tls(context, server_hostname=authority.partition(":")[0])
            target = slash + path
        head = f"{method} {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{headers}"
        writer.write(head.encode() + b"\r\n" + body)
        try:
            return await asyncio.wait_for(reader.read(), 100)
        except ConnectionError:
            return b""
        finally:
            writer.transport.abort()
            await asyncio.sleep(0)


@asynccontextmanager
async def recording(root: Path, **options: object) -> AsyncIterator[Recording]:
    """Record meanwhile; all is stored when it ends."""
    options = {"listen": "127.0.0.1:0", "allow_private": True} | options
    running = Recording(root, RecordRequest(**options))  # type: ignore[arg-type]
    task = asyncio.create_task(running.job.run())
    try:
        yield running
    finally:
        while running.job.session is None and not task.done():  # noqa: ASYNC110 - it starts
            await asyncio.sleep(0.01)
        if running.job.session is not None:
            running.job.session.stop(ExitStatus.INTERRUPTED)
        assert await asyncio.wait_for(task, 200) is ExitStatus.INTERRUPTED
        running.plan.sock.close()


class Site:
    """A server that notes what it receives and sends.

    Attributes:
        exchanges: Request and reply of each exchange, as they crossed the wire.
        port: Its port.
    """

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.exchanges: list[tuple[bytes, bytes]] = []
        self.port = 0

    def url(self, path: str, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            length = request.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            request += await reader.readexactly(int(length or 0))
            reply = self._reply(request)
            self.exchanges.append((request, reply))
            writer.write(reply)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving_site(reply: Reply, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site(reply)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await asyncio.sleep(0.01)


def blocks(root: Path) -> Iterator[tuple[str, str, bytes]]:
    """Type, URL and block of each record of all WARCs of a job, in order."""
    for path in sorted(root.glob("runs/*/archive/*.warc.gz")):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                yield (
                    entry.get("WARC-Type") or "",
                    entry.get("WARC-Target-URI") or "",
                    b"".join(iter(entry.read, b"")),
                )
