"""`/webhooks`: who is told what happens, and what came of the last messages."""

from typing import Final, get_args

import msgspec
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse

from nacre.console.api.webhooks import (
    NewHook,
    delivery_items,
    hook_items,
    hook_of,
    keep_hook,
    send_test,
)
from nacre.console.call import Call, PageAnswer
from nacre.console.decoding import sent_form, text_of
from nacre.console.fleet.webhook_book import HookEvent, HookWish
from nacre.console.live.notices import Notice
from nacre.console.problems import RefusedRequestError
from nacre.errors import NacreError
from nacre.ops.fields import ShortText

_EVENTS: Final = tuple(name for name in get_args(HookEvent) if name != "test")


class HookPageQuery(msgspec.Struct, frozen=True):
    """The webhook whose messages are shown.

    Attributes:
        webhook: Its number; "" for the first one.
        edit: Number of the one that is edited; "" for none.
    """

    webhook: ShortText = ""
    edit: ShortText = ""


async def page(call: Call) -> PageAnswer:
    """The webhooks."""
    items = hook_items(call)
    wanted = call.query.webhook or (str(items[0].id) if items else "")
    shown = hook_of(call, wanted) if wanted else None
    edited = hook_of(call, call.query.edit) if call.query.edit else None
    facts = {
        "hooks": items,
        "shown": shown.id if shown else 0,
        "deliveries": delivery_items(call, shown) if shown else (),
        "events": _EVENTS,
        "edited": edited.wish if edited else None,
        "number": edited.id if edited else 0,
        "signed": bool(edited and edited.secret),
        "usual": edited.wish.on if edited else HookWish("").on,
        "may_private": call.may_send_privately,
    }
    return PageAnswer("webhooks.html", facts)


async def answer(call: Call) -> RedirectResponse:
    """Add, change, pause, resume, test or remove a webhook; a form of the page."""
    form = await sent_form(call.request)
    notice = Notice("done", call.language.texts.gettext("The webhooks are changed."))
    try:
        if text_of(form, "do") == "add":
            keep_hook(call, _wanted(form), None)
        elif text_of(form, "do") == "edit":
            _edit(call, form)
        else:
            notice = _change(call, text_of(form, "do"), text_of(form, "webhook")) or notice
    except NacreError as error:
        notice = Notice("error", error.message)
    if call.session is not None:
        call.services.notices.add(call.identity.session, notice)
    return RedirectResponse("/webhooks", status_code=303)


def _wanted(form: FormData) -> NewHook:
    """The webhook of a form.

    Raises:
        RefusedRequestError: It is none (422).
    """
    fields = {
        "url": text_of(form, "url"),
        "secret": text_of(form, "secret"),
        "on": [str(one) for one in form.getlist("on")],
        "private": text_of(form, "private") == "1",
    }
    try:
        return msgspec.convert(fields, NewHook)
    except msgspec.ValidationError as error:
        raise RefusedRequestError(422, "bad-form", str(error)) from None


def _edit(call: Call, form: FormData) -> None:
    """Set a webhook anew; its key stays where none is typed, and nobody wants it gone.

    Raises:
        RefusedRequestError: There is none, or none like it may be.
    """
    hook = hook_of(call, text_of(form, "webhook"))
    wanted = _wanted(form)
    secret = "" if text_of(form, "unsigned") == "1" else wanted.secret or None
    # Who does not see the field of private networks does not change it either.
    private = wanted.private if call.may_send_privately else hook.wish.private
    paused = hook.wish.paused
    keep_hook(call, NewHook(wanted.url, secret, wanted.on, private, paused), hook)


def _change(call: Call, action: str, number: str) -> Notice | None:
    """Pause, resume, test or remove a webhook; what is said of it, None for the usual.

    Raises:
        RefusedRequestError: There is none, or no such action.
    """
    hook = hook_of(call, number)
    if action == "remove":
        call.note.change(hook.wish, None)
        call.services.webhooks.remove(hook.id)
    elif action == "test":
        send_test(call, hook)
        return Notice("done", call.language.texts.gettext("A test is sent; its answer is below."))
    elif action in {"pause", "resume"}:
        wish = msgspec.structs.replace(hook.wish, paused=action == "pause")
        keep_hook(call, NewHook(wish.url, None, wish.on, wish.private, wish.paused), hook)
    else:
        raise RefusedRequestError(422, "bad-form", f"there is no action {action!r}")
    return None
