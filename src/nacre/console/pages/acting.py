"""`POST /act`: the buttons of the pages, as plain forms and by htmx.

The form has `action`, `job` once for each job (its id as in a URL), options, and `next`: the page
to go back to.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.actions import REQUESTS, ActionDone, act, require_action
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import form_request, sent_form, text_of
from nacre.console.form_actions import shown
from nacre.console.live.notices import Notice
from nacre.console.pages.action_buttons import LABELS
from nacre.console.problems import RefusedRequestError
from nacre.errors import NacreError

MOST_JOBS = 500
"""Jobs that one form may name."""


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


_DONE = {
    "start": _("{job}: started"),
    "queued": _("{job}: starts when it is its turn; place {place}"),
    "failed": _("{job} could not be started: {text}"),
    "pause": _("{job}: pausing"),
    "resume": _("{job}: resumed"),
    "held": _("{job}: still paused, for: {held}"),
    "stop": _("{job}: stopping; what is in process is finished first"),
    "stop-passes": _("{job}: stopped; no further pass begins"),
    "checkpoint": _("{job}: checkpoint {name} is made"),
    "unchanged": _("{job}: nothing has changed since the last checkpoint"),
    "recrawl": _("{job}: recrawl started"),
    "end": _("{job}: run {name} is ended for good"),
    "run-rounds": _("{job}: rounds started"),
    "stop-after-step": _("{job}: ends after the step that runs"),
}


_BUTTONS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "start-paused": ("start", {"paused": True}),
    "go-on": ("start", {}),
    "go-on-checkpoint": ("start", {"checkpoint": "latest"}),
    "recrawl-full": ("recrawl", {"full": True}),
}
"""The action and the options of a button whose name is that of `JobAction`."""


async def answer(call: Call) -> PageAnswer | RedirectResponse:
    """Take the action on each of the jobs, and say what came of it."""
    form = await sent_form(call.request)
    action, jobs = text_of(form, "action"), [unquote(str(one)) for one in form.getlist("job")]
    if not jobs or len(jobs) > MOST_JOBS:
        refused = _("Choose 500 jobs at most") if jobs else _("Choose a job first")
        raise RefusedRequestError(422, "no-job", refused)
    name, fixed = _BUTTONS.get(action, (action, {}))
    require_action(name)
    call.note.jobs = jobs
    try:
        request = msgspec.structs.replace(form_request(form, REQUESTS[name]), **fixed)
    except RefusedRequestError as error:
        call.note.outcome = error.code
        return shown(call, [Notice("error", error.message)], text_of(form, "next"))
    call.note.change(None, {"action": action, "jobs": jobs, **msgspec.to_builtins(request)})
    notices = [await _one(call, job, name, request) for job in jobs]
    return shown(call, notices, text_of(form, "next"))


async def _one(call: Call, name: str, action: str, request: msgspec.Struct) -> Notice:
    try:
        done = await act(call.services, call.job(name), action, request, call.identity)
    except NacreError as error:
        return Notice("error", _labelled(error.message, action, call.language.texts.gettext))
    return notice_of(done, call.language.texts.gettext)


def _labelled(refusal: str, action: str, translate: Callable[[str], str]) -> str:
    """A refusal, which begins with the label of its button where it begins with its action."""
    _action, colon, why = refusal.partition(": ")
    return f"{translate(LABELS[action])}{colon}{why}" if _action == action in LABELS else refusal


def notice_of(done: ActionDone, translate: Callable[[str], str]) -> Notice:
    """The notice about an action that was taken."""
    code, launch = done.action, done.launch
    if launch is not None and launch.step != "starting":
        code = launch.step
    elif done.held:
        code = "held"
    elif code == "checkpoint" and not done.name:
        code = "unchanged"
    words = translate(_DONE[code]).format(
        job=done.job, name=done.name, held=", ".join(done.held),
        place=launch.place if launch else 0, text=launch.text if launch else "",
    )  # fmt: skip
    return Notice("error" if code == "failed" else "done", words)
