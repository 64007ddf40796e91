"""Queues that share an address share its politeness.

The group of a queue is the text of the addresses of its host, with spaces between. Two queues wait
for each other when they have one address in common.
"""

from collections import deque
from heapq import heappop, heappush

from nacre.frontier.queues import Queue, State

_RECHECK = 1.0
_MANY = 10_000
_SAME = 1e-6


class _Address:
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
        """Note that a URI of the group was handed out; "" is no group."""
        for name in group.split():
            self._address(name).busy += 1

    def _address(self, name: str) -> _Address:
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = _Address()
        return address

    def end(self, group: str, wake: float, mono: float) -> None:
        """Note that it came back: all addresses of the group wait until `wake`."""
        for name in group.split():
            address = self._address(name)
            address.busy = max(address.busy - 1, 0)
            address.wake = max(address.wake, wake)
            if address.parked:
                heappush(self._due, (address.wake, name))
        if len(self._addresses) > self._many:
            self._sweep(mono)

    def repace(self, group: str, old: float, new: float, mono: float) -> None:
        """Let a delay of a group that would have ended at `old` end at `new`."""
        for name in group.split():
            address = self._addresses.get(name)
            if address is not None and abs(address.wake - old) < _SAME:
                address.wake = new
                if address.parked:
                    heappush(self._due, (max(new, mono), name))

    def released(self, mono: float) -> Queue | None:
        """Take a parked queue of which an address has a place now."""
        while self._due and self._due[0][0] <= mono:
            name = heappop(self._due)[1]
            address = self._addresses.get(name)
            queue = address.first_parked() if address else None
            if address and address.parked:
                heappush(self._due, (mono + _RECHECK, name))
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
