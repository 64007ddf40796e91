"""One request and its reply on a connection: its limits of time and bandwidth, and how it ended.

One timer checks the time limits of all exchanges: a timer each would cost as much as the request.
"""

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, Protocol

from nacre.core.capture import Trust
from nacre.core.clock import Clock
from nacre.fetch.connection import Connection
from nacre.fetch.request import Check
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Sink
from nacre.fetch.tap import Tap
from nacre.wire.http1 import ReplyReader

_BURST = 0.25
_MANY = 10_000

Meter = Callable[[int, float], float]
"""Called with the number of bytes received and the time; returns seconds until the next read."""


class Bucket:
    """A token bucket in units of time: each byte takes its share of a second.

    Received bytes are never refused; the receiver waits. Up to a quarter of a second's bytes may
    come at once.
    """

    __slots__ = ("_paid",)

    def __init__(self) -> None:
        self._paid = 0.0

    def take(self, size: int, rate: float, now: float) -> float:
        """Count received bytes; return seconds until they are within the rate.

        Args:
            size: Bytes.
            rate: Bytes a second.
            now: Any clock that does not go back, seconds.
        """
        self._paid = max(self._paid, now - _BURST) + size / rate
        return max(self._paid - now, 0.0)

    def wait(self, now: float) -> float:
        """Return seconds until all received bytes are within the rate."""
        return max(self._paid - now, 0.0)


class Throttle:
    """The buckets of a crawl.

    Attributes:
        total: Bytes a second of the whole crawl; 0 for no limit.
    """

    def __init__(self) -> None:
        self.total = 0
        self._all = Bucket()
        self._hosts: dict[str, Bucket] = {}

    def limit(self, total: int) -> None:
        """Set the limit of the whole crawl, bytes a second; 0 for none."""
        self.total = total

    def wait(self, now: float) -> float:
        """Seconds until another fetch may begin."""
        return self._all.wait(now) if self.total else 0.0

    def meter(self, host: str, rate: int, now: float) -> Meter | None:
        """Return the meter that an exchange calls with its bytes; None if there is no limit.

        Args:
            host: Whom it talks to.
            rate: Bytes a second of that host; 0 for no limit.
            now: As for `Bucket.take`.
        """
        if not (rate or self.total):
            return None
        bucket = self._bucket(host, now) if rate else None

        def charge(size: int, now: float) -> float:
            ahead = bucket.take(size, rate, now) if bucket is not None else 0.0
            if self.total:
                ahead = max(ahead, self._all.take(size, self.total, now))
            return ahead

        return charge

    def _bucket(self, host: str, now: float) -> Bucket:
        bucket = self._hosts.get(host)
        if bucket is None:
            if len(self._hosts) >= _MANY:
                self._hosts = {name: b for name, b in self._hosts.items() if b.wait(now)}
            bucket = self._hosts[host] = Bucket()
        return bucket


_LEAST = 0.05
"""Shortest time between checks of thousands of waiting exchanges, seconds."""


class Timed(Protocol):
    """An object with a deadline."""

    @property
    def due(self) -> float:
        """The time of the loop when one of its limits is reached if nothing arrives."""
        ...

    def look(self, now: float) -> None:
        """End if a limit is met by now."""
        ...


class Deadlines:
    """Looks at whatever it was given when the first of them may be due.

    An exchange that ends in time is only removed: the timer is not changed before it fires.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watched: set[Timed] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._at = float("inf")

    def watch(self, timed: Timed, due: float) -> None:
        """Add something to watch; `due` as its attribute."""
        self._watched.add(timed)
        if due < self._at:
            self._arm(due)

    def drop(self, timed: Timed) -> None:
        """Remove it: its limits do not matter any longer."""
        self._watched.discard(timed)

    def close(self) -> None:
        """Watch nothing more."""
        self._watched.clear()
        self._disarm()

    def _arm(self, at: float) -> None:
        self._disarm()
        self._at = at
        self._timer = self._loop.call_at(at, self._look)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._at = float("inf")

    def _look(self) -> None:
        self._disarm()
        now = self._loop.time()
        for timed in tuple(self._watched):
            timed.look(now)
        if self._watched:
            self._arm(max(min(timed.due for timed in self._watched), now + _LEAST))


class ExchangeEnd(Enum):
    """The end of an exchange."""

    COMPLETE = "complete"
    CLOSED = "closed"
    SILENT = "silent"
    OVERTIME = "overtime"
    ABANDONED = "abandoned"
    CUT = "cut"


_COMPLETE = ExchangeEnd.COMPLETE  # the way to a member of an enumeration is long
_GRACE = 3.0
"""Seconds for which a reply is still received after the browser stopped waiting for it."""


class Exchange:
    """Receives the reply to one request, until it ends or a limit is reached.

    Attributes:
        reader: Reads the reply.
        sink: Takes its body.
        done: Resolves to how it ended.
        first_byte: Monotonic time of the first byte of the reply; 0.0 until then.
        error: What broke the connection; None for a clean end.
        clean_close: Whether the peer announced the close (EOF, or close_notify in TLS).
        sent: Monotonic time when the request went out; 0.0 until then.
        trust: Whether the reply is the answer; None if nothing else can be.
        tap: Passes the reply on to a browser; None: it is not passed on.
    """

    __slots__ = (
        "_check", "_clock", "_deadline", "_deadlines", "_draining", "_is_left", "_last", "_loop",
        "_meter", "_paused", "_rate", "_silence", "_started", "_transport", "clean_close", "done",
        "error", "first_byte", "reader", "sent", "sink", "tap", "trust",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 - all that limits one exchange
        self,
        clock: Clock,
        reader: ReplyReader,
        sink: Sink,
        settings: FetchSettings,
        *,
        deadlines: Deadlines,
        deadline: float,
        check: Check | None = None,
        meter: Meter | None = None,
        trust: Trust | None = None,
        tap: Tap | None = None,
    ) -> None:
        """Prepare an exchange; `deadline` and the calls of `meter` are in the time of the loop."""
        self._loop = asyncio.get_running_loop()
        self._deadlines = deadlines
        self._clock = clock
        self.reader = reader
        self.sink = sink
        self.done: asyncio.Future[ExchangeEnd] = self._loop.create_future()
        self.first_byte = 0.0
        self.error: BaseException | None = None
        self.clean_close = False
        self.sent = 0.0
        self.trust = trust
        self.tap = tap
        self._draining: asyncio.Task[None] | None = None
        self._is_left = False
        self._check = check
        self._meter = meter
        self._silence = settings.silence_timeout
        self._deadline = deadline
        self._rate = settings.max_rate * 1000
        self._started = 0.0
        self._last = 0.0
        self._paused = False
        self._transport: asyncio.Transport | None = None

    @property
    def over(self) -> bool:
        """See `Conversation`. A WebSocket goes on after its handshake."""
        return self.done.done() and not self.is_switched

    @property
    def is_switched(self) -> bool:
        """Whether a browser has the connection, which speaks another protocol now."""
        return self.tap is not None and self.tap.is_switched

    @property
    def is_passed_on(self) -> bool:
        """Whether a browser has got a byte of the reply."""
        return self.tap is not None and self.tap.reply.has_begun

    def begin(self, transport: asyncio.Transport) -> None:
        """Note that the request goes out: the waiting begins."""
        self._transport = transport
        self._started = self._last = self._loop.time()
        self.sent = self._clock.monotonic()
        self._deadlines.watch(self, self.due)
        if self.tap is not None:
            self.tap.reply.when_closed(self._hurry)

    def received(self, data: bytes) -> None:
        """Receive bytes; do nothing after the exchange is over."""
        if self.is_switched:
            self._pass_on(data)
            return
        if not self.first_byte:
            self.first_byte = self._clock.monotonic()
        self._last = self._loop.time()
        ahead = 0.0 if self._meter is None else self._meter(len(data), self._last)
        reader = self.reader
        body = reader.feed(data)
        if self._check is not None and reader.status and not self._is_accepted(self._check):
            return
        if body:
            self.sink.write(body)
        if self.tap is not None:
            self._feed_tap(self.tap, data, body)
        if reader.complete:
            self.end(_COMPLETE)
        elif self._rate or ahead:
            self._throttle(ahead)

    def _feed_tap(self, tap: Tap, data: bytes, body: bytes) -> None:
        tap.take(self.reader, body)
        if self._transport is not None and tap.switch(self.reader, data, self._transport):
            return
        if not self.reader.complete:
            self._wait_for_browser(tap)

    def _pass_on(self, data: bytes) -> None:
        """Pass on bytes of a WebSocket."""
        if self.tap is not None:
            self.tap.reply.write(data)
            self._wait_for_browser(self.tap)

    def _wait_for_browser(self, tap: Tap) -> None:
        """Stop reading until the browser has taken most of the reply.

        If the browser has left and takes nothing more, the reply was cut: it ends at once.
        """
        if tap.reply.is_full and self._is_left:
            self.end(ExchangeEnd.CUT)
        elif tap.reply.is_full and self._draining is None and self._transport is not None:
            self._transport.pause_reading()
            self._draining = self._loop.create_task(self._drain(tap))

    async def _drain(self, tap: Tap) -> None:
        await tap.reply.drain()
        self._draining = None
        if not self._paused:
            self._resume()

    def _hurry(self) -> None:
        """The browser does not wait any more: receive for a moment more, and end."""
        self._is_left = True
        if not self.done.done():
            self._deadline = min(self._deadline, self._loop.time() + _GRACE)
            self._deadlines.watch(self, self.due)

    def _is_accepted(self, check: Check) -> bool:
        """Ask the mid-fetch rule, once."""
        self._check = None
        reader = self.reader
        if check(reader.status, reader.headers):
            return True
        if reader.complete and not reader.body_length:
            return True
        reader.abandon()
        self.end(ExchangeEnd.ABANDONED)
        return False

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        """The connection ended."""
        if self.done.done():
            if self.tap is not None and self.is_switched:
                self.tap.reply.end()
            return
        self.error = error
        self.clean_close = clean
        body = self.reader.eof(reset=error is not None)
        if body:
            self.sink.write(body)
        if self.tap is not None:
            self.tap.take(self.reader, body)
        self.end(ExchangeEnd.CLOSED)

    def end(self, how: ExchangeEnd) -> None:
        """Resolve, once."""
        self._deadlines.drop(self)
        if not self.done.done():
            self.done.set_result(how)

    def fail(self, error: BaseException) -> None:
        """Raise an error of the crawler or of a disk in the waiting task."""
        self._deadlines.drop(self)
        if not self.done.done():
            self.done.set_exception(error)

    def annotate(self, text: str) -> None:
        """Annotate an oddity, for crawl.log."""
        reader = self.reader
        reader.annotations.append(text)

    def give_up(self) -> None:
        """Drop the received data: no caller waits for it any more."""
        self._deadlines.drop(self)
        self.sink.discard()

    @property
    def due(self) -> float:
        """See `Timed`. While we do not read, silence is not the server's."""
        waits = self._paused or self._draining is not None
        last_byte = self._loop.time() if waits else self._last
        return min(last_byte + self._silence, self._deadline)

    def look(self, now: float) -> None:
        """See `Timed`."""
        if now >= self._deadline:
            self.end(ExchangeEnd.OVERTIME)
        elif self._paused or self._draining is not None:
            return
        elif now >= self._last + self._silence:
            self.end(ExchangeEnd.SILENT)

    def _throttle(self, ahead: float) -> None:
        """Stop reading for as long as the reply, its host or the crawl is ahead of its rate."""
        if self._rate:
            due = self._started + self.reader.body_length / self._rate
            ahead = max(ahead, due - self._last)
        if ahead > 0 and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
            self._loop.call_later(ahead, self._resume)

    def _resume(self) -> None:
        self._paused = False
        self._last = self._loop.time()
        if self._draining is not None or self._transport is None:
            return
        if not self._transport.is_closing():
            self._transport.resume_reading()


_COMPARED = 65_536
"""Bytes of two bodies that are compared."""


class Doubted(NamedTuple):
    """A reply with surplus bytes after it.

    Attributes:
        connection: The connection, ended.
        reader: What was read of it.
        body: The beginning of its body.
    """

    connection: Connection
    reader: ReplyReader
    body: bytes

    def is_explained_by(self, again: Exchange) -> bool:
        """Alone on a connection the page has the same surplus: it is the page's own."""
        was, now = self.reader, again.reader
        if not (was.excess and now.excess and was.status == now.status):
            return False
        same = was.body_length == now.body_length
        return same and self.body == again.sink.beginning(_COMPARED)


def doubt(connection: Connection, exchange: Exchange) -> Doubted:
    """Close a connection that received unsolicited data, and drop the reply."""
    connection.abort()
    doubted = Doubted(connection, exchange.reader, exchange.sink.beginning(_COMPARED))
    exchange.give_up()
    return doubted


def is_foreign(exchange: Exchange, *, used: bool) -> bool:
    """Return whether the received data shows that an unsolicited reply was sent.

    Args:
        exchange: Over.
        used: The connection had carried another request before.
    """
    reader, trust = exchange.reader, exchange.trust
    if reader.reply_behind or (trust is not None and trust.suspect):
        return True
    odd = reader.excess or reader.protocol == "http/0.9" or reader.failure == "tlsOnPlainPort"
    return used and bool(odd)
