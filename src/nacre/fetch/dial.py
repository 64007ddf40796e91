"""New connections: to an address that the guard allows, or through a proxy, then TLS."""

import asyncio
import os
import ssl
from typing import NamedTuple

from python_socks import ProxyError, ProxyType
from python_socks.async_.asyncio import Proxy as SocksProxy

from nacre.core.clock import Clock
from nacre.core.status import FetchStatus
from nacre.fetch.connection import Connection
from nacre.fetch.message import Origin
from nacre.fetch.proxy import Proxy
from nacre.fetch.race import race
from nacre.fetch.request import Guard
from nacre.fetch.settings import FetchSettings
from nacre.fetch.tls import Tls
from nacre.fetch.tunnel import open_tunnel

_NAME_UNKNOWN = "UNRECOGNIZED_NAME"


class Refusal(NamedTuple):
    """Why there is no connection.

    Attributes:
        status: A negative `FetchStatus`.
        error: Text for the operator.
    """

    status: int
    error: str


class Dialer:
    """Opens connections."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, clock: Clock, guard: Guard, tls: Tls
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._guard = guard
        self._tls = tls

    async def dial(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | Refusal:
        """Connect to an origin at one of the addresses; never raises for what the web does."""
        sni = origin.sni if origin.scheme == "https" else ""
        found = await self._attempt(origin, addresses, settings, sni)
        if isinstance(found, Refusal) and _NAME_UNKNOWN in found.error and settings.tls == "record":
            found = await self._attempt(origin, addresses, settings, "")
        return found

    async def _attempt(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings, sni: str
    ) -> Connection | Refusal:
        try:
            found = await self._connect(origin, addresses, settings)
            if origin.scheme == "https" and isinstance(found, Connection):
                await self._encrypt(found, origin, settings, sni)
                found.tls = self._tls.facts(found.transport, origin.host, sni, self._clock.now())
        except TimeoutError as error:
            return Refusal(FetchStatus.CONNECT_FAILED, str(error) or "timed out")
        except ssl.SSLError as error:
            return Refusal(FetchStatus.CONNECT_FAILED, f"TLS handshake: {describe(error)}")
        except (OSError, ProxyError, ValueError) as error:
            return Refusal(FetchStatus.CONNECT_FAILED, describe(error))
        return found

    async def _connect(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | Refusal:
        limit = settings.connect_timeout
        try:
            async with asyncio.timeout(limit):
                proxy = settings.proxy_server
                if proxy is not None:
                    return await self._through(proxy, origin, addresses, settings)
                return await self._direct(origin.port, addresses, settings)
        except TimeoutError as error:
            raise TimeoutError(str(error) or f"connect: no answer within {limit:g} s") from error

    async def _direct(
        self, port: int, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | Refusal:
        """Connect to the first address that answers, and look at the peer once more."""
        local = (settings.bind_address, 0) if settings.bind_address else None

        async def open_one(address: str) -> Connection:
            _, connection = await self._loop.create_connection(
                Connection, address, port, local_addr=local
            )
            return connection

        connection = await race(addresses, open_one)
        peer = connection.transport.get_extra_info("peername")
        if peer is None:
            connection.abort()
            raise ConnectionResetError("closed as soon as it was open")
        refusal = self._guard.refusal(peer[0])
        if refusal:
            connection.abort()
            return Refusal(FetchStatus.UNFETCHABLE, refusal)
        connection.address, connection.port = peer[0], peer[1]
        return connection

    async def _through(
        self, proxy: Proxy, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection:
        if proxy.kind == "socks5":
            host = addresses[0] if addresses else origin.host
            return await self._socks(proxy, host, origin.port)
        _, connection = await self._loop.create_connection(Connection, proxy.host, proxy.port)
        if proxy.kind == "https":
            await self._upgrade(connection, self._tls.context("strict"), proxy.host, settings)
        if origin.scheme == "https":
            await open_tunnel(connection, proxy, origin.host, origin.port)
        return connection

    async def _socks(self, proxy: Proxy, host: str, port: int) -> Connection:
        """Connect through SOCKS5; the address that was checked, where there is one."""
        client = SocksProxy(
            ProxyType.SOCKS5,
            proxy.host,
            proxy.port,
            username=proxy.username or None,
            password=proxy.password or None,
            rdns=True,
        )
        sock = await client.connect(host, port)
        _, connection = await self._loop.create_connection(Connection, sock=sock)
        return connection

    async def _encrypt(
        self, connection: Connection, origin: Origin, settings: FetchSettings, sni: str
    ) -> None:
        try:
            await self._tls.gate.enter()
        except BaseException:
            connection.abort()
            raise
        name = sni if settings.tls == "record" else origin.host
        await self._upgrade(connection, self._tls.context(settings.tls), name, settings)

    async def _upgrade(
        self, connection: Connection, context: ssl.SSLContext, sni: str, settings: FetchSettings
    ) -> None:
        """Begin TLS on an open connection."""
        limit = settings.handshake_timeout
        try:
            async with asyncio.timeout(limit):
                transport = await self._loop.start_tls(
                    connection.transport, connection, context, server_hostname=sni or None
                )
        except TimeoutError as error:
            connection.abort()
            raise TimeoutError(f"TLS handshake: no answer within {limit:g} s") from error
        except BaseException:
            connection.abort()
            raise
        if transport is None or not connection.alive:
            raise ConnectionResetError("closed in the TLS handshake")
        connection.connection_made(transport)


def describe(error: BaseException) -> str:
    """An error in one line, with the name of its errno where it has one."""
    number = getattr(error, "errno", None)
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    if isinstance(error, ssl.SSLError) or not isinstance(number, int) or number <= 0:
        return text or type(error).__name__
    return f"{os.strerror(number)} (errno {number})"
