"""Snapshots: what is known of a job at one moment, and how fast it went lately (pure)."""

from collections import deque
from itertools import pairwise
from typing import Any, Final

import msgspec

from nacre.console.fleet.places import FoundJob
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.job.sentence import (
    Sentence,
    SentenceFacts,
    SuspectedTrap,
    TroubledHost,
    rounds_sentence,
    sentence_of,
)

SPAN: Final = 600.0
"""Seconds that are looked back on."""
STEP: Final = 10.0
"""Seconds between two points of the past."""
LATELY: Final = 30.0
"""Seconds that `rate` is taken over."""
REPLIES: Final = ("documents", "unchanged", "redirects", "errors", "failed")
"""Kinds of replies and failures whose numbers are points."""
READING = "READING"
"""The state of a job that was not looked at yet."""
UNREADABLE = "UNREADABLE"
"""The state of a job that cannot be read."""


class RatePoint(msgspec.Struct, frozen=True):
    """The counts of a job at one moment.

    Attributes:
        time: Seconds since the epoch.
        finished: URIs finished.
        bytes: Bytes received.
        queued: URIs that wait.
        busy: Fetches in process.
        parallel: Fetches that may be in process.
        queues: Number of queues by state.
        replies: Replies and failures by kind: documents, unchanged, redirects, errors, failed.
        age: Seconds for which the oldest change waits to become durable; 0 for none.
        gap: Longest gap of the event loop in the last ten seconds, ms.
    """

    time: float
    finished: int
    bytes: int
    queued: int
    busy: int = 0
    parallel: int = 0
    queues: dict[str, int] = {}
    replies: dict[str, int] = {}
    age: float = 0.0
    gap: float = 0.0


class JobActivity:
    """The last ten minutes of a running job, as points."""

    def __init__(self) -> None:
        self._points: deque[RatePoint] = deque()

    def note(self, point: RatePoint) -> None:
        """Take a point; one of another run begins anew. The last one always stays the newest."""
        points = self._points
        if points and point.finished < points[-1].finished:
            points.clear()
        if len(points) > 1 and points[-1].time - points[-2].time < STEP:
            points.pop()
        points.append(point)
        while point.time - points[0].time > SPAN:
            points.popleft()

    @property
    def points(self) -> tuple[RatePoint, ...]:
        """The points, the oldest first."""
        return tuple(self._points)

    @property
    def rates(self) -> tuple[float, ...]:
        """URIs a second between the points, the oldest first."""
        return tuple(
            (b.finished - a.finished) / max(b.time - a.time, 1e-3)
            for a, b in pairwise(self._points)
        )

    def lately(self) -> tuple[float, float] | None:
        """URIs and bytes a second in the last half minute; None with fewer than two points."""
        window = self._window()
        if window is None:
            return None
        first, last = window
        seconds = max(last.time - first.time, 1e-3)
        return (last.finished - first.finished) / seconds, (last.bytes - first.bytes) / seconds

    def grows(self) -> bool:
        """Whether what waits grew by more than what was done, in the last half minute."""
        window = self._window()
        if window is None:
            return False
        first, last = window
        return last.queued - first.queued > last.finished - first.finished

    def _window(self) -> tuple[RatePoint, RatePoint] | None:
        """The points at both ends of the last half minute; None with fewer than two points."""
        if len(self._points) < 2:
            return None
        last = self._points[-1]
        first = next(p for p in self._points if last.time - p.time <= LATELY or p is last)
        return (self._points[-2] if first is last else first), last


class FetchedPlace(msgspec.Struct, frozen=True):
    """A directory or program that was fetched from lately.

    Attributes:
        prefix: Beginning of its URLs, with a slash or a question mark at the end.
        share: Share of the last fetches, 0 to 1.
    """

    prefix: str
    share: float


class JobSnapshot(msgspec.Struct, frozen=True):
    """A job as it was seen last.

    Attributes:
        job: Its id.
        as_of: When it was seen, seconds since the epoch; 0 for never.
        state: `JobOverview.state`; `ROUNDS`, `READING` or `UNREADABLE` where there is none.
        running: A process works on it.
        sentence: What it does, and why it is not faster.
        overview: Its numbers; None where there are none.
        slowest: The queues that take longest.
        fetching: The fetches that have taken longest so far.
        rounds: The state of a batch crawl; None for another job.
        rate: URIs finished a second, lately; None where it does not run, or was just found.
        bytes_rate: Bytes received a second, likewise.
        left: Seconds that the rest takes about; None where that is not known.
        rates: URIs a second in the last ten minutes, the oldest first.
        problems: Problems that keep a job at rest from starting.
        first_problem: The first of them; "" for none.
        waits: The options of `nacre recrawl` by which a process waits for the next pass; "" for
            none that waits.
        places: The directories that were fetched from most lately, the first first.
        stale: When its numbers were those of now, seconds since the epoch, where they are older
            than the look; 0 where they are not.
        commit_age: Seconds for which its oldest change waited to become durable; None where it does
            not run.
        gap: Longest gap of its event loop in ten seconds, ms; likewise.
    """

    job: str
    as_of: float
    state: str
    running: bool
    sentence: Sentence
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


class _Status(msgspec.Struct, frozen=True):
    """An answer to `status`."""

    overview: JobOverview
    slowest: tuple[SlowQueue, ...] = ()
    fetching: tuple[FetchInProcess, ...] = ()
    committed: float | None = None
    gap: float | None = None
    free: int | None = None
    reserve: int | None = None
    problems: int = 0
    first_problem: str = ""


def unseen(job: FoundJob) -> JobSnapshot:
    """The snapshot of a job that was not looked at yet."""
    return JobSnapshot(job.id, 0.0, READING, running=False, sentence=Sentence("reading"))


def unreadable(
    job: FoundJob, why: str, now: float, last: JobSnapshot | None = None, *, running: bool
) -> JobSnapshot:
    """The snapshot of a job that cannot be read, or does not answer; the last good numbers stay.

    Args:
        job: The job.
        why: What was in the way.
        now: Seconds since the epoch.
        last: Its last snapshot; None for none.
        running: A process works on it.
    """
    code = "no-answer" if running else "unreadable"
    sentence = Sentence(code, {"why": why})
    if last is None or last.overview is None:
        return JobSnapshot(job.id, now, UNREADABLE, running=running, sentence=sentence)
    return msgspec.structs.replace(
        last, as_of=now, state=UNREADABLE, running=running, sentence=sentence, rate=None,
        bytes_rate=None, left=None, fetching=(), stale=last.stale or last.as_of, commit_age=None,
        gap=None,
    )  # fmt: skip


def snapshot_of(
    job: FoundJob,
    answer: dict[str, Any],
    now: float,
    activity: JobActivity | None,
    troubled: TroubledHost | None = None,
    trap: SuspectedTrap | None = None,
) -> JobSnapshot:
    """The snapshot that an answer to `status` becomes.

    Args:
        job: The job.
        answer: The answer of its process, or of its store.
        now: Seconds since the epoch.
        activity: Its last minutes, this answer included; None where it does not run.
        troubled: The host that refuses most; None for none.
        trap: The place that looks like a trap; None for none.
    """
    if "cycle" in answer:
        rounds = answer["cycle"]
        sentence = rounds_sentence(rounds)
        return JobSnapshot(
            job.id, now, "ROUNDS", running=bool(rounds.get("running")), sentence=sentence,
            rounds=rounds,
        )  # fmt: skip
    status = msgspec.convert(answer, _Status)
    overview = status.overview
    lately = activity.lately() if activity is not None else None
    rate, bytes_rate = lately or (None, None)
    grows = activity is not None and activity.grows()
    left = None if grows else time_left(overview, status.slowest, rate)
    facts = SentenceFacts(
        overview, status.slowest, now, rate=rate, left=left, committed=status.committed,
        gap=status.gap, free=status.free, reserve=status.reserve, troubled=troubled,
        trap=trap, problems=status.problems, first_problem=status.first_problem,
    )  # fmt: skip
    return JobSnapshot(
        job.id, now, overview.state, activity is not None, sentence_of(facts), overview,
        status.slowest, status.fetching, None, rate, bytes_rate, left,
        activity.rates if activity is not None else (), status.problems, status.first_problem,
        commit_age=commit_age_of(status.committed, now), gap=status.gap,
    )  # fmt: skip


def commit_age_of(committed: float | None, now: float) -> float | None:
    """Seconds since the last commit, by two clocks of one machine; None where nothing was said."""
    return None if committed is None else max(now - committed, 0.0)


def rate_point(answer: dict[str, Any], now: float) -> RatePoint:
    """The point of the past that an answer to `status` is."""
    overview = answer["overview"]
    return RatePoint(
        # What the operator deleted was not worked on: it is no speed.
        now, overview["finished"] - overview.get("deleted", 0), overview["bytes"],
        overview["queued"], overview["busy"],
        overview["parallel"], overview["queues"], {name: overview[name] for name in REPLIES},
        commit_age_of(answer.get("committed"), now) or 0.0, answer.get("gap") or 0.0,
    )  # fmt: skip


def time_left(
    overview: JobOverview, slowest: tuple[SlowQueue, ...], rate: float | None
) -> float | None:
    """Seconds that the rest takes about; None while held, and where the rate is 0 or unknown."""
    if overview.state in {"PAUSING", "PAUSED"} or not rate or not overview.queued:
        return None
    return max(overview.queued / rate, slowest[0].needs if slowest else 0.0)
