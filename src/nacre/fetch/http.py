"""The fetcher: one URL over HTTP/1.1, on a connection of its pool or a new one, to a capture."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nacre.annotations import (
    ADDRESS_REFUSED,
    HEADER_CUT,
    HEADER_TRUNCATED,
    LENGTH_TRUNCATED,
    NO_REPLY,
    TIME_TRUNCATED,
    TLS_NO_CLOSE_NOTIFY,
    TLS_ON_PLAIN_PORT,
    TOO_MANY_INTERIM,
    UNASKED_REPLY,
)
from nacre.core.capture import Capture, Trust
from nacre.core.clock import Clock
from nacre.core.status import FetchStatus
from nacre.fetch.auth import Authenticator, without_values
from nacre.fetch.connection import Connection, PoolKey
from nacre.fetch.dial import ConnectFailure, Dialer, describe
from nacre.fetch.digest import STEP, digest_capture
from nacre.fetch.exchange import (
    Deadlines,
    Doubted,
    Exchange,
    ExchangeEnd,
    Throttle,
    doubt,
    is_foreign,
)
from nacre.fetch.pool import Pool
from nacre.fetch.proxy import proxy_authorization
from nacre.fetch.request import FetchRequest, FetchResult, Guard, Origin, request_bytes, split_url
from nacre.fetch.settings import Credential, FetchSettings
from nacre.fetch.spool import Spool
from nacre.fetch.tap import Tap, deliver
from nacre.fetch.tls import Tls
from nacre.wire.http1 import ReplyReader
from nacre.wire.message_signatures import has_signature, with_lines

_COMPLETE, _CLOSED = (
    ExchangeEnd.COMPLETE,
    ExchangeEnd.CLOSED,
)  # the way to a member of an enumeration is long

_MOST_DOUBTS = 3
"""How often a request is repeated at most, if unsolicited bytes arrive each time."""
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
_REASONS = {
    ExchangeEnd.SILENT: ("time", TIME_TRUNCATED),
    ExchangeEnd.OVERTIME: ("time", TIME_TRUNCATED),
    ExchangeEnd.CUT: ("length", LENGTH_TRUNCATED),
}


class _Plan(NamedTuple):
    """One request, ready to go.

    Attributes:
        request: The request.
        settings: Effective settings.
        origin: The origin of the request.
        message: The bytes to send.
        addresses: Candidates that the guard allows.
        deadline: End of the whole fetch, in the time of the loop.
        began: Start, µs since the epoch.
        started: Start, monotonic seconds.
        recorded: The message as it is archived, where that differs: without secrets.
    """

    request: FetchRequest
    settings: FetchSettings
    origin: Origin
    message: bytes
    addresses: tuple[str, ...]
    deadline: float
    began: int
    started: float
    recorded: bytes = b""


class HttpFetcher:
    """Fetches over HTTP/1.1. Make it inside the loop that uses it, and close it there.

    Attributes:
        throttle: Limits of bandwidth.
    """

    def __init__(
        self,
        clock: Clock,
        guard: Guard,
        *,
        spool: Spool | None = None,
        roots: Path | None = None,
        logins: Sequence[Credential] = (),
        machine: Clock | None = None,
    ) -> None:
        """Prepare; nothing is opened yet.

        Args:
            clock: Gives the times of captures; limits run on the time of the loop.
            guard: Determines which addresses may be connected to.
            spool: Stores bodies; None: a new spool with the defaults.
            roots: PEM file of root certificates; None for the system's.
            logins: Names and passwords beside those of the settings; the list may grow.
            machine: The time at which certificates have to be valid; None: that of `clock`.
        """
        self._logins = logins
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        self._guard = guard
        self._spool = spool or Spool()
        self._pool = Pool()
        self._deadlines = Deadlines(self._loop)
        self.throttle = Throttle()
        self._auth = Authenticator()
        self._dialer = Dialer(self._loop, machine or clock, guard, Tls(self._loop, roots))

    async def fetch(self, request: FetchRequest, settings: FetchSettings) -> FetchResult:
        """Fetch one URL. What goes wrong on the web is a status, never an exception.

        Raises:
            StorageError: The scratch folder could not take the body.
        """
        if self.throttle.total:
            await self._clock.sleep(self.throttle.wait(self._loop.time()))
        if not settings.credentials and not self._logins:
            result = await self._fetch(request, settings)
        else:
            result = await self._fetch_with_logins(request, settings)
        tap = request.tap
        if tap is not None and not tap.has_begun and result.capture is not None:
            await deliver(result.capture, tap)
        return result

    async def _fetch_with_logins(
        self, request: FetchRequest, settings: FetchSettings
    ) -> FetchResult:
        try:
            origin, target = split_url(request.url)
        except ValueError as error:
            return FetchResult(FetchStatus.UNFETCHABLE, error=f"cannot be requested: {error}")
        return await self._auth.fetch(
            origin,
            (request.method, target),
            (*settings.credentials, *self._logins),
            lambda lines: self._fetch(request, settings, lines),
        )

    async def _fetch(
        self, request: FetchRequest, settings: FetchSettings, extra: bytes = b""
    ) -> FetchResult:
        """Fetch once, with header lines added."""
        plan = self._plan(request, settings, extra)
        if isinstance(plan, ConnectFailure):
            return _without_reply(plan)
        return await self._converse(plan, self._idle(plan))

    async def _converse(self, plan: _Plan, idle: Connection | None) -> FetchResult:
        """Ask, on an idle connection or a new one; again where the reply may be another's."""
        doubted: Doubted | None = None
        tries_left = _MOST_DOUBTS if plan.request.method in _REPEATABLE else 0
        while True:
            connection = idle or await self._dial(plan)
            if isinstance(connection, ConnectFailure):
                if doubted is not None:
                    self._accuse(doubted)
                return _without_reply(connection)
            used, idle = idle is not None, None
            sent = _signed(plan)
            exchange, end = await self._exchange(sent, connection)
            explained = doubted is not None and doubted.is_explained_by(exchange)
            if doubted is not None and not explained:
                self._accuse(doubted)
                exchange.annotate(UNASKED_REPLY)
            if used and not exchange.first_byte and end is _CLOSED:
                connection.abort()  # it ended while it rested
            elif tries_left and not explained and is_foreign(exchange, used=used):
                if exchange.is_passed_on:
                    self._pool.distrust(connection.key)
                    return await self._finish(sent, connection, exchange, end)
                tries_left -= 1
                doubted = doubt(connection, exchange)
            else:
                return await self._finish(sent, connection, exchange, end)

    def _accuse(self, doubted: Doubted) -> None:
        """The surplus belongs to another request, and so may all since the last quiet moment."""
        self._pool.distrust(doubted.connection.key)
        self._pool.accuse(doubted.connection, by_reply=doubted.reader.reply_behind)

    async def settle(self) -> None:
        """Before the end: check whether an accepted reply belongs to another request."""
        await self._pool.settle()

    async def close(self) -> None:
        """Abort the idle connections; running fetches end by cancelling them."""
        self._pool.close()
        self._deadlines.close()
        await asyncio.sleep(0)

    def _plan(
        self, request: FetchRequest, settings: FetchSettings, extra: bytes
    ) -> _Plan | ConnectFailure:
        """Check the request, and make the bytes to send."""
        began, started = self._clock.now(), self._clock.monotonic()
        proxy = settings.proxy_server
        forwarded = proxy is not None and proxy.kind != "socks5"
        try:
            origin, target = split_url(request.url)
            if proxy and forwarded and origin.scheme == "http":
                target = f"http://{origin.authority}{target}"
                extra += proxy_authorization(proxy)
            message = request_bytes(request, settings, origin, target, extra)
        except ValueError as error:
            return ConnectFailure(FetchStatus.UNFETCHABLE, f"cannot be requested: {error}")
        allowed = self._allowed_addresses(request.addresses, whole=proxy is not None)
        if isinstance(allowed, ConnectFailure):
            if origin.is_address:
                return allowed
            return allowed._replace(error=f"{origin.host}: {allowed.error}")
        recorded = message.replace(extra, without_values(extra), 1) if extra else b""
        return _Plan(
            request, settings, origin, message, allowed, self._loop.time() + settings.timeout,
            int(began * 1_000_000), started, recorded,
        )  # fmt: skip

    def _allowed_addresses(
        self, addresses: tuple[str, ...], *, whole: bool
    ) -> tuple[str, ...] | ConnectFailure:
        """Return the addresses that the guard allows; with `whole`, none if one is refused."""
        if len(addresses) == 1 and not self._guard.refusal(addresses[0]):
            return addresses
        refusals = [self._guard.refusal(address) for address in addresses]
        refused = [text for text in refusals if text]
        if not refused:
            if addresses or whole:
                return addresses
            return ConnectFailure(FetchStatus.UNFETCHABLE, "no address to connect to")
        if whole or len(refused) == len(addresses):
            return ConnectFailure(FetchStatus.UNFETCHABLE, refused[0], refused=True)
        return tuple(a for a, text in zip(addresses, refusals, strict=True) if not text)

    def _idle(self, plan: _Plan) -> Connection | None:
        """Return an idle connection to the origin; only for requests that may be sent twice."""
        request = plan.request
        is_alone = request.fresh or bool(request.upgrade)
        if is_alone or request.method not in _REPEATABLE or not len(self._pool):
            return None
        now = self._loop.time()
        for address in plan.addresses or ("",):
            connection = self._pool.take(_key(plan, address), now)
            if connection is not None:
                return connection
        return None

    async def _dial(self, plan: _Plan) -> Connection | ConnectFailure:
        limit = asyncio.timeout_at(plan.deadline)
        try:
            async with limit:
                outcome = await self._dialer.dial(plan.origin, plan.addresses, plan.settings)
        except TimeoutError:
            return ConnectFailure(
                FetchStatus.TIMEOUT, f"no reply within {plan.settings.timeout:g} s"
            )
        if isinstance(outcome, Connection):
            outcome.serve(_key(plan, outcome.address))
            outcome.listen(self._pool.surplus)
        return outcome

    async def _exchange(self, plan: _Plan, connection: Connection) -> tuple[Exchange, ExchangeEnd]:
        settings = plan.settings
        reader = ReplyReader(
            plan.request.method, max_header=settings.max_header, max_body=settings.max_length
        )
        request, tap = plan.request, None
        if request.tap is not None:
            tap = Tap(
                request.tap,
                holds_challenges=bool(settings.credentials or self._logins),
                used=connection.uses > 0,
                upgrade=bool(request.upgrade),
            )
        has_doubts = connection.has_socket and request.method in _REPEATABLE and tap is None
        exchange = Exchange(
            self._clock, reader, self._spool.sink(), settings,
            deadlines=self._deadlines, deadline=plan.deadline, check=plan.request.check,
            meter=self.throttle.meter(
                plan.origin.host, plan.request.host_rate, self._loop.time()
            ),
            trust=Trust(first=not connection.uses) if has_doubts else None,
            tap=tap,
        )  # fmt: skip
        connection.start(exchange, plan.message, exchange.trust)
        try:
            return exchange, await exchange.done
        except BaseException:
            connection.abort()
            exchange.give_up()
            raise

    async def _finish(
        self, plan: _Plan, connection: Connection, exchange: Exchange, end: ExchangeEnd
    ) -> FetchResult:
        """Return the connection to the pool or close it, and return the result of the exchange."""
        reader = exchange.reader
        if exchange.first_byte:
            connection.note_wait(exchange.first_byte - exchange.sent)
        if exchange.is_switched:
            pass  # the browser has the connection
        elif end is _COMPLETE and reader.reusable and not plan.request.fresh:
            self._pool.put(connection, self._loop.time())
        elif end is _COMPLETE and not reader.truncated:
            self._pool.linger(connection, self._loop.time())
        else:
            connection.abort()
        if end is not _COMPLETE and end in _REASONS and reader.status:
            reason, annotation = _REASONS[end]
            exchange.annotate(annotation)
            reader.stop(reason)
        if exchange.tap is not None:
            exchange.tap.finish(reader)
        if not reader.status:
            exchange.sink.discard()
            return _no_reply(plan, exchange, end)
        if end is _CLOSED and connection.tls and _lacks_close_notify(exchange):
            exchange.annotate(TLS_NO_CLOSE_NOTIFY)
        ended = self._clock.monotonic()
        return await self._capture(plan, connection, exchange, ended)

    async def _capture(
        self, plan: _Plan, connection: Connection, exchange: Exchange, ended: float
    ) -> FetchResult:
        reader = exchange.reader
        body = exchange.sink.finish()
        capture = Capture(
            url=plan.request.url,
            request=plan.recorded or plan.message,
            head=reader.head,
            body=body,
            status=reader.status,
            interim=reader.interim,
            reason=reader.reason,
            headers=reader.headers,
            framing=reader.framing,
            chunks=reader.chunks,
            payload_length=reader.payload_length,
            address=connection.address,
            port=connection.port,
            protocol=reader.protocol,
            proxied=plan.settings.proxy_server is not None,
            reused=connection.uses > 1,
            tls=connection.tls,
            began=plan.began,
            duration=round((ended - plan.started) * 1000),
            first_byte=round((exchange.first_byte - plan.started) * 1000),
            truncated=reader.truncated,
            annotations=reader.annotations,
            trust=exchange.trust,
        )
        await self._digest(capture)
        return FetchResult(reader.status, capture, capture.annotations, _error(exchange))

    async def _digest(self, capture: Capture) -> None:
        """Fill in the digests; those of a large body in a thread."""
        body, chunks = capture.body, capture.chunks
        chunked = capture.framing == "chunked"
        if body.length <= STEP:
            digests = digest_capture(capture.head, body, chunks, chunked=chunked)
        else:
            digests = await self._loop.run_in_executor(
                None, lambda: digest_capture(capture.head, body, chunks, chunked=chunked)
            )
        capture.take_digests(*digests)


def _signed(plan: _Plan) -> _Plan:
    """Return the plan with a signed request: each time that it is sent it is signed again.

    A request that has a signature stays as it is: servers would mix its fields with the crawler's.
    """
    signer = plan.request.signer
    if signer is None or has_signature(plan.message):
        return plan
    lines = signer.sign(plan.message)
    recorded = with_lines(plan.recorded, lines) if plan.recorded else b""
    return plan._replace(message=with_lines(plan.message, lines), recorded=recorded)


def _without_reply(failure: ConnectFailure) -> FetchResult:
    """Return the result of a fetch that was not sent."""
    notes = [ADDRESS_REFUSED] if failure.refused else []
    return FetchResult(
        failure.status, annotations=notes, error=failure.error, starved=failure.starved
    )


def _key(plan: _Plan, address: str) -> PoolKey:
    """The target of a connection. Plain requests to an HTTP proxy share theirs for all hosts."""
    origin, settings = plan.origin, plan.settings
    name = origin.host if origin.scheme == "https" else ""
    if not settings.proxy:
        return PoolKey(
            origin.scheme, address, origin.port, name, "", settings.tls, settings.bind_address
        )
    proxy = settings.proxy_server
    if origin.scheme == "http" and proxy is not None and proxy.kind != "socks5":
        return PoolKey("http", "", 0, "", settings.proxy.text)
    return PoolKey(origin.scheme, origin.host, origin.port, name, settings.proxy.text, settings.tls)


def _no_reply(plan: _Plan, exchange: Exchange, end: ExchangeEnd) -> FetchResult:
    """Return the status of an exchange without a usable reply."""
    if end is ExchangeEnd.OVERTIME:
        return FetchResult(
            FetchStatus.TIMEOUT, error=f"no reply within {plan.settings.timeout:g} s"
        )
    if end is ExchangeEnd.SILENT:
        return FetchResult(
            FetchStatus.TIMEOUT, error=f"silent for {plan.settings.silence_timeout:g} s"
        )
    return FetchResult(
        FetchStatus.CONNECTION_LOST,
        annotations=[exchange.reader.failure, *exchange.reader.annotations],
        error=_error(exchange) or _FAILURES[exchange.reader.failure],
    )


_FAILURES = {
    NO_REPLY: "closed without a reply",
    HEADER_CUT: "closed within the head of the reply",
    HEADER_TRUNCATED: "interim replies are too long",
    TOO_MANY_INTERIM: "too many interim replies",
    TLS_ON_PLAIN_PORT: "the server uses TLS on this port",
    "": "no usable reply",
}


def _error(exchange: Exchange) -> str:
    return f"connection: {describe(exchange.error)}" if exchange.error is not None else ""


def _lacks_close_notify(exchange: Exchange) -> bool:
    """A body that ends with the connection ended without a word."""
    return exchange.reader.framing == "close" and not exchange.clean_close
