import asyncio
from pathlib import Path

from nacre.job.reports.progresslog import ProgressLog
from nacre.job.running.limits import Stopwatch
from nacre.job.session import Session
from nacre.job.states import JobState
from nacre.report.progress import HEADER, INTERVAL
from tests.job.opened import log_of, opened


class Clock:
    def __init__(self) -> None:
        self.mono = 100.0

    def now(self) -> float:
        return 1_795_000_000.0 + self.mono

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"a log does not wait, here {seconds} s")


def test_a_row_at_each_interval_and_events_between(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path) as session:
            clock = Clock()
            log = ProgressLog(session.parts, Stopwatch(clock, 0.0), clock)
            for passed in (0.0, INTERVAL - 1.0, 1.0, 1.0, INTERVAL):
                clock.mono += passed
                log.look()
            log.event(JobState.PAUSED, "by the operator")
            return session

    lines = log_of(asyncio.run(play()), "progress-statistics.log").splitlines()
    assert lines[0] == HEADER.rstrip("\n")
    assert len(lines) == 1 + 2 + 1
    assert "by the operator" in lines[-1]
