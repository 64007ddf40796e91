"""One question to one DNS server: by UDP, and by TCP when the reply does not fit."""

import asyncio
import secrets
from ipaddress import ip_address
from typing import NamedTuple, cast

from nacre.fetch.dns_message import Name, Reply, build_query, parse_reply


class Server(NamedTuple):
    """A DNS server: its IP address (an IPv6 one perhaps with a zone) and its port."""

    address: str
    port: int = 53


def parse_server(text: str) -> Server:
    """Read `IP` or `IP:PORT`, with an IPv6 address in brackets before a port.

    Raises:
        ValueError: It is neither; the message says what is expected.
    """
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        ip_address(host)
        server = Server(host, int(port or 53))
    except ValueError:
        server = Server(host, 0)
    if not 0 < server.port < 65536:
        raise ValueError(f"{text!r} is no DNS server; write IP, IP:PORT or [IPv6]:PORT")
    return server


class _Datagrams(asyncio.DatagramProtocol):
    """Waits for the reply to a query; what is no reply to it is not looked at."""

    def __init__(self, query: bytes) -> None:
        self._query = query
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: object) -> None:
        reply = parse_reply(data, self._query)
        if reply and not self.reply.done():
            self.reply.set_result(reply)

    def error_received(self, exc: Exception) -> None:
        if not self.reply.done():
            self.reply.set_exception(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        self.error_received(exc or ConnectionResetError("closed"))


async def exchange(server: Server, name: Name, kind: int) -> Reply:
    """Ask once, from a port of its own and with an unguessable number.

    The caller limits the time.

    Raises:
        OSError: The server cannot be reached, or hung up.
    """
    query = build_query(secrets.token_bytes(2), name, kind)
    reply = await _by_udp(server, query)
    return await _by_tcp(server, query) if reply.truncated else reply


async def _by_udp(server: Server, query: bytes) -> Reply:
    transport, protocol = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Datagrams(query), remote_addr=server
    )
    try:
        transport.sendto(query)
        return await protocol.reply
    finally:
        protocol.reply.cancel()
        transport.close()


async def _by_tcp(server: Server, query: bytes) -> Reply:
    reader, writer = await asyncio.open_connection(*server)
    try:
        writer.write(len(query).to_bytes(2, "big") + query)
        length = int.from_bytes(await reader.readexactly(2), "big")
        reply = parse_reply(await reader.readexactly(length), query)
    except asyncio.IncompleteReadError as error:
        raise ConnectionResetError("the DNS server hung up") from error
    finally:
        cast("asyncio.Transport", writer.transport).abort()
    if reply is None:
        raise ConnectionResetError("the DNS server sent what is no reply")
    return reply
