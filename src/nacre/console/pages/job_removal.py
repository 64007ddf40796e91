"""`POST /j/J/remove` and its like: forms that take a job off the pages, and bring it back."""

from urllib.parse import quote

from starlette.responses import RedirectResponse

from nacre.console.api.removals import ForgetWish, forget_of, remove_job_of, show_job_of
from nacre.console.call import Call, PageAnswer
from nacre.console.live.notices import Notice
from nacre.console.pages.acting import shown
from nacre.console.pages.forms import fields_of
from nacre.errors import NacreError


async def remove(call: Call) -> PageAnswer | RedirectResponse:
    """Remove a job from the console."""
    job, _ = call.job(), call.language.texts.gettext
    try:
        await remove_job_of(call)
    except NacreError as error:
        return shown(call, [Notice("error", error.message)], f"/j/{quote(job.id, safe='')}")
    text = _("{job} is removed from the console; its files stay, and it can be shown again below.")
    return shown(call, [Notice("done", text.format(job=job.id))], "/")


async def show_again(call: Call) -> PageAnswer | RedirectResponse:
    """Show a removed job again."""
    job = await show_job_of(call)
    text = call.language.texts.gettext("{job} is shown again.")
    return shown(call, [Notice("done", text.format(job=job.id))], "/")


async def forget(call: Call) -> PageAnswer | RedirectResponse:
    """Delete a job that never ran, with its directory."""
    job, fields, _ = call.job(), await fields_of(call), call.language.texts.gettext
    try:
        await forget_of(call, ForgetWish(fields.get("name", "").strip()))
    except NacreError as error:
        return shown(call, [Notice("error", error.message)], f"/j/{quote(job.id, safe='')}")
    text = _("{job} is deleted with its directory.")
    return shown(call, [Notice("done", text.format(job=job.id))], "/")
