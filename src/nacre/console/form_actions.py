"""Buttons of forms that do what a REST path does: both run the same handler."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import form_request, sent_form, text_of
from nacre.console.forms import in_place
from nacre.console.links import job_path
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError
from nacre.console.route_row import Answer, RouteHandler
from nacre.errors import NacreError
from nacre.messages import message


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


class FormAction(NamedTuple):
    """The action of a button.

    Attributes:
        handler: The handler, which the REST path of the same action has, too.
        body: Struct of its request, which the fields of the form are; None: it takes none.
        params: Parameters of the REST path, each with the field of the form that has its value.
        done: Text of the notice when it is done.
    """

    handler: RouteHandler
    body: type[msgspec.Struct] | None = None
    params: Mapping[str, str] = {}
    done: str = _("It is done.")


def form_handler(page: str, actions: Mapping[str, FormAction]) -> RouteHandler:
    """Return the handler of a form whose field `do` names an action.

    Args:
        page: Path of the page that is shown afterwards, with a notice of the result.
        actions: The actions by name.
    """

    async def handle(call: Call) -> Answer:
        form = await sent_form(call.request)
        return await take_action(call, form, page, actions.get(text_of(form, "do")))

    return handle


async def take_action(
    call: Call, form: FormData, page: str, action: FormAction | None
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


def call_of(call: Call, form: FormData, action: FormAction) -> Call:
    """Return the call of the handler of an action.

    Raises:
        RefusedRequestError: A field does not fit (422).
    """
    params: dict[str, Any] = {name: text_of(form, field) for name, field in action.params.items()}
    body = None if action.body is None else form_request(form, action.body)
    call.note.after = body
    return call._replace(params={**call.params, **params}, body=body)


def button_handler(action: FormAction, following: str = "") -> RouteHandler:
    """Return the handler of a form with one button; the notice has the job of the path.

    Args:
        action: The action.
        following: Path of the page that is shown afterwards; "" for that of the job, which is shown
            after a refusal, too.
    """

    async def handle(call: Call) -> Answer:
        job, form = str(call.params["job"]), await sent_form(call.request)
        try:
            await action.handler(call_of(call, form, action))
        except NacreError as error:
            return shown(call, [Notice("error", error.message)], job_path(job))
        text = call.language.texts.gettext(action.done).format(job=job)
        return shown(call, [Notice("done", text)], following or job_path(job))

    return handle


def go_back(call: Call, page: str, notice: Notice) -> Response:
    """Return to a page, which shows a notice."""
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse(page, status_code=303)


def shown(call: Call, notices: list[Notice], following: str) -> PageAnswer | RedirectResponse:
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
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse(own_path(following), status_code=303)


ASKED = "nacre:asked"
"""The event of the page that an action gives: live regions look at once."""


def own_path(path: str) -> str:
    """The path if it is one of this console, else `/`: no form leads elsewhere."""
    is_own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_own and "\\" not in path else "/"
