"""Tunnels through HTTP proxies (CONNECT). Neither request nor reply is recorded."""

import asyncio

from nacre.fetch.connection import Connection
from nacre.fetch.proxy import Proxy, proxy_authorization
from nacre.wire.http1 import ReplyReader
from nacre.wire.request import header_lines, request_head


async def open_tunnel(connection: Connection, proxy: Proxy, host: str, port: int) -> None:
    """Ask an HTTP proxy for a tunnel to a host.

    Raises:
        ConnectionError: It refused, or answered what is no reply.
    """
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = header_lines([("Host", name)]) + proxy_authorization(proxy)
    tunnel = Tunnel(asyncio.get_running_loop())
    connection.start(tunnel, request_head("CONNECT", name, lines))
    try:
        await tunnel.done
    except BaseException:
        connection.abort()
        raise
    finally:
        connection.release()


class Tunnel:
    """Waits for the proxy's word."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.done: asyncio.Future[None] = loop.create_future()
        self._reader = ReplyReader("CONNECT")

    @property
    def over(self) -> bool:
        """See `Conversation`."""
        return self.done.done()

    def begin(self, transport: asyncio.Transport) -> None:
        """See `Conversation`."""

    def received(self, data: bytes) -> None:
        """See `Conversation`."""
        reader = self._reader
        reader.feed(data)
        if not reader.status and not reader.complete:
            return
        if 200 <= reader.status < 300 and not reader.excess and reader.framing == "none":
            self.done.set_result(None)
        else:
            self._refuse(f"no tunnel, status {reader.status or reader.failure}")

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        """See `Conversation`."""
        self._refuse(f"closed, {error}" if error else "closed without a reply")

    def fail(self, error: BaseException) -> None:
        """See `Conversation`."""
        self._refuse(str(error))

    def _refuse(self, text: str) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError(text))
