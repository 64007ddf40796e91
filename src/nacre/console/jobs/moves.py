"""Moves of jobs: a job at rest goes to another place, with what the console keeps of it."""

import asyncio

from nacre.console.actions import require_rest
from nacre.console.call import JobCall
from nacre.console.jobs.new_jobs import place_for
from nacre.editing.file_settings import named_files
from nacre.fleet.job_folders import rename_job
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.edits import read_config
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.web.live.hub import JOBS


async def move_job(call: JobCall, job: FoundJob, label: str) -> FoundJob:
    """Move the directory of a job to another place; the job as it is found there.

    Its name, tags, quota and schedules go with it. Nothing is copied: another file system is the
    business of a command line.

    Args:
        call: The request.
        job: The job.
        label: Label of the place; that where it is already changes nothing.

    Raises:
        RefusedRequestError: The caller does not see the place (403), there is none for jobs, or it
            lies on another file system (422); the job runs, begins to, or waits for its next pass,
            or a directory of its name is there (409).
        StorageError: The console's database cannot be written.
    """
    if label == job.place:
        return job
    if not label:
        raise RefusedRequestError(
            422,
            "place",
            message("console.place-without-label", "a place has a label; leave it out to stay"),
        )
    place = place_for(call, label)
    await require_rest(call.parts.actions, job)
    if not call.may_name_files:
        await asyncio.to_thread(_require_same_files, job.layout)
    target = place.root / job.layout.root.name
    await asyncio.to_thread(rename_job, job.layout.root, target)
    before = str(job.layout.root)
    call.parts.books.move(before, target)
    await call.common.fleet.scan()
    moved = next(
        place_job for place_job in call.common.fleet.jobs if place_job.layout.root == target
    )
    call.parts.books.schedules.move(before, str(target), moved.id)
    await call.common.poller.look(moved)
    call.common.hub.changed(JOBS)
    return moved


def _require_same_files(layout: Layout) -> None:
    """Refuse the move of a job that names files beside its directory: it would name others then.

    Raises:
        RefusedRequestError: It does (403).
    """
    named = named_files(read_config(layout.config).decode("utf-8", "replace"))
    texts = {path: value if isinstance(value, list) else [value] for path, value in named.items()}
    beside = [
        p for p, values in texts.items() if any(".." in str(text).split("/") for text in values)
    ]
    if beside:
        raise RefusedRequestError(
            403,
            "names-files",
            message(
                "console.move-changes-files",
                "{names} names a file beside the job's directory, which would be another one "
                "there: only an admin may move the job",
                names=", ".join(beside),
            ),
        )
