"""Forms of pages: their fields, and what pages have in common that wait for a task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple

import msgspec
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nacre.console.call import Call, NounCall, P, PageAnswer
from nacre.console.links import job_path
from nacre.console.route_row import Answer, P_contra, RouteHandler
from nacre.console.task_answers import facts_of
from nacre.errors import NacreError
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import message
from nacre.ops.fields import FieldShape, field_meanings, field_shape, ordered_fields
from nacre.ops.operation import Role
from nacre.web.decoding import form_request, sent_form, text_of
from nacre.web.live.hub import Notice
from nacre.web.workers.background import HeldTask


async def fields_of(call: Call) -> dict[str, str]:
    """The text fields of a form; of two with one name, the last.

    Raises:
        RefusedRequestError: The form cannot be read (400).
    """
    form = await sent_form(call.request)
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def file_of(call: Call, name: str) -> UploadFile | None:
    """Return the file of a field of a form; None if none was chosen."""
    file = (await sent_form(call.request)).get(name)
    return file if isinstance(file, UploadFile) and file.size else None


_RUNS: Final = 50
"""Runs that a field offers."""


def offered_runs(names: Sequence[str], chosen: str) -> list[str]:
    """The runs that a field offers: the newest ones, and the one that is chosen (pure).

    Args:
        names: All runs, the newest first.
        chosen: The one that is chosen; hostile; "" for none.
    """
    newest = list(names[:_RUNS])
    return [*newest, chosen] if chosen in names[_RUNS:] else newest


def in_place(request: Request) -> bool:
    """Whether htmx sent a form: it puts the answer into a place of the page."""
    return "hx-request" in request.headers


def may_operate(call: Call) -> bool:
    """Whether the caller may change something."""
    return call.identity.role >= Role.OPERATOR


def never_ran_page(call: Call, title: str, current: str) -> PageAnswer | None:
    """The page in place of one that shows what a run has found; None for a job that has run.

    Args:
        call: The request.
        title: Title of the page.
        current: Name of its tab.

    Raises:
        JobError: The state of the job is another user's.
    """
    job = call.job()
    if job.layout.has_store:
        return None
    return PageAnswer("never_ran.html", {"job": job.id, "title": title, "current": current})


def wait_page(task: HeldTask) -> PageAnswer:
    """The page in place of one whose answer takes longer; it asks again by itself."""
    return PageAnswer("wait.html", {"job": task.job, "task": facts_of(task)}, 202)


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_CLOSED: Final = {"no": _("no"), "yes": _("yes")}
_OPEN: Final = {"": _("as the settings say"), "yes": _("yes"), "no": _("no")}
"""The choices of a flag; and of one that may be left open."""


class FormField(NamedTuple):
    """A field of a form.

    Attributes:
        name: Name of the field of the request.
        label: Its label, in the language of the reader.
        kind: `number`, `text`, `lines` or `choice`.
        value: The value at first; "" for none.
        minimum: The least number; None for none.
        maximum: The greatest number; None for none.
        choices: The choices, each with its label.
        example: What a value looks like; "" for none.
        title: The meaning of the field, as the reference has it.
    """

    name: str
    label: str
    kind: str
    value: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    example: str = ""
    title: str = ""


def request_fields(
    request: type[msgspec.Struct], translate: Callable[[str], str]
) -> list[FormField]:
    """Return the fields of the form of a request, those of its bases last.

    Args:
        request: The request.
        translate: Translates a label.
    """
    meanings = field_meanings(request)
    fields = []
    for field in ordered_fields(request):
        shape = field_shape(field.type)
        label = translate(shape.form.label or field.name.replace("_", " ").capitalize())
        blank = FormField(field.name, label, "text", title=meanings[field.name])
        fields.append(_with_input(blank, shape, field.default, translate))
    return fields


def _with_input(
    field: FormField, shape: FieldShape, default: object, translate: Callable[[str], str]
) -> FormField:
    """Return a field with its kind of input, and what that needs."""
    if shape.is_list:
        return field._replace(kind="lines")
    if shape.choices:
        labels = shape.form.choices or shape.choices
        pairs = zip(shape.choices, map(translate, labels), strict=True)
        return field._replace(kind="choice", choices=tuple(pairs))
    if shape.kind is bool:
        choices = _OPEN if shape.is_optional else _CLOSED
        pairs = zip(choices, map(translate, choices.values()), strict=True)
        return field._replace(kind="choice", choices=tuple(pairs))
    if shape.kind in (int, float):
        return field._replace(
            kind="number", value="" if default is None else str(default),
            minimum=shape.minimum, maximum=shape.maximum,
        )  # fmt: skip
    return field._replace(example="2h" if shape.form.metavar == "TIME" else "")


class FormAction(NamedTuple, Generic[P_contra]):
    """The action of a button.

    Attributes:
        handler: The handler, which the REST path of the same action has, too.
        body: Struct of its request, which the fields of the form are; None: it takes none.
        params: Parameters of the REST path, each with the field of the form that has its value.
        done: Text of the notice when it is done.
    """

    handler: RouteHandler[P_contra]
    body: type[msgspec.Struct] | None = None
    params: Mapping[str, str] = {}
    done: str = _("It is done.")


def form_handler(page: str, actions: Mapping[str, FormAction[P]]) -> RouteHandler[P]:
    """Return the handler of a form that runs the action in the field `do`.

    Args:
        page: Path of the page that is shown afterwards, with a notice of the result.
        actions: The actions by name.
    """

    async def handle(call: NounCall[P]) -> Answer:
        form = await sent_form(call.request)
        return await take_action(call, form, page, actions.get(text_of(form, "do")))

    return handle


async def take_action(
    call: NounCall[P], form: FormData, page: str, action: FormAction[P] | None
) -> Response | PageAnswer:
    """Run the action of a form; a refusal is a notice on the page.

    Args:
        call: The request.
        form: Its form.
        page: Path of the page that is shown afterwards.
        action: The action; None if there is none of the name.
    """
    try:
        if action is None:
            name = text_of(form, "do")
            raise RefusedRequestError(
                422,
                "bad-form",
                message("console.no-action-of-name", "there is no action {name!r}", name=name),
            )
        answer = await action.handler(call_of(call, form, action))
    except NacreError as error:
        return go_back(call, page, Notice("error", error.message))
    if isinstance(answer, RedirectResponse | PageAnswer):
        return answer
    return go_back(call, page, Notice("done", call.language.texts.gettext(action.done)))


def call_of(call: NounCall[P], form: FormData, action: FormAction[P]) -> NounCall[P]:
    """Return the call of the handler of an action.

    Raises:
        RefusedRequestError: A field does not fit (422).
    """
    params: dict[str, object] = {
        name: text_of(form, field) for name, field in action.params.items()
    }
    body = None if action.body is None else form_request(form, action.body)
    call.note.after = body
    return call._replace(params={**call.params, **params}, body=body)


def button_handler(action: FormAction[P], following: str = "") -> RouteHandler[P]:
    """Return the handler of a form with one button.

    The text of its notice can have the job of the path, and the fields of the answer.

    Args:
        action: The action.
        following: Path of the page that is shown afterwards, with `{job}` for that of the job; ""
            for the latter. After a refusal a page of the job is shown.
    """

    async def handle(call: NounCall[P]) -> Answer:
        job, form = str(call.params["job"]), await sent_form(call.request)
        home = job_path(job)
        page = following.format(job=home) or home
        try:
            answer = await action.handler(call_of(call, form, action))
        except NacreError as error:
            back = page if page.startswith(home) else home
            return answer_form(call, [Notice("error", error.message)], back)
        fields = msgspec.structs.asdict(answer) if isinstance(answer, msgspec.Struct) else {}
        text = call.language.texts.gettext(action.done).format(**{**fields, "job": job})
        return answer_form(call, [Notice("done", text)], page)

    return handle


def go_back(call: Call, page: str, notice: Notice) -> Response:
    """Return to a page, which shows a notice."""
    if call.session is not None:
        call.notices.add(call.identity.session, notice)
    return RedirectResponse(page, status_code=303)


def answer_form(call: Call, notices: list[Notice], following: str) -> PageAnswer | RedirectResponse:
    """The answer to a form: a fragment for htmx, else the page that it came from.

    Args:
        call: The request.
        notices: What came of it.
        following: Path of that page; "" for the list of jobs.
    """
    if in_place(call.request):
        return PageAnswer("notices.html", {"notices": notices}, headers={"hx-trigger": ASKED})
    if call.session is None:
        return PageAnswer("acted.html", {"notices": notices})
    for notice in notices:
        call.notices.add(call.identity.session, notice)
    return RedirectResponse(own_path(following), status_code=303)


ASKED = "nacre:asked"
"""The event of the page that an action gives: live regions look at once."""


def own_path(path: str) -> str:
    """The path if it is one of this console, else `/`: no form leads elsewhere."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and "\\" not in path else "/"
