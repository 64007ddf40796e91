"""The states of a job, as a table. Source: Heritrix 3, `CrawlController.State`.

NASCENT -> PREPARING -> RUNNING or PAUSED; RUNNING <-> PAUSING/PAUSED; RUNNING <-> EMPTY;
everything -> STOPPING -> FINISHED. Every transition is an event that others can listen to.
"""

from enum import IntEnum, StrEnum
from typing import NamedTuple

from nacre.errors import JobError


class JobState(StrEnum):
    """The state of a job."""

    NASCENT = "NASCENT"
    PREPARING = "PREPARING"
    RUNNING = "RUNNING"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    EMPTY = "EMPTY"
    STOPPING = "STOPPING"
    FINISHED = "FINISHED"


_S = JobState

TRANSITIONS: dict[JobState, frozenset[JobState]] = {
    _S.NASCENT: frozenset((_S.PREPARING, _S.FINISHED)),
    _S.PREPARING: frozenset((_S.RUNNING, _S.PAUSED, _S.STOPPING)),
    _S.RUNNING: frozenset((_S.PAUSING, _S.EMPTY, _S.STOPPING)),
    _S.PAUSING: frozenset((_S.PAUSED, _S.RUNNING, _S.STOPPING)),
    _S.PAUSED: frozenset((_S.RUNNING, _S.STOPPING)),
    _S.EMPTY: frozenset((_S.RUNNING, _S.PAUSING, _S.STOPPING)),
    _S.STOPPING: frozenset((_S.FINISHED,)),
    _S.FINISHED: frozenset(),
}
"""What each state may become."""


class ExitStatus(StrEnum):
    """The reason why a run ended, in Heritrix's words where it has them."""

    NONE = "RUNNING"
    FINISHED = "FINISHED"
    ABORTED = "ABORTED"
    INTERRUPTED = "INTERRUPTED"
    TIME_LIMIT = "FINISHED_TIME_LIMIT"
    DATA_LIMIT = "FINISHED_DATA_LIMIT"
    DOCUMENT_LIMIT = "FINISHED_DOCUMENT_LIMIT"
    WRITE_LIMIT = "FINISHED_WRITE_LIMIT"
    QUEUE_BUDGET = "FINISHED_QUEUE_BUDGET"
    DISK_WAIT = "FINISHED_DISK_WAIT"
    ABNORMAL = "FINISHED_ABNORMAL"


CRASHED = "CRASHED"
"""State of a run without end and without process: it was interrupted, and can be resumed."""


class ExitCode(IntEnum):
    """The exit code of a process; `EXIT_TABLE` has the meaning of each."""

    FINISHED = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 3
    LIMIT = 4
    STOPPED = 5
    NOTHING_FETCHED = 6
    DAMAGED = 7
    SEEDS_ERRONEOUS = 8
    NOTHING_ARCHIVED = 9
    NOTHING_DUE = 10
    CONFLICT = 11
    FAULTS = 12


EXIT_TABLE: dict[ExitCode, str] = {
    ExitCode.FINISHED: "finished",
    ExitCode.ERROR: "internal error, or a failing file or disk",
    ExitCode.USAGE: "invalid configuration or usage, or a missing permission",
    ExitCode.INTERRUPTED: "interrupted; can be resumed",
    ExitCode.LIMIT: "a limit was reached",
    ExitCode.STOPPED: "stopped by a command, or for lack of disk space",
    ExitCode.NOTHING_FETCHED: "nothing was fetched: no seed had a reply",
    ExitCode.DAMAGED: "`archive check` found damage",
    ExitCode.SEEDS_ERRONEOUS: "every seed answered with an error, such as 404, or had no reply",
    ExitCode.NOTHING_ARCHIVED: "replies were received, but nothing was archived",
    ExitCode.NOTHING_DUE: "nothing was due (`nacre cycle`), or nothing was found (`nacre search`)",
    ExitCode.CONFLICT: "another command changed the same data first; nothing was changed",
    ExitCode.FAULTS: "finished, but URLs were lost to internal errors of Nacre (-5)",
}
"""Every exit code and its meaning, for people. The documentation is generated from it."""

_CODES: dict[ExitStatus, ExitCode] = {
    ExitStatus.FINISHED: ExitCode.FINISHED,
    ExitStatus.ABNORMAL: ExitCode.ERROR,
    ExitStatus.INTERRUPTED: ExitCode.INTERRUPTED,
    ExitStatus.TIME_LIMIT: ExitCode.LIMIT,
    ExitStatus.DATA_LIMIT: ExitCode.LIMIT,
    ExitStatus.DOCUMENT_LIMIT: ExitCode.LIMIT,
    ExitStatus.WRITE_LIMIT: ExitCode.LIMIT,
    ExitStatus.QUEUE_BUDGET: ExitCode.LIMIT,
    ExitStatus.ABORTED: ExitCode.STOPPED,
    ExitStatus.DISK_WAIT: ExitCode.STOPPED,
}


class SeedsEnd(StrEnum):
    """The outcome of all seeds of a run. A seed that redirects is judged by its target."""

    GOT = "got"
    ERRONEOUS = "erroneous"
    NO_REPLY = "no reply"


class RunCounts(NamedTuple):
    """The counts that the exit code depends on, beside the reason why a run ended.

    Attributes:
        seeds: Outcome of the seeds; `GOT` if none was due, or at least one was fetched.
        replies: Replies received.
        archived: Of these, the URIs that the archive has now or had already; None if a run may
            leave out all of them on purpose, as one that visits again does.
        faults: URIs that ended by an error of the crawler itself (-5).
    """

    seeds: SeedsEnd = SeedsEnd.GOT
    replies: int = 0
    archived: int | None = None
    faults: int = 0


def exit_code(status: ExitStatus, counts: RunCounts) -> ExitCode:
    """Return the exit code of a run.

    A run that archived nothing is worse than a run that reached a limit; the outcome of the seeds
    counts only if the run reached its end.
    """
    code = _CODES[status]
    if code not in {ExitCode.FINISHED, ExitCode.LIMIT}:
        return code
    if code is ExitCode.FINISHED and counts.seeds is SeedsEnd.NO_REPLY:
        return ExitCode.NOTHING_FETCHED
    if counts.replies and counts.archived == 0:
        return ExitCode.NOTHING_ARCHIVED
    if code is ExitCode.FINISHED and counts.seeds is SeedsEnd.ERRONEOUS:
        return ExitCode.SEEDS_ERRONEOUS
    if code is ExitCode.FINISHED and counts.faults:
        return ExitCode.FAULTS
    return code


def check_transition(old: JobState, new: JobState) -> None:
    """Raise JobError for a transition that the table does not have."""
    if new not in TRANSITIONS[old]:
        raise JobError(f"a job that is {old} cannot become {new}")


MOST_PARALLEL = 10_000
"""Largest number of parallel fetches of a job."""
