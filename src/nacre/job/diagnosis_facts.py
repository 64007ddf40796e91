"""The facts of the diagnosis, from an answer to `status` and the last lines of the logs (pure).

This is the only place that makes them, for the terminal and for the console.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.job.activity import JobPace
from nacre.job.diagnosis import CrowdedKind, DiagnosisFacts
from nacre.job.lately import LastLines, suspected_trap, troubled_host
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue


class JobStatus(msgspec.Struct, frozen=True):
    """An answer to `status`: of a process, or of the store of a job at rest.

    Attributes:
        overview: The numbers of the job.
        slowest: The queues that take longest.
        fetching: The fetches that have taken longest so far.
        committed: When the last commit was, seconds since the epoch; None where it does not run.
        gap: Longest gap of the event loop in ten seconds, ms; likewise.
        free: Free space of the disk, bytes; None where that is not known.
        reserve: Space that is kept free, bytes; likewise.
        problems: Problems that keep a job that never ran from starting.
        first_problem: The first of them; "" for none.
        pace: How fast it goes; without numbers where it does not run.
    """

    overview: JobOverview
    slowest: tuple[SlowQueue, ...] = ()
    fetching: tuple[FetchInProcess, ...] = ()
    committed: float | None = None
    gap: float | None = None
    free: int | None = None
    reserve: int | None = None
    problems: int = 0
    first_problem: str = ""
    pace: JobPace = JobPace()


def job_status(answer: Mapping[str, Any]) -> JobStatus:
    """An answer to `status` with its types.

    Raises:
        msgspec.ValidationError: It is none.
    """
    return msgspec.convert(answer, JobStatus)


def diagnosis_facts(
    status: JobStatus, now: float, lines: LastLines, crowded: CrowdedKind | None = None
) -> DiagnosisFacts:
    """The facts of the diagnosis.

    Args:
        status: The answer of the job.
        now: The caller's time, seconds since the epoch; see `job_time`.
        lines: The last lines of the logs of a job that runs; none of one that does not.
        crowded: The kind that most queued URIs are of, if its warning is not muted; None for none.
    """
    pace, overview = status.pace, status.overview
    now = job_time(overview, now)
    seconds_left = None if pace.grows else time_left(overview, status.slowest, pace.rate)
    return DiagnosisFacts(
        overview,
        status.slowest,
        now,
        rate=pace.rate,
        seconds_left=seconds_left,
        grows=pace.grows,
        committed=status.committed,
        gap=status.gap,
        free=status.free,
        reserve=status.reserve,
        problems=status.problems,
        first_problem=status.first_problem,
        troubled=troubled_host(lines, status.slowest, now),
        trap=suspected_trap(lines.crawl, outgrows=pace.outgrows),
        crowded=crowded,
    )


def job_time(overview: JobOverview, now: float) -> float:
    """Return the time of a job, seconds since the epoch: its logs and its commits have this time.

    Args:
        overview: The numbers of the job.
        now: The time of the caller. It counts for a job that does not run, but not if it is before
            the end of the run, whose clock `--now` moved.
    """
    return overview.as_of or max(now, overview.ended_at)


def time_left(
    overview: JobOverview, slowest: tuple[SlowQueue, ...], rate: float | None
) -> float | None:
    """Seconds that the rest takes about; None while held, and where the rate is 0 or unknown."""
    if overview.state in {"PAUSING", "PAUSED"} or not rate or not overview.queued:
        return None
    return max(overview.queued / rate, slowest[0].needs if slowest else 0.0)
