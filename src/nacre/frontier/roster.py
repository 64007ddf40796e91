"""The queues in memory, and their way to the store and back."""

from collections.abc import Iterable, Iterator

import msgspec

from nacre.frontier.queues import Queue, QueueRow
from nacre.frontier.rows import Rows, after, queue_id
from nacre.frontier.terms import Terms
from nacre.frontier.timeline import Timeline
from nacre.frontier.totals import Totals

_PREFIX = b"q"
_END = b"r"
_IDLE_SHARE = 5
_CHUNK = 256
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(QueueRow).decode


def read_queue(rows: Rows, identity: bytes) -> QueueRow | None:
    """What the store keeps of a queue, by its eight bytes; None when there is no such queue."""
    value = rows.get("hosts", _PREFIX + identity)
    return _decode(value) if value else None


def scan_queues(rows: Rows) -> Iterator[QueueRow]:
    """All queues that the store knows, in no order that means anything.

    Read in chunks, so that rows may be changed meanwhile.
    """
    start = _PREFIX
    while found := list(rows.scan("hosts", start, _END, _CHUNK)):
        for _, value in found:
            yield _decode(value)
        start = after(found[-1][0])


class Roster:
    """Queues by name. Those that are active or have a URI in process stay; of the others, some.

    Attributes:
        capacity: Queues in memory, about; what is busy is never put out.
    """

    def __init__(self, rows: Rows, totals: Totals, timeline: Timeline, terms: Terms) -> None:
        self._rows = rows
        self._totals = totals
        self._timeline = timeline
        self._queues: dict[str, Queue] = {}
        self._idle: dict[str, Queue] = {}
        self._dirty: list[Queue] = []
        self._terms = terms
        self.capacity = terms.whole.max_queues_in_memory

    @property
    def busy(self) -> int:
        """Number of queues that must stay in memory."""
        return len(self._queues) - len(self._idle)

    def get(self, name: str) -> Queue | None:
        """A queue that is in memory."""
        return self._queues.get(name)

    def find(self, name: str) -> Queue:
        """A queue, from the store if need be; a new one if it is unknown."""
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
            found = self._rows.get_many("hosts", keys)
            for name, value in zip(missing, found, strict=True):
                self._enter(name, value)

    def keep(self, queue: Queue) -> None:
        """Keep a queue in memory: it is busy from now on."""
        self._idle.pop(queue.name, None)

    def rest(self, queue: Queue) -> None:
        """Let a queue leave memory: it is not busy any more."""
        self._idle[queue.name] = queue
        self._make_room()

    def touch(self, queue: Queue) -> None:
        """A queue's row changed: it is written with the next `save`, or when it leaves memory."""
        if not queue.dirty:
            queue.dirty = True
            self._dirty.append(queue)

    def save(self) -> None:
        """Write all rows that changed."""
        for queue in self._dirty:
            if queue.dirty:
                self._write(queue)
        self._dirty.clear()

    def in_memory(self) -> Iterator[Queue]:
        """All queues in memory, as they are now."""
        return iter(list(self._queues.values()))

    def _enter(self, name: str, value: bytes | None) -> Queue:
        if value is None:
            row = QueueRow(name, self._terms.whole.queue_precedence.base, run=self._totals.run)
            self._totals.states[row.state] += 1
        else:
            row = _decode(value)
        queue = Queue(row)
        if value is not None:
            self._terms.recall(queue)
        old = row.run != self._totals.run
        queue.wake = self._timeline.first_wake(row.wake, row.delay, old=old)
        row.wake = self._timeline.at(queue.wake)
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
        queue.settle_head()
        queue.dirty = False
        queue.row.run = self._totals.run
        self._rows.put("hosts", _PREFIX + queue.identity, _encode(queue.row))
