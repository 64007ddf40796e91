"""The commands `pause`, `resume`, `stop`, `end`, `checkpoint` and `parallel`: texts of results."""

from pathlib import Path

import msgspec

from nacre.cli import output
from nacre.cli.operations import FlagOperation, OperationCommand
from nacre.core.message_data import to_plain
from nacre.ops.lifecycle import (
    CHECKPOINT,
    CHECKPOINT_LIST,
    END,
    PARALLEL,
    PAUSE,
    RESUME,
    STOP,
    CheckpointListResult,
    CheckpointResult,
    EndResult,
    ParallelResult,
    PauseResult,
    ResumeRequest,
    ResumeResult,
    StopResult,
)


def _paused(result: PauseResult, _request: object, _: Path) -> str:
    if not result.running:
        return f"will pause at its start, for: {', '.join(result.held)}"
    return _ending("pausing", result.busy)


def _resumed(result: ResumeResult, request: ResumeRequest, _: Path) -> str:
    reasons = ", ".join(result.held)
    if not result.running:
        return f"will not pause for {request.reason}"
    return f"still paused, for: {reasons}" if reasons else "resumed"


def _stopped(result: StopResult, _request: object, directory: Path) -> str:
    if not result.waited_for:
        more = f", and no further pass begins ({result.rhythm})" if result.rhythm else ""
        return _ending(f"stopping{more}", result.busy)
    if not result.ended:
        return f"process {result.waited_for} was asked to end, and has not ended yet"
    again = f"`nacre recrawl {directory} {result.rhythm}` resumes it"
    return output.to_copy(f"stopped: no further pass begins; {again}")


def _ending(text: str, busy: int) -> str:
    if not busy:
        return text
    return f"{text}; {output.count(busy, 'fetch is', 'fetches are')} finished first"


def _ended(result: EndResult, _request: object, directory: Path) -> str:
    state = "is over for good" if result.ended else "was over already"
    return (
        f"the run {result.run} {state}; `nacre recrawl {directory} --full` visits all URLs in a "
        f"new run, `nacre recrawl {directory}` only those that are worth a visit"
    )


def _saved(result: CheckpointResult, _request: object, directory: Path) -> str:
    if not result.name:
        return "nothing has changed since the last checkpoint, so there is no new one"
    return (
        f"checkpoint {result.name}; go back to it, once the job is stopped, with "
        f"`nacre run {directory} --checkpoint {result.name}`"
    )


def _list_saved(result: CheckpointListResult, _request: object, directory: Path) -> str:
    if not result.items:
        return f"no checkpoints yet; `nacre checkpoint {directory}` makes one"
    rows = [
        tuple("?" if value is None else str(value) for value in msgspec.structs.astuple(item))
        for item in result.items
    ]
    return output.table([("name", "made", "run", "done", "waiting"), *rows])


def _changed_parallel(result: ParallelResult, _request: object, _: Path) -> str:
    return f"{result.before} -> {result.parallel} fetches"


_LIST = FlagOperation("--list", CHECKPOINT_LIST, _list_saved, lambda result: to_plain(result.items))
COMMANDS = {
    command.__name__: command
    for command in (
        OperationCommand(PAUSE, _paused),
        OperationCommand(RESUME, _resumed),
        OperationCommand(STOP, _stopped),
        OperationCommand(END, _ended),
        OperationCommand(CHECKPOINT, _saved, flag=_LIST),
        OperationCommand(PARALLEL, _changed_parallel),
    )
}
"""The functions of the commands, by name."""
