"""The delivery of a message to a webhook of the console."""

import asyncio
import socket
from typing import Final

import msgspec

from nacre.core.clock import Clock
from nacre.core.message_data import to_json
from nacre.fetch.guard import AddressGuard
from nacre.fleet.webhook_book import HookDelivery, KeptHook, WebhookBook
from nacre.job.background.webhooks import LONGEST_WAIT, TRIES, DeliveryError, headers, post
from nacre.messages import error_text, message
from nacre.uri.parse import host

_GUARD: Final = AddressGuard()


async def deliver(
    book: WebhookBook, clock: Clock, hook: KeptHook, delivery: HookDelivery
) -> HookDelivery:
    """Post a message once, store the result, and return the updated delivery.

    Args:
        book: Stores the delivery.
        clock: The time.
        hook: The webhook.
        delivery: The message.
    """
    tries, facts = delivery.tries + 1, delivery.facts
    number = f"console/{delivery.made:.3f}/{delivery.number}"
    body = to_json({"id": number, **facts})
    fields = headers(hook.secret, str(int(clock.now())), delivery.event, number, body)
    try:
        address = await _address(hook)
        status = await post(hook.wish.url, body, fields, address=address)
    except DeliveryError as error:
        step = "waits" if tries < TRIES else "given-up"
        answer = error_text(error)
    else:
        step, answer = "delivered", str(status)
    due = clock.now() + min(2.0 ** (tries - 1), LONGEST_WAIT)
    after = msgspec.structs.replace(delivery, tries=tries, due=due, step=step, answer=answer)
    book.keep(after)
    return after


async def _address(hook: KeptHook) -> str:
    """Return the checked address of a webhook's host: a second look-up could return another one.

    Raises:
        DeliveryError: The host has no address, or has one that is not allowed.
    """
    name = host(hook.wish.url).strip("[]")
    loop = asyncio.get_running_loop()
    try:
        allowed = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise DeliveryError(
            message(
                "console.host-without-address",
                "{name} has no address: {strerror}",
                name=name,
                strerror=error.strerror,
            )
        ) from None
    addresses = [str(candidate[4][0]) for candidate in allowed]
    if hook.wish.private:
        return addresses[0]
    for address in addresses:
        if _GUARD.refusal(address):
            raise DeliveryError(
                message(
                    "console.address-not-public",
                    "{name} is {address}, which is not public; allow private networks for this "
                    "webhook",
                    name=name,
                    address=address,
                )
            )
    return addresses[0]
