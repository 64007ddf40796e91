"""Connections through SOCKS5 proxies. Nothing imports it before one is used: it takes 10 ms."""

import socket

from python_socks import ProxyError, ProxyType
from python_socks.async_.asyncio import Proxy as Client

from nacre.fetch.proxy import Proxy


async def open_socks(proxy: Proxy, host: str, port: int) -> socket.socket:
    """A socket that the proxy has connected to a host.

    Raises:
        OSError: The proxy cannot be reached, refused, or answered what is no SOCKS.
    """
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
