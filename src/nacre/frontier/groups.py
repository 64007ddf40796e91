"""Queues that share an address share its politeness."""

from collections import deque
from heapq import heappop, heappush

from nacre.frontier.queues import Queue, State

_RECHECK = 1.0
_MANY = 10_000


class _Group:
    __slots__ = ("busy", "parked", "wake")

    def __init__(self) -> None:
        self.busy = 0
        self.wake = 0.0
        self.parked: deque[Queue] = deque()

    def first_parked(self) -> Queue | None:
        """Take the first that was not retired or made inactive meanwhile."""
        while self.parked:
            queue = self.parked.popleft()
            if queue.row.state is State.SNOOZED and queue.window is not None:
                return queue
        return None


class Groups:
    """Fetches in process and delays by group. In memory only: a restart waits longer anyway."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._due: list[tuple[float, str]] = []

    def until(self, name: str, mono: float, limit: int) -> float | None:
        """Monotonic time from which a group may fetch; None while `limit` of its URIs are out."""
        group = self._groups.get(name)
        if group is None:
            return mono
        return None if group.busy >= limit else group.wake

    def park(self, name: str, queue: Queue) -> None:
        """The queue waits until its group has a place; `released` gives it back."""
        self._groups[name].parked.append(queue)

    def begin(self, name: str) -> None:
        """A URI of the group was handed out; "" is no group."""
        if name:
            self._groups.setdefault(name, _Group()).busy += 1

    def end(self, name: str, wake: float, mono: float) -> None:
        """It came back, and the group waits until `wake`."""
        if not name:
            return
        group = self._groups.setdefault(name, _Group())
        group.busy = max(group.busy - 1, 0)
        group.wake = max(group.wake, wake)
        if group.parked:
            heappush(self._due, (group.wake, name))
        elif len(self._groups) > _MANY:
            self._sweep(mono)

    def released(self, mono: float) -> Queue | None:
        """Take a parked queue whose group has a place now."""
        while self._due and self._due[0][0] <= mono:
            name = heappop(self._due)[1]
            group = self._groups.get(name)
            queue = group.first_parked() if group else None
            if group and group.parked:
                heappush(self._due, (mono + _RECHECK, name))
            if queue is not None:
                return queue
        return None

    def wait(self, mono: float) -> float | None:
        """Seconds until `released` may have one; None when none is parked."""
        return max(self._due[0][0] - mono, 0.0) if self._due else None

    def _sweep(self, mono: float) -> None:
        self._groups = {
            name: group
            for name, group in self._groups.items()
            if group.busy or group.parked or group.wake > mono
        }
