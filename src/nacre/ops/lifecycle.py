"""Pause, resume, stop and end a job, save its state, change its parallel fetches."""

import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from nacre.core.clock import iso, iso_millis
from nacre.errors import JobError
from nacre.messages import message
from nacre.ops.fields import Fetches, LineText, ShortText, Typed
from nacre.ops.operation import (
    LIVE,
    PAUSED,
    PREPARING,
    RUNNING,
    STOPPED,
    Operation,
    OperationContext,
    Role,
)

if TYPE_CHECKING:
    from nacre.machine.layout import Layout
    from nacre.runs.passes import RecurringCrawl

_NAP: Final = 0.2
_PASSES_END: Final = 30.0
"""Seconds that the process of a repeated crawl may take to end; it checks once a second."""


class PauseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a pause.

    Attributes:
        reason: A reason of your own, such as quota: it holds over restarts, whether the job runs
            or not, until it is resumed by name.
        note: More about it, for job.log.
    """

    reason: Annotated[ShortText, Typed("NAME")] = ""
    note: Annotated[LineText, Typed("TEXT")] = ""


class PauseResult(msgspec.Struct, frozen=True):
    """A job that pauses, or will when it starts.

    Attributes:
        running: It runs now.
        busy: Fetches in process, which are finished first.
        held: The reasons for which it is paused.
    """

    running: bool
    busy: int
    held: tuple[str, ...]


class ResumeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a resume.

    Attributes:
        reason: Remove only this reason of your own to pause.
    """

    reason: Annotated[ShortText, Typed("NAME")] = ""


class ResumeResult(msgspec.Struct, frozen=True):
    """A job that was resumed.

    Attributes:
        running: It runs now.
        held: The reasons for which it stays paused.
    """

    running: bool
    held: tuple[str, ...]


class StopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stop has no options."""


class StopResult(msgspec.Struct, frozen=True):
    """A job that stops.

    Attributes:
        busy: Fetches in process, which are finished first.
        rhythm: The options by which its passes were repeated; no further pass begins. "" for none.
        waited_for: Process that waited for the next pass, while no run was open; 0 for none.
        ended: That process has ended.
    """

    busy: int = 0
    rhythm: str = ""
    waited_for: int = 0
    ended: bool = False


class EndRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An end has no options."""


class EndResult(msgspec.Struct, frozen=True):
    """A run that is over for good.

    Attributes:
        run: Its name.
        exit: How it ended.
        ended: It was not over before.
    """

    run: str
    exit: str
    ended: bool


class CheckpointRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a checkpoint.

    Attributes:
        name: Name of the checkpoint; default: cpNUMBER-TIME.
    """

    name: Annotated[ShortText, Typed("NAME")] = ""


class CheckpointResult(msgspec.Struct, frozen=True):
    """A saved state.

    Attributes:
        name: Name of the checkpoint; "" if nothing has changed since the last one.
    """

    name: str


class CheckpointListRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of checkpoints has no options."""


class SavedCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint of a list; the numbers are null if it has none.

    Attributes:
        name: Its name.
        made: When it was made, RFC 3339.
        run: Name of the run.
        finished: Finished URIs.
        queued: Queued URIs.
    """

    name: str
    made: str
    run: str | None
    finished: int | None
    queued: int | None


class CheckpointListResult(msgspec.Struct, frozen=True):
    """The checkpoints of a job, the oldest first.

    Attributes:
        items: The checkpoints.
    """

    items: tuple[SavedCheckpoint, ...]


class ParallelRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a change of parallel fetches.

    Attributes:
        number: Number of parallel fetches.
    """

    number: Annotated[Fetches, Typed("N", is_argument=True)]


class ParallelResult(msgspec.Struct, frozen=True):
    """The numbers of parallel fetches.

    Attributes:
        before: Before the change.
        parallel: Now.
    """

    before: int
    parallel: int


# ---- running the commands


def require_no_rounds(layout: "Layout") -> None:
    """Refuse a batch crawl.

    Raises:
        JobError: The directory is a batch crawl, or no job.
    """
    layout.require()
    if layout.in_rounds:
        raise JobError(
            message(
                "ops.is-crawled-in-rounds",
                "{root} is crawled in rounds: Ctrl-C in their terminal or a file {control} ends "
                "them after the step, and `nacre cycle {root} --rounds 1` resumes them",
                root=layout.root,
                control=layout.control / "stop",
            )
        )


def _send(context: OperationContext, command: str, **arguments: object) -> dict[str, Any]:
    """Send a command to the process that runs the job, and return its answer.

    Raises:
        JobError: No process runs the job, or it ends meanwhile or refuses; the message contains the
            remedy.
    """
    from nacre.job.control import BY, send_command

    layout = context.layout
    if not _is_running(context):
        raise JobError(_what_to_do(layout))
    user = {BY: context.by} if context.by else {}
    return send_command(layout.socket, command, context.patience, **arguments, **user)


def _what_to_do(layout: "Layout") -> str:
    """Say that no process runs a job, and which command helps."""
    from nacre.inspect.view import is_finished
    from nacre.runs.passes import find_recurring

    crawl = find_recurring(layout)
    if crawl is not None and crawl.waits:
        return (
            f"{layout.root} waits for its next pass ({crawl.rhythm}), so that nothing runs now; "
            f"`nacre stop {layout.root}` ends that"
        )
    if is_finished(layout):
        remedy = f"it is finished, and `nacre recrawl {layout.root}` visits it again"
    else:
        remedy = f"start or resume it with `nacre run {layout.root}`"
    return f"{layout.root} is not running; {remedy}"


def _note(context: OperationContext, text: str) -> None:
    """Note in job.log what a requester did to a job that does not run."""
    from nacre.runs.runs import append_note, note_line

    if context.by:
        now = iso_millis(context.clock.now())
        append_note(context.layout.root, note_line(now, "INFO", f"{text} by {context.by}"))


def _is_running(context: OperationContext) -> bool:
    from nacre.job.control import is_running

    require_no_rounds(context.layout)
    return is_running(context.layout.socket)


def _pause(context: OperationContext, request: PauseRequest) -> PauseResult:
    if request.reason and not _is_running(context):
        from nacre.job.holds import change_hold

        change_hold(context.layout.control, request.reason, request.note)
        return PauseResult(running=False, busy=0, held=(request.reason,))
    if request.reason:
        answer = _send(context, "hold", reason=request.reason, note=request.note)
    else:
        answer = _send(context, "pause")
    return PauseResult(running=True, busy=int(answer["busy"]), held=tuple(answer["held"]))


def _resume(context: OperationContext, request: ResumeRequest) -> ResumeResult:
    if request.reason and not _is_running(context):
        from nacre.job.holds import change_hold

        change_hold(context.layout.control, request.reason, None)
        return ResumeResult(running=False, held=())
    if request.reason:
        answer = _send(context, "release", reason=request.reason)
    else:
        answer = _send(context, "resume")
    return ResumeResult(running=True, held=tuple(answer["held"]))


def _stop(context: OperationContext, _: StopRequest) -> StopResult:
    from nacre.runs.passes import find_recurring

    is_running = _is_running(context)
    crawl = find_recurring(context.layout)
    waits = crawl is not None and crawl.waits
    if waits and crawl is not None and not is_running:
        return _stop_between(context, crawl)
    answer = _send(context, "stop")
    rhythm = crawl.rhythm if waits and crawl is not None else ""
    return StopResult(int(answer["busy"]), rhythm)


def _stop_between(context: OperationContext, crawl: "RecurringCrawl") -> StopResult:
    """End the process that waits for the next pass."""
    from nacre.runs.passes import end_passes

    ends = time.monotonic() + min(context.patience, _PASSES_END)

    def has_time() -> bool:
        time.sleep(_NAP)
        return time.monotonic() < ends

    is_ended = end_passes(context.layout, has_time)
    if is_ended:
        _note(context, "no further pass begins: stopped")
    return StopResult(0, crawl.rhythm, crawl.pid, is_ended)


def _end(context: OperationContext, _: EndRequest) -> EndResult:
    from nacre.job.next_run import end_run
    from nacre.settings.load import load_job

    layout = context.layout
    if _is_running(context):
        raise JobError(
            message(
                "ops.is-running",
                "{root} is running; `nacre stop {root}` comes first",
                root=layout.root,
            )
        )
    run, is_new = end_run(layout, load_job(layout).settings, context.clock.now())
    _note(context, f"run {run.name} ended for good")
    return EndResult(run.name, str(run.exit), is_new)


def _save(context: OperationContext, request: CheckpointRequest) -> CheckpointResult:
    answer = _send(context, "checkpoint", name=request.name)
    return CheckpointResult(str(answer["name"] or ""))


def _list_saved(context: OperationContext, _: CheckpointListRequest) -> CheckpointListResult:
    from nacre.job.background.checkpoints import list_checkpoints

    require_no_rounds(context.layout)
    items = []
    for checkpoint in list_checkpoints(context.layout):
        noted = checkpoint.moment
        numbers = (noted.run, noted.finished, noted.queued) if noted else (None, None, None)
        items.append(SavedCheckpoint(checkpoint.name, iso(checkpoint.time), *numbers))
    return CheckpointListResult(tuple(items))


def _set_parallel(context: OperationContext, request: ParallelRequest) -> ParallelResult:
    answer = _send(context, "parallel", number=request.number)
    return ParallelResult(int(answer["before"]), int(answer["parallel"]))


PAUSE: Final = Operation(
    "pause",
    "Pause a job until `resume`; fetches in process are finished.",
    PauseRequest, PauseResult, _pause, frozenset((RUNNING,)),
)  # fmt: skip
RESUME: Final = Operation(
    "resume",
    "Resume a job after a pause.",
    ResumeRequest, ResumeResult, _resume, frozenset((PAUSED,)),
)  # fmt: skip
STOP: Final = Operation(
    "stop",
    "Stop a job cleanly, also between the passes of a repeated crawl; it can be resumed.",
    StopRequest, StopResult, _stop, frozenset((PREPARING, RUNNING, PAUSED)),
)  # fmt: skip
END: Final = Operation(
    "end",
    "End a stopped run for good, so that a new run can begin.",
    EndRequest, EndResult, _end, frozenset((STOPPED,)),
    detail="A run that was stopped, interrupted or cut off can be resumed, and until then "
    "`recrawl` is refused. After `end` it is over: the next run begins with the seeds again. What "
    "waits in its queue is dropped when that run begins; archive, history and logs stay.",
    opens_store=True,
)  # fmt: skip
CHECKPOINT: Final = Operation(
    "checkpoint",
    "Save the current state for `run --checkpoint`, or list the saved checkpoints.",
    CheckpointRequest, CheckpointResult, _save, LIVE,
)  # fmt: skip
CHECKPOINT_LIST: Final = Operation(
    "checkpoint-list",
    "List the checkpoints, the oldest first, and make none.",
    CheckpointListRequest, CheckpointListResult, _list_saved, frozenset(), Role.VIEWER,
)  # fmt: skip
PARALLEL: Final = Operation(
    "parallel",
    "Change the number of parallel fetches, until the job ends.",
    ParallelRequest, ParallelResult, _set_parallel, LIVE,
)  # fmt: skip

LIFECYCLE: Final[tuple[Operation[Any, Any], ...]] = (
    PAUSE, RESUME, STOP, END, CHECKPOINT, PARALLEL,
)  # fmt: skip
"""The operations that change the state of a job, in the order of their commands."""
