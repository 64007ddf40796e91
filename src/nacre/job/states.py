"""The states of a job, as a table. Source: Heritrix 3, `CrawlController.State`.

NASCENT -> PREPARING -> RUNNING or PAUSED; RUNNING <-> PAUSING/PAUSED; RUNNING <-> EMPTY;
everything -> STOPPING -> FINISHED. Every transition is an event that others can listen to.
"""

from enum import StrEnum

from nacre.errors import JobError


class JobState(StrEnum):
    """Where a job is in its life."""

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
    """Why a run ended; Heritrix's words where it has them."""

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
"""How a run ended that has no end and no process: it was cut off, and can be gone on with."""

EXIT_CODES: dict[ExitStatus, int] = {
    ExitStatus.FINISHED: 0,
    ExitStatus.ABNORMAL: 1,
    ExitStatus.INTERRUPTED: 3,
    ExitStatus.TIME_LIMIT: 4,
    ExitStatus.DATA_LIMIT: 4,
    ExitStatus.DOCUMENT_LIMIT: 4,
    ExitStatus.WRITE_LIMIT: 4,
    ExitStatus.QUEUE_BUDGET: 4,
    ExitStatus.ABORTED: 5,
    ExitStatus.DISK_WAIT: 5,
}
"""Process exit codes; 6 is FINISHED with nothing fetched."""


def check_transition(old: JobState, new: JobState) -> None:
    """Raise JobError for a transition that the table does not have."""
    if new not in TRANSITIONS[old]:
        raise JobError(f"a job that is {old} cannot become {new}")
