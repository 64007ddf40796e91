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
            log.event(JobState.PAUSING, JobState.PAUSED, "by the operator")
            log.event(JobState.RUNNING, JobState.STOPPING, "FINISHED")
            return session

    session = asyncio.run(play())
    first, *lines = log_of(session, "progress-statistics.log").splitlines()
    assert first == HEADER
    assert len(lines) == 1 + 2 + 3
    events = [line.partition(" ")[2] for line in lines[-3:]]
    assert events == [
        "CRAWL PAUSED - Paused (by the operator)",
        "CRAWL ENDING - Finished",
        "CRAWL EMPTY - Running",
    ]
    states = [line.split()[2] for line in log_of(session).splitlines()[-3:]]
    assert states == ["PAUSED", "STOPPING", "EMPTY"]
