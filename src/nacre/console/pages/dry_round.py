"""`/j/J/dry-run-rounds` and `/j/J/versions`: the next list of a batch crawl, and its versions."""

from urllib.parse import quote

from starlette.responses import RedirectResponse

from nacre.console.api.rounds import dry_round_of, restore_of, versions_of
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import text_of
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError
from nacre.errors import NacreError
from nacre.messages import message


async def page(call: Call) -> PageAnswer | RedirectResponse:
    """The answer to the button of a dry run; what takes longer has the page of its task."""
    job = call.job()
    found, held = await dry_round_of(call, job)
    if held is not None:
        return RedirectResponse(f"/j/{quote(job.id, safe='')}/tasks/{held.id}", status_code=303)
    return PageAnswer("dry_round.html", {"job": job.id, "found": found})


async def versions(call: Call) -> PageAnswer:
    """The versions of a batch crawl that are kept."""
    job = call.job()
    found = await versions_of(call, job) if job.layout.in_rounds else None
    seen = await call.services.poller.fresh(job)
    return PageAnswer("versions.html", {"job": job.id, "found": found, "running": seen.running})


async def restore(call: Call) -> RedirectResponse:
    """Go back to a version; a form of the page."""
    job = call.job()
    text = text_of(await call.request.form(), "version")
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise RefusedRequestError(
            422,
            "bad-form",
            message("console.version-format", "{text!r} is no version", text=text[:20]),
        )
    try:
        done = await restore_of(call, job, int(text))
        words = call.language.texts.gettext("Version {version} says what version {restored} says.")
        notice = Notice("done", words.format(version=done.version, restored=done.restored))
    except NacreError as error:
        notice = Notice("error", error.message)
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse(f"/j/{quote(job.id, safe='')}/versions", status_code=303)
