"""The queues in memory: how they are loaded and written, their settings, and frontier time."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI
from nacre.frontier.queues import Queue, QueueRow, Totals
from nacre.frontier.rows import RowStore, after, queue_id
from nacre.frontier.settings import FrontierSettings, PolitenessSettings


class SheetChooser(Protocol):
    """Determines which combination of sheets applies."""

    def of(self, uri: CrawlURI) -> int:
        """Return the combination of sheets that applies to a URI."""
        ...

    def of_url(self, url: str) -> int:
        """Return the combination that applies to a URL of which nothing else is known."""
        ...


class NoSheets:
    """A crawl without sheets."""

    def of(self, uri: CrawlURI) -> int:
        """None."""
        return 0

    def of_url(self, url: str) -> int:
        """None."""
        return 0


class QueueSettings:
    """The settings of each queue: those of the sheets of its latest URI.

    Args:
        frontier: The frontier's settings.
        politeness: The politeness.
        chooser: Determines which sheets apply.

    Attributes:
        frontier: As given.
        politeness: As given.
        overlay_of: `SheetChooser.of`.
        orders_by_uri: Whether the order of the queues depends on the precedences of their URIs.
    """

    def __init__(
        self,
        frontier: Effective[FrontierSettings],
        politeness: Effective[PolitenessSettings],
        chooser: SheetChooser,
    ) -> None:
        self.frontier = frontier
        self.politeness = politeness
        self.overlay_of = chooser.of
        self._overlay_of_url = chooser.of_url
        self._shorter_end: float | None = None
        self.orders_by_uri = False
        frontier.watch(self._renew)
        self._renew()

    def _renew(self) -> None:
        self.orders_by_uri = self.frontier[0].queue_precedence.policy == "highest-uri"

    def shorten_last_tries(self, within: float | None) -> None:
        """Give the last tries less time than the settings, seconds; None for that of these."""
        self._shorter_end = within

    @property
    def whole(self) -> FrontierSettings:
        """The settings of the whole crawl."""
        return self.frontier[0]

    @property
    def precedence_floor(self) -> int:
        """Queues of this precedence or a higher one have no turn."""
        return self.frontier[0].precedence_floor

    @property
    def base_precedence(self) -> int:
        """Precedence of a new queue."""
        return self.frontier[0].queue_precedence.base

    @property
    def last_tries_within(self) -> float:
        """Time for the last tries, seconds."""
        within = self.frontier[0].last_tries_within
        return within if self._shorter_end is None else min(within, self._shorter_end)

    @property
    def last_extras_within(self) -> float:
        """Time for the last tries of embeds and guesses, seconds; never more than that of all."""
        return min(self.frontier[0].last_extras_within, self.last_tries_within)

    def find_overlay(self, queue: Queue) -> None:
        """Find the sheets of a queue that was not in memory, by its last URL."""
        queue.use_sheets(self._overlay_of_url(queue.row.last_peek or queue.row.last_queued))

    def is_over_budget(self, queue: Queue) -> bool:
        """Return whether a queue is over its budget: nothing more may be fetched of it."""
        settings = self.frontier[queue.overlay]
        return settings.force_retire or 0 <= settings.queue_total_budget <= queue.row.spent

    def replenish(self, queue: Queue) -> int:
        """Return the amount that a queue may spend before another one takes its turn."""
        return self.frontier[queue.overlay].balance_replenish

    def limit(self, queue: Queue) -> int:
        """Return the number of URIs of a queue that may be fetched in parallel."""
        return 1 if queue.row.alone else self.politeness[queue.overlay].in_flight


class FrontierTime:
    """Frontier time: seconds since the epoch that run with the monotonic clock and never go back.

    A new run begins at the clock's time or where the last run ended, whichever is later. So a
    stored time is never further ahead than its wait, even if the clock was changed.

    Args:
        offset: Frontier time minus monotonic time.
        start: Monotonic time when this run began.
        restart_delay: Wait of a known queue before its first fetch in this run, at least; seconds.

    Attributes:
        mono: Monotonic time of the current operation.
        start: As given.
        restart_delay: As given.
    """

    __slots__ = ("_offset", "mono", "restart_delay", "start")

    def __init__(self, offset: float, start: float, restart_delay: float) -> None:
        self._offset = offset
        self.mono = self.start = start
        self.restart_delay = restart_delay

    def advance(self, mono: float) -> None:
        """Begin an operation at a monotonic time."""
        self.mono = mono

    @property
    def now(self) -> float:
        """The frontier time of the current operation."""
        return self.mono + self._offset

    def at(self, mono: float) -> float:
        """Return the frontier time at a monotonic time."""
        return mono + self._offset

    def first_wake(self, wake: float, delay: float, *, old: bool) -> float:
        """Monotonic time before which a queue just loaded hands nothing out.

        Args:
            wake: Its stored wake time.
            delay: Its last politeness delay, seconds.
            old: It was stored by an earlier run: its server may have received a request just before
                the end, so that it waits its full delay from the start of this one.
        """
        mono = wake - self._offset
        if old:
            mono = max(mono, self.start + max(delay, self.restart_delay))
        return mono


_PREFIX = b"q"
_END = b"r"
_IDLE_SHARE = 5
_CHUNK = 256
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(QueueRow).decode


def read_queue(rows: RowStore, identity: bytes) -> QueueRow | None:
    """Return the stored row of a queue, by its eight bytes; None when there is no such queue."""
    value = rows.get("hosts", _PREFIX + identity)
    return _decode(value) if value else None


def scan_queues(rows: RowStore) -> Iterator[QueueRow]:
    """Yield all queues of the store, in arbitrary order.

    Read in chunks, so that rows may be changed meanwhile.
    """
    start = _PREFIX
    while chunk := list(rows.scan("hosts", start, _END, _CHUNK, once=True)):
        for _, value in chunk:
            yield _decode(value)
        start = after(chunk[-1][0])


class QueueCache:
    """The queues in memory, by name: those that are active or have a URI in process, and some more.

    Attributes:
        capacity: Approximate number of queues in memory; busy queues are never evicted.
    """

    def __init__(
        self, rows: RowStore, totals: Totals, time: FrontierTime, settings: QueueSettings
    ) -> None:
        self._rows = rows
        self._totals = totals
        self._time = time
        self._queues: dict[str, Queue] = {}
        self._idle: dict[str, Queue] = {}
        self._dirty: list[Queue] = []
        self._settings = settings
        self.capacity = settings.whole.max_queues_in_memory

    @property
    def busy(self) -> int:
        """Number of queues that must stay in memory."""
        return len(self._queues) - len(self._idle)

    def get(self, name: str) -> Queue | None:
        """Return a queue that is in memory."""
        return self._queues.get(name)

    def find(self, name: str) -> Queue:
        """Return a queue, from the store if need be; a new one if it is unknown."""
        queue = self._queues.get(name)
        if queue is None:
            value = self._rows.get("hosts", _PREFIX + queue_id(name))
            queue = self._enter(name, value)
        return queue

    def preload(self, names: Iterable[str]) -> None:
        """Load the queues that are not in memory with one look-up."""
        missing = list({name for name in names if name not in self._queues})
        if len(missing) > 1:
            keys = [_PREFIX + queue_id(name) for name in missing]
            values = self._rows.get_many("hosts", keys)
            for name, value in zip(missing, values, strict=True):
                self._enter(name, value)

    def keep(self, queue: Queue) -> None:
        """Keep a queue in memory, since it is busy from now on."""
        self._idle.pop(queue.name, None)

    def release(self, queue: Queue) -> None:
        """Allow to evict a queue from memory, since it is not busy any more."""
        self._idle[queue.name] = queue
        self._make_room()

    def touch(self, queue: Queue) -> None:
        """A queue's row changed: it is written with the next `save`, or when it leaves memory."""
        if not queue.dirty and queue.mark_changed():
            self._dirty.append(queue)

    def save(self) -> None:
        """Write all rows that changed."""
        for queue in self._dirty:
            if queue.dirty:
                self._write(queue)
        self._dirty.clear()

    def in_memory(self) -> Iterator[Queue]:
        """Return all queues in memory, as they are now."""
        return iter(list(self._queues.values()))

    def _enter(self, name: str, value: bytes | None) -> Queue:
        if value is None:
            row = QueueRow(name, self._settings.base_precedence, run=self._totals.run)
            self._totals.states[row.state] += 1
        else:
            row = _decode(value)
        queue = Queue(row)
        if value is not None:
            self._settings.find_overlay(queue)
        old = row.run != self._totals.run
        wake = self._time.first_wake(row.wake, row.delay, old=old)
        queue.wait_until(wake, self._time.at(wake))
        self._queues[name] = self._idle[name] = queue
        if value is None:
            self._write(queue)
        self._make_room()
        return queue

    def _make_room(self) -> None:
        idle = self._idle
        full = len(self._queues) > self.capacity or len(idle) > self.capacity // _IDLE_SHARE
        if full and len(idle) > 1:
            name = next(iter(idle))
            queue = idle.pop(name)
            del self._queues[name]
            if queue.dirty:
                self._write(queue)

    def _write(self, queue: Queue) -> None:
        row = queue.prepare_row(self._totals.run)
        self._rows.put("hosts", _PREFIX + queue.identity, _encode(row))
