"""`/api/v1/jobs/J/settings`: changes of single settings, sheets and associations."""

from typing import Any

import msgspec

from nacre.console.access.reach import may_name_files
from nacre.console.access.roles import Requester
from nacre.console.actions import name_of
from nacre.console.call import Call
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError
from nacre.console.services import ConsoleServices
from nacre.console.settings.edits import EditRequest, change_file, named_files
from nacre.console.task_answers import ask
from nacre.core.message_data import to_builtins
from nacre.job.apply_change import Changed, ChangeRequest
from nacre.job.control import BY, NotRunningError, ask_command
from nacre.job.settings_change import AffectedUrls
from nacre.messages import message
from nacre.ops.fields import LineText, Texts

_PATIENCE = 60.0


class SettingsPatch(msgspec.Struct, frozen=True, kw_only=True):
    """A change of settings, applied as a whole or not at all.

    Attributes:
        assignments: `path=value` texts; the value is read as YAML.
        place: A URL or SURT prefix for which alone they hold, in a sheet that is made for it; ""
            for the whole job.
        preview: Change nothing; count the queued URIs that would be affected.
    """

    assignments: Texts = ()
    place: LineText = msgspec.field(default="", name="for")
    preview: bool = False


class ChangedValue(msgspec.Struct, frozen=True):
    """A value before and after.

    Attributes:
        path: Its path.
        before: What it was; null for nothing.
        after: What it is; null for nothing.
    """

    path: str
    before: Any
    after: Any


class ChangedSettings(msgspec.Struct, frozen=True):
    """A change that was made or looked at.

    Attributes:
        changes: Each value.
        running: The job runs, and has taken it.
        preview: Nothing was changed.
        touched: The queued URIs that it would affect; null where it was made.
    """

    changes: tuple[ChangedValue, ...]
    running: bool
    preview: bool
    touched: AffectedUrls | None = None


async def patch_settings(call: Call) -> ChangedSettings:
    """Change single settings, of a running job at once."""
    wanted: SettingsPatch = call.body
    if not wanted.assignments:
        sample = '`{"assignments": ["politeness.min_delay=5"]}`'
        raise RefusedRequestError(
            422,
            "nothing",
            message(
                "console.no-assignment", "no assignment is given, such as {sample}", sample=sample
            ),
        )
    request = ChangeRequest(
        assignments=list(wanted.assignments), place=wanted.place, preview=wanted.preview
    )
    return await change(call, call.job(), request)


async def change(call: Call, job: FoundJob, request: ChangeRequest) -> ChangedSettings:
    """Ask the running job for a change, or change the file of a job that does not run.

    Args:
        call: The request.
        job: The job.
        request: The change.

    Raises:
        ConfigError: It cannot be made; with each reason.
        RefusedRequestError: It names a file, and the requester may not (403).
    """
    await require_may_name(call.services, call.identity, job, request)
    made, running = await apply_change(call, job, request, _PATIENCE)
    changes = tuple(ChangedValue(*one) for one in made.said)
    if request.preview:
        call.note.change(None, {"preview": [one.path for one in changes]})
    else:
        call.note.change(
            {one.path: one.before for one in changes}, {one.path: one.after for one in changes}
        )
    return ChangedSettings(changes, running, request.preview, made.touched)


async def apply_change(
    call: Call, job: FoundJob, request: ChangeRequest, patience: float
) -> tuple[Changed, bool]:
    """Apply a change in the process that runs a job, or in its file.

    Args:
        call: The request.
        job: The job.
        request: The change.
        patience: Seconds that it may take.

    Returns:
        The changes, and whether the job runs.

    Raises:
        ConfigError: The change is wrong.
        JobError: The job refuses.
    """
    plain, who = to_builtins(request), name_of(call.identity)
    try:
        answer = await ask_command(job.layout.socket, "change", patience, change=plain, **{BY: who})
    except NotRunningError:
        return await ask(
            call, change_file, EditRequest(request, who), patience, job.layout.root
        ), False
    return msgspec.convert(answer["changed"], Changed), True


async def require_may_name(
    services: ConsoleServices, who: Requester, job: FoundJob, request: ChangeRequest
) -> None:
    """Refuse a change that names files, servers or networks if that is for admins alone.

    Args:
        services: The parts of the console.
        who: Who asks.
        job: The job.
        request: The change.

    Raises:
        RefusedRequestError: It does (403).
    """
    if may_name_files(who.role, is_remote=services.reach.is_remote, places=who.places):
        return
    fields = to_builtins(EditRequest(request))
    answer = await services.readers.ask(named_files.name, job.layout.root, _PATIENCE, **fields)
    paths = ", ".join(answer["paths"])
    if paths:
        raise RefusedRequestError(
            403,
            "files",
            message(
                "console.admin-only-settings",
                "only administrators may change {paths}: it names a file, a program, a variable, a "
                "server, a network or a port",
                paths=paths,
            ),
        )
