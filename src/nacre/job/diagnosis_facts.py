"""The facts of the diagnosis, from an answer to `status` and the last lines of the logs.

This is the only place that makes them, for the terminal and for the console. One fact is the kind
that most queued URIs are of, which can be a trap.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from nacre.job.activity import JobPace
from nacre.job.diagnosis import CrowdedKind, DiagnosisFacts
from nacre.job.lately import LastLines, suspected_trap, troubled_host
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.store.store import Store
from nacre.uri.surt import queue_root


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
        paused_by: Name of the user who paused it; "" for none.
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
    paused_by: str = ""


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
        paused_by=status.paused_by,
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


MANY: Final = 500
"""URIs that wait, below which nothing is said."""
MOST: Final = 0.8
"""Share of the queued URIs that counts as most. Both are guesses: a calendar soon has 19 of 20."""
LOOKED: Final = 5_000
"""URIs of a queue that are looked at."""


def crowded_queue(
    overview: JobOverview, slowest: Collection[SlowQueue], *, grows: bool
) -> SlowQueue | None:
    """Return the queue with most queued URIs, if the job has many and more come in; None for none.

    Args:
        overview: The numbers of the job.
        slowest: The queues that take longest.
        grows: See `JobPace`.
    """
    if not grows or overview.queued <= MANY or not slowest:
        return None
    largest = max(slowest, key=lambda queue: queue.pending)
    return largest if largest.pending >= MOST * overview.queued else None


def crowded_kind(
    queue: str, branch: str, number: int, inspected: int
) -> CrowdedKind | None:  # fmt: skip
    """The kind that most of a queue is of; None where no kind is.

    Args:
        queue: Key of the queue of a host.
        branch: The largest of its branches, as `path_branch` gives it; "" for none.
        number: URIs of it.
        inspected: URIs of the queue that were looked at.
    """
    # What ends otherwise is a single URL.
    if (
        not inspected
        or branch == "/"
        or not branch.endswith(("/", "?"))
        or number < MOST * inspected
    ):
        return None
    return CrowdedKind(queue, queue_root(queue) + branch.removeprefix("/"), number, inspected)


def find_crowded_kind(store: Store, queue: str) -> CrowdedKind | None:
    """The same, looked for among the first URIs of a queue.

    Args:
        store: The job's.
        queue: Key of the queue.
    """
    from nacre.frontier.pending import of_queue  # noqa: PLC0415 - with patterns; rarely needed

    branches = Counter(
        path_branch(entry.uri.url, "") for entry in islice(of_queue(store, queue), LOOKED)
    )
    (branch, number), *_ = branches.most_common(1) or [("", 0)]
    return crowded_kind(queue, branch, number, branches.total())


def unwanted(crowded: CrowdedKind | None, muted: Collection[str]) -> CrowdedKind | None:
    """Return the kind that most queued URIs are of; None if its warning is muted."""
    return None if crowded is None or crowded.prefix in muted else crowded


def path_branch(url: str, path: str) -> str:
    """The part of a URL's path that is one level below a path; "" for a URL elsewhere.

    Args:
        url: The URL.
        path: "" or `/`, or one that ends with a slash.
    """
    start = url.find("/", url.find("://") + 3)
    url_path = url[start:] if start >= 0 else "/"
    begin = path or "/"
    if not url_path.startswith(begin):
        return ""
    end = url_path.find("/", len(begin))
    mark = url_path.find("?", len(begin))
    if end >= 0 and (mark < 0 or end < mark):
        return url_path[: end + 1]
    return url_path[: mark + 1] if mark >= 0 else url_path
