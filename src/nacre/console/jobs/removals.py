"""`/api/v1/removed-jobs`: the jobs that were removed from the console; their files stay.

And the deletion of a job that never ran, which has no data to keep.
"""

import asyncio
from typing import Final

import msgspec

from nacre.console.actions import require_rest
from nacre.console.call import JobCall
from nacre.console.forms import FormAction, button_handler
from nacre.console.links import ItemList
from nacre.core.clock import iso
from nacre.fleet.job_folders import forget_job
from nacre.fleet.places import FoundJob, JobRemoval
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.schedule_book import require_unscheduled
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.web.live.hub import JOBS, job_topic


class RemovedJob(msgspec.Struct, frozen=True):
    """A job that was removed from the console.

    Attributes:
        id: Its name in URLs, which it gets again.
        directory: Its directory.
        removed: When, RFC 3339.
        by: Who removed it.
    """

    id: str
    directory: str
    removed: str
    by: str


class RemovedJobList(ItemList[RemovedJob], frozen=True):
    """All removed jobs that are still there."""


class ForgetWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wish to delete a job that never ran.

    Attributes:
        name: Name of its directory, as a confirmation.
    """

    name: ShortText


class ForgetForm(ForgetWish, frozen=True, forbid_unknown_fields=True):
    """The form that deletes a job; without a name it is not confirmed."""

    name: ShortText = ""


async def list_removed(call: JobCall) -> RemovedJobList:
    """The removed jobs of places that the caller may see."""
    return RemovedJobList(removed_jobs(call), None, call.now)


def removed_jobs(call: JobCall) -> tuple[RemovedJob, ...]:
    """The removed jobs of places that the caller may see, by their ids."""
    fleet = call.fleet
    return tuple(
        _item(job, removal) for job, removal in fleet.removed if call.identity.sees(job.place)
    )


async def remove_job(call: JobCall) -> RemovedJob:
    """Remove a job from the console: it is not listed, read, counted or started any more.

    Raises:
        RefusedRequestError: It does not rest, or has schedules (409).
    """
    job = call.job()
    await require_no_start(call, job)
    removal = JobRemoval(str(job.layout.root), call.clock.now(), call.identity.name)
    call.fleet.removals.put(removal)
    call.note.change({"directory": str(job.layout.root)}, None)
    await tell_of(call, job)
    return _item(job, removal)


async def show_job(call: JobCall) -> None:
    """Show a removed job again.

    Raises:
        RefusedRequestError: There is none (404).
    """
    name = str(call.params["job"])
    for job, _ in call.fleet.removed:
        if job.id == name and call.identity.sees(job.place):
            call.fleet.removals.drop(str(job.layout.root))
            call.note.change(None, {"directory": str(job.layout.root)})
            await tell_of(call, job)
            return
    raise not_found(message("console.removed-job", "removed job {name}", name=name))


async def forget(call: JobCall) -> None:
    """Delete a job that never ran, with its directory.

    Raises:
        RefusedRequestError: The deletion is not confirmed (422); the job is active, has schedules,
            or was specified at the start of the console (409).
        JobError: It ran, or its directory contains other files.
    """
    request: ForgetWish = call.body
    job = call.job()
    root = job.layout.root
    if request.name != job.name:
        text = message(
            "console.deletion-confirmation",
            "to delete {id}, give the name of its directory: {name}",
            id=job.id,
            name=job.name,
        )
        raise RefusedRequestError(422, "confirm", text)
    if any(place.root == root for place in call.fleet.places):
        raise RefusedRequestError(
            409,
            "named-at-start",
            message(
                "console.place-not-removable",
                "{root} is a place of the console itself; delete it on the command line",
                root=root,
            ),
        )
    await require_no_start(call, job)
    await asyncio.to_thread(forget_job, job.layout)
    # A new job in this directory is a different job.
    call.parts.books.forget(job)
    call.note.change({"directory": str(root)}, None)
    await tell_of(call, job)


async def require_no_start(call: JobCall, job: FoundJob) -> None:
    """Refuse a job that runs, will be started, or has schedules.

    Raises:
        RefusedRequestError: It does (409).
    """
    await require_rest(call.parts.actions, job)
    require_unscheduled(call.parts.books.schedules, job)


async def tell_of(call: JobCall, job: FoundJob) -> None:
    """Scan for jobs again, and notify the viewers of a job and of the list of jobs."""
    await call.poller.scan()
    for topic in (JOBS, job_topic(job.id)):
        call.hub.changed(topic)


def _item(job: FoundJob, removal: JobRemoval) -> RemovedJob:
    return RemovedJob(job.id, removal.path, iso(removal.time), removal.by)


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_REMOVED: Final = _(
    "{job} is removed from the console; its files stay, and it can be shown again below."
)
_FORGOTTEN: Final = _("{job} is deleted with its directory.")
remove_form: Final = button_handler(FormAction(remove_job, done=_REMOVED), "/")
show_form: Final = button_handler(FormAction(show_job, done=_("{job} is shown again.")), "/")
forget_form: Final = button_handler(FormAction(forget, ForgetForm, done=_FORGOTTEN), "/")
"""The handlers of the forms of these actions."""
