"""`/api/v1/removed-jobs`: the jobs that were removed from the console; their files stay.

And the deletion of a job that never ran, of which there is nothing to keep.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from nacre.console.actions import require_rest
from nacre.console.call import Call
from nacre.console.forms import FormAction, button_handler
from nacre.console.links import ItemList
from nacre.console.live.hub import JOBS, job_topic
from nacre.core.clock import iso
from nacre.errors import JobError
from nacre.fleet.job_books import NONE
from nacre.fleet.places import CLASSES, CXML, PROFILE, REPORT, FoundJob, JobRemoval
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.schedule_book import require_unscheduled
from nacre.fleet.standing import OF_FOLDER
from nacre.machine.layout import CONFIG, SEEDS, Layout
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.settings.new_job import LOGINS
from nacre.settings.schema import BESIDE


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


async def list_removed(call: Call) -> RemovedJobList:
    """The removed jobs of places that the caller may see."""
    return RemovedJobList(removed_jobs(call), None, call.now)


def removed_jobs(call: Call) -> tuple[RemovedJob, ...]:
    """The removed jobs of places that the caller may see, by their ids."""
    fleet = call.services.fleet
    return tuple(
        _item(job, removal) for job, removal in fleet.removed if call.identity.sees(job.place)
    )


async def remove_job(call: Call) -> RemovedJob:
    """Remove a job from the console: it is not listed, read, counted or started any more.

    Raises:
        RefusedRequestError: It does not rest, or has schedules (409).
    """
    job, services = call.job(), call.services
    await require_no_start(call, job)
    removal = JobRemoval(str(job.layout.root), services.clock.now(), call.identity.name)
    services.removals.put(removal)
    call.note.change({"directory": str(job.layout.root)}, None)
    await tell_of(call, job)
    return _item(job, removal)


async def show_job(call: Call) -> None:
    """Show a removed job again.

    Raises:
        RefusedRequestError: There is none (404).
    """
    name = str(call.params["job"])
    for job, _ in call.services.fleet.removed:
        if job.id == name and call.identity.sees(job.place):
            call.services.removals.drop(str(job.layout.root))
            call.note.change(None, {"directory": str(job.layout.root)})
            await tell_of(call, job)
            return
    raise not_found(message("console.removed-job", "removed job {name}", name=name))


async def forget(call: Call) -> None:
    """Delete a job that never ran, with its directory.

    Raises:
        RefusedRequestError: It is not confirmed (422); it does not rest, has schedules, or was
            named at the start of the console (409).
        JobError: It ran, or something else lies in its directory.
    """
    request: ForgetWish = call.body
    job, services = call.job(), call.services
    root = job.layout.root
    if request.name != job.name:
        text = message(
            "console.deletion-confirmation",
            "to delete {id}, give the name of its directory: {name}",
            id=job.id,
            name=job.name,
        )
        raise RefusedRequestError(422, "confirm", text)
    if any(place.root == root for place in services.fleet.places):
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
    # A new job of this directory is another one.
    services.labels.set(job, NONE)
    services.quotas.set(str(root), 0)
    services.wanted.set(job, ())
    call.note.change({"directory": str(root)}, None)
    await tell_of(call, job)


async def require_no_start(call: Call, job: FoundJob) -> None:
    """Refuse a job that runs, will be started, or has schedules.

    Raises:
        RefusedRequestError: It does (409).
    """
    await require_rest(call.services, job)
    require_unscheduled(call.services.schedules, job)


async def tell_of(call: Call, job: FoundJob) -> None:
    """Look for jobs again, and tell who looks at a job and at their list."""
    await call.services.poller.scan()
    for topic in (JOBS, job_topic(job.id)):
        call.services.hub.changed(topic)


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


_FILES: Final = frozenset(
    (CONFIG, SEEDS, BESIDE, CLASSES, CXML, PROFILE, REPORT, f"{Path(REPORT).stem}.json", "job.log",
     "state/console.out", "state/changes.jsonl", f"state/{OF_FOLDER}")
)  # fmt: skip
_FOLDERS: Final = frozenset((LOGINS, "control", "action", "state", "state/edits"))
_OF_ANY_NAME: Final = frozenset((LOGINS, "control", "state/edits"))
"""Folders whose files have their own names."""
_NAMED: Final = 3
"""Names that a refusal shows."""
_MOST: Final = 10_000
"""Entries that are looked at; a job that never ran has a few."""


def require_never_ran(layout: Layout) -> None:
    """Refuse a job that has run, or that has anything of a run.

    Raises:
        JobError: It has; or its state is another user's.
    """
    if ever_ran(layout):
        raise JobError(
            message(
                "console.job-with-archive",
                "{name} ran: its archive is never deleted here. To delete it, remove {root} on the "
                "command line",
                name=layout.root.name,
                root=layout.root,
            )
        )


def ever_ran(layout: Layout) -> bool:
    """Whether a job has anything of a run: a store, versions of rounds, or the directory of a run.

    Raises:
        JobError: Its state is another user's.
    """
    runs = layout.root / "runs"
    return layout.has_store or layout.in_rounds or (runs.is_dir() and any(runs.iterdir()))


def forget_job(layout: Layout) -> None:
    """Delete a job that never ran, and its directory.

    Raises:
        JobError: It ran, something else lies in its directory, or that cannot be deleted.
    """
    require_never_ran(layout)
    files, folders, remaining = list[str](), list[str](), list[str]()
    for path, is_folder, is_file in _entries(layout.root):
        if is_folder and path in _FOLDERS:
            folders.append(path)
        elif is_file and (path in _FILES or path.rpartition("/")[0] in _OF_ANY_NAME):
            files.append(path)
        else:
            remaining.append(path)
    if remaining:
        more = f" and {len(remaining) - _NAMED} more" if len(remaining) > _NAMED else ""
        raise JobError(
            message(
                "console.job-with-more-files",
                "{root} has more than what a job has that never ran: {names}{more}; move it "
                "elsewhere, or delete the directory on the command line",
                root=layout.root,
                names=", ".join(remaining[:_NAMED]),
                more=more,
            )
        )
    try:
        for path in files:
            if path != CONFIG:
                (layout.root / path).unlink(missing_ok=True)
        for path in sorted(folders, reverse=True):
            (layout.root / path).rmdir()
        # The file that makes it a job goes last: where the rest cannot be deleted, it is one still.
        layout.config.unlink(missing_ok=True)
        layout.root.rmdir()
    except OSError as error:
        raise JobError(
            message(
                "console.deletion-incomplete",
                "{root} cannot be deleted whole: {strerror}",
                root=layout.root,
                strerror=error.strerror,
            )
        ) from error


def _entries(root: Path) -> Iterator[tuple[str, bool, bool]]:
    """All below a directory: path, whether it is a folder, whether it is an ordinary file.

    A folder that no job has is not looked into.

    Raises:
        JobError: A folder cannot be read, or has too much.
    """
    todo, number = [""], 0
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(root / folder) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise JobError(
                message(
                    "console.folder-unreadable",
                    "{root} cannot be read: {strerror}",
                    root=root / folder,
                    strerror=error.strerror,
                )
            ) from error
        number += len(children)
        if number > _MOST:
            raise JobError(
                message(
                    "console.job-with-many-files",
                    "{root} has more than {most:,} files; delete it on the command line",
                    root=root,
                    most=_MOST,
                )
            )
        for entry in children:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            yield path, is_folder, entry.is_file(follow_symlinks=False)
            if is_folder and path in _FOLDERS:
                todo.append(path)
