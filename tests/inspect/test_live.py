"""What a running job tells of itself."""

import asyncio
from pathlib import Path

from nacre.engine.limits import Stopwatch
from nacre.job.session import Session
from nacre.report.progress import ProgressLog
from tests.job.opened import log_of, opened


def test_a_job_that_has_just_been_opened(tmp_path: Path):
    async def look() -> Session:
        async with opened(tmp_path) as session:
            job = session.live
            counts, figures = job.counts(), job.figures()
            assert (counts.busy, counts.queued, counts.deepest) == (0, 1, 1), "the seed waits"
            assert 0 < counts.memory <= counts.peak
            assert (figures.parallel, list(figures.toes)) == (0, [])
            assert job.in_process() == []
            assert job.queue("test,nowhere,") is None
            assert job.totals.urls == 0
            log = ProgressLog(
                job, session.logs, "run", Stopwatch(session.clock, 0.0),
                session.clock,
            )  # fmt: skip
            log.row()
            return session

    session = asyncio.run(look())
    *_, row = log_of(session, "progress-statistics.log").splitlines()
    assert row.split()[1:4] == ["1", "1", "0"]
