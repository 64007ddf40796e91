"""`/j/J/settings/form`: the settings of a job as fields, and its rules as cards."""

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from nacre.console.call import Call, PageAnswer
from nacre.console.forms import go_back
from nacre.console.links import job_path
from nacre.console.settings.changes import change
from nacre.console.settings.config import SaveQuery, ask_about, save_text
from nacre.console.settings.file_page import checked, difference, form_of, frame, written
from nacre.console.settings.file_tasks import config_text
from nacre.console.task_answers import ask
from nacre.core.message_data import to_json
from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.places import FoundJob
from nacre.job.apply_change import ChangeRequest
from nacre.messages import message
from nacre.ops.settings_file import SaveRequest
from nacre.web.live.hub import Notice
from nacre.web.workers.task import NoRequest

_PATIENCE = 20.0
_VALUE, _OLD, _RESET = "v:", "o:", "r:"
_CARD_VALUE, _CARD_OLD = "f:", "g:"
"""Prefixes of the names of inputs: of settings, and of the fields of a card."""


async def page(call: Call) -> PageAnswer:
    """The form: the common settings, those of a section, or those that a search finds."""
    query = call.request.query_params
    section, search = query.get("section", "")[:40], query.get("q", "")[:100]
    return await _form(call, call.job(), section, search, opened=query.get("card", "")[:200])


async def _form(
    call: Call, job: FoundJob, section: str, search: str, **more: object
) -> PageAnswer:  # fmt: skip
    answer = await ask_about(
        call, "form-fields", job, _PATIENCE, section=section, search=search.strip(),
        spoken=call.language.name,
    )  # fmt: skip
    facts = await frame(call, job, "form")
    values = {
        "fields": (), "sections": (), "lists": (), "total": 0, "etag": "", "pending": "",
        "preview": None, "applied": None, "wrong": {}, "typed": {}, "opened": "",
        "diff": (), "is_same": False, **answer,
    }  # fmt: skip
    values |= {"section": section, "search": search}
    values |= {name: value for name, value in more.items() if value or name != "opened"}
    status = 422 if values["wrong"] or more.get("refused") else 200
    return PageAnswer("settings_form.html", {"refused": (), **facts, **values}, status)


async def submit(call: Call) -> PageAnswer | Response:
    """Show what the values of the form change in the file, and save it; or apply them live."""
    job, form = call.job(), await form_of(call)
    section, search = form.get("section", ""), form.get("q", "")
    if form.get("write"):
        return await _save(call, job, form)
    facts = await frame(call, job, "form")
    values = changed_values(form)
    try:
        if form.get("pending"):
            return await _apply(call, job, form, section, search)
        if facts["running"]:
            return await _preview(call, job, values, section, search)
        return await _show_changes(call, job, form, values)
    except ConfigError as error:
        wrong = {problem.path: problem.message for problem in error.problems}
        refused = tuple(error.problems)
        return await _form(
            call, job, section, search, wrong=wrong, refused=refused, typed=values,
            opened=form.get("card", "").rpartition(" ")[0],
        )  # fmt: skip
    except JobError as error:
        refused = (Problem("", error.message),)
        return await _form(call, job, section, search, refused=refused, typed=values)


async def _show_changes(
    call: Call, job: FoundJob, form: Mapping[str, str], values: Mapping[str, str]
) -> PageAnswer:  # fmt: skip
    """Return the page with what the values of the form change in the file, to be saved."""
    section, search, card = form.get("section", ""), form.get("q", ""), form.get("card", "")
    resets = [name.removeprefix(_RESET) for name in form if name.startswith(_RESET)]
    answer = await ask_about(
        call, "form-text", job, _PATIENCE, values=values, card=card,
        said=form.get("said", ""), card_kind=form.get("card_kind", ""),
        fields=changed_values(form, _CARD_VALUE, _CARD_OLD), resets=resets,
    )  # fmt: skip
    saved = await ask(call, config_text, NoRequest())
    diff = difference(saved.text, answer["text"])
    problems = (await checked(call, job, answer["text"])).problems if diff else ()
    return await _form(
        call, job, section, search, typed=values, opened=card.rpartition(" ")[0], diff=diff,
        is_same=not diff, text=answer["text"], text_etag=answer["etag"],
        text_problems=problems, names=[*values, *resets, *card.split()[:1]],
    )  # fmt: skip


async def _save(call: Call, job: FoundJob, form: Mapping[str, str]) -> PageAnswer | Response:
    """Save a file whose changes were shown, and return to the form with a notice of them."""
    text = form.get("text", "").replace("\r\n", "\n")
    query = SaveQuery(int(form.get("force", "") == "1"), form.get("why", ""))
    request = SaveRequest(text=text, etag=form.get("etag", "*"))
    result = await save_text(call, job, request, query)
    if result.outcome not in {"saved", "same"}:
        return await written(call, job, result, text, await frame(call, job, "yaml"))
    saved = call.language.texts.gettext("Saved: {names}")
    notice = Notice("done", saved.format(names=form.get("names", "")[:1000]))
    view = urlencode({name: form[name] for name in ("section", "q") if form.get(name)})
    return go_back(call, f"{job_path(job.id)}/settings/form{view and '?' + view}", notice)


def changed_values(
    form: Mapping[str, str], new: str = _VALUE, before: str = _OLD
) -> dict[str, str]:
    """Return the values of a form that were changed, by their paths."""
    values = {}
    for name, value in form.items():
        path = name.removeprefix(new)
        plain = value.replace("\r\n", "\n").strip("\n")
        old = form.get(before + path, "").replace("\r\n", "\n").strip("\n")
        if name.startswith(new) and plain != old and f"{_RESET}{path}" not in form:
            values[path] = plain
    return values


async def _preview(
    call: Call, job: FoundJob, values: Mapping[str, str], section: str, search: str
) -> PageAnswer:
    """The page with the number of queued URIs that a change of the running job would affect."""
    if not values:
        return await _form(call, job, section, search)
    answer = await ask_about(call, "form-change", job, _PATIENCE, values=values)
    assignments = answer["assignments"]
    result = await change(call, job, ChangeRequest(assignments=assignments, preview=True))
    pending = to_json(assignments).decode()
    return await _form(call, job, section, search, pending=pending, preview=result, typed=values)


async def _apply(
    call: Call, job: FoundJob, form: Mapping[str, str], section: str, search: str
) -> PageAnswer:
    """Apply a change after its preview."""
    try:
        assignments = msgspec.json.decode(form["pending"], type=list[str])
    except msgspec.MsgspecError as error:
        raise ConfigError(
            [Problem("", message("console.change-format", "not a change: {error}", error=error))]
        ) from None
    result = await change(call, job, ChangeRequest(assignments=assignments))
    return await _form(call, job, section, search, applied=result)
