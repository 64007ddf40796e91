"""A crawl that is watched: the event loop's gaps, and where the CPU time goes."""

import asyncio
import resource
import time
from typing import Any

from bench.sampler import Sampler
from nacre.job.job import Job

BEAT = 0.005
"""The watchdog wants to be called so often, seconds."""


class Watchdog:
    """How late the event loop calls back.

    Attributes:
        late: Lateness of each call, seconds.
        busy: CPU time of this thread in that lateness, seconds: what other processes took is not
            our fault.
    """

    def __init__(self) -> None:
        self.late: list[float] = []
        self.busy: list[float] = []

    def start(self) -> None:
        """Begin; within a running loop."""
        self._loop = asyncio.get_running_loop()
        self._next()

    def stop(self) -> None:
        """End."""
        self._handle.cancel()

    def _next(self) -> None:
        self._due = self._loop.time() + BEAT
        self._used = time.thread_time()
        self._handle = self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        late = max(self._loop.time() - self._due, 0.0)
        self.late.append(late)
        self.busy.append(min(max(time.thread_time() - self._used - BEAT, 0.0), late))
        self._next()

    def result(self) -> dict[str, float]:
        """p99 and maximum, ms, by the clock and by CPU time."""
        return {
            "beats": len(self.late),
            "p99_ms": _p99(self.late),
            "max_ms": round(max(self.late, default=0.0) * 1000, 2),
            "busy_p99_ms": _p99(self.busy),
            "busy_max_ms": round(max(self.busy, default=0.0) * 1000, 2),
        }


def _p99(values: list[float]) -> float:
    return round(sorted(values)[int(len(values) * 0.99)] * 1000, 2) if values else 0.0


async def watched(job: Job) -> dict[str, Any]:
    """Run a job; return the samples."""
    sampler, watchdog = Sampler(), Watchdog()
    began = time.process_time()
    sampler.start()
    watchdog.start()
    try:
        await job.run()
    finally:
        watchdog.stop()
        sampler.stop()
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "gaps": watchdog.result(),
        "stages": {
            **sampler.stages(),
            "start, imports": began,
            "helper process": helpers.ru_utime + helpers.ru_stime,
        },
        "functions": dict(sampler.functions()),
        "lines": sampler.lines(),
    }
