"""Proxies: their settings, tunnels through HTTP proxies (CONNECT), and SOCKS5.

Neither the request for a tunnel nor its reply is recorded.
"""

import asyncio
import socket
from base64 import b64encode
from functools import lru_cache
from typing import Literal, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from nacre.fetch.connection import Connection
from nacre.messages import message
from nacre.wire.head import header_lines, request_head
from nacre.wire.http1 import ReplyReader

ProxyKind = Literal["http", "https", "socks5"]

_PORTS = {"http": 3128, "https": 443, "socks5": 1080}


class Proxy(NamedTuple):
    """A proxy.

    Attributes:
        kind: `http`, `https` (TLS to the proxy) or `socks5`.
        host: Its name or address.
        port: Its port.
        username: "" for none.
        password: "" for none.
    """

    kind: ProxyKind
    host: str
    port: int
    username: str = ""
    password: str = ""


@lru_cache(maxsize=64)
def parse_proxy(url: str) -> Proxy:
    """Read a proxy URL.

    Raises:
        ValueError: The text is no proxy; the message contains the expected form.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError(
            message(
                "fetch.not-proxy",
                "not a proxy; write http://HOST:PORT, https://... or socks5://...",
            )
        )
    return Proxy(
        cast("ProxyKind", parts.scheme),
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def proxy_authorization(proxy: Proxy) -> bytes:
    """Return the Proxy-Authorization line; b"" without a user."""
    if not proxy.username:
        return b""
    pair = f"{proxy.username}:{proxy.password}".encode()
    return b"Proxy-Authorization: Basic %b\r\n" % b64encode(pair)


async def open_tunnel(connection: Connection, proxy: Proxy, host: str, port: int) -> None:
    """Ask an HTTP proxy for a tunnel to a host.

    Raises:
        ConnectionError: The proxy refused, or its answer is no valid reply.
    """
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = header_lines([("Host", name)]) + proxy_authorization(proxy)
    tunnel = ProxyTunnel(asyncio.get_running_loop())
    connection.start(tunnel, request_head("CONNECT", name, lines))
    try:
        await tunnel.done
    except BaseException:
        connection.abort()
        raise
    finally:
        connection.release()


class ProxyTunnel:
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


async def open_socks(proxy: Proxy, host: str, port: int) -> socket.socket:
    """Return a socket that the proxy has connected to a host.

    Raises:
        OSError: The proxy cannot be reached, refused, or its answer is not SOCKS.
    """
    # Nothing loads the library before such a proxy is used: it takes 10 ms.
    from python_socks import ProxyError, ProxyType  # noqa: PLC0415
    from python_socks.async_.asyncio import Proxy as Client  # noqa: PLC0415

    client = Client(
        ProxyType.SOCKS5,
        proxy.host,
        proxy.port,
        username=proxy.username or None,
        password=proxy.password or None,
        rdns=True,
    )
    try:
        return await client.connect(host, port)
    except ProxyError as error:
        raise ConnectionError(str(error)) from error
