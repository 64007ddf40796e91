"""`/j/J`: what a job does now, and what can be done with it."""

from nacre.console.api.jobs import job_details
from nacre.console.call import Call, PageAnswer
from nacre.job.sentence import LEVERS


async def page(call: Call) -> PageAnswer:
    """The overview of a job."""
    job = call.job()
    seen = await call.services.poller.fresh(job)
    details = job_details(job, seen, call.language)
    levers = [(name, call.language.texts.gettext(LEVERS[name])) for name in seen.sentence.lever]
    return PageAnswer("overview.html", {"job": details, "item": details.item, "levers": levers})
