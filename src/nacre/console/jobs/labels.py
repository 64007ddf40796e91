"""The labels of a job, and its place: `PATCH /api/v1/jobs/J`, and the form of its overview."""

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.label_book import JobLabelsWish, changed_labels
from nacre.console.forms import fields_of, shown
from nacre.console.jobs.listing import JobItem, job_item
from nacre.console.jobs.moves import move_job
from nacre.console.links import job_path
from nacre.console.live.hub import JOBS, job_topic
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError
from nacre.console.versions import EditedThing, edited


async def labels_version(call: Call) -> EditedThing:
    """Return the labels of a job: what can be edited of it here."""
    return edited(call.services.labels.of(call.job()))


async def change_job(call: Call) -> JobItem:
    """Give a job another name, other tags, or another place; what is left out stays.

    Its id is another one after a move, and nothing is changed if the move is refused.

    Raises:
        RefusedRequestError: The name or a tag cannot be used (422); see `move_job`.
    """
    wish: JobLabelsWish = call.body
    services, job = call.services, call.job()
    before, moved = services.labels.of(job), job
    after = changed_labels(before, wish)
    if wish.place is not msgspec.UNSET:
        moved = await move_job(call, job, wish.place)
        call.request.path_params["job"] = moved.id  # the answer has the ETag of its labels
    seen = await services.poller.fresh(moved)
    services.labels.set(moved, after)
    call.note.change(
        {**msgspec.to_builtins(before), "place": job.place},
        {**msgspec.to_builtins(after), "place": moved.place},
    )
    for topic in (JOBS, job_topic(moved.id)):
        services.hub.changed(topic)
    return job_item(call, moved, seen)


async def submit_labels(call: Call) -> PageAnswer | RedirectResponse:
    """Change a job by a form, whose tags have commas between them; without a place it stays."""
    fields = await fields_of(call)
    tags = fields.get("tags", "").replace("\N{FULLWIDTH COMMA}", ",").split(",")
    place = fields.get("place", msgspec.UNSET)
    wish = JobLabelsWish(fields.get("name", ""), tuple(tags), place)
    job = call.job().id
    try:
        job = (await change_job(call._replace(body=wish))).id
        text = call.language.texts.gettext("The name and the tags are kept.")
        notice = Notice("done", text)
    except RefusedRequestError as error:
        notice = Notice("error", error.message)
    return shown(call, [notice], job_path(job))
