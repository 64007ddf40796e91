"""The watchdog of a crawl: it logs when the event loop was blocked, and lets an idle loop sleep."""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, TypeVar

from nacre.core.clock import Clock
from nacre.engine.engine import Engine
from nacre.engine.logs import JobLogs

_BEAT = 0.05
LIMIT = 0.1
"""Gaps above this are logged, seconds."""
_LINES = 10
_SPAN = 600.0
"""So many lines in so many seconds; the other gaps are summed up, as a machine that is always busy
would fill the log of a long crawl with them."""
_RECENT = 10.0

T = TypeVar("T")


class EventLoopWatchdog:
    """Logs when the event loop was blocked.

    During visits it wakes every 50 ms, and a late wake-up is a gap. In an idle job it sets no
    timer: only tasks run then whose steps are timed (`watch`).

    Args:
        engine: Has the step that began last.
        logs: Takes the lines.
        clock: The time.
        is_idle: Whether only watched tasks run.

    Attributes:
        longest: Longest gap so far, seconds.
        gaps: Number of gaps above the limit.
    """

    def __init__(
        self, engine: Engine, logs: JobLogs, clock: Clock, is_idle: Callable[[], bool]
    ) -> None:
        self._engine = engine
        self._logs = logs
        self._clock = clock
        self._is_idle = is_idle
        self._until = 0.0
        self._told = 0
        self._untold = 0
        self._worst = 0.0
        self._since = self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._failed: asyncio.Future[None] | None = None
        self._newest = self._older = 0.0
        self.longest = 0.0
        self.gaps = 0

    @property
    def recent(self) -> float:
        """Longest gap of the last ten to twenty seconds, seconds."""
        return max(self._newest, self._older)

    async def run(self) -> None:
        """Watch until cancelled."""
        self._failed = asyncio.get_running_loop().create_future()
        self._begin_beat()
        try:
            await self._failed
        finally:
            self._failed = None
            if self._timer is not None:
                self._timer.cancel()

    # Timers, and no task that sleeps: twenty times a second that costs three times as much.

    def wake(self) -> None:
        """Wake every 50 ms again, until the job is idle."""
        if self._is_resting:
            self._begin_beat()

    @property
    def _is_resting(self) -> bool:
        return self._timer is None and self._failed is not None

    def _begin_beat(self) -> None:
        self._last = self._clock.monotonic()
        self._timer = asyncio.get_running_loop().call_later(_BEAT, self._end_beat)

    def _end_beat(self) -> None:
        gap = self._clock.monotonic() - self._last - _BEAT
        self._timer = None
        try:
            self.beat(gap, self._engine.doing)
        except Exception as error:  # noqa: BLE001 - `run` raises it
            if self._failed is not None and not self._failed.done():
                self._failed.set_exception(error)
        else:
            if not self._is_idle():
                self._begin_beat()

    # The tasks of an idle job.

    async def watch(self, work: Callable[[], Coroutine[Any, Any, T]], name: str) -> T:
        """Run a coroutine, and time its steps while there are no beats.

        Args:
            work: Makes the coroutine, which may run in an idle job.
            name: What it is, for the log.
        """
        return await self._time_steps(work(), name)

    @types.coroutine
    def _time_steps(self, coroutine: Coroutine[Any, Any, T], name: str) -> Generator[Any, Any, T]:
        step: Callable[[], Any] = partial(coroutine.send, None)
        while True:
            began = self._clock.monotonic() if self._is_resting else None
            try:
                awaited = step()
            except StopIteration as end:
                self._end_step(began, name)
                result: T = end.value
                return result
            self._end_step(began, name)
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - the coroutine handles it
                step = partial(coroutine.throw, error)
            else:
                step = partial(coroutine.send, None)

    def _end_step(self, began: float | None, name: str) -> None:
        """Note the time of a step that began without beats; `wake` times the rest of others."""
        if began is not None and self._is_resting:
            self.beat(self._clock.monotonic() - began, f"in {name}")

    # Gaps.

    def beat(self, gap: float, doing: str) -> None:
        """Note how long the loop was blocked.

        Args:
            gap: Seconds; those below the limit are only remembered.
            doing: What blocked it, as far as is known.
        """
        self.longest = max(self.longest, gap)
        self._newest = max(self._newest, gap)
        now = self._clock.monotonic()
        if now - self._since >= _RECENT:
            self._older, self._newest, self._since = self._newest, 0.0, now
        if gap > LIMIT:
            self.gaps += 1
            self._log(gap, doing)
        elif self._untold and now >= self._until:
            self._sum_up()

    def _log(self, gap: float, doing: str) -> None:
        now = self._clock.monotonic()
        if now >= self._until:
            if self._untold:
                self._sum_up()
            self._until, self._told = now + _SPAN, 0
        if self._told < _LINES:
            self._told += 1
            self._logs.job(f"the event loop was blocked for {gap * 1000:.0f} ms: {doing}")
        else:
            self._untold += 1
            self._worst = max(self._worst, gap)

    def _sum_up(self) -> None:
        self._logs.job(
            f"the event loop was blocked {self._untold:,} more times within {_SPAN / 60:.0f} "
            f"minutes, for {self._worst * 1000:.0f} ms at most"
        )
        self._untold, self._worst = 0, 0.0
