"""`/j/J/settings`: the file of a job as YAML, with its findings; and its history."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nacre.console.call import Call, PageAnswer
from nacre.console.settings.changes import CLIP_OF_LINES
from nacre.console.settings.config import (
    SaveQuery,
    edit_item,
    is_running_error,
    save_text,
    version_number,
    version_of,
)
from nacre.console.settings.file_tasks import FIND_PROBLEMS, config_text, edit_versions
from nacre.console.task_answers import ask
from nacre.editing.findings import CheckLevel, TextFindings, blocked_by
from nacre.errors import ConfigError, Problem
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.library import ClipLines
from nacre.ops.operation import Role, group_of
from nacre.ops.settings_file import CheckRequest, SaveRequest, SaveResult
from nacre.web.decoding import sent_form
from nacre.web.workers.task import NoRequest

_PATIENCE = 20.0
_THOROUGH = 30.0
_CONTEXT = 3
_MOST_LINES = 2_000


class Light(NamedTuple):
    """One of the three lights of a check.

    Attributes:
        name: `text`, `settings` or `whole`.
        problems: Number of problems; -1 if it was not checked.
    """

    name: str
    problems: int


class DiffLine(NamedTuple):
    """A line of a difference.

    Attributes:
        sign: `+` for a new line, `-` for one that goes, ` ` for one that stays, `@` for a gap.
        text: The line.
    """

    sign: str
    text: str


def lights_of(lights: TextFindings) -> list[Light]:
    """The lights of a check, in their order."""
    return [Light(str(level), lights.lights.get(str(level), -1)) for level in CheckLevel]


def difference(old: str, new: str) -> list[DiffLine]:
    """The lines that differ between two texts, with three around them."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT, lineterm="")
    blocks = [DiffLine(line[:1], line[1:]) for line in lines if line[:3] not in {"---", "+++"}]
    return [text_line if text_line.sign != "@" else DiffLine("@", "…") for text_line in blocks][
        :_MOST_LINES
    ]


async def page(call: Call) -> PageAnswer:
    """The file of a job as YAML, in an editor; without script in a plain field."""
    job = call.job()
    saved = await ask(call, config_text, NoRequest())
    findings = await checked(call, job, None)
    facts = await frame(call, job, "yaml")
    return PageAnswer("settings.html", {**facts, **shown_text(saved.text, saved.etag, findings)})


async def submit(call: Call) -> PageAnswer:
    """Handle the form of the page: check a text, show its changes, or save it."""
    form = await form_of(call)
    job, action = call.job(), form.get("action", "verify")
    text, tag = form.get("text", "").replace("\r\n", "\n"), form.get("etag", "*")
    facts = await frame(call, job, "yaml")
    if action == "write":
        query = SaveQuery(int(form.get("force", "") == "1"), form.get("why", ""))
        result = await save_text(call, job, SaveRequest(text=text, etag=tag), query)
        return await written(call, job, result, text, facts)
    findings = await checked(call, job, text, thorough=action == "verify")
    saved = await ask(call, config_text, NoRequest())
    values = shown_text(text, tag, findings)
    if action == "clip":
        values |= await _clip(call, job, text, form)
    elif action == "save":
        if facts["running"]:
            raise is_running_error()
        values["diff"] = difference(saved.text, text)
        values["asks"] = bool(values["diff"])
        values["told"] = "" if values["asks"] else "same"
    else:
        values["told"] = "verified"
    values["unsaved"] = text != saved.text
    return PageAnswer("settings.html", {**facts, **values})


async def _clip(
    call: Call, job: FoundJob, text: str, form: Mapping[str, str]
) -> dict[str, object]:  # fmt: skip
    """Save lines of a text as a clip; the facts of the page that are different then."""
    fields = {name: form.get(f"clip-{name}", "") for name in ("name", "title", "first", "last")}
    try:
        first, last = line_number(fields["first"]), line_number(fields["last"])
        lines = ClipLines(fields["name"], fields["title"], text, first, last)
        answer = await ask(call, CLIP_OF_LINES, lines)
    except ConfigError as error:
        return {"told": "no-clip", "why_no_clip": error.message, "clip": fields}
    call.note.change(None, {"clip": answer.name, "place": answer.place})
    return {"told": "clip", "clip_name": answer.name}


def line_number(text: str) -> int:
    """A line of a form, from 1 (pure).

    Raises:
        ConfigError: It is none.
    """
    if not text.isascii() or not text.isdecimal() or not 0 < int(text[:9]) < 10_000_000:
        raise ConfigError(
            [
                Problem(
                    "lines",
                    message("console.line-format", "{text!r} is no line", text=text[:20]),
                    message("console.positive-number", "a number from 1"),
                )
            ]
        )
    return int(text[:9])


async def written(
    call: Call, job: FoundJob, result: SaveResult, text: str, facts: Mapping[str, Any]
) -> PageAnswer:
    """The page after a text was to be written."""
    outcome = result.outcome
    if outcome == "running":
        raise is_running_error()
    saved = await ask(call, config_text, NoRequest())
    if outcome in {"saved", "same"}:
        findings = await checked(call, job, None)
        values = shown_text(saved.text, saved.etag, findings)
        return PageAnswer("settings.html", {**facts, **values, "told": outcome})
    if result.findings is None:
        findings = await checked(call, job, text)
        values = shown_text(text, result.etag, findings)
        values |= {"told": "changed", "theirs": result.text, "unsaved": True}
        values["diff"] = difference(result.text, text)
        return PageAnswer("settings.html", {**facts, **values}, 412)
    values = shown_text(text, saved.etag, result.findings)
    values |= {"told": "problems", "unsaved": True}
    return PageAnswer("settings.html", {**facts, **values}, 422)


def shown_text(text: str, etag: str, findings: TextFindings) -> dict[str, object]:
    """The facts of the page about a text.

    Args:
        text: The text.
        etag: That of the version that it is based on.
        findings: Its findings.
    """
    return {
        "text": text,
        "etag": etag,
        "problems": findings.problems,
        "warnings": findings.warnings,
        "lights": lights_of(findings),
        "red": blocked_by(findings),
        "survey": findings.survey,
        "diff": (),
        "asks": False,
        "unsaved": False,
        "told": "",
        "theirs": "",
        "clip": {},
    }


async def checked(
    call: Call, job: FoundJob, text: str | None, *, thorough: bool = False
) -> TextFindings:
    """The findings of a text; of the saved one for None."""
    request = CheckRequest(text, thorough=thorough, files=text is None or call.may_name_files)
    patience = _THOROUGH if thorough else _PATIENCE
    return await ask(call, FIND_PROBLEMS, request, patience, job.layout.root)


async def frame(call: Call, job: FoundJob, view: str) -> dict[str, object]:
    """The facts that all views of the settings show.

    Args:
        call: The caller.
        job: The job.
        view: Name of the view.
    """
    snapshot = await call.poller.fresh(job)
    return {
        "job": job,
        "view": view,
        "state": snapshot.state,
        "group": group_of(snapshot.state),
        "running": snapshot.running,
        "edits": call.identity.role >= Role.OPERATOR,
    }


async def form_of(call: Call) -> dict[str, str]:
    """The fields of a form, the last value of each.

    Raises:
        RefusedRequestError: It is none (415).
    """
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        raise RefusedRequestError(
            415, "not-a-form", message("console.form-needed", "send a form, as the page does")
        )
    fields = await sent_form(call.request)
    return {name: value for name, value in fields.multi_items() if isinstance(value, str)}


# ---- history


async def history(call: Call) -> PageAnswer:
    """The versions of the file, the newest first."""
    job = call.job()
    edits = await ask(call, edit_versions, NoRequest())
    facts = await frame(call, job, "history")
    items = [edit_item(edit) for edit in edits]
    return PageAnswer("settings_history.html", {**facts, "items": items})


async def version(call: Call) -> PageAnswer:
    """Show a version next to the previous version, or to the version in the query field `with`."""
    job, number = call.job(), version_number(call)
    numbers = [edit.number for edit in await ask(call, edit_versions, NoRequest())]
    mine = await version_of(call, job, number)
    compared = _version_to_compare(call.request.query_params.get("with", ""), numbers, number)
    text = (await version_of(call, job, compared)).text if compared else ""
    old, new = (text, mine.text) if compared < number else (mine.text, text)
    facts = {
        **await frame(call, job, "history"),
        "edit": edit_item(mine.edit),
        "other": compared,
        "numbers": numbers,
        "old": old,
        "new": new,
        "older": min(compared, number),
        "newer": max(compared, number),
        "diff": difference(old, new),
        "latest": number == max(numbers),
    }
    return PageAnswer("settings_version.html", facts)


def _version_to_compare(number_text: str, numbers: Sequence[int], number: int) -> int:
    """The version to compare with: the one that is named, else the one before; 0 for none."""
    named = [edit for edit in numbers if str(edit) == number_text]
    return named[0] if named else max((edit for edit in numbers if edit < number), default=0)


async def restore(call: Call) -> PageAnswer:
    """Take a version again, and show the file as it is then."""
    job, number = call.job(), version_number(call)
    form = await form_of(call)
    await version_of(call, job, number)
    query = SaveQuery(
        int(form.get("force", "") == "1"), form.get("why", "") or f"version {number} again"
    )
    result = await save_text(call, job, SaveRequest(version=number), query)
    facts = await frame(call, job, "yaml")
    text = (await version_of(call, job, number)).text
    return await written(call, job, result, text, facts)
