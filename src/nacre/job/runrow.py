"""Which run a job is in, and how the last one ended: one row, so that a start knows what to do."""

import msgspec

from nacre.job.states import ExitStatus


class RunRow(msgspec.Struct, frozen=True):
    """The current or last run.

    Attributes:
        name: Its directory under `runs/`.
        number: Number of the run, from 1.
        started: Epoch seconds of its first start.
        exit: `RUNNING` until it ends; only FINISHED runs are over, all others can be resumed.
        ended: Epoch seconds of its last end; 0 while it runs.
        elapsed: Seconds that it ran, pauses left out, up to the last commit.
    """

    name: str
    number: int
    started: float
    exit: ExitStatus = ExitStatus.NONE
    ended: float = 0.0
    elapsed: float = 0.0
