"""The watchdog of the event loop: what held it up for more than 100 ms goes to the log."""

import asyncio

from nacre.core.clock import Clock
from nacre.job.running.engine import Engine
from nacre.job.visit.logs import JobLogs

_BEAT = 0.05
LIMIT = 0.1
"""Gaps above this are logged, seconds."""
_LINES = 10
_SPAN = 600.0
"""So many lines in so many seconds; the other gaps are summed up, as a machine that is always busy
would fill the log of a long crawl with them."""


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
        self._until = 0.0
        self._told = 0
        self._untold = 0
        self._worst = 0.0
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
            self._tell(gap)
        elif self._untold and self._clock.monotonic() >= self._until:
            self._sum_up()

    def _tell(self, gap: float) -> None:
        now = self._clock.monotonic()
        if now >= self._until:
            if self._untold:
                self._sum_up()
            self._until, self._told = now + _SPAN, 0
        if self._told < _LINES:
            self._told += 1
            self._logs.job(
                f"the event loop stood still for {gap * 1000:.0f} ms: {self._engine.doing}"
            )
        else:
            self._untold += 1
            self._worst = max(self._worst, gap)

    def _sum_up(self) -> None:
        self._logs.job(
            f"the event loop stood still {self._untold:,} times more within {_SPAN / 60:.0f} "
            f"minutes, for {self._worst * 1000:.0f} ms at most"
        )
        self._untold, self._worst = 0, 0.0
