"""Politeness beyond one queue: towards hosts that share an address, and towards other jobs.

The group of a queue is the text of the addresses of its host, with spaces between. Two queues wait
for each other when they have one address in common.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, islice

from nacre.frontier.queue_states import QueueStates
from nacre.frontier.queues import Queue, QueueState, Totals
from nacre.frontier.shared_slots import NO_SLOTS, OccupiedQueue, SharedSlots

_RECHECK = 1.0
_MANY = 10_000
_SAME = 1e-6


class _Address:
    """An address that hosts share.

    Attributes:
        busy: URIs in process.
        wake: Monotonic time until which its hosts wait.
        recheck: Monotonic time of the planned check of its parked queues; 0 for none.
        parked: Queues that wait for a place.
    """

    __slots__ = ("busy", "parked", "recheck", "wake")

    def __init__(self) -> None:
        self.busy = 0
        self.wake = 0.0
        self.recheck = 0.0
        self.parked: deque[Queue] = deque()

    def release(self, wake: float) -> None:
        """Record the return of a URI: the next URI is handed out at `wake` or later."""
        self.busy = max(self.busy - 1, 0)
        self.wake = max(self.wake, wake)

    def change_wake(self, wake: float) -> None:
        """Set when the delay ends."""
        self.wake = wake

    def plan_recheck(self, time: float, mono: float) -> bool:
        """Plan another check of the parked queues, when that of `time` is over; False for none.

        The queue of this look may leave the place free. There is one look a second, however many
        queues are parked.
        """
        if self.recheck not in (0.0, time):
            return False
        self.recheck = mono + _RECHECK if self.parked else 0.0
        return bool(self.parked)

    def first_parked(self) -> Queue | None:
        """Take the first that was not retired or made inactive meanwhile."""
        while self.parked:
            queue = self.parked.popleft()
            if queue.row.state is QueueState.SNOOZED and queue.window is not None:
                return queue
        return None


class AddressGroups:
    """Fetches in process and delays by address. In memory only: a restart waits longer anyway."""

    def __init__(self) -> None:
        self._addresses: dict[str, _Address] = {}
        self._due: list[tuple[float, str]] = []
        self._many = _MANY

    def until(self, group: str, mono: float, limit: int) -> float | str:
        """Monotonic time from which a group may fetch; else an address with `limit` URIs out."""
        wake = mono
        for name in group.split():
            address = self._addresses.get(name)
            if address is None:
                continue
            if address.busy >= limit:
                return name
            wake = max(wake, address.wake)
        return wake

    def park(self, name: str, queue: Queue) -> None:
        """Let a queue wait until an address has a place; `released` gives it back."""
        self._addresses[name].parked.append(queue)

    def begin(self, group: str) -> None:
        """Note that a URI of the group was handed out; "" is not a group."""
        for name in group.split():
            self._address(name).busy += 1

    def _address(self, name: str) -> _Address:
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = _Address()
        return address

    def end(self, group: str, wake: float, mono: float) -> None:
        """Record the return of its URI: all addresses of the group wait until `wake`."""
        for name in group.split():
            address = self._address(name)
            address.release(wake)
            if address.parked:
                heappush(self._due, (address.wake, name))
        if len(self._addresses) > self._many:
            self._sweep(mono)

    def delay(self, group: str, wake: float) -> None:
        """Let all addresses of the group wait until `wake`: a page made requests to it."""
        for name in group.split():
            address = self._address(name)
            address.change_wake(max(address.wake, wake))

    def repace(self, group: str, old: float, new: float, mono: float) -> None:
        """Let a delay of a group that would have ended at `old` end at `new`."""
        for name in group.split():
            address = self._addresses.get(name)
            if address is not None and abs(address.wake - old) < _SAME:
                address.change_wake(new)
                if address.parked:
                    heappush(self._due, (max(new, mono), name))

    def released(self, mono: float) -> Queue | None:
        """Take a parked queue of which an address may have a place now."""
        while self._due and self._due[0][0] <= mono:
            time, name = heappop(self._due)
            address = self._addresses.get(name)
            if address is None:
                continue
            queue = address.first_parked()
            if address.plan_recheck(time, mono):
                heappush(self._due, (address.recheck, name))
            if queue is not None:
                return queue
        return None

    def wait(self, mono: float) -> float | None:
        """Seconds until `released` may have a queue; None when none is parked."""
        return max(self._due[0][0] - mono, 0.0) if self._due else None

    def _sweep(self, mono: float) -> None:
        self._addresses = {
            name: address
            for name, address in self._addresses.items()
            if address.busy or address.parked or address.wake > mono
        }
        self._many = max(_MANY, 2 * len(self._addresses))


_ASK_AGAIN = 30.0
"""Seconds between two checks of another job's delay: no queue is snoozed for it."""

_MOST_ASLEEP = 5_000
"""Most snoozed queues of the store, with over a minute left, published for other jobs."""


class Politeness:
    """Politeness beyond one queue: whether others than a queue itself let it hand out a URI.

    Args:
        totals: What was counted so far.
        states: The states of the queues.
        slots: Shared with the other jobs of this user.

    Attributes:
        groups: Queues that share an address.
    """

    def __init__(self, totals: Totals, states: QueueStates, slots: SharedSlots) -> None:
        self._totals = totals
        self._states = states
        self._time = states.time
        self._cache = states.cache
        self._slots = slots
        self.groups = AddressGroups()

    def may_take(self, queue: Queue) -> bool:
        """Return whether all delays that concern a queue are over; else it is lined up again.

        After a True, `begin` or `refrain` must follow.
        """
        states = self._states
        if queue.row.group:
            limit = states.settings.politeness[queue.overlay].in_flight
            until = self.groups.until(queue.row.group, self._time.mono, limit)
            if isinstance(until, str):
                self._totals.enter(queue.row, QueueState.SNOOZED)
                self.groups.park(until, queue)
                return False
            queue.postpone(until)
        if queue.wake <= self._time.mono:
            self._take_slot(queue)
        if queue.wake > self._time.mono:
            states.update_state(queue)
            return False
        return True

    def _take_slot(self, queue: Queue) -> None:
        """Take a slot of the host; if another job has it, the queue tries again soon."""
        states = self._states
        if states.settings.politeness[queue.overlay].delay == 0:
            return
        wait = self._slots.take(queue.identity, states.settings.limit(queue), self._time.mono)
        if wait > 0.0:
            queue.postpone(self._time.mono + min(wait, _ASK_AGAIN))

    def begin(self, queue: Queue) -> None:
        """Note that a URI of the queue was handed out."""
        self.groups.begin(queue.row.group)

    def refrain(self, queue: Queue) -> None:
        """Note that the queue had no URI to hand out."""
        self._slots.give(queue.identity, 0.0)

    def end(self, queue: Queue, wake: float) -> None:
        """Record the return of its URI: all queues of its host wait until `wake` (monotonic)."""
        mono = self._time.mono
        self.groups.end(queue.row.group, wake, mono)
        self._slots.give(queue.identity, wake if wake > mono else 0.0)

    def share(self, queue: Queue, addresses: Sequence[str]) -> None:
        """Set the addresses of a queue's host; none when it shares them with no other queue."""
        row, group, mono = queue.row, " ".join(sorted(addresses)), self._time.mono
        if row.group != group:
            for _ in queue.taken:
                self.groups.end(row.group, mono, mono)
                self.groups.begin(group)
            row.share_with(group)
            self._cache.touch(queue)

    def look(self, mono: float) -> None:
        """Look for other jobs; to be called twice a second."""
        self._time.advance(mono)
        self._slots.look(mono, self._all_occupied)

    def leave(self) -> None:
        """Publish for other jobs which hosts are delayed: the job ends, perhaps in failure."""
        self._slots.close(self._occupied(self._cache.in_memory()))
        self._slots = NO_SLOTS

    def _all_occupied(self) -> Iterator[OccupiedQueue]:
        asleep = islice(self._states.sleeping(), _MOST_ASLEEP)
        return self._occupied(chain(self._cache.in_memory(), asleep))

    def _occupied(self, queues: Iterable[Queue]) -> Iterator[OccupiedQueue]:
        mono = self._time.mono
        for queue in queues:
            rests = queue.wake if queue.wake > mono else 0.0
            if queue.taken or rests:
                yield OccupiedQueue(queue.identity, len(queue.taken), rests)

    def release(self) -> None:
        """Line up again the parked queues whose group has a place now."""
        while (parked := self.groups.released(self._time.mono)) is not None:
            self._states.update_state(parked)

    def wait(self) -> float | None:
        """Seconds until `release` may find a queue; None when none waits."""
        return self.groups.wait(self._time.mono)
