"""The watchdog of the event loop: what held it up for more than 100 ms goes to the log."""

import asyncio

from nacre.core.clock import Clock
from nacre.job.running.engine import Engine
from nacre.job.visit.logs import JobLogs

_BEAT = 0.05
LIMIT = 0.1
"""Gaps above this are logged, seconds."""


class Watchdog:
    """Beats every 50 ms; a late beat is a gap.

    Attributes:
        longest: Longest gap so far, seconds.
        gaps: Number of gaps above the limit.
    """

    def __init__(self, engine: Engine, logs: JobLogs, clock: Clock) -> None:
        self._engine = engine
        self._logs = logs
        self._clock = clock
        self.longest = 0.0
        self.gaps = 0

    async def run(self) -> None:
        """Watch until cancelled."""
        last = self._clock.monotonic()
        while True:
            await asyncio.sleep(_BEAT)
            now = self._clock.monotonic()
            self.beat(now - last - _BEAT)
            last = now

    def beat(self, gap: float) -> None:
        """Judge how much too late a beat came, seconds."""
        self.longest = max(self.longest, gap)
        if gap > LIMIT:
            self.gaps += 1
            self._logs.job(
                f"the event loop stood still for {gap * 1000:.0f} ms: {self._engine.doing}"
            )
