"""`/webhooks`: the webhooks with their last messages, and the forms that change them."""

from collections.abc import Mapping
from typing import Any, Final, get_args

import msgspec

from nacre.console.call import Call
from nacre.console.fleet.webhook_book import HookEvent, HookWish
from nacre.console.form_actions import FormAction, form_handler
from nacre.console.webhooks import handlers
from nacre.console.webhooks.handlers import HookItem, HookList, NewHook, hook_of
from nacre.ops.fields import ShortText

_EVENTS: Final = tuple(name for name in get_args(HookEvent) if name != "test")
_NUMBER: Final = {"webhook": "webhook"}


def _(text: str) -> str:
    """Marks a text for the catalogues."""
    return text


class HookPageQuery(msgspec.Struct, frozen=True):
    """The webhook whose messages are shown.

    Attributes:
        webhook: Its number; "" for the first one.
        edit: Number of the one that is edited; "" for none.
    """

    webhook: ShortText = ""
    edit: ShortText = ""


class HookForm(NewHook, frozen=True, forbid_unknown_fields=True):
    """The form of a webhook; without a mark there are no events.

    Attributes:
        on: The marked events.
        unsigned: The key is removed; else it stays if none is typed.
    """

    on: tuple[HookEvent, ...] = ()
    unsigned: bool = False


async def hook_facts(call: Call, answer: HookList) -> Mapping[str, Any]:
    """The facts of the page of webhooks."""
    wanted = call.query.webhook or (str(answer.items[0].id) if answer.items else "")
    shown = hook_of(call, wanted) if wanted else None
    edited = hook_of(call, call.query.edit) if call.query.edit else None
    messages = call._replace(params={"webhook": shown.id if shown else 0})
    return {
        "hooks": answer.items,
        "shown": shown.id if shown else 0,
        "deliveries": (await handlers.list_deliveries(messages)).items if shown else (),
        "events": _EVENTS,
        "edited": edited.wish if edited else None,
        "number": edited.id if edited else 0,
        "signed": bool(edited and edited.secret),
        "usual": edited.wish.on if edited else HookWish("").on,
        "may_private": call.may_send_privately,
    }


async def _edit(call: Call) -> HookItem:
    """Set a webhook again; its key stays if none is typed."""
    hook, form = hook_of(call), call.body
    # A requester who does not see the field of private networks does not change it either.
    private = form.private if call.may_send_privately else hook.wish.private
    secret = "" if form.unsigned else form.secret
    body = NewHook(form.url, secret, form.on, private, hook.wish.paused)
    return await handlers.change_hook(call._replace(body=body))


async def _pause(call: Call) -> HookItem:
    return await _set_paused(call, paused=True)


async def _resume(call: Call) -> HookItem:
    return await _set_paused(call, paused=False)


async def _set_paused(call: Call, *, paused: bool) -> HookItem:
    wish = hook_of(call).wish
    body = NewHook(wish.url, None, wish.on, wish.private, paused)
    return await handlers.change_hook(call._replace(body=body))


_CHANGED: Final = _("The webhooks are changed.")
_TESTED: Final = _("A test is sent; its answer is below.")
hook_form: Final = form_handler(
    "/webhooks",
    {
        "add": FormAction(handlers.add_hook, HookForm, done=_CHANGED),
        "edit": FormAction(_edit, HookForm, _NUMBER, _CHANGED),
        "pause": FormAction(_pause, None, _NUMBER, _CHANGED),
        "resume": FormAction(_resume, None, _NUMBER, _CHANGED),
        "remove": FormAction(handlers.remove_hook, None, _NUMBER, _CHANGED),
        "test": FormAction(handlers.try_hook, None, _NUMBER, _TESTED),
    },
)
"""The handler of the forms of the page."""
