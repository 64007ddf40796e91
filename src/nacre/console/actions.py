"""Actions on jobs: operations, and starts of processes.

An action that the state of a job does not allow is refused with the reason.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from nacre.console.call import Call, JobCall
from nacre.console.parts import ActionParts, Common
from nacre.console.route_row import API, AnyRow, RouteRow
from nacre.core.clock import iso_millis
from nacre.core.message_data import to_plain
from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.job_books import require_quota
from nacre.fleet.launch import LaunchFacts, lay, lift, lift_pause
from nacre.fleet.places import FoundJob
from nacre.fleet.reach import may_name_files
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.messages import message, static
from nacre.ops.allowed_actions import OTHER_KIND, JobAction, job_actions
from nacre.ops.lifecycle import (
    CHECKPOINT,
    END,
    PAUSE,
    RESUME,
    STOP,
    CheckpointRequest,
    EndRequest,
    PauseRequest,
    ResumeRequest,
    StopRequest,
)
from nacre.ops.operation import Operation, OperationContext, Q, R, option_words
from nacre.ops.round_requests import RoundsRequest, RoundsStopRequest, require_remote
from nacre.ops.starts import RecrawlRequest, StartRequest, recrawl_words, run_words
from nacre.report.escape import flat

_PATIENCE: Final = 60.0
_THREADS: Final = ThreadPoolExecutor(32, "operation")
"""Threads that wait for running jobs: a job that hangs must not stop other work of the console."""
_SOON: Final = 60.0
"""Seconds that a look before a start may take."""


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


WHYS: Final[Mapping[str, str]] = {
    "never-ran": _("it never ran"),
    "preparing": _("it is still preparing"),
    "running": _("it is running"),
    "paused": _("it is paused"),
    "stopping": _("it is stopping; wait until it has"),
    "stopped": _("it was stopped before its end: resume it, or end it"),
    "finished": _("its run has ended; start a recrawl to fetch again"),
    "rounds": _("it is crawled in rounds"),
    "rounds-running": _("its rounds are running"),
    "rounds-rest": _("its rounds are not running"),
    "no-rounds": _("it is not crawled in rounds"),
    "problems": _("the check has findings that keep it from starting; Verify shows them"),
    "queued": _("it waits for its start"),
    "starting": _("it is being started"),
}
"""Why an action is not possible now, by the group of states that a job is in."""


class ActionDone(msgspec.Struct, frozen=True):
    """An action that was taken.

    Attributes:
        job: Id of the job.
        action: Name of the action.
        launch: The start that was ordered; null for an action without one.
        held: Reasons for which a resumed job stays paused.
        busy: Fetches that are finished first.
        name: Name of the checkpoint or run that it made; "" for none.
    """

    job: str
    action: str
    launch: LaunchFacts | None = None
    held: tuple[str, ...] = ()
    busy: int = 0
    name: str = ""


class _Asked(NamedTuple):
    """A request for an action."""

    parts: ActionParts
    job: FoundJob
    by: str


async def require_rest(parts: ActionParts, job: FoundJob) -> None:
    """Refuse a job that a process works on, or soon will.

    Raises:
        RefusedRequestError: It runs, waits for its next pass, or is being started (409).
    """
    await parts.common.poller.look(job)
    snapshot, launch = parts.common.poller.snapshot(job), parts.launcher.facts(job)
    if snapshot.running:
        raise RefusedRequestError(
            409, "running", message("console.job-runs", "{id} is running: stop it first", id=job.id)
        )
    if snapshot.waits:
        raise RefusedRequestError(
            409,
            "waits",
            message(
                "console.job-between-passes",
                "{id} waits for its next pass ({waits}): stop it first",
                id=job.id,
                waits=snapshot.waits,
            ),
        )
    if launch is not None and launch.step != "failed":
        raise RefusedRequestError(
            409,
            launch.step,
            message(
                "console.start-refused",
                "{job}: {reason}",
                job=job.id,
                reason=static(WHYS[launch.step]),
            ),
        )


def allowed_now(parts: ActionParts, job: FoundJob, command: str) -> tuple[JobAction, ...]:
    """All actions of a job as it was seen last; one that is being started allows none.

    Args:
        parts: The parts that actions need.
        job: The job.
        command: Its directory, as it is typed in a command.
    """
    snapshot = parts.common.poller.snapshot(job)
    closed = snapshot.overview is not None and snapshot.overview.closed
    actions = job_actions(
        snapshot.state, command, closed=closed, running=snapshot.running, waits=bool(snapshot.waits)
    )
    launch = parts.launcher.facts(job)
    if snapshot.running or launch is None or launch.step == "failed":
        return tuple(_unless_red(action, snapshot.problems) for action in actions)
    stop = "stop" if launch.step == "queued" else ""
    if stop and snapshot.rounds is not None:
        stop = "stop-after-step"
    return tuple(
        msgspec.structs.replace(
            action, allowed=action.name == stop, why="" if action.name == stop else launch.step
        )
        if action.why not in OTHER_KIND
        else action
        for action in actions
    )


STARTS: Final = frozenset(("start", "start-paused", "go-on", "go-on-checkpoint", "recrawl",
                           "recrawl-full", "run-rounds"))  # fmt: skip
"""Actions that a job with problems in its check cannot take."""


def _unless_red(action: JobAction, problems: int) -> JobAction:
    """An action; one that begins a run is refused while the check has problems."""
    if not problems or not action.allowed or action.name not in STARTS:
        return action
    return msgspec.structs.replace(action, allowed=False, why="problems")


async def act(
    parts: ActionParts, job: FoundJob, action: str, request: msgspec.Struct,
    identity: Requester,
) -> ActionDone:  # fmt: skip
    """Take an action.

    Args:
        parts: The parts that actions need.
        job: The job.
        action: A key of `REQUESTS`.
        request: Its options, of the type in `REQUESTS`.
        identity: The requester.

    Raises:
        RefusedRequestError: There is no such action (404), or the state refuses it (409).
        ConfigError: The settings have problems.
        JobError: The job refuses.
    """
    require_action(action)
    await parts.common.poller.fresh(job)
    _require(parts, job, action, request)
    await _require_settings(parts, job, getattr(request, "set", ()), identity)
    result = await _HANDLERS[action](_Asked(parts, job, identity.log_name), request)
    with suppress(JobError):
        await parts.common.poller.look(job)
    return result


def require_action(action: str) -> None:
    """Refuse an unknown action.

    Raises:
        RefusedRequestError: It is no key of `REQUESTS` (404).
    """
    if action not in REQUESTS:
        raise RefusedRequestError(
            404,
            "not-found",
            message("console.no-action", "there is no action {action!r}", action=action),
        )


def _require(parts: ActionParts, job: FoundJob, action: str, request: object) -> None:
    """Refuse an action that the state of the job does not allow.

    Raises:
        RefusedRequestError: It does not allow it (409).
    """
    names: tuple[str, ...] = (action,)
    if isinstance(request, StartRequest):
        names = ("start-paused" if request.paused else "start", "go-on")
    elif isinstance(request, RecrawlRequest):
        names = ("recrawl-full" if request.full else "recrawl",)
    actions = {each_action.name: each_action for each_action in allowed_now(parts, job, "")}
    # The problems that the check found are checked again before the start, which reports each.
    if any(actions[name].allowed or actions[name].why == "problems" for name in names):
        return
    reason = actions[names[0]].why
    raise RefusedRequestError(409, reason, refusal_text(action, reason, job.id))


async def _require_settings(
    parts: ActionParts, job: FoundJob, settings: Sequence[str], identity: Requester
) -> None:
    """Refuse settings of a start that name files of this machine if only admins may do that.

    Raises:
        RefusedRequestError: They do (403).
        ConfigError: They are none.
    """
    remote = parts.common.reach.is_remote
    if not settings or may_name_files(identity.role, is_remote=remote, places=identity.places):
        return
    change = {"assignments": list(settings)}
    answer = await parts.common.readers.ask("named-files", job.layout.root, _SOON, change=change)
    named = answer["paths"]
    if named:
        raise RefusedRequestError(
            403,
            "names-files",
            message(
                "console.admin-only-names",
                "{names}: only an admin may name files, programs, servers, networks and ports",
                names=", ".join(named),
            ),
        )


# ---- jobs that rest


async def _start(order: _Asked, request: StartRequest) -> ActionDone:
    await _look_before(order, request.set)
    words = ["run", str(order.job.layout.root), "--quiet", "--by", order.by, *run_words(request)]
    return await _launched(order, "start", words, paused=request.paused)


async def _recrawl(order: _Asked, request: RecrawlRequest) -> ActionDone:
    words = ["recrawl", str(order.job.layout.root), "--quiet", "--by", order.by]
    words += recrawl_words(request)
    await _look_before(order, request.set)
    return await _launched(order, "recrawl", words)


async def _launched(
    order: _Asked, action: str, words: Sequence[str], *, paused: bool = False
) -> ActionDone:
    # An order without `paused` does not wait, so that what an earlier one left is over.
    facts = await order.parts.launcher.order(order.job, words, paused=paused)
    return ActionDone(order.job.id, action, facts)


async def _look_before(order: _Asked, settings: Sequence[str]) -> None:
    """Refuse a start that would fail.

    Raises:
        ConfigError: The settings have problems.
        RefusedRequestError: Space is missing, or a quota is used up (409).
    """
    await require_quota(order.parts.quotas, order.job)
    answer = await order.parts.common.readers.ask(
        "look-before-start", order.job.layout.root, _SOON, set=settings
    )
    if answer["problems"]:
        raise ConfigError([Problem(**problem) for problem in answer["problems"]])
    if answer["space"]:
        raise RefusedRequestError(
            409,
            "space",
            message(
                "console.no-space",
                "{id} lacks space: {value}",
                id=order.job.id,
                value=answer["space"],
            ),
        )


async def own_command(*words: str, fine: Sequence[int] = ()) -> str:
    """Run a command of Nacre in its own process and return its output.

    Args:
        words: The command with its arguments.
        fine: Exit codes other than 0 that count as success.

    Raises:
        JobError: The command failed; the error has the text of its standard error.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", *words,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    output, errors = await process.communicate()
    if process.returncode and process.returncode not in fine:
        raise JobError(flat(errors.decode("utf-8", "replace")).removeprefix("nacre: "))
    return output.decode("utf-8", "replace")


def _note(order: _Asked, text: str) -> None:
    """Add a line to the job.log of a job that does not run, which is in its directory."""
    path = order.job.layout.root / "job.log"
    with suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(f"{iso_millis(order.parts.common.clock.now())} INFO {text}\n")


async def _run_rounds(order: _Asked, request: RoundsRequest) -> ActionDone:
    """Order rounds; an older request to stop is over."""
    require_remote(request)
    words = ["cycle", str(order.job.layout.root), "--quiet", *option_words(request)]
    await _look_before(order, request.set)
    lift(order.job.layout, "stop")
    result = await _launched(order, "run-rounds", words)
    _note(order, f"{request.rounds or 'all'} rounds ordered by {order.by}")
    return result


async def _stop_after_step(order: _Asked, _: RoundsStopRequest) -> ActionDone:
    if not order.parts.launcher.withdraw(order.job):
        lay(order.job.layout, "stop")
    _note(order, f"stop after the step asked for by {order.by}")
    return ActionDone(order.job.id, "stop-after-step")


# ---- operations


async def operate(
    common: Common, job: FoundJob, operation: Operation[Q, R], request: Q, by: str,
    tell: Callable[[int, int], None] = lambda _done, _total: None,
) -> R:  # fmt: skip
    """Run an operation on a job, without holding the event loop up.

    Args:
        common: The common parts of the console.
        job: The job.
        operation: The operation.
        request: Its options.
        by: Name of the requester for job.log.
        tell: Receives the steps that are done, and all steps.

    Raises:
        JobError: The job refuses.
    """
    if operation.opens_store:
        options = to_plain(request)
        result = await common.readers.work(
            "operate", job.layout.root, tell, operation=operation.name, request=options, by=by
        )
        return msgspec.convert(result, operation.result)
    context = OperationContext(job.layout, common.clock, by, _PATIENCE)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREADS, operation.run, context, request)


def operation_row(operation: Operation[Any, Any], verb: str = "POST") -> AnyRow:
    """Return the path of the REST API that runs an operation on a job.

    Args:
        operation: The operation: it has the role, the body, the answer and the summary.
        verb: Method of the request.
    """

    async def answer(call: Call) -> msgspec.Struct:
        job = call.job()
        result: msgspec.Struct = await operate(
            call.common, job, operation, call.body, call.identity.log_name
        )
        call.note.change(None, result)
        await call.poller.look(job)
        return result

    return RouteRow(
        verb, f"{API}/jobs/{{job}}/{operation.name}", operation.role, answer, operation.summary,
        body=operation.request, answer=operation.result,
    )  # fmt: skip


async def _pause(order: _Asked, request: PauseRequest) -> ActionDone:
    result = await operate(order.parts.common, order.job, PAUSE, request, order.by)
    return ActionDone(order.job.id, "pause", busy=result.busy)


async def _resume(order: _Asked, request: ResumeRequest) -> ActionDone:
    if not request.reason:
        lift_pause(order.job.layout)
    result = await operate(order.parts.common, order.job, RESUME, request, order.by)
    return ActionDone(order.job.id, "resume", held=tuple(n for n in result.held if n != _FILE))


_FILE: Final = "control/pause"
"""The hold of the file that was just removed; the job checks its files once a second."""


async def _stop(order: _Asked, request: StopRequest) -> ActionDone:
    if order.parts.launcher.withdraw(order.job):
        return ActionDone(order.job.id, "stop")
    result = await operate(order.parts.common, order.job, STOP, request, order.by)
    if result.waited_for and not result.ended:
        raise JobError(
            message(
                "console.passes-not-ended",
                "{id} was asked to end its passes, and has not ended them yet",
                id=order.job.id,
            )
        )
    return ActionDone(order.job.id, "stop-passes" if result.ended else "stop", busy=result.busy)


async def _end(order: _Asked, request: EndRequest) -> ActionDone:
    result = await operate(order.parts.common, order.job, END, request, order.by)
    return ActionDone(order.job.id, "end", name=result.run)


async def _checkpoint(order: _Asked, request: CheckpointRequest) -> ActionDone:
    result = await operate(order.parts.common, order.job, CHECKPOINT, request, order.by)
    return ActionDone(order.job.id, "checkpoint", name=result.name)


_HANDLERS: Final[Mapping[str, Callable[[_Asked, Any], Awaitable[ActionDone]]]] = {
    "start": _start,
    "recrawl": _recrawl,
    "run-rounds": _run_rounds,
    "stop-after-step": _stop_after_step,
    PAUSE.name: _pause,
    RESUME.name: _resume,
    STOP.name: _stop,
    END.name: _end,
    CHECKPOINT.name: _checkpoint,
}

REQUESTS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "start": StartRequest,
    "recrawl": RecrawlRequest,
    "run-rounds": RoundsRequest,
    "stop-after-step": RoundsStopRequest,
    **{operation.name: operation.request for operation in (PAUSE, RESUME, STOP, END, CHECKPOINT)},
}
"""The actions of `/api/v1/jobs/J/…`, each with the type of its options."""


async def take_action(call: JobCall) -> ActionDone:
    """Take the action that the path ends with."""
    action = call.request.url.path.rpartition("/")[2]
    return await act(call.parts.actions, call.job(), action, call.body, call.identity)


def refusal_text(action: str, reason: str, job: str) -> str:
    """Return the text of a refused action.

    Args:
        action: Its name.
        reason: A key of `WHYS`.
        job: Id of the job.
    """
    return message(
        "console.action-refused", "{action}: {reason} ({job})",
        action=action, reason=static(WHYS[reason]), job=job,
    )  # fmt: skip
