"""The politeness that reaches beyond one queue: to hosts of one address, and to other jobs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from nacre.frontier.groups import Groups
from nacre.frontier.queues import Queue, State
from nacre.frontier.rotation import Rotation
from nacre.frontier.slots import Occupied, SlotTable
from nacre.frontier.totals import Totals

_ASK_AGAIN = 30.0
"""Seconds between two looks at another job's rest: no queue goes to sleep for it."""

_MOST_ASLEEP = 5_000
"""Queues in the store, for more than a minute, of which a job that comes is told."""


class Courtesy:
    """Says whether a queue may hand out a URI, as far as others than itself have a say.

    Attributes:
        slots: Shared with the other jobs of this user; None shares nothing.
        groups: Those that share an address.
    """

    def __init__(self, totals: Totals, rotation: Rotation) -> None:
        self._totals = totals
        self._rotation = rotation
        self.groups = Groups()
        self.slots: SlotTable | None = None

    def may_take(self, queue: Queue) -> bool:
        """Whether all delays that concern a queue are over; else it is lined up again.

        After a True, `begin` or `refrain` must follow.
        """
        rotation = self._rotation
        if queue.row.group:
            limit = rotation.terms.politeness[queue.overlay].in_flight
            until = self.groups.until(queue.row.group, rotation.mono, limit)
            if isinstance(until, str):
                self._totals.enter(queue.row, State.SNOOZED)
                self.groups.park(until, queue)
                return False
            queue.wake = max(queue.wake, until)
        if queue.wake <= rotation.mono and self.slots is not None:
            self._take_slot(queue, self.slots)
        if queue.wake > rotation.mono:
            rotation.settle(queue)
            return False
        return True

    def _take_slot(self, queue: Queue, slots: SlotTable) -> None:
        """Unless another job has the host; then the queue asks again soon."""
        rotation = self._rotation
        if rotation.terms.politeness[queue.overlay].delay == 0:
            return
        wait = slots.take(queue.identity, rotation.terms.limit(queue), rotation.mono)
        if wait > 0.0:
            queue.wake = rotation.mono + min(wait, _ASK_AGAIN)

    def begin(self, queue: Queue) -> None:
        """Note that a URI of the queue was handed out."""
        self.groups.begin(queue.row.group)

    def refrain(self, queue: Queue) -> None:
        """Note that the queue had no URI to hand out."""
        if self.slots is not None:
            self.slots.give(queue.identity, 0.0)

    def end(self, queue: Queue, wake: float) -> None:
        """Note that its URI came back: all who share its host wait until `wake` (monotonic)."""
        mono = self._rotation.mono
        self.groups.end(queue.row.group, wake, mono)
        if self.slots is not None:
            self.slots.give(queue.identity, wake if wake > mono else 0.0)

    def share(self, queue: Queue, addresses: Sequence[str]) -> None:
        """Set the addresses of a queue's host; none when it shares with nobody."""
        row, group, mono = queue.row, " ".join(sorted(addresses)), self._rotation.mono
        if row.group != group:
            for _ in queue.taken:
                self.groups.end(row.group, mono, mono)
                self.groups.begin(group)
            row.group = group
            self._rotation.roster.touch(queue)

    def look(self, mono: float) -> None:
        """Look for other jobs; to be called twice a second."""
        if self.slots is not None:
            self._rotation.mono = mono
            self.slots.look(mono, self._all_occupied)

    def leave(self) -> None:
        """Tell other jobs which hosts rest: this one ends, perhaps because its store failed."""
        if self.slots is not None:
            self.slots.close(self._occupied(self._rotation.roster.in_memory()))
            self.slots = None

    def _all_occupied(self) -> Iterator[Occupied]:
        asleep = islice(self._rotation.sleeping(), _MOST_ASLEEP)
        return self._occupied(chain(self._rotation.roster.in_memory(), asleep))

    def _occupied(self, queues: Iterable[Queue]) -> Iterator[Occupied]:
        mono = self._rotation.mono
        for queue in queues:
            rests = queue.wake if queue.wake > mono else 0.0
            if queue.taken or rests:
                yield Occupied(queue.identity, len(queue.taken), rests)

    def release(self) -> None:
        """Line up again the parked queues whose group has a place now."""
        while (parked := self.groups.released(self._rotation.mono)) is not None:
            self._rotation.settle(parked)

    def wait(self) -> float | None:
        """Seconds until `release` may find a queue; None when none waits."""
        return self.groups.wait(self._rotation.mono)
