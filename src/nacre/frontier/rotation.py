"""The states of the queues: who is active, who waits, and how they change places."""

from collections.abc import Callable, Iterator, Sequence

from nacre.frontier.precedence import queue_precedence
from nacre.frontier.queues import ENDLESS_LEFT, Queue, State
from nacre.frontier.roster import Roster
from nacre.frontier.rows import LAST_SUFFIX, Rows
from nacre.frontier.terms import Terms
from nacre.frontier.timeline import Timeline
from nacre.frontier.totals import Totals
from nacre.frontier.turns import Lineup, Turns
from nacre.frontier.window import Window

# The way to a member of an enumeration is long.
_IN_PROCESS, _EXHAUSTED, _READY = State.IN_PROCESS, State.EXHAUSTED, State.READY

OVER_BUDGET = "budget"
"""Why a queue is retired that has spent what it may, or that force_retire is said of."""

LONG_SNOOZE = 60.0
"""Queues that wait longer than this do so in the store, seconds."""

_WAITING = (State.INACTIVE, State.INELIGIBLE)
_READ_AHEAD_IN_ALL = 65_536
"""URIs that the active queues read ahead together, about: 20 MB. Each read costs some 0.2 ms."""
_READ_AHEAD = 32
_RESTART_ACTIVE = 1024


class Rotation:
    """Moves queues between ready, in process, snoozed, inactive, ineligible, retired, exhausted.

    Attributes:
        terms: The settings of each queue.
        mono: Monotonic time of the current operation.
        roster: The queues in memory.
    """

    def __init__(
        self,
        rows: Rows,
        totals: Totals,
        timeline: Timeline,
        terms: Terms,
    ) -> None:
        self._rows = rows
        self._totals = totals
        self._timeline = timeline
        self._turns = Turns(rows, totals)
        self._lineup = Lineup()
        self.roster = Roster(rows, totals, timeline, terms)
        self.terms = terms
        self.mono = timeline.start

    @property
    def time(self) -> float:
        """The frontier time of the current operation."""
        return self._timeline.at(self.mono)

    def time_at(self, mono: float) -> float:
        """The frontier time at a monotonic time."""
        return self._timeline.at(mono)

    def find(self, name: str) -> Queue:
        """A queue by name; made if it is unknown."""
        return self.roster.find(name)

    def adopt(self, queue: Queue, overlay: int) -> None:
        """Give a queue the sheets that it has from now on."""
        queue.overlay = overlay
        self.rank(queue)

    def rank(self, queue: Queue) -> None:
        """Put a queue where its precedence belongs by now."""
        row = queue.row
        before, state = row.precedence, self._rate(queue)
        if row.precedence != before:
            self.roster.touch(queue)
        if row.state in _WAITING and (row.precedence != before or row.state is not state):
            self.deactivate(queue)

    @property
    def by_level(self) -> bool:
        """Whether the order of the queues depends on the precedences of their URIs."""
        return self.terms.whole.queue_precedence.policy == "highest-uri"

    def _rate(self, queue: Queue) -> State:
        """Determine its precedence, and whether that lets it have a turn."""
        row, choice = queue.row, self.terms.settings[queue.overlay].queue_precedence
        row.precedence = queue_precedence(choice, row.successes, row.lowest)
        eligible = row.precedence < self.terms.whole.precedence_floor
        return State.INACTIVE if eligible else State.INELIGIBLE

    def next_queue(self) -> Queue | None:
        """Take a queue that may hand out a URI now; the caller settles it afterwards."""
        while (due := self._lineup.next_due(self.mono)) is not None:
            self.settle(due)
        return self._lineup.next_ready()

    def activate_next(self) -> bool:
        """Bring the next queue that waits in the store into play; False when there is none."""
        if not self._has_room():
            return False
        found = self._turns.next(self.time, self.terms.whole.precedence_floor)
        if found is None:
            return False
        place, name = found
        queue = self.find(name.decode())
        if queue.row.place == place:
            self._activate(queue)
        return True

    def wait(self) -> float | None:
        """Seconds until `next_queue` or `activate_next` may succeed; None when nothing waits."""
        time = self.time
        floor = self.terms.whole.precedence_floor
        if self._has_room() and self._turns.may_activate(time, floor):
            return 0.0
        waits = [self._lineup.wait(self.mono), self._turns.sleep_left(time)]
        return min((wait for wait in waits if wait is not None), default=None)

    def settle(self, queue: Queue) -> None:
        """Put a queue that is not lined up where it belongs now."""
        row = queue.row
        free = row.size - len(queue.taken)
        if queue.window is None:
            self._settle_resting(queue)
        elif queue.taken and (free <= 0 or self._is_full(queue)):
            self._totals.enter(row, _IN_PROCESS)
        elif free <= 0:
            self._exhaust(queue)
        elif self.is_spent(queue):
            self._step_back(queue)
        else:
            self._line_up(queue)

    def arrived(self, queue: Queue, *, endless: bool = False) -> None:
        """Note that a URI was put into a queue, and whether it is of an endless place."""
        state = queue.row.state
        if state is State.RETIRED and not endless and queue.row.why == ENDLESS_LEFT:
            self.unretire((queue.name,))
        if state is _EXHAUSTED:
            self.deactivate(queue)
        elif state is _IN_PROCESS:
            self.settle(queue)
        elif state in _WAITING and self.by_level:
            self.rank(queue)

    def deactivate(self, queue: Queue) -> None:
        """Let a queue wait for its turn, out of memory if need be."""
        self._withdraw(queue, self._rate(queue))
        self._turns.wait(queue)

    def retire(self, queue: Queue, why: str) -> None:
        """Let a queue hand out nothing more until `unretire`."""
        queue.row.why = why
        self._withdraw(queue, State.RETIRED)
        self._turns.retire(queue)
        self._totals.recount(queue.row)

    def retired(self) -> list[str]:
        """Names of all retired queues."""
        return self._turns.retired()

    def unretire(self, names: Sequence[str]) -> int:
        """Bring retired queues back; the answer is their number."""
        count = 0
        for name in names:
            queue = self.find(name)
            if queue.row.state is State.RETIRED:
                count += 1
                queue.row.why = ""
                self._totals.enter(queue.row, _EXHAUSTED)
                self._turns.leave(queue)
                self._totals.recount(queue.row)
                self.roster.touch(queue)
                if queue.row.size:
                    self.deactivate(queue)
        return count

    def snooze(self, queue: Queue, mono: float) -> None:
        """Let a queue hand out nothing before a monotonic time."""
        if mono > queue.wake:
            queue.wake = mono
            queue.row.wake = self._timeline.at(mono)
            self.roster.touch(queue)

    def rouse_all(self, wanted: Callable[[str], bool] | None = None) -> int:
        """End all snoozes, the politeness delays apart; how many queues had one.

        Args:
            wanted: Which queue keys; None for all.
        """
        count = 0
        for queue in self.roster.in_memory():
            if queue.row.state is State.SNOOZED and (wanted is None or wanted(queue.name)):
                count += self._rouse(queue)
        for name in self._turns.sleepers():
            if wanted is None or wanted(name):
                count += self._rouse(self.find(name))
        return count

    def sleeping(self) -> Iterator[Queue]:
        """Queues that wait in the store for their time."""
        return (self.find(name) for name in self._turns.sleepers())

    def _rouse(self, queue: Queue) -> bool:
        return self.rouse(queue, self.mono + queue.row.delay)

    def rouse(self, queue: Queue, mono: float) -> bool:
        """Let a queue hand out from an earlier monotonic time on; True when it had to wait."""
        if mono < queue.wake:
            queue.wake = mono
            queue.row.wake = self._timeline.at(mono)
            self.roster.touch(queue)
            if queue.row.state is State.SNOOZED and queue.window is None:
                self._turns.sleep(queue)
            elif queue.row.state is State.SNOOZED:
                self._lineup.snooze(queue)
            return True
        return False

    def _has_room(self) -> bool:
        busy = self.roster.busy
        if busy < _RESTART_ACTIVE:
            return True
        waited = self.mono >= self._timeline.start + self._timeline.restart_delay
        return waited and busy < self.roster.capacity

    def _activate(self, queue: Queue) -> None:
        self.roster.keep(queue)
        self.roster.touch(queue)
        self._turns.activate(queue)
        start, stop = queue.range
        ahead = _READ_AHEAD_IN_ALL // max(self.roster.busy, 1)
        queue.window = Window(self._rows, "queue", start, stop, max(2, min(ahead, _READ_AHEAD)))
        queue.row.balance = self.terms.replenish(queue)
        self.settle(queue)

    def _settle_resting(self, queue: Queue) -> None:
        """It is not active; at most it has become empty, or its last URI came back."""
        row = queue.row
        if queue.taken:
            return
        if not row.size and row.state not in (State.RETIRED, _EXHAUSTED):
            self._withdraw(queue, _EXHAUSTED)
            self._turns.leave(queue)
        else:
            self.roster.rest(queue)

    def _exhaust(self, queue: Queue) -> None:
        self._withdraw(queue, _EXHAUSTED)
        queue.row.head = LAST_SUFFIX
        self._turns.leave(queue)

    def _step_back(self, queue: Queue) -> None:
        """It has spent what it may: it goes once nothing of it is in process."""
        if queue.taken:
            self._totals.enter(queue.row, _IN_PROCESS)
        elif self.terms.is_over_budget(queue):
            self.retire(queue, OVER_BUDGET)
        else:
            self.deactivate(queue)

    def _line_up(self, queue: Queue) -> None:
        row = queue.row
        if row.balance <= 0:
            row.balance = self.terms.replenish(queue)
        if queue.wake <= self.mono:
            self._totals.enter(row, _READY)
            self._lineup.ready(queue)
        elif queue.wake - self.mono > LONG_SNOOZE and not queue.taken:
            self._withdraw(queue, State.SNOOZED)
            self._turns.sleep(queue)
        else:
            self._totals.enter(row, State.SNOOZED)
            self._lineup.snooze(queue)

    def _withdraw(self, queue: Queue, state: State) -> None:
        """Out of the game: its URIs are in the store only."""
        queue.settle_head()
        queue.window = None
        self._totals.enter(queue.row, state)
        self.roster.touch(queue)
        if not queue.taken:
            self.roster.rest(queue)

    def _is_full(self, queue: Queue) -> bool:
        return queue.blocking > 0 or len(queue.taken) >= self.terms.limit(queue)

    def is_spent(self, queue: Queue) -> bool:
        """Whether a queue must stop: over its budget, behind the floor, or its turn is over."""
        if self.terms.is_over_budget(queue):
            return True
        if queue.row.precedence >= self.terms.whole.precedence_floor:
            return True
        if queue.row.balance > 0 or not self.terms.replenish(queue):
            return False
        return self._totals.states[State.INACTIVE] > 0
