"""`/api/v1/jobs/J/settings`: changes of single settings, sheets and associations."""

from typing import Any, Final

import msgspec

from nacre.console.call import Call
from nacre.console.task_answers import ask
from nacre.core.message_data import to_builtins
from nacre.editing.exclusion import ScopeExclusion, exclusions
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.apply_change import Changed, ChangeRequest
from nacre.job.control import BY, NotRunningError, ask_command
from nacre.job.settings_change import AffectedUrls
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops import library
from nacre.ops.fields import LineText, Texts
from nacre.ops.settings import change_settings_file
from nacre.settings.load import load_job
from nacre.web.workers.naming import EditRequest, require_may_name
from nacre.web.workers.task import NoRequest, reader_task

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
    """A change that was made or previewed.

    Attributes:
        changes: Each changed value.
        running: The job runs, and has applied the change.
        preview: Nothing was changed.
        touched: The queued URIs that it would affect; null if it was made.
    """

    changes: tuple[ChangedValue, ...]
    running: bool
    preview: bool
    touched: AffectedUrls | None = None


async def patch_settings(call: Call) -> ChangedSettings:
    """Change single settings, of a running job at once."""
    changes: SettingsPatch = call.body
    if not changes.assignments:
        sample = '`{"assignments": ["politeness.min_delay=5"]}`'
        raise RefusedRequestError(
            422,
            "nothing",
            message(
                "console.no-assignment", "no assignment is given, such as {sample}", sample=sample
            ),
        )
    request = ChangeRequest(
        assignments=list(changes.assignments), place=changes.place, preview=changes.preview
    )
    return await change(call, call.job(), request)


async def change(call: Call, job: FoundJob, request: ChangeRequest) -> ChangedSettings:
    """Ask the running job for a change, or change the file of a job that does not run.

    Args:
        call: The request.
        job: The job.
        request: The change.

    Raises:
        ConfigError: The change cannot be made; the error contains each reason.
        RefusedRequestError: The change contains the name of a file, which the requester may not set
            (403).
    """
    await require_may_name(call.readers, call.reach, call.identity, job, request)
    result, running = await apply_change(call, job, request, _PATIENCE)
    changes = tuple(ChangedValue(*assignment) for assignment in result.said)
    if request.preview:
        call.note.change(None, {"preview": [assignment.path for assignment in changes]})
    else:
        call.note.change(
            {assignment.path: assignment.before for assignment in changes},
            {assignment.path: assignment.after for assignment in changes},
        )
    return ChangedSettings(changes, running, request.preview, result.touched)


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
    plain, by = to_builtins(request), call.identity.log_name
    try:
        answer = await ask_command(job.layout.socket, "change", patience, change=plain, **{BY: by})
    except NotRunningError:
        return await ask(
            call, change_file, EditRequest(request, by), patience, job.layout.root
        ), False
    return msgspec.convert(answer["changed"], Changed), True


class ExclusionList(msgspec.Struct, frozen=True):
    """The expressions that the scope excludes, each with its rule."""

    items: tuple[ScopeExclusion, ...]


@reader_task("change-settings")
def change_file(layout: Layout, request: EditRequest) -> Changed:
    """Change the file of a job that does not run.

    Raises:
        ConfigError: The change is wrong.
        JobError: The file cannot be changed.
    """
    return change_settings_file(layout, request.change, request.who)


@reader_task("exclusions")
def list_exclusions(layout: Layout, _: NoRequest) -> ExclusionList:
    """Read the expressions that the scope of a job excludes.

    Raises:
        ConfigError: The settings have problems.
    """
    return ExclusionList(tuple(exclusions(load_job(layout).settings.scope)))


CLIP_OF_LINES: Final = reader_task("clip-of-lines")(library.clip_of_lines)
