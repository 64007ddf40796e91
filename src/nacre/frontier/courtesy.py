"""The politeness that reaches beyond one queue: hosts that share an address."""

from collections.abc import Sequence

from nacre.frontier.groups import Groups
from nacre.frontier.queues import Queue, State
from nacre.frontier.rotation import Rotation
from nacre.frontier.totals import Totals


class Courtesy:
    """Says whether a queue may hand out a URI, as far as others than itself have a say."""

    def __init__(self, totals: Totals, rotation: Rotation) -> None:
        self._totals = totals
        self._rotation = rotation
        self._groups = Groups()

    def may_take(self, queue: Queue) -> bool:
        """Its delay is over, and that of all that share an address; else it is lined up again."""
        rotation = self._rotation
        if queue.row.group:
            limit = rotation.terms.politeness[queue.overlay].in_flight
            until = self._groups.until(queue.row.group, rotation.mono, limit)
            if isinstance(until, str):
                self._totals.enter(queue.row, State.SNOOZED)
                self._groups.park(until, queue)
                return False
            queue.wake = max(queue.wake, until)
        if queue.wake > rotation.mono:
            rotation.settle(queue)
            return False
        return True

    def begin(self, queue: Queue) -> None:
        """A URI of it was handed out."""
        self._groups.begin(queue.row.group)

    def end(self, queue: Queue, wake: float) -> None:
        """It came back, and all that share an address wait until `wake`, monotonic seconds."""
        self._groups.end(queue.row.group, wake, self._rotation.mono)

    def share(self, queue: Queue, addresses: Sequence[str]) -> None:
        """The addresses of its host; none when it shares with nobody."""
        row, group, mono = queue.row, " ".join(sorted(addresses)), self._rotation.mono
        if row.group != group:
            for _ in queue.taken:
                self._groups.end(row.group, mono, mono)
                self._groups.begin(group)
            row.group = group
            self._rotation.roster.touch(queue)

    def release(self) -> None:
        """Line those up again whose group has a place now."""
        while (parked := self._groups.released(self._rotation.mono)) is not None:
            self._rotation.settle(parked)

    def wait(self) -> float | None:
        """Seconds until `release` may find one; None when none waits."""
        return self._groups.wait(self._rotation.mono)
