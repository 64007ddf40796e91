"""The clocks of a job: the machine's, and the same set to another time of day."""

import asyncio
import time

from nacre.core.clock import Clock


class SystemClock:
    """The machine's clocks; see `core.clock.Clock`."""

    __slots__ = ()

    # The functions themselves: a visit calls them eighteen times.
    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        await asyncio.sleep(max(seconds, 0))


class MovedClock:
    """The machine's clocks with another time of day, which goes on at the usual speed.

    Args:
        start: The time of day at this moment, seconds since the epoch.
    """

    __slots__ = ("_ahead",)

    def __init__(self, start: float) -> None:
        self._ahead = start - time.time()

    monotonic = staticmethod(time.monotonic)

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time() + self._ahead

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less only yields."""
        await asyncio.sleep(max(seconds, 0))


def machine_clock(clock: Clock) -> Clock:
    """Return the clock for events outside of the job: files, certificates, other servers' dates."""
    return SystemClock() if isinstance(clock, MovedClock) else clock
