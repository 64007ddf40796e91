"""The labels of a job, and its place: `PATCH /api/v1/jobs/J`, and the form of its overview."""

import asyncio
from typing import Annotated

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.actions import require_rest
from nacre.console.call import JobCall, PageAnswer
from nacre.console.forms import answer_form, fields_of
from nacre.console.jobs.listing import JobItem, job_item
from nacre.console.jobs.new_jobs import place_for
from nacre.console.links import job_path
from nacre.core.message_data import to_plain
from nacre.editing.file_settings import named_files
from nacre.fleet.job_books import MOST, JobLabelsWish, changed_labels, kinds_of
from nacre.fleet.job_folders import rename_job
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.edits import read_config
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.fields import LineText
from nacre.web.live.hub import JOBS, Notice, job_topic
from nacre.web.versions import EditedThing, edited


async def labels_version(call: JobCall) -> EditedThing:
    """Return the labels of a job: what can be edited of it here."""
    return edited(call.parts.books.labels.of(call.job()))


async def change_job(call: JobCall) -> JobItem:
    """Change the name, the tags or the place of a job; fields that are left out do not change.

    A move changes the id of the job. If the move is refused, nothing is changed.

    Raises:
        RefusedRequestError: The name or a tag cannot be used (422); see `move_job`.
    """
    request: JobLabelsWish = call.body
    job = call.job()
    before, moved = call.parts.books.labels.of(job), job
    after = changed_labels(before, request)
    if request.place is not msgspec.UNSET:
        moved = await move_job(call, job, request.place)
        call.request.path_params["job"] = moved.id  # the answer has the ETag of its labels
    snapshot = await call.poller.fresh(moved)
    call.parts.books.labels.set(moved, after)
    call.note.change(
        {**to_plain(before), "place": job.place},
        {**to_plain(after), "place": moved.place},
    )
    for topic in (JOBS, job_topic(moved.id)):
        call.hub.changed(topic)
    return job_item(call, moved, snapshot)


async def submit_labels(call: JobCall) -> PageAnswer | RedirectResponse:
    """Change a job by a form, whose tags have commas between them; without a place it stays."""
    fields = await fields_of(call)
    tags = fields.get("tags", "").replace("\N{FULLWIDTH COMMA}", ",").split(",")
    place = fields.get("place", msgspec.UNSET)
    request = JobLabelsWish(fields.get("name", ""), tuple(tags), place)
    job = call.job().id
    try:
        job = (await change_job(call._replace(body=request))).id
        text = call.language.texts.gettext("The name and the tags are saved.")
        notice = Notice("done", text)
    except RefusedRequestError as error:
        notice = Notice("error", error.message)
    return answer_form(call, [notice], job_path(job))


class WantedKinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of URLs of a job whose warning is muted.

    Attributes:
        prefixes: Beginnings of their URLs, the oldest first, 100 at most.
    """

    prefixes: Annotated[tuple[LineText, ...], msgspec.Meta(max_length=MOST)] = ()


class WantedForm(msgspec.Struct, frozen=True):
    """The button of a banner.

    Attributes:
        prefix: Beginning of the URLs of the kind.
    """

    prefix: LineText = ""


async def show_wanted(call: JobCall) -> WantedKinds:
    """Return the kinds of URLs of a job whose warning is muted."""
    return WantedKinds(call.parts.books.muted_warnings.of(call.job()))


async def wanted_version(call: JobCall) -> EditedThing:
    """Return the muted kinds of a job as a resource that is edited as a whole."""
    return edited(await show_wanted(call))


async def set_wanted(call: JobCall) -> WantedKinds:
    """Set the kinds of URLs of a job whose warning is muted, and notify its viewers."""
    request: WantedKinds = call.body
    job, book = call.job(), call.parts.books.muted_warnings
    before = WantedKinds(book.of(job))
    after = WantedKinds(book.set(job, request.prefixes))
    call.note.change(to_plain(before), to_plain(after))
    call.hub.changed(job_topic(job.id))
    return after


async def add_wanted(call: JobCall) -> PageAnswer | RedirectResponse:
    """Mute the warning about the kind of URLs in a banner; a button.

    Raises:
        RefusedRequestError: Most queued URLs are of another kind now (409).
    """
    job, prefix = call.job(), call.body.prefix
    kind = call.poller.snapshot(job).crowded
    if kind is None or kind.prefix != prefix:
        raise RefusedRequestError(
            409,
            "not-crowded",
            message(
                "console.kind-outdated",
                "most queued URIs are not of {prefix} any more: look again",
                prefix=prefix,
            ),
        )
    prefixes = kinds_of(call.parts.books.muted_warnings.of(job), (prefix,))
    await set_wanted(call._replace(body=WantedKinds(prefixes)))
    text = call.language.texts.gettext("It is wanted: nothing is said about {place} any more.")
    return answer_form(call, [Notice("done", text.format(place=prefix))], job_path(job.id))


async def move_job(call: JobCall, job: FoundJob, label: str) -> FoundJob:
    """Move the directory of a job to another place; the job as it is found there.

    Its name, tags, quota and schedules go with it. Nothing is copied: another file system is the
    business of a command line.

    Args:
        call: The request.
        job: The job.
        label: Label of the place; the present place changes nothing.

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
    await call.fleet.scan()
    moved = next(place_job for place_job in call.fleet.jobs if place_job.layout.root == target)
    call.parts.books.schedules.move(before, str(target), moved.id)
    await call.poller.look(moved)
    call.hub.changed(JOBS)
    return moved


def _require_same_files(layout: Layout) -> None:
    """Refuse to move a job whose settings have paths with `..`, which would point to other files.

    Raises:
        RefusedRequestError: The settings have such paths (403).
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
                "{names} refers to a file outside the job's directory, which would be another "
                "file there: only an admin may move the job",
                names=", ".join(beside),
            ),
        )
