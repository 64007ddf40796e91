"""New connections: to an address that the guard allows, or through a proxy, then TLS.

Of several addresses a new one is tried each 250 ms, and the first to connect wins (RFC 8305, which
uvloop does not have).
"""

import asyncio
import os
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from nacre.core.clock import Clock
from nacre.core.status import FetchStatus
from nacre.fetch.connection import Connection
from nacre.fetch.proxy import Proxy, open_socks, open_tunnel
from nacre.fetch.request import Guard, Origin, is_starvation
from nacre.fetch.settings import FetchSettings
from nacre.fetch.tls import Tls
from nacre.messages import message

STAGGER = 0.25
"""Seconds between the beginnings of two attempts, unless one fails earlier."""

Open = Callable[[str], Awaitable[Connection]]


async def race(addresses: Sequence[str], open_one: Open, stagger: float = STAGGER) -> Connection:
    """Connect to the first address that answers; the losers are aborted.

    Raises:
        OSError: No attempt succeeded: the most telling error, of several the first.
    """
    if len(addresses) == 1:
        return await open_one(addresses[0])
    outcomes: list[Connection | OSError] = []
    try:
        async with asyncio.TaskGroup() as group:
            await _run(group, addresses, open_one, outcomes, stagger)
    except BaseException:
        _abort(outcomes)
        raise
    winners = [outcome for outcome in outcomes if isinstance(outcome, Connection)]
    if not winners:
        errors = [outcome for outcome in outcomes if isinstance(outcome, OSError)]
        raise max(errors, key=weigh)
    _abort(winners[1:])
    return winners[0]


async def _run(
    group: asyncio.TaskGroup,
    addresses: Sequence[str],
    open_one: Open,
    outcomes: list[Connection | OSError],
    stagger: float,
) -> None:
    """Start the attempts; cancel the others when one succeeds."""

    async def attempt(address: str) -> None:
        try:
            outcomes.append(await open_one(address))
        except OSError as error:
            outcomes.append(error)

    waiting = deque(addresses)
    pending: set[asyncio.Task[None]] = set()
    while waiting or pending:
        if waiting:
            pending.add(group.create_task(attempt(waiting.popleft())))
        _, pending = await asyncio.wait(
            pending,
            timeout=stagger if waiting else None,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if any(isinstance(outcome, Connection) for outcome in outcomes):
            break
    for task in pending:
        task.cancel()


def _abort(outcomes: Sequence[Connection | OSError]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Connection):
            outcome.abort()


_HANDSHAKE: Final = "TLS handshake: "
_NAME_ALERTS = ("UNRECOGNIZED_NAME", "HANDSHAKE_FAILURE", "ALERT_INTERNAL_ERROR")
"""Alerts of servers that do not accept the requested name."""


class ConnectFailure(NamedTuple):
    """A failure to connect: a status and the reason.

    Attributes:
        status: A negative `FetchStatus`.
        error: Text for the operator.
        starved: Whether the crawler had no file handle left; no request was sent.
        refused: Whether the guard refuses the address.
        weight: How much it says about the server; see `weigh`.
    """

    status: int
    error: str
    starved: bool = False
    refused: bool = False
    weight: int = 0


class _NoTls(NamedTuple):
    """A connection whose TLS handshake failed.

    Attributes:
        refusal: What to answer when there is no other way.
        address: The address that was connected to; "" through a proxy.
        by_name: The name sent may be the reason.
    """

    refusal: ConnectFailure
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
        self._handshakes = tls.gate

    async def dial(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | ConnectFailure:
        """Connect to an origin at one of the addresses; failures of the web are results."""
        if origin.scheme != "https":
            outcome = await self._attempt(origin, addresses, settings, "")
        else:
            outcome = await self._dial_tls(origin, addresses, settings)
        return outcome.refusal if isinstance(outcome, _NoTls) else outcome

    async def _dial_tls(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | ConnectFailure:
        """Try one address after the other, and once, at one of them, without a name.

        If all fail, the most telling failure is returned, of several the first.
        """
        sni, may_omit = origin.sni, settings.tls == "record"
        failures: list[ConnectFailure] = []
        while True:
            outcome = await self._attempt(origin, addresses, settings, sni)
            if isinstance(outcome, _NoTls) and outcome.by_name and may_omit:
                may_omit = False
                failures.append(outcome.refusal)
                where = (outcome.address,) if outcome.address else addresses
                outcome = await self._attempt(origin, where, settings, "")
            if isinstance(outcome, Connection):
                return outcome
            tried = outcome.address if isinstance(outcome, _NoTls) else ""
            failures.append(outcome.refusal if isinstance(outcome, _NoTls) else outcome)
            left = tuple(address for address in addresses if address != tried)
            if not left or left == addresses:
                return max(failures, key=lambda failure: failure.weight)
            addresses = left

    async def _attempt(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings, sni: str
    ) -> Connection | ConnectFailure | _NoTls:
        try:
            outcome = await self._connect(origin, addresses, settings)
        except TimeoutError as error:
            return _failure(settings, str(error) or "timed out", error)
        except ssl.SSLError as error:
            return _failure(settings, f"{_HANDSHAKE}{describe(error)}", error)
        except (OSError, ValueError) as error:
            return _failure(settings, describe(error), error)
        if origin.scheme == "https" and isinstance(outcome, Connection):
            return await self._with_tls(outcome, origin, settings, sni)
        return outcome

    async def _with_tls(
        self, connection: Connection, origin: Origin, settings: FetchSettings, sni: str
    ) -> Connection | _NoTls:
        try:
            await self._encrypt(connection, origin, settings, sni)
            facts = self._tls.facts(connection.transport, origin.host, sni, self._clock.now())
            connection.take_tls(facts)
        except (OSError, ValueError) as error:
            connection.abort()
            text = str(error) if isinstance(error, TimeoutError) else describe(error)
            if isinstance(error, ssl.SSLError):
                text = f"{_HANDSHAKE}{text}"
            refusal = ConnectFailure(FetchStatus.CONNECT_FAILED, text, weight=weigh(error))
            return _NoTls(refusal, connection.address, bool(sni) and _may_be_the_name(error))
        return connection

    async def _connect(
        self, origin: Origin, addresses: tuple[str, ...], settings: FetchSettings
    ) -> Connection | ConnectFailure:
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
    ) -> Connection | ConnectFailure:
        """Connect to the first address that answers, and check the peer's address again."""
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
            raise ConnectionResetError(
                message("fetch.closed-at-once", "closed as soon as it was open")
            )
        refusal = self._guard.refusal(peer[0])
        if refusal:
            connection.abort()
            return ConnectFailure(FetchStatus.UNFETCHABLE, refusal, refused=True, weight=_MOST)
        connection.set_peer(peer[0], peer[1])
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
        """Connect through SOCKS5, to the checked address if there is one."""
        sock = await open_socks(proxy, host, port)
        _, connection = await self._loop.create_connection(Connection, sock=sock)
        return connection

    async def _encrypt(
        self, connection: Connection, origin: Origin, settings: FetchSettings, sni: str
    ) -> None:
        try:
            await self._handshakes.enter()
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
            # uvloop would wait for a handshake anyway, and print a traceback.
            connection.abort()
            raise ConnectionResetError(
                message(
                    "fetch.closed-before-tls",
                    "the server sent data or closed the connection before the TLS handshake",
                )
            )
        limit = settings.handshake_timeout
        try:
            async with asyncio.timeout(limit):
                transport = await self._loop.start_tls(
                    connection.transport, connection, context, server_hostname=sni or None
                )
        except TimeoutError as error:
            connection.abort()
            raise TimeoutError(f"{_HANDSHAKE}no answer within {limit:g} s") from error
        except BaseException:
            connection.abort()
            raise
        if transport is None or not connection.alive:
            raise ConnectionResetError(
                message("fetch.closed-in-tls-handshake", "closed in the TLS handshake")
            )
        connection.connection_made(transport)


def _failure(settings: FetchSettings, text: str, error: Exception) -> ConnectFailure:
    """No connection; through a proxy it is the proxy that was not reached, or did not reach."""
    proxy, starved = settings.proxy_server, is_starvation(error)
    if proxy is not None and not starved:
        text = f"proxy {proxy.host}:{proxy.port}: {text}"
    return ConnectFailure(FetchStatus.CONNECT_FAILED, text, starved, weight=weigh(error))


_BY_WEIGHT: Final[tuple[tuple[type[Exception], ...], ...]] = (
    (ConnectionRefusedError,),
    (TimeoutError,),
    (ConnectionResetError, ConnectionAbortedError, BrokenPipeError),
    (ssl.SSLError,),
)
"""Errors from a host that answers least to a server that answers most; others are below."""
_MOST: Final = len(_BY_WEIGHT) + 1


def weigh(error: Exception) -> int:
    """Return how much an error says about the server, to choose one of several addresses.

    A failed TLS handshake is above a reset, a timeout, a refused connection, and a network that
    cannot be reached, in this order. A lack of file handles, which is the crawler's, is above all.
    """
    if is_starvation(error):
        return _MOST
    ranks = (rank for rank, kinds in enumerate(_BY_WEIGHT, 1) if isinstance(error, kinds))
    return next(ranks, 0)


def _may_be_the_name(error: Exception) -> bool:
    """An alert about the name, or a connection that was just closed."""
    if isinstance(error, ssl.SSLEOFError | ConnectionError):
        return True
    return isinstance(error, ssl.SSLError) and any(
        alert in (error.reason or "") for alert in _NAME_ALERTS
    )


def is_certificate_refusal(text: str) -> bool:
    """Whether the text of a failure says that the certificate of a server was refused."""
    return text.startswith(_HANDSHAKE) and "CERTIFICATE_VERIFY_FAILED" in text


def describe(error: BaseException) -> str:
    """Return an error in one line, with the name of its errno where it has one."""
    number = getattr(error, "errno", None)
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    if isinstance(error, ssl.SSLError) or not isinstance(number, int) or number <= 0:
        return text or type(error).__name__
    return f"{os.strerror(number)} (errno {number})"
