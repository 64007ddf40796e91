"""`/api/v1/webhooks`: who is told what happens to jobs, quotas and schedules."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from nacre.console.call import Call
from nacre.console.fleet.webhook_book import HookDelivery, HookEvent, HookText, HookWish, KeptHook
from nacre.console.problems import RefusedRequestError, not_found
from nacre.console.versions import EditedThing, edited
from nacre.core.clock import iso


class NewHook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A webhook to keep.

    Attributes:
        url: Where messages are posted, http or https.
        secret: Key of the signatures (HMAC-SHA256); "" for none; null keeps that of before. It is
            never shown.
        on: The events that are told.
        private: Its address may be one of this machine or of a private network. Where others reach
            the console, only admins can say so.
        paused: Nothing is posted.
    """

    url: HookText
    secret: Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    on: tuple[HookEvent, ...] = ("quota", "schedule", "finished", "crashed")
    private: bool = False
    paused: bool = False

    @property
    def wish(self) -> HookWish:
        """It without its secret."""
        return HookWish(self.url, self.on, self.private, self.paused)


class HookItem(msgspec.Struct, frozen=True):
    """A webhook.

    Attributes:
        id: Its number.
        webhook: As it was set.
        signed: It has a secret.
        owner: Who set it last.
        waiting: Messages that wait.
        last: What came of the last message; "" for none yet.
        places: Labels of the places of whose jobs it is told; empty for all. They are those that
            who added it saw.
    """

    id: int
    webhook: HookWish
    signed: bool
    owner: str
    waiting: int
    last: str
    places: tuple[str, ...] = ()


class HookList(msgspec.Struct, frozen=True):
    """All webhooks.

    Attributes:
        items: They, by their numbers.
        next: Always null: all are on this page.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[HookItem, ...]
    next: str | None
    as_of: str


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
        due: When it is posted next, RFC 3339; null where it is over.
    """

    number: int
    event: str
    message: dict[str, str | int]
    made: str
    step: str
    tries: int
    answer: str
    due: str | None


class DeliveryList(msgspec.Struct, frozen=True):
    """The last messages of a webhook.

    Attributes:
        items: They, the newest first.
        next: Always null: the last fifty are kept, and those that wait.
        as_of: The time of the answer, RFC 3339.
    """

    items: tuple[DeliveryItem, ...]
    next: str | None
    as_of: str


async def list_hooks(call: Call) -> HookList:
    """All webhooks."""
    return HookList(hook_items(call), None, iso(call.services.clock.now()))


def hook_items(call: Call) -> tuple[HookItem, ...]:
    """The webhooks that who asks may see, with what came of their last messages."""
    return tuple(_item(call, hook) for hook in call.services.webhooks.all() if _sees(call, hook))


async def get_hook(call: Call) -> HookItem:
    """A webhook."""
    return _item(call, hook_of(call))


async def hook_version(call: Call) -> EditedThing:
    """A webhook as it was set, without its secret."""
    return edited(hook_of(call).wish)


async def add_hook(call: Call) -> HookItem:
    """Keep a webhook."""
    return keep_hook(call, call.body, None)


async def change_hook(call: Call) -> HookItem:
    """Set a webhook anew."""
    return keep_hook(call, call.body, hook_of(call))


def keep_hook(call: Call, wanted: NewHook, before: KeptHook | None) -> HookItem:
    """Keep a webhook, or set one anew.

    Args:
        call: The request.
        wanted: It.
        before: The one that is set anew; None for another one.

    Raises:
        ConfigError: It is none, or there are too many.
        RefusedRequestError: Who asks may not send there (403).
    """
    if wanted.private and not call.may_send_privately:
        raise RefusedRequestError(
            403, "private", "only administrators may send to private networks from this console"
        )
    book, owner = call.services.webhooks, call.identity.name
    call.note.change(before.wish if before else None, wanted.wish)
    if before is None:
        number = book.add(wanted.wish, wanted.secret or "", owner, call.identity.places)
    else:
        number = before.id
        secret = before.secret if wanted.secret is None else wanted.secret
        book.change(number, wanted.wish, secret, owner)
    return _item(call, hook_of(call, str(number)))


async def remove_hook(call: Call) -> Response:
    """Forget a webhook, and what waits for it."""
    hook = hook_of(call)
    call.note.change(hook.wish, None)
    call.services.webhooks.remove(hook.id)
    return Response(status_code=204)


async def try_hook(call: Call) -> HookItem:
    """Send a webhook a message, to see whether it is accepted."""
    return send_test(call, hook_of(call))


def send_test(call: Call, hook: KeptHook) -> HookItem:
    """Send a webhook a message, whatever events it wants.

    Raises:
        RefusedRequestError: It is paused, or too many messages wait for it (409).
    """
    if hook.wish.paused:
        raise RefusedRequestError(409, "paused", f"webhook {hook.id} is paused: resume it first")
    call.services.webhooks.tell_test(hook.id, call.identity.name)
    return _item(call, hook)


async def list_deliveries(call: Call) -> DeliveryList:
    """The last messages of a webhook, with their answers."""
    return DeliveryList(delivery_items(call, hook_of(call)), None, iso(call.services.clock.now()))


def delivery_items(call: Call, hook: KeptHook) -> tuple[DeliveryItem, ...]:
    """The last messages of a webhook, the newest first."""
    return tuple(_delivery(delivery) for delivery in call.services.webhooks.deliveries(hook.id))


def hook_of(call: Call, number: str | None = None) -> KeptHook:
    """A webhook.

    Args:
        call: The request.
        number: Its number; None for the one that the path names.

    Raises:
        RefusedRequestError: There is none that who asks may see (404).
    """
    text = str(call.request.path_params["webhook"]) if number is None else number
    known = text.isascii() and text.isdecimal() and len(text) < 16
    found = call.services.webhooks.find(int(text)) if known else None
    if found is None or not _sees(call, found):
        raise not_found(f"webhook {text}")
    return found


def _sees(call: Call, hook: KeptHook) -> bool:
    """Whether who asks sees all jobs that a webhook is told of."""
    seen = call.identity.places
    return not seen or (bool(hook.places) and set(hook.places) <= set(seen))


def _item(call: Call, hook: KeptHook) -> HookItem:
    found = call.services.webhooks.deliveries(hook.id)
    waiting = sum(one.step == "waits" for one in found)
    last = next((f"{one.step}: {one.answer}" for one in found if one.tries), "")
    return HookItem(hook.id, hook.wish, bool(hook.secret), hook.owner, waiting, last, hook.places)


def _delivery(delivery: HookDelivery) -> DeliveryItem:
    message: dict[str, str | int] = msgspec.json.decode(delivery.body)
    due = iso(delivery.due) if delivery.step == "waits" else None
    return DeliveryItem(
        delivery.number,
        delivery.event,
        message,
        iso(delivery.made),
        delivery.step,
        delivery.tries,
        delivery.answer,
        due,
    )
