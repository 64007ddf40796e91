"""The order of the queues: those that wait in memory, and those that wait in the store.

Each queue that is neither exhausted nor in memory for another reason has exactly one row in `wake`:

a run id          active: in memory during that run (so that a crash does not lose it)
i precedence turn id   inactive or ineligible: by precedence, then first come, first served
s time id         asleep for long: out of memory until then
r id              retired

The value is the queue's name. `run` has 4 bytes, `turn` and `time` 6, `precedence` 1.
"""

from collections import deque
from heapq import heappop, heappush

from nacre.frontier.queues import Queue, QueueState, Totals
from nacre.frontier.rows import Row, RowStore, RowWindow, time_bytes, time_of

_READY = QueueState.READY  # the way to a member of an enumeration is long

_READ_AHEAD = 64


class QueueOrder:
    """The rows of `wake`."""

    def __init__(self, rows: RowStore, totals: Totals) -> None:
        self._rows = rows
        self._totals = totals
        self._run = b"a" + totals.run.to_bytes(4, "big")
        self._left = RowWindow(rows, "wake", b"a", self._run, _READ_AHEAD)
        self._inactive = RowWindow(rows, "wake", b"i", b"j", _READ_AHEAD)
        self._asleep = RowWindow(rows, "wake", b"s", b"t", _READ_AHEAD)

    def activate(self, queue: Queue) -> None:
        """Note that a queue is in memory from now on."""
        self._place(queue, self._run + queue.identity)

    def wait(self, queue: Queue) -> None:
        """Let a queue wait for its turn, after all others of its precedence."""
        row = queue.row
        self._totals.turn += 1
        turn = self._totals.turn
        key = b"i%c" % row.precedence + turn.to_bytes(6, "big") + queue.identity
        self._inactive.offer(*self._place(queue, key))

    def sleep(self, queue: Queue) -> None:
        """Let a queue wait in the store until its `row.wake`."""
        key = b"s" + time_bytes(queue.row.wake) + queue.identity
        self._asleep.offer(*self._place(queue, key))

    def retire(self, queue: Queue) -> None:
        """Let a queue wait for the operator."""
        self._place(queue, b"r" + queue.identity)

    def leave(self, queue: Queue) -> None:
        """Take a queue out: it has nothing to wait for."""
        if queue.row.place:
            self._rows.delete("wake", queue.row.place)
            queue.row.leave_place()

    def next(self, time: float, floor: int) -> Row | None:
        """Take the next queue to be activated: its place, and its name.

        First those that were active when the last run ended, then sleepers that are due, then the
        inactive ones below the precedence floor.
        """
        row = self._left.pop()
        if row is None:
            row = self._asleep.peek()
            if row is not None and time_of(row[0], 1) <= time:
                return self._asleep.pop()
            row = self._inactive.peek()
            if row is not None and row[0][1] < floor:
                return self._inactive.pop()
            return None
        return row

    def may_activate(self, time: float, floor: int) -> bool:
        """Return whether `next` would find a queue."""
        if self._left.peek() is not None:
            return True
        row = self._asleep.peek()
        if row is not None and time_of(row[0], 1) <= time:
            return True
        row = self._inactive.peek()
        return row is not None and row[0][1] < floor

    def sleep_left(self, time: float) -> float | None:
        """Seconds until the first sleeper wakes; None when none sleeps."""
        row = self._asleep.peek()
        return max(time_of(row[0], 1) - time, 0.0) if row else None

    def sleepers(self) -> list[str]:
        """Names of all queues asleep in the store."""
        return [name.decode() for _, name in self._rows.scan("wake", b"s", b"t")]

    def retired(self) -> list[str]:
        """Names of all retired queues."""
        return [name.decode() for _, name in self._rows.scan("wake", b"r", b"s")]

    def _place(self, queue: Queue, key: bytes) -> Row:
        self.leave(queue)
        queue.row.take_place(key)
        name = queue.name.encode()
        self._rows.put("wake", key, name)
        return key, name


class ReadyQueues:
    """The queues in memory that may hand out a URI now, or at a known monotonic time."""

    def __init__(self) -> None:
        self._ready: deque[Queue] = deque()
        self._snoozed: list[tuple[float, int, Queue]] = []
        self._count = 0

    def ready(self, queue: Queue) -> None:
        """Append a queue that may hand out a URI to the ready queues."""
        self._ready.append(queue)

    def snooze(self, queue: Queue) -> None:
        """Line up a queue that may hand out a URI from its `wake` on."""
        self._count += 1
        heappush(self._snoozed, (queue.wake, self._count, queue))

    def next_ready(self) -> Queue | None:
        """Take the first queue that is ready."""
        ready = self._ready
        while ready:
            queue = ready.popleft()
            if queue.row.state is _READY:
                return queue
        return None

    def next_due(self, mono: float) -> Queue | None:
        """Take a snoozed queue whose time has come."""
        snoozed = self._snoozed
        while snoozed and snoozed[0][0] <= mono:
            queue = heappop(snoozed)[2]
            if queue.row.state is QueueState.SNOOZED and queue.window is not None:
                return queue
        return None

    def wait(self, mono: float) -> float | None:
        """Seconds until `next_ready` or `next_due` may have a queue; None when nothing waits."""
        if self._ready:
            return 0.0
        return max(self._snoozed[0][0] - mono, 0.0) if self._snoozed else None
