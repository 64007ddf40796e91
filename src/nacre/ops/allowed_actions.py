"""The actions of a job that are possible in each of its states, for consoles and programs (pure).

An action is a command of the command line. One that is not possible now says why, so that a button
can say so too.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from nacre.ops.lifecycle import CHECKPOINT, END, LIFECYCLE, PARALLEL, PAUSE, RESUME, STOP
from nacre.ops.operation import (
    FINISHED,
    LIVE,
    NEVER_RAN,
    ROUNDS,
    ROUNDS_RUNNING,
    STOPPED,
    command_line,
    group_of,
)

NO_ROUNDS, ROUNDS_REST = "no-rounds", "rounds-rest"
"""Why an action of rounds is refused: it is another kind of job, or no rounds run."""

OTHER_KIND: Final = frozenset((ROUNDS, NO_ROUNDS))
"""Why actions will never be possible: they are for another kind of job."""

_STILL = frozenset((NEVER_RAN, STOPPED, FINISHED))

POSSIBLE: Final[Mapping[str, frozenset[str]]] = {
    "start": frozenset((NEVER_RAN,)),
    "start-paused": frozenset((NEVER_RAN,)),
    "go-on": frozenset((STOPPED,)),
    "go-on-checkpoint": frozenset((STOPPED,)),
    **{
        operation.name: operation.states
        for operation in (PAUSE, RESUME, STOP, CHECKPOINT, PARALLEL)
    },
    "change": LIVE,
    "edit": _STILL,
    "frontier": frozenset((*LIVE, STOPPED)),
    END.name: END.states,
    "recrawl": frozenset((FINISHED,)),
    "recrawl-full": frozenset((FINISHED,)),
    "run-rounds": frozenset((ROUNDS,)),
    "stop-after-step": frozenset((ROUNDS_RUNNING,)),
    "dry-run-rounds": frozenset((ROUNDS,)),
}
"""The groups in which each action is possible, in the order in which they are offered."""

ACTION_COMMANDS: Final[Mapping[str, str]] = {
    **{operation.name: command_line(operation) for operation in LIFECYCLE},
    "start": "nacre run {job}",
    "start-paused": "touch {job}/control/pause; nacre run {job}",
    "go-on": "nacre run {job}",
    "go-on-checkpoint": "nacre run {job} --checkpoint latest",
    "change": "nacre set {job} PATH=VALUE",
    "edit": "nacre set {job} PATH=VALUE",
    "frontier": "nacre frontier {job} list",
    "recrawl": "nacre recrawl {job}",
    "recrawl-full": "nacre recrawl {job} --full",
    "run-rounds": "nacre cycle {job} --rounds N",
    "stop-after-step": "touch {job}/control/stop",
    "dry-run-rounds": "nacre cycle {job} generate --dry-run",
}

_OF_ROUNDS: Final = frozenset(("run-rounds", "stop-after-step", "dry-run-rounds"))
"""Actions on batch crawls; all others are on other jobs."""


class JobAction(msgspec.Struct, frozen=True):
    """An action, and whether it is possible now.

    Attributes:
        name: Its name, a key of `POSSIBLE`.
        allowed: Whether the state of the job allows it.
        why: Why not: the group of states that the job is in, such as `finished`; of another kind
            of job `rounds` or `no-rounds`; `rounds-rest` where no rounds run; "" where it is
            allowed.
        command: The same on the command line.
    """

    name: str
    allowed: bool
    why: str
    command: str


def job_actions(
    state: str, job: str, *, closed: bool = False, running: bool = False, waits: bool = False
) -> tuple[JobAction, ...]:
    """All actions of a job, in the order in which they are offered.

    Args:
        state: `JobOverview.state`, or `ROUNDS` for a batch crawl.
        job: Its directory, as it is typed in a command.
        closed: Its run was ended for good.
        running: Rounds of a batch crawl run; of no meaning for other jobs.
        waits: Its process waits for the time of the next pass, and can be stopped.
    """
    group = FINISHED if closed else group_of(state)
    if group == ROUNDS and running:
        group = ROUNDS_RUNNING
    allowed = {name for name, groups in POSSIBLE.items() if group in groups}
    if waits:
        allowed.add("stop")
    return tuple(
        JobAction(
            name,
            name in allowed,
            "" if name in allowed else _reason(name, group),
            ACTION_COMMANDS[name].format(job=job),
        )
        for name in POSSIBLE
    )


def _reason(name: str, group: str) -> str:
    """Why a group of states refuses an action."""
    if group not in {ROUNDS, ROUNDS_RUNNING}:
        return NO_ROUNDS if name in _OF_ROUNDS else group
    if name not in _OF_ROUNDS:
        return ROUNDS
    return ROUNDS_REST if group == ROUNDS else group
