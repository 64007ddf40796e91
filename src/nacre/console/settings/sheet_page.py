"""`/j/J/settings/sheets`: where which sheets apply, and other settings for a place."""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import lines_of
from nacre.console.fleet.places import FoundJob
from nacre.console.readers.task import NoRequest
from nacre.console.settings.changes import change
from nacre.console.settings.file_page import form_of, frame
from nacre.console.settings.sheet_tree import sheet_tree
from nacre.console.settings.sheets import (
    PlaceRequest,
    ValueRequest,
    list_sheets,
    sheet_value,
    sheets_at,
)
from nacre.console.task_answers import ask
from nacre.core.message_data import to_json
from nacre.errors import ConfigError, JobError, NacreError
from nacre.job.apply_change import ChangeRequest


class PendingSheetChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of sheets that the form sends back after its preview.

    It comes from the browser, so it has only what the page offers: nothing that is for the owner
    alone.

    Attributes:
        assignments: See `ChangeRequest`.
        place: See `ChangeRequest`.
        remove: See `ChangeRequest`.
        associate: See `ChangeRequest`.
        dissociate: See `ChangeRequest`.
        surts: See `ChangeRequest`.
    """

    assignments: list[str] = []
    place: str = ""
    remove: str = ""
    associate: dict[str, list[str]] | None = None
    dissociate: str = ""
    surts: list[str] = []

    def request(self, *, preview: bool) -> ChangeRequest:
        """Return the request to the job; with `preview` it changes nothing."""
        return ChangeRequest(**msgspec.structs.asdict(self), preview=preview)


async def page(call: Call) -> PageAnswer:
    """The tree of prefixes, and the editor for a place."""
    query = call.request.query_params
    return await _sheets(call, call.job(), query.get("u", "")[:2_000], query.get("key", "")[:200])


async def _sheets(
    call: Call, job: FoundJob, url: str = "", key: str = "", **more: Any,  # noqa: ANN401 - facts
) -> PageAnswer:  # fmt: skip
    facts = await frame(call, job, "sheets")
    shown: dict[str, Any] = {
        "sheets": (), "associations": (), "places": (), "keys": (), "at": None, "u": url,
        "key": key, "refused": "", "preview": None, "pending": "", "applied": None, "typed": None,
    }  # fmt: skip
    status = 200
    try:
        answer = await ask(call, list_sheets, NoRequest())
        shown |= {"sheets": answer.items, "places": answer.places, "keys": answer.keys}
        shown["associations"] = answer.associations
        if url:
            shown["at"] = await ask(call, sheets_at, PlaceRequest(url, key))
    except NacreError as error:
        shown["refused"], status = error.message, 422
    shown |= more
    shown["tree"] = sheet_tree(shown["places"])
    return PageAnswer(
        "settings_sheets.html", {**facts, **shown}, 422 if more.get("refused") else status
    )


async def submit(call: Call) -> PageAnswer:
    """Look at a change of sheets, or make one that was looked at."""
    job, form = call.job(), await form_of(call)
    url, key = form.get("u", ""), form.get("key", "")
    try:
        if form.get("pending"):
            sent = msgspec.json.decode(form["pending"], type=PendingSheetChange)
            request = sent.request(preview=False)
            return await _sheets(call, job, url, applied=await change(call, job, request))
        pending = await _sheet_change(call, form)
        preview = await change(call, job, pending.request(preview=True))
    except msgspec.MsgspecError as error:
        return await _sheets(call, job, url, key, refused=f"not a change: {error}")
    except (ConfigError, JobError) as error:
        return await _sheets(call, job, url, key, refused=error.message, typed=form.get("value"))
    text = to_json(pending).decode()
    return await _sheets(
        call, job, url, key, preview=preview, pending=text, typed=form.get("value")
    )


async def _sheet_change(call: Call, form: Mapping[str, str]) -> PendingSheetChange:
    """Return the change that a form of the page describes."""
    what, name = form.get("what", "place"), form.get("name", "")
    surts = list(lines_of(form.get("surts", "")))
    if what == "remove":
        return PendingSheetChange(remove=name)
    if what == "dissociate":
        return PendingSheetChange(dissociate=name, surts=surts)
    if what == "associate":
        return PendingSheetChange(associate={"sheets": [name], "surts": surts})
    key = form.get("key", "")
    typed = await ask(call, sheet_value, ValueRequest(key, form.get("value", "")))
    line = f"{key}={to_json(typed.value).decode()}"
    return PendingSheetChange(assignments=[line], place=form.get("u", ""))
