"""The buttons of actions: their labels, and why one cannot be pressed now (pure)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec
from starlette.responses import RedirectResponse

from nacre.console.actions import REQUESTS, WHYS, ActionDone, act, require_action
from nacre.console.call import JobCall, PageAnswer
from nacre.console.forms import answer_form
from nacre.core.message_data import to_plain
from nacre.errors import NacreError
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.messages import Message, static
from nacre.ops.allowed_actions import OTHER_KIND, JobAction
from nacre.ops.operation import Role
from nacre.web.decoding import form_request, sent_form, text_of
from nacre.web.live.hub import Notice


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


LABELS: Final[Mapping[str, str]] = {
    "start": _("Start"),
    "start-paused": _("Start paused"),
    "go-on": _("Continue"),
    "go-on-checkpoint": _("Continue from the last checkpoint"),
    "pause": _("Pause"),
    "resume": _("Resume"),
    "stop": _("Stop"),
    "checkpoint": _("Make a checkpoint"),
    "parallel": _("Other number of fetch slots"),
    "change": _("Change settings while it runs"),
    "edit": _("Edit all settings"),
    "frontier": _("Steer the frontier"),
    "end": _("End for good"),
    "recrawl": _("Recrawl"),
    "recrawl-full": _("Recrawl everything"),
    "run-rounds": _("Run rounds"),
    "stop-after-step": _("Stop after this step"),
    "dry-run-rounds": _("Dry run"),
}
"""The label of each action."""

SENT: Final = frozenset(LABELS) - {"parallel", "change", "edit", "frontier"}
"""Actions that need only a button; each other action has its own page."""

_FIRST: Final = (("go-on", "start"), ("resume", "pause"), ("stop",), ("checkpoint",), ("recrawl",),
                 ("run-rounds",), ("stop-after-step",), ("dry-run-rounds",))  # fmt: skip
"""Groups of actions next to the title; each group shows its first possible action."""


class ActionButton(NamedTuple):
    """A button.

    Attributes:
        name: The action.
        label: Its label.
        why: Why it is disabled; "" if it is enabled.
        command: The same on the command line.
        is_sent: A button alone can take it.
    """

    name: str
    label: str
    why: str
    command: str
    is_sent: bool


def action_buttons(
    translate: Callable[[str], str], actions: Iterable[JobAction], identity: Requester
) -> tuple[ActionButton, ...]:
    """The buttons of all actions that are for jobs of this kind.

    Args:
        translate: Gives the text of another language.
        actions: The actions of a job.
        identity: Who looks at the page.
    """
    needs = "" if identity.role >= Role.OPERATOR else translate(_("this needs the role operator"))
    return tuple(
        ActionButton(
            action.name,
            translate(LABELS[action.name]),
            needs or ("" if action.allowed else translate(WHYS[action.why])),
            action.command,
            action.name in SENT,
        )
        for action in actions
        if action.why not in OTHER_KIND
    )


def many_buttons(translate: Callable[[str], str], identity: Requester) -> tuple[ActionButton, ...]:
    """Return the buttons for several jobs; () if the requester is not an operator."""
    if identity.role < Role.OPERATOR:
        return ()
    names = ("go-on", "pause", "resume", "stop", "checkpoint", "recrawl")
    labels = {**LABELS, "go-on": LABELS["start"]}
    return tuple(
        ActionButton(name, translate(labels[name]), "", "", is_sent=True) for name in names
    )


def first_buttons(buttons: Iterable[ActionButton]) -> tuple[ActionButton, ...]:
    """Return the buttons next to the title: the possible ones, else the first with its reason."""
    by_name = {button.name: button for button in buttons}
    groups = [[by_name[name] for name in names if name in by_name] for names in _FIRST]
    first = [
        next((button for button in group if not button.why), group[-1]) for group in groups if group
    ]
    return tuple(button for button in first if not button.why) or tuple(first[:1])


MOST_JOBS = 500
"""Jobs that one form may name."""


_NOTICES = {
    "start": _("{job}: started"),
    "queued": _("{job}: starts when it is its turn; place {place}"),
    "failed": _("{job} could not be started: {text}"),
    "pause": _("{job}: pausing"),
    "resume": _("{job}: resumed"),
    "held": _("{job}: still paused, for: {held}"),
    "stop": _("{job}: stopping; requests in process are finished first"),
    "stop-passes": _("{job}: stopped; no further pass begins"),
    "checkpoint": _("{job}: checkpoint {name} is created"),
    "unchanged": _("{job}: nothing has changed since the last checkpoint"),
    "recrawl": _("{job}: recrawl started"),
    "end": _("{job}: run {name} is ended for good"),
    "run-rounds": _("{job}: rounds started"),
    "stop-after-step": _("{job}: ends after the step that runs"),
}


_BUTTONS: Final[Mapping[str, tuple[str, dict[str, object]]]] = {
    "start-paused": ("start", {"paused": True}),
    "go-on": ("start", {}),
    "go-on-checkpoint": ("start", {"checkpoint": "latest"}),
    "recrawl-full": ("recrawl", {"full": True}),
}
"""The action and the options of a button whose name is that of `JobAction`."""


async def submit_action(call: JobCall) -> PageAnswer | RedirectResponse:
    """Run the action on each of the jobs, and show the results."""
    form = await sent_form(call.request)
    action, jobs = text_of(form, "action"), [unquote(str(quoted)) for quoted in form.getlist("job")]
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
        return answer_form(call, [Notice("error", error.message)], text_of(form, "next"))
    call.note.change(None, {"action": action, "jobs": jobs, **to_plain(request)})
    notices = [await _act_on(call, job, name, request) for job in jobs]
    return answer_form(call, notices, text_of(form, "next"))


async def _act_on(call: JobCall, name: str, action: str, request: msgspec.Struct) -> Notice:
    try:
        job = call.job(name)
        result = await act(call.parts.actions, job, action, request, call.identity)
    except NacreError as error:
        return Notice("error", _labelled(error.message, action))
    return notice_of(result, job_name(call, job), call.language.texts.gettext)


def _labelled(refusal: str, action: str) -> str:
    """Return the refusal of an action with the label of its button in place of its name."""
    if not isinstance(refusal, Message) or "action" not in refusal.params:
        return refusal
    params = {**refusal.params, "action": static(LABELS.get(action, action))}
    return Message(refusal.code, refusal.template, params)


def job_name(call: JobCall, job: FoundJob) -> str:
    """Return the name that people gave to a job; that of its directory if there is none."""
    return call.parts.books.labels.of(job).name or job.name


def notice_of(result: ActionDone, job: str, translate: Callable[[str], str]) -> Notice:
    """Return the notice about an action that was taken.

    Args:
        result: The action.
        job: Name of the job.
        translate: Gives the text of another language.
    """
    code, launch = result.action, result.launch
    if launch is not None and launch.step != "starting":
        code = launch.step
    elif result.held:
        code = "held"
    elif code == "checkpoint" and not result.name:
        code = "unchanged"
    words = translate(_NOTICES[code]).format(
        job=job, name=result.name, held=", ".join(result.held),
        place=launch.place if launch else 0, text=launch.text if launch else "",
    )  # fmt: skip
    return Notice("error" if code == "failed" else "done", words)
