"""`/j/J`: what a job does now, and what can be done with it."""

from typing import Any

from nacre.console.api.jobs import job_details
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.places import FoundJob
from nacre.console.pages.lever_links import lever_links


async def page(call: Call) -> PageAnswer:
    """The overview of a job."""
    job = call.job()
    await call.services.poller.fresh(job)
    return PageAnswer("overview.html", facts(call, job))


def facts(call: Call, job: FoundJob) -> dict[str, Any]:
    """The facts of a job as it was seen last."""
    seen = call.services.poller.snapshot(job)
    details = job_details(call.services, job, seen, call.language)
    levers = lever_links(job.id, seen.sentence, call.language.texts.gettext)
    return {"job": details, "item": details.item, "levers": levers}
