"""`POST /j/J/labels`: the form of a job's name, tags and place."""

from urllib.parse import quote

from starlette.responses import RedirectResponse

from nacre.console.api.jobs import label_job
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.label_book import JobLabelsWish, changed_labels
from nacre.console.form_actions import shown
from nacre.console.forms import fields_of
from nacre.console.job_moves import move_job
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError


async def answer(call: Call) -> PageAnswer | RedirectResponse:
    """Keep the name and the tags, which have commas between them."""
    job, fields, _ = call.job(), await fields_of(call), call.language.texts.gettext
    tags = fields.get("tags", "").replace("\N{FULLWIDTH COMMA}", ",").split(",")
    wish = JobLabelsWish(fields.get("name", ""), tuple(tags))
    try:
        changed_labels(call.services.labels.of(job), wish)
        came_from = job.place
        job = await move_job(call, job, fields.get("place", came_from))
        label_job(call, job, wish, came_from)
        notice = Notice("done", _("The name and the tags are kept."))
    except RefusedRequestError as error:
        notice = Notice("error", error.message)
    return shown(call, [notice], f"/j/{quote(job.id, safe='')}")
