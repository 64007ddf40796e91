"""`/api/v1/jobs/J/config` and `/api/v1/config`: the file of a job, its versions, and hints."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.links import ItemList
from nacre.console.spoken import spoken_card, spoken_completions, spoken_findings
from nacre.console.task_answers import NOWHERE
from nacre.core.clock import iso
from nacre.core.message_data import to_builtins, to_json
from nacre.editing.complete import Completions
from nacre.editing.findings import TextFindings
from nacre.editing.hover import HoverCard
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.messages import message
from nacre.ops.fields import Flag, LineText, ShortText, Text, Whole
from nacre.ops.roles import Role
from nacre.web.problems import PROBLEM_TYPE, ProblemDetails
from nacre.web.versions import EditedThing


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
_WAIT: Final = 20.0
"""Seconds that another answer may take, on a machine that is busy with crawls."""
_NEWEST: Final = NewestWins()


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


class EffectiveSetting(msgspec.Struct, frozen=True):
    """A setting as it holds.

    Attributes:
        path: Its path.
        value: Its value; of a secret its reference.
        origin: Where the value comes from: `default`, `file crawl.yaml:12` and so on.
    """

    path: str
    value: Any
    origin: str


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
        etag: Its ETag now.
        number: The version that it became; 0 where nothing was to be changed.
        findings: What is wrong with it, where it was forced.
    """

    etag: str
    number: int = 0
    findings: TextFindings | None = None


class EditItem(msgspec.Struct, frozen=True):
    """A version in the history.

    Attributes:
        number: From 1.
        time: When it was written, RFC 3339.
        who: Who wrote it; "" where that is not known.
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


class SettingFacts(msgspec.Struct, frozen=True):
    """The facts about a setting or a section.

    Attributes:
        path: Its path.
        kind: `setting` or `section`.
        doc: Its meaning.
        type: Its type; "" for a section.
        unit: Its unit; "" for none.
        default: Its default; null for none.
        required: It must be given.
        sample: A good value; "" where the default is one.
        choices: The values that it may have, where only some are possible.
        live: A running job can take another value.
        sheets: A sheet can change it.
        heritrix: Heritrix's names for it.
        settings: Of a section: the paths of its settings.
    """

    path: str
    kind: str
    doc: str = ""
    type: str = ""
    unit: str = ""
    default: Any = None
    required: bool = False
    sample: str = ""
    choices: tuple[str, ...] = ()
    live: bool = False
    sheets: bool = False
    heritrix: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


async def ask_about(
    call: Call, task: str, job: FoundJob, patience: float = _WAIT, **more: object
) -> Any:  # noqa: ANN401 - as the task gives it
    """Ask a reader process about a job."""
    return await call.services.readers.ask(task, job.layout.root, patience, **more)


# ---- the file


async def get_config(call: Call) -> Response:
    """The file of a job, with its ETag."""
    answer = await ask_about(call, "config-text", call.job())
    tag = f'"{answer["etag"]}"'
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(answer["text"], media_type=YAML_TYPE, headers={"etag": tag})


async def config_version(call: Call) -> EditedThing:
    """The file of a job; settings and sheets are parts of it."""
    answer = await ask_about(call, "config-text", call.job())
    return EditedThing(answer["etag"], answer["text"])


async def put_config(call: Call) -> SavedConfig | Response:
    """Save another file, if it is sound and nobody saved another one meanwhile."""
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
    answer = await save_text(call, call.job(), {"text": text}, tag, query)
    return _saved(call, answer, text)


async def save_text(
    call: Call, job: FoundJob, content: Mapping[str, Any], tag: str, query: SaveQuery
) -> dict[str, Any]:
    """Save a text or an earlier version; the answer of `settings.file_tasks.save_config`.

    Args:
        call: The caller.
        job: The job.
        content: `text` or `version`.
        tag: ETag that it is based on; "*" for any.
        query: How.
    """
    answer: dict[str, Any] = await ask_about(
        call, "save-config", job, _SAVING, **content, etag=tag, force=bool(query.force),
        who=f"{call.identity.name} via console", why=query.why, files=call.may_name_files,
        admin=call.identity.role >= Role.ADMIN,
    )  # fmt: skip
    number = int(answer.get("number", 0))
    after = {"version": number, "why": query.why, "outcome": answer["outcome"]}
    call.note.change(None, after | {"difference": answer.get("difference", [])})
    return answer


def _saved(call: Call, answer: Mapping[str, Any], text: str | None) -> SavedConfig | Response:
    def findings() -> TextFindings:
        return spoken_findings(msgspec.convert(answer["findings"], TextFindings), call.language)

    match answer["outcome"]:
        case "saved":
            return SavedConfig(answer["etag"], answer["number"], findings())
        case "same":
            return SavedConfig(answer["etag"])
        case "running":
            raise is_running_error()
        case "changed":
            return _conflict(answer, text)
        case _:
            return problem_answer(findings())


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


def _conflict(answer: Mapping[str, Any], text: str | None) -> Response:
    """The answer to one who changed an older version: both texts."""
    body = {
        "title": HTTPStatus.PRECONDITION_FAILED.phrase,
        "status": 412,
        "code": "changed",
        "detail": "the file was changed meanwhile: `saved` is what it says now, `yours` what you "
        "sent; merge them, and save with the new ETag",
        "etag": answer["etag"],
        "saved": answer["text"],
        "yours": text,
    }
    fields = {"etag": f'"{answer["etag"]}"'}
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
    answer = await ask_about(call, "effective-settings", call.job())
    if "problems" in answer:
        details = ProblemDetails(
            HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-settings",
            "the settings cannot be read", tuple(answer["problems"]),
        )  # fmt: skip
        return Response(to_json(details), 422, media_type=PROBLEM_TYPE)
    items = [
        EffectiveSetting(path, setting["value"], setting["origin"])
        for path, setting in answer["values"].items()
    ]
    return EffectiveSettings(tuple(items), None, iso(call.services.clock.now()))


# ---- hints


async def check_text(call: Call) -> TextFindings:
    """The findings of a text; of those that somebody sends quickly, the newest is looked at."""
    request: TextQuestion = call.body
    if request.text is None and not request.job:
        raise RefusedRequestError(
            422, "no-text", message("console.text-or-job", "send a text, or name a job")
        )
    root, extra = _root(call, request.job)
    patience = _SAVING if request.thorough else _WAIT

    async def question() -> object:
        return await call.services.readers.ask(
            "find-in-text", root, patience, text=request.text, thorough=request.thorough,
            files=call.may_name_files, **extra,
        )  # fmt: skip

    answer = await _NEWEST.ask((_asker(call), "check", request.job), question)
    return spoken_findings(msgspec.convert(answer, TextFindings), call.language)


def _root(call: Call, job: str) -> tuple[Path, dict[str, bool]]:
    if job:
        return call.job(job).layout.root, {"has_job": True}
    return NOWHERE, {"has_job": False}


def _asker(call: Call) -> tuple[str, str]:
    return call.identity.name, call.identity.session


async def check_of(call: Call, job: FoundJob) -> TextFindings:
    """The findings of the file that is saved."""
    answer = await ask_about(call, "find-in-text", job, files=True)
    return spoken_findings(msgspec.convert(answer, TextFindings), call.language)


async def complete_at(call: Call) -> Completions:
    """Completions at a place."""
    answer = msgspec.convert(await _at_place(call, "complete-text"), Completions)
    return spoken_completions(answer, call.language)


async def hover_at(call: Call) -> HoverCard:
    """The meaning of what stands at a place."""
    answer = msgspec.convert(await _at_place(call, "hover-text"), HoverCard)
    return spoken_card(answer, call.language)


async def _at_place(call: Call, task: str) -> Any:  # noqa: ANN401 - as the task gives it
    request: PlaceQuestion = call.body

    async def question() -> object:
        return await call.services.readers.ask(
            task, NOWHERE, _WAIT, text=request.text, offset=request.offset
        )

    return await _NEWEST.ask((_asker(call), task, request.job), question)


async def format_yaml(call: Call) -> FormattedText | Response:
    """The text in the style of new jobs; comments stay."""
    request: TextQuestion = call.body
    answer = await call.services.readers.ask("format-text", NOWHERE, _WAIT, text=request.text or "")
    if "problems" in answer:
        details = ProblemDetails(
            HTTPStatus.UNPROCESSABLE_ENTITY.phrase, 422, "bad-text",
            "the text is not well-formed", tuple(answer["problems"]),
        )  # fmt: skip
        return Response(to_json(details), 422, media_type=PROBLEM_TYPE)
    return FormattedText(answer["text"])


# ---- versions


async def list_edits(call: Call) -> EditList:
    """The versions of the file, the newest first."""
    answer = await ask_about(call, "edit-versions", call.job())
    items = tuple(edit_item(edit) for edit in answer)
    return EditList(items, None, iso(call.services.clock.now()))


def edit_item(edit: Mapping[str, Any]) -> EditItem:
    """A version as the interface shows it."""
    return EditItem(
        edit["number"], iso(edit["time"]), edit["who"], edit["why"], edit["source"], edit["bytes"]
    )


def version_number(call: Call) -> int:
    """The number of the version that the path names."""
    return int(call.request.path_params["number"])


async def get_edit(call: Call) -> EditText:
    """A version with its text."""
    version = await version_of(call, call.job(), version_number(call))
    return EditText(edit_item(version["edit"]), version["text"])


async def version_of(call: Call, job: FoundJob, number: int) -> dict[str, Any]:
    """A version as `settings.file_tasks.edit_version` gives it.

    Raises:
        RefusedRequestError: There is none (404).
    """
    answer: dict[str, Any] = await ask_about(call, "edit-version", job, number=number)
    if not answer:
        raise not_found(
            message(
                "console.no-settings-version",
                "version {number} of {id}; the last 200 are kept",
                number=number,
                id=job.id,
            )
        )
    return answer


async def restore_edit(call: Call) -> SavedConfig | Response:
    """Take the text of an earlier version again, as a new version."""
    number = version_number(call)
    query: SaveQuery = call.query
    reason = query.why or f"version {number} again"
    content = {"version": number}
    await version_of(call, call.job(), number)
    answer = await save_text(call, call.job(), content, "*", SaveQuery(query.force, reason))
    return _saved(call, answer, None)


# ---- what can be said


async def get_schema(call: Call) -> Response:
    """The JSON Schema of `crawl.yaml`."""
    answer = await call.services.readers.ask("settings-schema", NOWHERE, _WAIT)
    return Response(to_json(answer), media_type="application/schema+json")


async def get_setting(call: Call) -> SettingFacts:
    """The facts about a setting."""
    path = str(call.request.path_params["path"])[:200]
    answer = await call.services.readers.ask("setting-facts", NOWHERE, _WAIT, path=path)
    if not answer:
        raise not_found("setting", path)
    return msgspec.convert(answer, SettingFacts)
