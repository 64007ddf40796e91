"""A site on many addresses whose servers send replies that nobody asked for, at random moments."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_LONGEST = 0.03


def body_of(host: str, number: int, pages: int) -> bytes:
    """A page like no other; each links to two more, so that a lost one loses all behind it."""
    links = [n for n in (2 * number + 1, 2 * number + 2) if n < pages]
    anchors = "".join(f'<a href="/{n}.html">{n}</a>' for n in links)
    return f"<html><title>{host} {number}</title><body>{anchors}</body></html>".encode()


def path_of(number: int) -> str:
    return f"/{number}.html" if number else "/"


class LateServers:
    """Keep-alive servers; each answers all requests in order, and sometimes more.

    Args:
        hosts: Their addresses.
        pages: Pages of each.
        share: Share of replies with which another one comes, unasked.
        seed: For the random moments.
        everywhere: They come on connections that carried nothing before, too.

    Attributes:
        port: Their port.
        share: As given; may be changed.
        unasked: Replies that nobody had asked for.
        requests: Requests in all.
    """

    def __init__(
        self, hosts: list[str], pages: int, share: float, seed: int, *, everywhere: bool
    ) -> None:
        self.hosts = hosts
        self.pages = pages
        self.port = 0
        self.unasked = self.requests = 0
        self.share = share
        self._sent: dict[str, list[bytes]] | None = {} if everywhere else None
        self._random = random.Random(seed)

    def expected(self) -> dict[str, bytes]:
        """The body of each URL."""
        return {
            f"http://{host}:{self.port}{path_of(n)}": body_of(host, n, self.pages)
            for host in self.hosts
            for n in range(self.pages)
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        before: list[bytes] = []
        if self._sent is not None:
            before = self._sent.setdefault(host, before)
        try:
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
                self.requests += 1
                reply = self._reply(host, path)
                await self._send(writer, reply, before)
                before.append(reply)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _reply(self, host: str, path: str) -> bytes:
        name = path.strip("/").removesuffix(".html") or "0"
        if not name.isdigit() or int(name) >= self.pages:
            return b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
        body = body_of(host, int(name), self.pages)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
        return head % len(body) + body

    async def _send(self, writer: asyncio.StreamWriter, reply: bytes, before: list[bytes]) -> None:
        if not before or self._random.random() >= self.share:
            writer.write(reply)
            return
        self.unasked += 1
        late = self._random.choice(before)
        moment = self._random.random() * _LONGEST
        match self._random.randrange(4):
            case 0:  # both at once, the late one first
                writer.write(late + reply)
            case 1:  # the true one comes when the late one was taken for it
                writer.write(late)
                await asyncio.sleep(moment)
                writer.write(reply)
            case 2:  # both at once, the true one first
                writer.write(reply + late)
            case _:  # on the idle connection, or behind the next request
                writer.write(reply)
                await asyncio.sleep(moment)
                writer.write(late)


@asynccontextmanager
async def late_servers(
    hosts: list[str], pages: int, *, share: float, seed: int = 1, everywhere: bool = False
) -> AsyncIterator[LateServers]:
    """Servers on one port of all these addresses."""
    servers = LateServers(hosts, pages, share, seed, everywhere=everywhere)
    first = await asyncio.start_server(servers.serve, hosts[0], 0)
    servers.port = first.sockets[0].getsockname()[1]
    async with first:
        others = hosts[1:]
        if not others:
            yield servers
            return
        async with await asyncio.start_server(servers.serve, others, servers.port):
            yield servers
