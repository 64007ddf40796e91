"""Snapshots of the state of a job at one moment (pure)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from nacre.core.states import JobState
from nacre.errors import NacreError
from nacre.fleet.places import FoundJob
from nacre.job.activity import JobActivity, RatePoint
from nacre.job.control import ask_command
from nacre.job.diagnosis import CrowdedKind, Diagnosis, diagnose, rounds_diagnosis
from nacre.job.diagnosis_facts import diagnosis_facts, job_status
from nacre.job.lately import NO_LINES, FetchedPlace, LastLines, fetched_lately
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.ops.operation import PAUSED, group_of

REPLIES: Final = ("documents", "unchanged", "redirects", "errors", "failed")
"""Kinds of replies and failures whose numbers are points."""
READING = "READING"
"""The state of a job that was not polled yet."""
PREPARING: Final = str(JobState.PREPARING)
"""The state of a job whose process begins."""
UNREADABLE = "UNREADABLE"
"""The state of a job that cannot be read."""


class JobSnapshot(msgspec.Struct, frozen=True):
    """The last known state of a job.

    Attributes:
        job: Its id.
        as_of: Time of the snapshot, seconds since the epoch; 0 for never.
        state: `JobOverview.state`; `ROUNDS`, `READING` or `UNREADABLE` if there is none.
        running: A process works on it.
        sentence: Diagnosis of its state and speed.
        overview: Its numbers; None if there are none.
        slowest: The queues that take longest.
        fetching: The fetches that have taken longest so far.
        rounds: The state of a batch crawl; None for another job.
        rate: URIs finished per second, lately; None if it does not run, or was just found.
        bytes_rate: Bytes received per second, likewise.
        left: Estimated remaining seconds; None if unknown.
        rates: URIs a second in the last ten minutes, the oldest first.
        problems: Number of problems that prevent a job at rest from starting.
        first_problem: The first problem; "" for none.
        waits: The options of `nacre recrawl` by which a process waits for the next pass; "" for
            none that waits.
        places: The directories that were fetched from most lately, the first first.
        stale: When its numbers were those of now, seconds since the epoch, where they are older
            than the look; 0 if they are not.
        commit_age: Seconds for which its oldest change waited to become durable; None if the job
            does not run.
        gap: Longest gap of its event loop in ten seconds, ms; likewise.
        grows: In the last half minute, more URIs were queued than finished.
        crowded: The kind of most queued URLs, while the queue grows; None for none.
    """

    job: str
    as_of: float
    state: str
    running: bool
    sentence: Diagnosis
    overview: JobOverview | None = None
    slowest: tuple[SlowQueue, ...] = ()
    fetching: tuple[FetchInProcess, ...] = ()
    rounds: dict[str, Any] | None = None
    rate: float | None = None
    bytes_rate: float | None = None
    left: float | None = None
    rates: tuple[float, ...] = ()
    problems: int = 0
    first_problem: str = ""
    waits: str = ""
    places: tuple[FetchedPlace, ...] = ()
    stale: float = 0.0
    commit_age: float | None = None
    gap: float | None = None
    grows: bool = False
    crowded: CrowdedKind | None = None

    @property
    def is_crawling(self) -> bool:
        """Whether a process works on the job, and it is not paused."""
        return self.running and group_of(self.state) != PAUSED


def unseen(job: FoundJob) -> JobSnapshot:
    """The snapshot of a job that was not looked at yet."""
    return JobSnapshot(job.id, 0.0, READING, running=False, sentence=Diagnosis("reading"))


def unreadable(
    job: FoundJob, reason: str, now: float, last: JobSnapshot | None = None, *, running: bool
) -> JobSnapshot:
    """The snapshot of a job that cannot be read, or does not answer; the last good numbers stay.

    Args:
        job: The job.
        reason: What was in the way.
        now: Seconds since the epoch.
        last: Its last snapshot; None for none.
        running: A process works on it.
    """
    code = "no-answer" if running else "unreadable"
    sentence = Diagnosis(code, {"why": reason})
    if last is None or last.overview is None:
        return JobSnapshot(job.id, now, UNREADABLE, running=running, sentence=sentence)
    return msgspec.structs.replace(
        last, as_of=now, state=UNREADABLE, running=running, sentence=sentence, rate=None,
        bytes_rate=None, left=None, fetching=(), stale=last.stale or last.as_of, commit_age=None,
        gap=None, grows=False, crowded=None,
    )  # fmt: skip


def starting(job: FoundJob, now: float, last: JobSnapshot | None = None) -> JobSnapshot:
    """The snapshot of a job whose process was started and does not answer yet.

    Its numbers stay those of the run before, whole: its store has the new run already, and not yet
    the counts of that.

    Args:
        job: The job.
        now: Seconds since the epoch.
        last: Its last snapshot; None for none.
    """
    before = last.overview if last is not None else None
    overview = msgspec.structs.replace(before or JobOverview(PREPARING), state=PREPARING)
    last = last or unseen(job)
    return msgspec.structs.replace(
        last, as_of=now, state=PREPARING, running=False, sentence=Diagnosis("preparing"),
        overview=overview, problems=0, first_problem="", waits="",
    )  # fmt: skip


def snapshot_of(
    job: FoundJob,
    answer: dict[str, Any],
    now: float,
    activity: JobActivity | None,
    lines: LastLines = NO_LINES,
    crowded: CrowdedKind | None = None,
) -> JobSnapshot:
    """Return the snapshot of an answer to `status`.

    Args:
        job: The job.
        answer: The answer of its process, or of its store.
        now: Seconds since the epoch.
        activity: Its last minutes, including this answer; None if the job does not run.
        lines: The last lines of its logs.
        crowded: The kind of most queued URLs, unless a user has marked that kind as wanted; None
            for none.
    """
    if "cycle" in answer:
        rounds = answer["cycle"]
        sentence = rounds_diagnosis(rounds)
        return JobSnapshot(
            job.id, now, "ROUNDS", running=bool(rounds.get("running")), sentence=sentence,
            rounds=rounds,
        )  # fmt: skip
    status = job_status(answer)
    if activity is not None and "pace" not in answer:  # a process of an older version
        status = msgspec.structs.replace(status, pace=activity.pace())
    facts = diagnosis_facts(status, now, lines, crowded)
    overview = status.overview
    return JobSnapshot(
        job.id, now, overview.state, activity is not None, diagnose(facts), overview,
        status.slowest, status.fetching, None, facts.rate, status.pace.bytes_rate,
        facts.seconds_left, activity.rates if activity is not None else (), status.problems,
        status.first_problem,
        places=fetched_lately(lines.crawl), commit_age=commit_age_of(status.committed, facts.now),
        gap=status.gap, grows=status.pace.grows,
    )  # fmt: skip


def commit_age_of(committed: float | None, now: float) -> float | None:
    """Seconds since the last commit, both by the clock of the job; None if it is not known."""
    return None if committed is None else max(now - committed, 0.0)


def rate_point(answer: dict[str, Any], now: float, mono: float) -> RatePoint:
    """The point of the past that an answer to `status` is.

    Args:
        answer: The answer.
        now: Seconds since the epoch.
        mono: Seconds of the monotonic clock.
    """
    overview = answer["overview"]
    return RatePoint(
        # What the operator deleted was not worked on: it is no speed.
        mono, overview["finished"] - overview.get("deleted", 0), overview["bytes"],
        overview["queued"], overview["busy"],
        overview["parallel"], overview["queues"], {name: overview[name] for name in REPLIES},
        commit_age_of(answer.get("committed"), now) or 0.0, answer.get("gap") or 0.0,
        # A job of an earlier version does not tell it.
        overview.get("worked", 0.0),
    )  # fmt: skip


class FetchSlot(msgspec.Struct, frozen=True):
    """A toe and its visit.

    Attributes:
        toe: Its number.
        uri: The URL.
        path: Hop path from the seed.
        via: The page that links to the URL.
        attempts: Number of earlier attempts.
        step: Step of the processing chain.
        seconds: Seconds since the URL was handed out.
        received: Bytes of the reply; null until the reply is complete.
    """

    toe: int
    uri: str
    path: str
    via: str
    attempts: int
    step: str
    seconds: float
    received: int | None = None


class ToeList(msgspec.Struct, frozen=True):
    """The toes of a job.

    Attributes:
        parallel: Number of toes.
        offset: Seconds by which the clock is ahead of frontier time.
        toes: The toes that are at work.
    """

    parallel: int
    offset: float
    toes: tuple[FetchSlot, ...]


def toe_list(answer: Mapping[str, Any]) -> ToeList:
    """Return the toes in an answer of a job."""
    return msgspec.convert({**answer}, ToeList)


_TOES: Final = 2.0
"""Timeout of a running job's answer about its workers, seconds."""


async def ask_toes(job: FoundJob) -> dict[str, object] | None:
    """Return a running job's answer about its workers; None if it does not run or is too busy."""
    try:
        return await ask_command(job.layout.socket, "toes", _TOES)
    except NacreError:
        return None
