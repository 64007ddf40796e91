"""The states of the queues, and every change between them."""

from collections.abc import Callable, Iterator, Sequence

from nacre.frontier.queue_cache import FrontierTime, QueueCache, QueueSettings
from nacre.frontier.queue_order import QueueOrder, ReadyQueues
from nacre.frontier.queues import ENDLESS_LEFT, Queue, QueueState, Totals
from nacre.frontier.rows import LAST_SUFFIX, RowStore, RowWindow

# The way to a member of an enumeration is long.
_IN_PROCESS, _EXHAUSTED, _READY = QueueState.IN_PROCESS, QueueState.EXHAUSTED, QueueState.READY

OVER_BUDGET = "budget"
"""Reason of a queue that is retired by its budget or by force_retire."""

LONG_SNOOZE = 60.0
"""Queues that wait longer than this do so in the store, seconds."""

_WAITING = (QueueState.INACTIVE, QueueState.INELIGIBLE)
_READ_AHEAD_IN_ALL = 65_536
"""URIs that the active queues read ahead together, about: 20 MB. Each read costs some 0.2 ms."""
_READ_AHEAD = 32
_RESTART_ACTIVE = 1024


class QueueStates:
    """Moves queues between ready, in process, snoozed, inactive, ineligible, retired, exhausted.

    Attributes:
        settings: The settings of each queue.
        time: Frontier time.
        cache: The queues in memory.
    """

    def __init__(
        self,
        rows: RowStore,
        totals: Totals,
        time: FrontierTime,
        settings: QueueSettings,
    ) -> None:
        self._rows = rows
        self._totals = totals
        self.time = time
        self._order = QueueOrder(rows, totals)
        self._ready_queues = ReadyQueues()
        self.cache = QueueCache(rows, totals, time, settings)
        self.settings = settings

    def find(self, name: str) -> Queue:
        """Return a queue by name; made if it is unknown."""
        return self.cache.find(name)

    def set_overlay(self, queue: Queue, overlay: int) -> None:
        """Give a queue the sheets that it has from now on."""
        queue.use_sheets(overlay)
        self.update_precedence(queue)

    def update_precedence(self, queue: Queue) -> None:
        """Compute the precedence of a queue again, and move it in the order if it changed."""
        row = queue.row
        before, state = row.precedence, self._update_rank(queue)
        if row.precedence != before:
            self.cache.touch(queue)
        if row.state in _WAITING and (row.precedence != before or row.state is not state):
            self.deactivate(queue)

    @property
    def by_level(self) -> bool:
        """Whether the order of the queues depends on the precedences of their URIs."""
        return self.settings.orders_by_uri

    def _update_rank(self, queue: Queue) -> QueueState:
        """Determine its precedence, and whether that lets it have a turn."""
        row = queue.row
        row.update_precedence(self.settings.frontier[queue.overlay].queue_precedence)
        eligible = row.precedence < self.settings.precedence_floor
        return QueueState.INACTIVE if eligible else QueueState.INELIGIBLE

    def next_queue(self) -> Queue | None:
        """Take a queue that may hand out a URI now; the caller updates its state afterwards."""
        while (due := self._ready_queues.next_due(self.time.mono)) is not None:
            self.update_state(due)
        return self._ready_queues.next_ready()

    def activate_next(self) -> bool:
        """Bring the next queue that waits in the store into play; False when there is none."""
        if not self._has_room():
            return False
        entry = self._order.next(self.time.now, self.settings.precedence_floor)
        if entry is None:
            return False
        place, name = entry
        queue = self.find(name.decode())
        if queue.row.place == place:
            self._activate(queue)
        return True

    def wait(self) -> float | None:
        """Seconds until `next_queue` or `activate_next` may succeed; None when nothing waits."""
        time = self.time.now
        floor = self.settings.precedence_floor
        if self._has_room() and self._order.may_activate(time, floor):
            return 0.0
        waits = [self._ready_queues.wait(self.time.mono), self._order.sleep_left(time)]
        return min((wait for wait in waits if wait is not None), default=None)

    def visit_ended(self, queue: Queue, wake: float) -> None:
        """Update the state of a queue whose URI was returned.

        Args:
            queue: What was counted of the visit is in its row.
            wake: It hands out nothing before this monotonic time.
        """
        self.snooze(queue, wake)
        self._totals.recount(queue.row)
        self.cache.touch(queue)
        # A queue that is ready or snoozed is lined up already.
        if queue.row.state is _IN_PROCESS or queue.window is None:
            self.update_state(queue)

    def update_state(self, queue: Queue) -> None:
        """Give a queue that is not lined up its state, and the place that belongs to it."""
        if queue.window is None:
            self._update_resting(queue)
            return
        row, state = queue.row, self._next_state(queue)
        if state is _IN_PROCESS:
            self._totals.enter(row, _IN_PROCESS)
        elif state is _EXHAUSTED:
            self._exhaust(queue)
        elif state is QueueState.RETIRED:
            self.retire(queue, OVER_BUDGET)
        elif state is QueueState.INACTIVE:
            self.deactivate(queue)
        else:
            self._line_up(queue, state)

    def _next_state(self, queue: Queue) -> QueueState:
        """Return the state of an active queue: by its URIs, its budget and turn, and its wake time.

        It keeps its place until its URIs in process are finished.
        """
        free = queue.row.size - len(queue.taken)
        if free <= 0:
            return _IN_PROCESS if queue.taken else _EXHAUSTED
        if queue.taken and self._is_full(queue):
            return _IN_PROCESS
        if self.must_stop(queue):
            if queue.taken:
                return _IN_PROCESS
            over = self.settings.is_over_budget(queue)
            return QueueState.RETIRED if over else QueueState.INACTIVE
        return _READY if queue.wake <= self.time.mono else QueueState.SNOOZED

    def uri_added(self, queue: Queue, *, endless: bool) -> None:
        """Note that a URI was put into a queue, and whether it is of an endless place."""
        state = queue.row.state
        if state is QueueState.RETIRED and not endless and queue.row.why == ENDLESS_LEFT:
            self.unretire((queue.name,))
        if state is _EXHAUSTED:
            self.deactivate(queue)
        elif state is _IN_PROCESS:
            self.update_state(queue)
        elif state in _WAITING and self.by_level:
            self.update_precedence(queue)

    def deactivate(self, queue: Queue) -> None:
        """Let a queue wait for its turn, out of memory if need be."""
        self._set_inactive(queue, self._update_rank(queue))
        self._order.wait(queue)

    def retire(self, queue: Queue, reason: str) -> None:
        """Let a queue hand out nothing more until `unretire`."""
        queue.row.retire(reason)
        self._set_inactive(queue, QueueState.RETIRED)
        self._order.retire(queue)
        self._totals.recount(queue.row)

    def retired(self) -> list[str]:
        """Names of all retired queues."""
        return self._order.retired()

    def unretire(self, names: Sequence[str]) -> int:
        """Bring retired queues back; the answer is their number."""
        count = 0
        for name in names:
            queue = self.find(name)
            if queue.row.state is QueueState.RETIRED:
                count += 1
                queue.row.unretire()
                self._totals.enter(queue.row, _EXHAUSTED)
                self._order.leave(queue)
                self._totals.recount(queue.row)
                self.cache.touch(queue)
                if queue.row.size:
                    self.deactivate(queue)
        return count

    def snooze(self, queue: Queue, mono: float) -> None:
        """Let a queue hand out nothing before a monotonic time."""
        if mono > queue.wake:
            queue.wait_until(mono, self.time.at(mono))
            self.cache.touch(queue)

    def end_snoozes(self, matches: Callable[[str], bool] | None = None) -> int:
        """End all snoozes, the politeness delays apart; how many queues had one.

        Args:
            matches: Returns whether a queue key matches; None for all.
        """
        count = 0
        for queue in self.cache.in_memory():
            if queue.row.state is QueueState.SNOOZED and (matches is None or matches(queue.name)):
                count += self._end_snooze(queue)
        for name in self._order.sleepers():
            if matches is None or matches(name):
                count += self._end_snooze(self.find(name))
        return count

    def sleeping(self) -> Iterator[Queue]:
        """Queues that wait in the store for their time."""
        return (self.find(name) for name in self._order.sleepers())

    def _end_snooze(self, queue: Queue) -> bool:
        return self.wake_earlier(queue, self.time.mono + queue.row.delay)

    def wake_earlier(self, queue: Queue, mono: float) -> bool:
        """Let a queue hand out from an earlier monotonic time on; True when it had to wait."""
        if mono < queue.wake:
            queue.wait_until(mono, self.time.at(mono))
            self.cache.touch(queue)
            if queue.row.state is QueueState.SNOOZED and queue.window is None:
                self._order.sleep(queue)
            elif queue.row.state is QueueState.SNOOZED:
                self._ready_queues.snooze(queue)
            return True
        return False

    def _has_room(self) -> bool:
        busy = self.cache.busy
        if busy < _RESTART_ACTIVE:
            return True
        waited = self.time.mono >= self.time.start + self.time.restart_delay
        return waited and busy < self.cache.capacity

    def _activate(self, queue: Queue) -> None:
        self.cache.keep(queue)
        self.cache.touch(queue)
        self._order.activate(queue)
        start, stop = queue.range
        ahead = _READ_AHEAD_IN_ALL // max(self.cache.busy, 1)
        window = RowWindow(self._rows, "queue", start, stop, max(2, min(ahead, _READ_AHEAD)))
        queue.open(window, self.settings.replenish(queue))
        self.update_state(queue)

    def _update_resting(self, queue: Queue) -> None:
        """Update a queue that is not active: it may be empty now, or its last URI was returned."""
        row = queue.row
        if queue.taken:
            return
        if not row.size and row.state not in (QueueState.RETIRED, _EXHAUSTED):
            self._set_inactive(queue, _EXHAUSTED)
            self._order.leave(queue)
        else:
            self.cache.release(queue)

    def _exhaust(self, queue: Queue) -> None:
        self._set_inactive(queue, _EXHAUSTED)
        queue.row.move_head(LAST_SUFFIX)
        self._order.leave(queue)

    def _line_up(self, queue: Queue, state: QueueState) -> None:
        """Let a queue hand out, now or when its wait is over; a long one is spent in the store."""
        row = queue.row
        if row.balance <= 0:
            row.begin_turn(self.settings.replenish(queue))
        if state is _READY:
            self._totals.enter(row, _READY)
            self._ready_queues.ready(queue)
        elif queue.wake - self.time.mono > LONG_SNOOZE and not queue.taken:
            self._set_inactive(queue, QueueState.SNOOZED)
            self._order.sleep(queue)
        else:
            self._totals.enter(row, QueueState.SNOOZED)
            self._ready_queues.snooze(queue)

    def _set_inactive(self, queue: Queue, state: QueueState) -> None:
        """Give a queue a state in which its URIs are in the store only."""
        queue.close()
        self._totals.enter(queue.row, state)
        self.cache.touch(queue)
        if not queue.taken:
            self.cache.release(queue)

    def _is_full(self, queue: Queue) -> bool:
        return queue.blocking > 0 or len(queue.taken) >= self.settings.limit(queue)

    def must_stop(self, queue: Queue) -> bool:
        """Return whether a queue must stop: over its budget, below the floor, or after its turn."""
        if self.settings.is_over_budget(queue):
            return True
        if queue.row.precedence >= self.settings.precedence_floor:
            return True
        if queue.row.balance > 0 or not self.settings.replenish(queue):
            return False
        return self._totals.states[QueueState.INACTIVE] > 0
