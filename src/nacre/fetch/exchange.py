"""One request and its reply on a connection: limits of time and rate, and how it ended."""

import asyncio
from enum import Enum

from nacre.core.clock import Clock
from nacre.core.trust import Trust
from nacre.fetch.deadlines import Deadlines
from nacre.fetch.request import Check
from nacre.fetch.settings import FetchSettings
from nacre.fetch.spool import Sink
from nacre.fetch.throttle import Meter
from nacre.wire.http1 import ReplyReader


class End(Enum):
    """How an exchange ended."""

    COMPLETE = "complete"
    CLOSED = "closed"
    SILENT = "silent"
    OVERTIME = "overtime"
    ABANDONED = "abandoned"


_COMPLETE = End.COMPLETE  # the way to a member of an enumeration is long


class Exchange:
    """Takes what a connection receives for one request, until its reply ends or a limit is met.

    Attributes:
        reader: Reads the reply.
        sink: Takes its body.
        done: Resolves to how it ended.
        first_byte: Monotonic time of the first byte of the reply; 0.0 before it.
        error: What broke the connection; None for a clean end.
        clean_close: The peer said that it closes (EOF, or close_notify in TLS).
        sent: Monotonic time when the request went out; 0.0 before it.
        trust: Whether the reply is the answer; None where nothing else can be.
    """

    __slots__ = (
        "_check", "_clock", "_deadline", "_deadlines", "_last", "_loop", "_meter", "_paused",
        "_rate", "_silence", "_started", "_transport", "clean_close", "done", "error",
        "first_byte", "reader", "sent", "sink", "trust",
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
    ) -> None:
        """Prepare an exchange; `deadline` is in the time of the loop, and so `meter` is told."""
        self._loop = asyncio.get_running_loop()
        self._deadlines = deadlines
        self._clock = clock
        self.reader = reader
        self.sink = sink
        self.done: asyncio.Future[End] = self._loop.create_future()
        self.first_byte = 0.0
        self.error: BaseException | None = None
        self.clean_close = False
        self.sent = 0.0
        self.trust: Trust | None = None
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
        """See `Conversation`."""
        return self.done.done()

    def begin(self, transport: asyncio.Transport) -> None:
        """Note that the request goes out: the waiting begins."""
        self._transport = transport
        self._started = self._last = self._loop.time()
        self.sent = self._clock.monotonic()
        self._deadlines.watch(self, self.due)

    def received(self, data: bytes) -> None:
        """Bytes came; does nothing once the exchange is over."""
        if not self.first_byte:
            self.first_byte = self._clock.monotonic()
        self._last = self._loop.time()
        ahead = 0.0 if self._meter is None else self._meter(len(data), self._last)
        reader = self.reader
        body = reader.feed(data)
        if self._check is not None and reader.status and not self._wanted(self._check):
            return
        if body:
            self.sink.write(body)
        if reader.complete:
            self.end(_COMPLETE)
        elif self._rate or ahead:
            self._throttle(ahead)

    def _wanted(self, check: Check) -> bool:
        """Ask the mid-fetch rule, once."""
        self._check = None
        reader = self.reader
        if check(reader.status, reader.headers):
            return True
        if reader.complete and not reader.body_length:
            return True
        reader.abandon()
        self.end(End.ABANDONED)
        return False

    def closed(self, error: BaseException | None, *, clean: bool) -> None:
        """The connection ended."""
        if self.done.done():
            return
        self.error = error
        self.clean_close = clean
        body = self.reader.eof(reset=error is not None)
        if body:
            self.sink.write(body)
        self.end(End.CLOSED)

    def end(self, how: End) -> None:
        """Resolve, once."""
        self._deadlines.drop(self)
        if not self.done.done():
            self.done.set_result(how)

    def fail(self, error: BaseException) -> None:
        """Hand a fault of the crawler or of a disk to the one who waits."""
        self._deadlines.drop(self)
        if not self.done.done():
            self.done.set_exception(error)

    def give_up(self) -> None:
        """Drop what came: nobody waits for it any more."""
        self._deadlines.drop(self)
        self.sink.discard()

    @property
    def due(self) -> float:
        """See `Timed`. While we do not read, silence is not the server's."""
        heard = self._loop.time() if self._paused else self._last
        return min(heard + self._silence, self._deadline)

    def look(self, now: float) -> None:
        """See `Timed`."""
        if now >= self._deadline:
            self.end(End.OVERTIME)
        elif not self._paused and now >= self._last + self._silence:
            self.end(End.SILENT)

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
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
