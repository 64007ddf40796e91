"""`/j/J/seeds/list`: the file with the seeds of a job, in an editor."""

from typing import Any

from starlette.responses import RedirectResponse

from nacre.console.api.seed_list import WHYS, ask_seed_list, save_seed_list
from nacre.console.call import Call, PageAnswer
from nacre.console.live.notices import Notice
from nacre.console.pages.forms import fields_of, may_operate
from nacre.console.pages.frontier import base_of
from nacre.console.pages.job_settings import difference


async def page(call: Call) -> PageAnswer:
    """The seed list; of a job that never ran it is all there is about its seeds."""
    found = await ask_seed_list(call, call.job())
    return PageAnswer("seed_list.html", await _facts(call, found["text"], found))


async def _facts(call: Call, text: str, found: dict[str, Any]) -> dict[str, Any]:
    """The facts of the page about a text.

    Args:
        call: The request.
        text: It.
        found: The list that is saved, with its ETag.
    """
    job = call.job()
    seen = await call.services.poller.fresh(job)
    why = found.get("why", "")
    return {
        "job": job.id, "text": text, "etag": found.get("etag", "*"), "file": found.get("file", ""),
        "why": call.language.texts.gettext(WHYS[why]) if why else "",
        "in_settings": why == "settings",
        "running": seen.running, "may": may_operate(call), "never_ran": not job.layout.has_store,
        "problems": (), "changed": False, "diff": (),
    }  # fmt: skip


async def submit(call: Call) -> PageAnswer | RedirectResponse:
    """Save the list; a form."""
    fields, job = await fields_of(call), call.job()
    text = fields.get("text", "").replace("\r\n", "\n")
    answer = await save_seed_list(call, job, text, fields.get("etag", "*"))
    outcome = answer["outcome"]
    if outcome in {"saved", "same"}:
        _tell(call, outcome, answer["seeds"])
        await call.services.poller.look(job)
        return RedirectResponse(f"{base_of(call)}/seeds/list", 303)
    saved = answer if outcome == "changed" else await ask_seed_list(call, job)
    facts = await _facts(call, text, saved)
    if outcome == "changed":
        facts |= {"changed": True, "diff": difference(saved["text"], text)}
        return PageAnswer("seed_list.html", facts, 412)
    return PageAnswer("seed_list.html", {**facts, "problems": answer["problems"]}, 422)


def _tell(call: Call, outcome: str, seeds: int) -> None:
    texts = call.language.texts
    if outcome == "same":
        said = texts.gettext("Nothing is different from the saved list.")
    else:
        said = texts.ngettext(
            "The list is saved: {number} seed.", "The list is saved: {number} seeds.", seeds
        ).format(number=f"{seeds:,}")
    if call.session is not None:
        call.services.notices.add(call.identity.session, Notice("done", said))
