"""New connections: to an address that the guard allows, or through a proxy, then TLS."""

import asyncio
import os
import ssl
from typing import NamedTuple

from nacre.core.clock import Clock
from nacre.core.status import FetchStatus
from nacre.fetch.connection import Connection
from nacre.fetch.message import Origin
from nacre.fetch.proxy import Proxy
from nacre.fetch.race import race
from nacre.fetch.request import Guard
from nacre.fetch.settings import FetchSettings
from nacre.fetch.starvation import is_starvation
from nacre.fetch.tls import Tls
from nacre.fetch.tunnel import open_tunnel

_NAME_ALERTS = ("UNRECOGNIZED_NAME", "HANDSHAKE_FAILURE", "ALERT_INTERNAL_ERROR")
"""What servers send that do not like the name they were asked for."""


class Refusal(NamedTuple):
    """Why there is no connection.

    Attributes:
        status: A negative `FetchStatus`.
        error: Text for the operator.
        starved: The crawler itself had no file handle left; the site was not asked.
    """

    status: int
    error: str
    starved: bool = False


class _NoTls(NamedTuple):
    """A connection whose TLS handshake failed.

    Attributes:
        refusal: What to answer when there is no other way.
        address: The address that was connected to; "" through a proxy.
        by_name: The name sent may be the reason.
    """

    refusal: Refusal
    address: str
    by_name: bool


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
        if origin.scheme != "https":
            found = await self._attempt(origin, addresses, settings, "")
        else:
            found = await self._dial_tls(origin, addresses, settings)
        return found.refusal if isinstance(found, _NoTls) else found

    async def _dial_tls(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | Refusal | _NoTls:
        """Try one address after the other, and once, at one of them, without a name."""
        sni, may_omit = origin.sni, settings.tls == "record"
        while True:
            found = await self._attempt(origin, addresses, settings, sni)
            if isinstance(found, _NoTls) and found.by_name and may_omit:
                may_omit = False
                where = (found.address,) if found.address else addresses
                found = await self._attempt(origin, where, settings, "")
            if not isinstance(found, _NoTls) or found.address not in addresses:
                return found
            addresses = tuple(address for address in addresses if address != found.address)
            if not addresses:
                return found

    async def _attempt(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings, sni: str
    ) -> Connection | Refusal | _NoTls:
        try:
            found = await self._connect(origin, addresses, settings)
        except TimeoutError as error:
            return _failed(settings, str(error) or "timed out")
        except ssl.SSLError as error:
            return _failed(settings, f"TLS handshake: {describe(error)}")
        except (OSError, ValueError) as error:
            return _failed(settings, describe(error), starved=is_starvation(error))
        if origin.scheme == "https" and isinstance(found, Connection):
            return await self._with_tls(found, origin, settings, sni)
        return found

    async def _with_tls(
        self, found: Connection, origin: Origin, settings: FetchSettings, sni: str
    ) -> Connection | _NoTls:
        try:
            await self._encrypt(found, origin, settings, sni)
            found.tls = self._tls.facts(found.transport, origin.host, sni, self._clock.now())
        except (OSError, ValueError) as error:
            found.abort()
            text = str(error) if isinstance(error, TimeoutError) else describe(error)
            if isinstance(error, ssl.SSLError):
                text = f"TLS handshake: {text}"
            refusal = Refusal(FetchStatus.CONNECT_FAILED, text)
            return _NoTls(refusal, found.address, bool(sni) and _may_be_the_name(error))
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
        from nacre.fetch.socks import open_socks  # noqa: PLC0415 - slow, and seldom used

        sock = await open_socks(proxy, host, port)
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
        if not connection.alive:
            # uvloop would wait for a handshake all the same, and print a traceback.
            connection.abort()
            raise ConnectionResetError("it spoke or closed before the TLS handshake")
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


def _failed(settings: FetchSettings, text: str, *, starved: bool = False) -> Refusal:
    """No connection; through a proxy it is the proxy that was not reached, or did not reach."""
    proxy = settings.proxy_server
    if proxy is not None and not starved:
        text = f"proxy {proxy.host}:{proxy.port}: {text}"
    return Refusal(FetchStatus.CONNECT_FAILED, text, starved)


def _may_be_the_name(error: Exception) -> bool:
    """An alert about the name, or a connection that was just closed."""
    if isinstance(error, ssl.SSLEOFError | ConnectionError):
        return True
    return isinstance(error, ssl.SSLError) and any(
        alert in (error.reason or "") for alert in _NAME_ALERTS
    )


def describe(error: BaseException) -> str:
    """An error in one line, with the name of its errno where it has one."""
    number = getattr(error, "errno", None)
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    if isinstance(error, ssl.SSLError) or not isinstance(number, int) or number <= 0:
        return text or type(error).__name__
    return f"{os.strerror(number)} (errno {number})"
