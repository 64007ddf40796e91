"""`/api/v1/webhooks`: who is notified of what happens to jobs, quotas and schedules."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args

import msgspec

from nacre.console.answering import with_page
from nacre.console.call import HookCall
from nacre.console.forms import FormAction, form_handler
from nacre.console.links import ItemList
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.core.clock import iso
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.fleet.webhook_book import (
    HookDelivery,
    HookEvent,
    HookText,
    HookWish,
    KeptHook,
    WebhookBook,
)
from nacre.messages import message
from nacre.ops.fields import ShortText
from nacre.ops.operation import Role
from nacre.web.versions import EditedThing, edited


class NewHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A webhook to keep.

    Attributes:
        url: Where messages are posted, http or https.
        secret: Key of the signatures (HMAC-SHA256); "" for none; null keeps the present key. It is
            never shown.
        on: The events that are posted.
        private: Its address may be on this machine or in a private network. If the console is
            reachable from other machines, only admins can set this.
        paused: No messages are posted.
    """

    url: HookText
    secret: Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    on: tuple[HookEvent, ...] = ("quota", "schedule", "finished", "crashed")
    private: bool = False
    paused: bool = False

    @property
    def hook_request(self) -> HookWish:
        """The webhook without its secret."""
        return HookWish(self.url, self.on, self.private, self.paused)


class HookItem(msgspec.Struct, frozen=True):
    """A webhook.

    Attributes:
        id: Its number.
        webhook: As it was set.
        signed: It has a secret.
        owner: The user who last changed it.
        waiting: Number of queued messages.
        last: Result of the last message; "" for none yet.
        places: Labels of the places whose jobs it reports; empty for all. They are the places that
            the user who added it could see.
    """

    id: int
    webhook: HookWish
    signed: bool
    owner: str
    waiting: int
    last: str
    places: tuple[str, ...] = ()


class HookList(ItemList[HookItem], frozen=True):
    """All webhooks."""


class DeliveryItem(msgspec.Struct, frozen=True):
    """A message.

    Attributes:
        number: Its number.
        event: What happened.
        message: It as it is sent, without its id.
        made: When it happened, RFC 3339.
        step: `waits`, `delivered` or `given-up`.
        tries: How often it was posted.
        answer: The last answer: a status, or why there was none; "" before the first try.
        due: When it is posted next, RFC 3339; null if it was posted or dropped.
    """

    number: int
    event: str
    message: dict[str, Any]
    made: str
    step: str
    tries: int
    answer: str
    due: str | None


class DeliveryList(ItemList[DeliveryItem], frozen=True):
    """The last messages of a webhook."""


async def list_hooks(call: HookCall) -> HookList:
    """The webhooks that the requester may see, with the results of their last messages."""
    hooks = (hook for hook in call.parts.all() if _sees(call, hook))
    return HookList(tuple(_item(call, hook) for hook in hooks), None, call.now)


async def get_hook(call: HookCall) -> HookItem:
    """A webhook."""
    return _item(call, hook_of(call))


async def hook_version(call: HookCall) -> EditedThing:
    """A webhook as it was set, without its secret."""
    return edited(hook_of(call).wish)


async def add_hook(call: HookCall) -> HookItem:
    """Add a webhook.

    Raises:
        ConfigError: It is wrong, or there are too many.
        RefusedRequestError: The requester may not send there (403).
    """
    request: NewHook = call.body
    _require_may_send(call, request)
    call.note.change(None, request.hook_request)
    book, owner = call.parts, call.identity.name
    number = book.add(request.hook_request, request.secret or "", owner, call.identity.places)
    return _item(call, hook_of(call, str(number)))


async def change_hook(call: HookCall) -> HookItem:
    """Set a webhook again.

    Raises:
        ConfigError: It is wrong.
        RefusedRequestError: There is none (404), or the requester may not send there (403).
    """
    request: NewHook = call.body
    before = hook_of(call)
    _require_may_send(call, request)
    call.note.change(before.wish, request.hook_request)
    secret = before.secret if request.secret is None else request.secret
    call.parts.change(before.id, request.hook_request, secret, call.identity.name)
    return _item(call, hook_of(call))


def _require_may_send(call: HookCall, request: NewHook) -> None:
    if request.private and not call.may_send_privately:
        raise RefusedRequestError(
            403,
            "private",
            message(
                "console.admin-only-private-networks",
                "only administrators may send to private networks from this console",
            ),
        )


async def remove_hook(call: HookCall) -> None:
    """Remove a webhook, and the messages that wait for it."""
    hook = hook_of(call)
    call.note.change(hook.wish, None)
    call.parts.remove(hook.id)


async def try_hook(call: HookCall) -> HookItem:
    """Send a webhook a test message, whatever events it is for.

    Raises:
        RefusedRequestError: It is paused, or too many messages wait for it (409).
    """
    hook = hook_of(call)
    if hook.wish.paused:
        raise RefusedRequestError(
            409,
            "paused",
            message(
                "console.webhook-paused", "webhook {id} is paused: resume it first", id=hook.id
            ),
        )
    call.parts.tell_test(hook.id, call.identity.name)
    return _item(call, hook)


async def list_deliveries(call: HookCall) -> DeliveryList:
    """The last messages of a webhook, the newest first, with their answers."""
    rows = call.parts.deliveries(hook_of(call).id)
    return DeliveryList(tuple(_delivery(row) for row in rows), None, call.now)


def hook_of(call: HookCall, number: str | None = None) -> KeptHook:
    """Return a webhook.

    Args:
        call: The request.
        number: Its number; None for the one that the path names.

    Raises:
        RefusedRequestError: There is none that the requester may see (404).
    """
    text = str(call.params["webhook"]) if number is None else number
    is_number = text.isascii() and text.isdecimal() and len(text) < 16
    hook = call.parts.find(int(text)) if is_number else None
    if hook is None or not _sees(call, hook):
        raise not_found("webhook", text)
    return hook


def _sees(call: HookCall, hook: KeptHook) -> bool:
    """Whether the caller sees all jobs that a webhook reports."""
    user_places = call.identity.places
    return not user_places or (bool(hook.places) and set(hook.places) <= set(user_places))


def _item(call: HookCall, hook: KeptHook) -> HookItem:
    deliveries = call.parts.deliveries(hook.id)
    waiting = sum(delivery.step == "waits" for delivery in deliveries)
    last = next((_last_answer(delivery) for delivery in deliveries if delivery.tries), "")
    return HookItem(hook.id, hook.wish, bool(hook.secret), hook.owner, waiting, last, hook.places)


_STEPS: Final = {
    "waits": message("console.delivery-waits", "waits"),
    "delivered": message("console.delivery-delivered", "delivered"),
    "given-up": message("console.delivery-given-up", "given-up"),
}
"""The steps of a delivery for people."""


def _last_answer(delivery: HookDelivery) -> str:
    return message(
        "console.delivery-answer",
        "{step}: {answer}",
        step=_STEPS.get(delivery.step, delivery.step),
        answer=delivery.answer,
    )


def _delivery(delivery: HookDelivery) -> DeliveryItem:
    due = iso(delivery.due) if delivery.step == "waits" else None
    return DeliveryItem(
        delivery.number,
        delivery.event,
        delivery.facts,
        iso(delivery.made),
        delivery.step,
        delivery.tries,
        delivery.answer,
        due,
    )


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


async def hook_facts(call: HookCall, answer: HookList) -> Mapping[str, Any]:
    """The facts of the page of webhooks."""
    number = call.query.webhook or (str(answer.items[0].id) if answer.items else "")
    hook = hook_of(call, number) if number else None
    edited = hook_of(call, call.query.edit) if call.query.edit else None
    messages = call._replace(params={"webhook": hook.id if hook else 0})
    return {
        "hooks": answer.items,
        "shown": hook.id if hook else 0,
        "deliveries": (await list_deliveries(messages)).items if hook else (),
        "events": _EVENTS,
        "edited": edited.wish if edited else None,
        "number": edited.id if edited else 0,
        "signed": bool(edited and edited.secret),
        "usual": edited.wish.on if edited else HookWish("").on,
        "may_private": call.may_send_privately,
    }


async def _edit(call: HookCall) -> HookItem:
    """Set a webhook again; its key stays if none is typed."""
    hook, form = hook_of(call), call.body
    # A requester who does not see the field of private networks does not change it either.
    private = form.private if call.may_send_privately else hook.wish.private
    secret = "" if form.unsigned else form.secret
    body = NewHook(form.url, secret, form.on, private, hook.wish.paused)
    return await change_hook(call._replace(body=body))


async def _pause(call: HookCall) -> HookItem:
    return await _set_paused(call, paused=True)


async def _resume(call: HookCall) -> HookItem:
    return await _set_paused(call, paused=False)


async def _set_paused(call: HookCall, *, paused: bool) -> HookItem:
    request = hook_of(call).wish
    body = NewHook(request.url, None, request.on, request.private, paused)
    return await change_hook(call._replace(body=body))


_CHANGED: Final = _("The webhooks are changed.")
_TESTED: Final = _("A test is sent; its answer is below.")
hook_form: Final = form_handler(
    "/webhooks",
    {
        "add": FormAction(add_hook, HookForm, done=_CHANGED),
        "edit": FormAction(_edit, HookForm, _NUMBER, _CHANGED),
        "pause": FormAction(_pause, None, _NUMBER, _CHANGED),
        "resume": FormAction(_resume, None, _NUMBER, _CHANGED),
        "remove": FormAction(remove_hook, None, _NUMBER, _CHANGED),
        "test": FormAction(try_hook, None, _NUMBER, _TESTED),
    },
)
"""The handler of the forms of the page."""


_O = Role.OPERATOR

WEBHOOK_ROUTES: tuple[RouteRow[WebhookBook], ...] = (
    *with_page(RouteRow("GET", f"{API}/webhooks", _O, list_hooks,
                        "The webhooks and their events.", answer=HookList),
               "/webhooks", RouteView("webhooks.html", hook_facts),
               HookPageQuery),
    RouteRow("POST", "/webhooks", _O, hook_form, "Change the webhooks; a form."),
    RouteRow("POST", f"{API}/webhooks", _O, add_hook, "Keep a webhook.",
             body=NewHook, answer=HookItem, status=201,
             makes=("webhook", "id")),
    RouteRow("GET", f"{API}/webhooks/{{webhook}}", _O, get_hook, "A webhook.",
             answer=HookItem, version_of=hook_version),
    RouteRow("PUT", f"{API}/webhooks/{{webhook}}", _O, change_hook,
             "Replace a webhook.", body=NewHook, answer=HookItem,
             version_of=hook_version),
    RouteRow("DELETE", f"{API}/webhooks/{{webhook}}", _O, remove_hook,
             "Forget a webhook.", status=204, version_of=hook_version),
    RouteRow("POST", f"{API}/webhooks/{{webhook}}/test", _O, try_hook,
             "Send a webhook a message.", answer=HookItem, status=202),
    RouteRow("GET", f"{API}/webhooks/{{webhook}}/deliveries", _O, list_deliveries,
             "The last messages of a webhook.", answer=DeliveryList),
)  # fmt: skip
"""Its rows."""
