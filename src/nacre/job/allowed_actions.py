"""The actions of a job that are possible in each of its states, for consoles and programs (pure).

An action is a command of the command line. One that is not possible now says why, so that a button
can say so too.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from nacre.core.states import CRASHED

NEVER_RAN, PREPARING, RUNNING, PAUSED, STOPPING, STOPPED, FINISHED = (
    "never-ran", "preparing", "running", "paused", "stopping", "stopped", "finished",
)  # fmt: skip
"""Groups of states that allow the same."""

ROUNDS = "rounds"
"""The group of a batch crawl, which other commands control."""

GROUPS: Final[Mapping[str, str]] = {
    "NASCENT": NEVER_RAN,
    "PREPARING": PREPARING,
    "RUNNING": RUNNING,
    "EMPTY": RUNNING,
    "PAUSING": PAUSED,
    "PAUSED": PAUSED,
    "STOPPING": STOPPING,
    "ABORTED": STOPPED,
    "INTERRUPTED": STOPPED,
    CRASHED: STOPPED,
    "FINISHED_DISK_WAIT": STOPPED,
    "FINISHED_ABNORMAL": STOPPED,
    "FINISHED_QUEUE_BUDGET": STOPPED,
    "FINISHED_TIME_LIMIT": STOPPED,
    "FINISHED_DATA_LIMIT": STOPPED,
    "FINISHED_DOCUMENT_LIMIT": STOPPED,
    "FINISHED_WRITE_LIMIT": STOPPED,
    "FINISHED": FINISHED,
    "ROUNDS": ROUNDS,
}
"""The group of each state of `JobOverview.state`. A run that reached a limit can go on."""

_LIVE = frozenset((RUNNING, PAUSED))
_STILL = frozenset((NEVER_RAN, STOPPED, FINISHED))

POSSIBLE: Final[Mapping[str, frozenset[str]]] = {
    "start": frozenset((NEVER_RAN,)),
    "start-paused": frozenset((NEVER_RAN,)),
    "go-on": frozenset((STOPPED,)),
    "go-on-checkpoint": frozenset((STOPPED,)),
    "pause": frozenset((RUNNING,)),
    "resume": frozenset((PAUSED,)),
    "stop": frozenset((PREPARING, RUNNING, PAUSED)),
    "checkpoint": _LIVE,
    "parallel": _LIVE,
    "change": _LIVE,
    "edit": _STILL,
    "frontier": frozenset((*_LIVE, STOPPED)),
    "end": frozenset((STOPPED,)),
    "recrawl": frozenset((FINISHED,)),
    "recrawl-full": frozenset((FINISHED,)),
}
"""The groups in which each action is possible, in the order in which they are offered."""

_COMMANDS: Final[Mapping[str, str]] = {
    "start": "nacre run {job}",
    "start-paused": "touch {job}/control/pause; nacre run {job}",
    "go-on": "nacre run {job}",
    "go-on-checkpoint": "nacre run {job} --checkpoint latest",
    "pause": "nacre pause {job}",
    "resume": "nacre resume {job}",
    "stop": "nacre stop {job}",
    "checkpoint": "nacre checkpoint {job}",
    "parallel": "nacre parallel {job} N",
    "change": "nacre set {job} PATH=VALUE",
    "edit": "nacre set {job} PATH=VALUE",
    "frontier": "nacre frontier {job} list",
    "end": "nacre end {job}",
    "recrawl": "nacre recrawl {job}",
    "recrawl-full": "nacre recrawl {job} --full",
}


class JobAction(msgspec.Struct, frozen=True):
    """An action, and whether it is possible now.

    Attributes:
        name: Its name, a key of `POSSIBLE`.
        allowed: Whether the state of the job allows it.
        why: Why not: the group of states that the job is in, such as `finished`; "" where it is
            allowed.
        command: The same on the command line.
    """

    name: str
    allowed: bool
    why: str
    command: str


def group_of(state: str) -> str:
    """The group of a state of `JobOverview.state`; of one that is not known, `stopped`."""
    return GROUPS.get(state, STOPPED)


def job_actions(state: str, job: str, *, closed: bool = False) -> tuple[JobAction, ...]:
    """All actions of a job, in the order in which they are offered.

    Args:
        state: `JobOverview.state`, or `ROUNDS` for a batch crawl.
        job: Its directory, as it is typed in a command.
        closed: Its run was ended for good.
    """
    group = FINISHED if closed else group_of(state)
    return tuple(
        JobAction(
            name,
            group in groups,
            "" if group in groups else group,
            _COMMANDS[name].format(job=job),
        )
        for name, groups in POSSIBLE.items()
    )
