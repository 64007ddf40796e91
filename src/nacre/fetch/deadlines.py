"""One timer for the limits of time of all exchanges: one each would cost as much as the request."""

import asyncio
from typing import Protocol

_LEAST = 0.05
"""Thousands that wait are not looked at more often than this, seconds."""


class Timed(Protocol):
    """What must not take longer than it may."""

    @property
    def due(self) -> float:
        """When one of its limits is met as things stand, in the time of the loop."""
        ...

    def look(self, now: float) -> None:
        """End if a limit is met by now."""
        ...


class Deadlines:
    """Looks at whatever it was given when the first of them may be due.

    What ends in time is only dropped: nobody looks again at the timer before it fires.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watched: set[Timed] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._at = float("inf")

    def watch(self, one: Timed, due: float) -> None:
        """Look at something from now on; `due` as its attribute says."""
        self._watched.add(one)
        if due < self._at:
            self._arm(due)

    def drop(self, one: Timed) -> None:
        """Look at it no more: its limits do not matter any longer."""
        self._watched.discard(one)

    def close(self) -> None:
        """Watch nothing more."""
        self._watched.clear()
        self._disarm()

    def _arm(self, at: float) -> None:
        self._disarm()
        self._at = at
        self._timer = self._loop.call_at(at, self._look)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._at = float("inf")

    def _look(self) -> None:
        self._disarm()
        now = self._loop.time()
        for one in tuple(self._watched):
            one.look(now)
        if self._watched:
            self._arm(max(min(one.due for one in self._watched), now + _LEAST))
