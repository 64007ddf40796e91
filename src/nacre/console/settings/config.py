"""`/api/v1/jobs/J/config` and `/api/v1/config`: the file of a job, its versions, and hints."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from http import HTTPStatus
from typing import Any, Final, TypeVar

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.links import ItemList
from nacre.console.settings.file_tasks import (
    FIND_PROBLEMS,
    SAVE_CONFIG,
    SettingPath,
    SettingsText,
    TextPlace,
    VersionNumber,
    complete_text,
    config_text,
    edit_version,
    edit_versions,
    effective_settings,
    format_text,
    hover_text,
    json_schema,
    setting_facts,
)
from nacre.console.task_answers import ASK_PATIENCE, NOWHERE, ask
from nacre.core.clock import iso
from nacre.core.message_data import to_builtins, to_json
from nacre.editing.complete import Completions
from nacre.editing.findings import TextFindings
from nacre.editing.hover import HoverCard
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.job.edits import ConfigEdit
from nacre.messages import message
from nacre.ops.fields import Flag, LineText, ShortText, Text, Whole
from nacre.ops.operation import Role
from nacre.ops.settings_file import (
    CheckRequest,
    EffectiveSetting,
    SaveRequest,
    SaveResult,
    SettingFacts,
    StoredVersion,
)
from nacre.web.languages import spoken_card, spoken_completions, spoken_findings
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails
from nacre.web.versions import EditedThing
from nacre.web.workers.task import NoRequest, ReaderTask


class _Place:
    """The questions of one asker: the number of the newest, and the turn of the one in process."""

    def __init__(self) -> None:
        self.newest = 0
        self.inside = 0
        self.turn = asyncio.Lock()


class NewestWins:
    """Lets one question of each asker through at a time; of those that wait, only the newest."""

    def __init__(self) -> None:
        self._places: dict[Hashable, _Place] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - as the question gives it
        """Ask, unless a newer question of the same asker comes before its turn.

        Args:
            key: Whose question it is, and about what.
            question: Asks it.

        Raises:
            RefusedRequestError: A newer one came (409).
        """
        place = self._places.setdefault(key, _Place())
        place.newest += 1
        mine = place.newest
        place.inside += 1
        try:
            async with place.turn:
                if mine != place.newest:
                    raise RefusedRequestError(
                        409,
                        "newer",
                        message("console.newer-text", "a newer text was sent meanwhile"),
                    )
                return await question()
        finally:
            place.inside -= 1
            if not place.inside:
                self._places.pop(key, None)


YAML_TYPE: Final = "text/yaml; charset=utf-8"
_SAVING: Final = 30.0
"""Seconds that a check with look-ups, or one before a file is written, may take."""
_NEWEST: Final = NewestWins()
A = TypeVar("A")


class TextQuestion(msgspec.Struct, frozen=True):
    """A text to be checked.

    Attributes:
        text: The text of `crawl.yaml`; null: that which is saved.
        job: Id of the job that it is for; "" for none yet.
        thorough: Look up names on the network too, as `nacre check` does.
    """

    text: Text | None = None
    job: ShortText = ""
    thorough: bool = False


class PlaceQuestion(msgspec.Struct, frozen=True):
    """A place in a text.

    Attributes:
        text: The text; it may be broken.
        offset: Characters before the place.
        job: Id of the job that it is for; "" for none yet.
    """

    text: Text
    offset: Whole
    job: ShortText = ""


class FormattedText(msgspec.Struct, frozen=True):
    """A text in the style of new jobs.

    Attributes:
        text: The text.
    """

    text: str


class EffectiveSettings(ItemList[EffectiveSetting], frozen=True):
    """All settings of a job as they hold."""


class SaveQuery(msgspec.Struct, frozen=True):
    """Options of saving a file.

    Attributes:
        force: 1: also with problems, on a job that does not run.
        why: Why, in a line, for the history.
    """

    force: Flag = 0
    why: LineText = ""


class SavedConfig(msgspec.Struct, frozen=True):
    """A file that was saved.

    Attributes:
        etag: Its new ETag.
        number: Number of its new version; 0 if the text did not change.
        findings: Its errors, if it was saved with `force`.
    """

    etag: str
    number: int = 0
    findings: TextFindings | None = None


class EditItem(msgspec.Struct, frozen=True):
    """A version in the history.

    Attributes:
        number: From 1.
        time: When it was written, RFC 3339.
        who: Name of its author; "" if not known.
        why: Why; "" for none.
        source: `console`, `restore`, `set`, `live` or `outside`.
        bytes: Length of the text.
    """

    number: int
    time: str
    who: str
    why: str
    source: str
    bytes: int


class EditList(ItemList[EditItem], frozen=True):
    """The history of a job's file."""


class EditText(msgspec.Struct, frozen=True):
    """A version with its text.

    Attributes:
        edit: Its facts.
        text: Its text, with a mark in place of each secret.
    """

    edit: EditItem
    text: str


async def ask_about(
    call: Call, task: str, job: FoundJob, patience: float = ASK_PATIENCE, **more: object
) -> Any:  # noqa: ANN401 - as the task gives it
    """Ask a reader process about a job."""
    return await call.readers.ask(task, job.layout.root, patience, **more)


# ---- the file


async def get_config(call: Call) -> Response:
    """The file of a job, with its ETag."""
    version = await ask(call, config_text, NoRequest())
    tag = f'"{version.etag}"'
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(version.text, media_type=YAML_TYPE, headers={"etag": tag})


async def config_version(call: Call) -> EditedThing:
    """The file of a job; settings and sheets are parts of it."""
    version = await ask(call, config_text, NoRequest())
    return EditedThing(version.etag, version.text)


async def put_config(call: Call) -> SavedConfig | Response:
    """Save a new version of the file, if it is valid and was not changed in the meantime."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in {"text/yaml", "application/yaml", "application/x-yaml", "text/plain"}:
        raise RefusedRequestError(
            415,
            "not-yaml",
            message("console.content-type-yaml", "send YAML, with `Content-Type: text/yaml`"),
        )
    try:
        text = (await call.request.body()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        detail = message(
            "console.text-not-utf-8", "the text is not UTF-8, at byte {start}", start=error.start
        )
        raise RefusedRequestError(400, "bad-text", detail) from None
    tag = call.request.headers.get("if-match", "").removeprefix("W/").strip('"')
    if not tag:
        raise RefusedRequestError(
            428,
            "no-version",
            message(
                "console.if-match-needed",
                "send the ETag of the version that you changed, as `If-Match`",
            ),
        )
    query: SaveQuery = call.query
    result = await save_text(call, call.job(), SaveRequest(text=text, etag=tag), query)
    return _saved(call, result, text)


async def save_text(
    call: Call, job: FoundJob, request: SaveRequest, query: SaveQuery
) -> SaveResult:
    """Save a text or an earlier version.

    Args:
        call: The caller.
        job: The job.
        request: The text or the version, and the ETag that it is based on.
        query: The options.
    """
    request = msgspec.structs.replace(
        request, force=bool(query.force), user=f"{call.identity.name} via console", why=query.why,
        files=call.may_name_files, admin=call.identity.role >= Role.ADMIN,
    )  # fmt: skip
    result = await ask(call, SAVE_CONFIG, request, _SAVING, job.layout.root)
    after = {"version": result.number, "why": query.why, "outcome": result.outcome}
    call.note.change(None, after | {"difference": list(result.difference)})
    return result


def _saved(call: Call, result: SaveResult, text: str | None) -> SavedConfig | Response:
    if result.outcome == "same":
        return SavedConfig(result.etag)
    if result.outcome == "running":
        raise is_running_error()
    if result.outcome == "changed":
        return _conflict(result, text)
    findings = result.findings and spoken_findings(result.findings, call.language)
    if result.outcome == "saved" or findings is None:
        return SavedConfig(result.etag, result.number, findings)
    return problem_answer(findings)


def is_running_error() -> RefusedRequestError:
    """The error of a file that is to be saved while its job runs."""
    return RefusedRequestError(
        409,
        "running",
        message(
            "console.settings-of-running-job",
            "the job runs, and its file cannot be replaced: change single settings (PATCH "
            "/api/v1/jobs/J/settings), or stop the job first",
        ),
    )


def _conflict(result: SaveResult, text: str | None) -> Response:
    """Return the answer to a change of an older version: both texts."""
    body = {
        "title": HTTPStatus.PRECONDITION_FAILED.phrase,
        "status": 412,
        "code": "changed",
        "detail": "the file was changed meanwhile: `saved` is its current text, `yours` what you "
        "sent; merge them, and save with the new ETag",
        "etag": result.etag,
        "saved": result.text,
        "yours": text,
    }
    fields = {"etag": f'"{result.etag}"'}
    return Response(to_json(body), 412, fields, media_type=PROBLEM_TYPE)


def problem_answer(findings: TextFindings) -> Response:
    """The answer to a text with problems: all of them, each with its line and column."""
    first = findings.problems[0]
    detail = first.message
    if first.path:
        detail = message("console.path", "{path}: {text}", path=first.path, text=detail)
    if first.line:
        detail = message("console.line", "line {line}: {text}", line=first.line, text=detail)
    if len(findings.problems) > 1:
        detail = message(
            "console.more-findings", "{first} (and {number} more)",
            first=detail, number=len(findings.problems) - 1,
        )  # fmt: skip
    details = ProblemDetails(
        HTTPStatus.UNPROCESSABLE_ENTITY.phrase,
        422,
        "bad-settings",
        detail,
        tuple(to_builtins(problem) for problem in findings.problems),
    )
    return Response(to_json(details), 422, media_type=PROBLEM_TYPE)


async def get_effective(call: Call) -> EffectiveSettings | Response:
    """All settings as they hold."""
    values = await ask(call, effective_settings, NoRequest())
    if values.problems:
        details = ProblemDetails(
            HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-settings",
            "the settings cannot be read", tuple(problem._asdict() for problem in values.problems),
        )  # fmt: skip
        return Response(to_json(details), 422, media_type=PROBLEM_TYPE)
    return EffectiveSettings(values.items, None, iso(call.clock.now()))


# ---- hints


async def check_text(call: Call) -> TextFindings:
    """Return the findings of a text; of texts in quick succession, only the last is checked."""
    request: TextQuestion = call.body
    if request.text is None and not request.job:
        raise RefusedRequestError(
            422, "no-text", message("console.text-or-job", "send a text, or name a job")
        )
    job, patience = request.job, _SAVING if request.thorough else ASK_PATIENCE
    check = CheckRequest(request.text, bool(job), request.thorough, call.may_name_files)
    root = call.job(job).layout.root if job else NOWHERE

    async def question() -> TextFindings:
        return await ask(call, FIND_PROBLEMS, check, patience, root)

    findings = await _NEWEST.ask((_asker(call), "check", job), question)
    return spoken_findings(findings, call.language)


def _asker(call: Call) -> tuple[str, str]:
    return call.identity.name, call.identity.session


async def complete_at(call: Call) -> Completions:
    """Completions at a place."""
    return spoken_completions(await _at_place(call, complete_text), call.language)


async def hover_at(call: Call) -> HoverCard:
    """The meaning of the word at a place."""
    return spoken_card(await _at_place(call, hover_text), call.language)


async def _at_place(call: Call, task: ReaderTask[TextPlace, A]) -> A:
    request: PlaceQuestion = call.body

    async def question() -> A:
        place = TextPlace(request.text, request.offset)
        return await ask(call, task, place, root=NOWHERE)

    answer: A = await _NEWEST.ask((_asker(call), task.name, request.job), question)
    return answer


async def format_yaml(call: Call) -> FormattedText | Response:
    """The text in the style of new jobs; comments stay."""
    request: TextQuestion = call.body
    formatted = await ask(call, format_text, SettingsText(request.text or ""), root=NOWHERE)
    if formatted.problems:
        details = ProblemDetails(
            HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-text",
            "the text is not well-formed",
            tuple(problem._asdict() for problem in formatted.problems),
        )  # fmt: skip
        return Response(to_json(details), 422, media_type=PROBLEM_TYPE)
    return FormattedText(formatted.text)


# ---- versions


async def list_edits(call: Call) -> EditList:
    """The versions of the file, the newest first."""
    edits = await ask(call, edit_versions, NoRequest())
    items = tuple(edit_item(edit) for edit in edits)
    return EditList(items, None, iso(call.clock.now()))


def edit_item(edit: ConfigEdit) -> EditItem:
    """A version as the interface shows it."""
    return EditItem(edit.number, iso(edit.time), edit.who, edit.why, edit.source, edit.bytes)


def version_number(call: Call) -> int:
    """The number of the version that the path names."""
    return int(call.request.path_params["number"])


async def get_edit(call: Call) -> EditText:
    """A version with its text."""
    version = await version_of(call, call.job(), version_number(call))
    return EditText(edit_item(version.edit), version.text)


async def version_of(call: Call, job: FoundJob, number: int) -> StoredVersion:
    """Return a version with its text.

    Raises:
        RefusedRequestError: There is none (404).
    """
    version = await ask(call, edit_version, VersionNumber(number), root=job.layout.root)
    if version is None:
        raise not_found(
            message(
                "console.no-settings-version",
                "version {number} of {id}; the last 200 are kept",
                number=number,
                id=job.id,
            )
        )
    return version


async def restore_edit(call: Call) -> SavedConfig | Response:
    """Take the text of an earlier version again, as a new version."""
    number = version_number(call)
    query: SaveQuery = call.query
    reason = query.why or f"version {number} again"
    await version_of(call, call.job(), number)
    request, query = SaveRequest(version=number), SaveQuery(query.force, reason)
    return _saved(call, await save_text(call, call.job(), request, query), None)


# ---- what can be said


async def get_schema(call: Call) -> Response:
    """The JSON Schema of `crawl.yaml`."""
    answer = await ask(call, json_schema, NoRequest(), root=NOWHERE)
    return Response(to_json(answer), media_type="application/schema+json")


async def get_setting(call: Call) -> SettingFacts:
    """The facts about a setting."""
    path = str(call.request.path_params["path"])[:200]
    facts = await ask(call, setting_facts, SettingPath(path), root=NOWHERE)
    if facts is None:
        raise not_found("setting", path)
    return facts
