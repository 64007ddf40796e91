"""Deliveries to the console's webhooks, with retries; and changes of jobs as their events."""

import asyncio
import socket
from contextlib import suppress
from typing import Final

import msgspec

from nacre.console.fleet.webhook_book import HookDelivery, HookEvent, KeptHook, WebhookBook
from nacre.console.live.snapshot import READING, UNREADABLE, JobSnapshot
from nacre.console.services import ConsoleServices
from nacre.core.clock import Clock
from nacre.core.states import CRASHED
from nacre.fetch.guard import AddressGuard
from nacre.job.background.webhooks import LONGEST_WAIT, TRIES, DeliveryError, headers, post
from nacre.job.sentence_words import words
from nacre.uri.parse import host

LOOK: Final = 2.0
"""Seconds between two looks for what is due, and for what jobs do."""
_GUARD: Final = AddressGuard()


class WebhookRunner:
    """It posts what waits, the messages of each webhook in their order.

    A webhook that is slow or fails holds up no other one. A message is tried eight times, with
    waits of 1, 2, 4 … 60 s, over a restart of the console too; then it is given up.

    Args:
        services: The parts of the console.
    """

    def __init__(self, services: ConsoleServices) -> None:
        self._services = services
        self._book = services.webhooks
        self._busy: set[int] = set()
        self._states: dict[str, tuple[str, bool]] = {}

    async def run(self) -> None:
        """Post until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self.look()
                self._book.some.clear()
                for hook, delivery in self.due():
                    self._busy.add(hook.id)
                    group.create_task(self._send(hook, delivery), name=f"webhook {hook.id}")
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await self._book.some.wait()

    def due(self) -> list[tuple[KeptHook, HookDelivery]]:
        """The first message of each webhook that is not busy, where it is due."""
        now, found = self._services.clock.now(), []
        for hook in self._book.all():
            waiting = self._book.deliveries(hook.id, "waits")
            if hook.wish.paused or hook.id in self._busy or not waiting:
                continue
            if waiting[-1].due <= now:
                found.append((hook, waiting[-1]))
        return found

    async def _send(self, hook: KeptHook, delivery: HookDelivery) -> None:
        try:
            await self.attempt(hook, delivery)
        finally:
            self._busy.discard(hook.id)
            self._book.some.set()

    async def attempt(self, hook: KeptHook, delivery: HookDelivery) -> None:
        """Post a message once, and keep what came of it."""
        await deliver(self._book, self._services.clock, hook, delivery)

    def look(self) -> None:
        """Tell what became of jobs since the last look."""
        texts = {number: one.words for number, one in self._book.broken().items()}
        self._services.troubles.set("webhook", texts, self._services.clock.now())
        for job, seen in self._services.poller.snapshots():
            if seen.state in {READING, UNREADABLE}:
                continue
            before = self._states.get(job.id)
            self._states[job.id] = (seen.state, seen.running)
            event = None if before is None else event_of(before, seen)
            if before is not None and event is not None:
                sentence = words(seen.sentence)
                self._book.tell(event, job.id, f"{before[0]} -> {seen.state}", sentence)


async def deliver(
    book: WebhookBook, clock: Clock, hook: KeptHook, delivery: HookDelivery
) -> HookDelivery:
    """Post a message once, and keep what came of it; the delivery as it is then.

    Args:
        book: Keeps it.
        clock: The time.
        hook: The webhook.
        delivery: The message.
    """
    tries, facts = delivery.tries + 1, msgspec.json.decode(delivery.body)
    number = f"console/{delivery.made:.3f}/{delivery.number}"
    body = msgspec.json.encode({"id": number, **facts})
    fields = headers(hook.secret, str(int(clock.now())), delivery.event, number, body)
    try:
        address = await _address(hook)
        status = await post(hook.wish.url, body, fields, address=address)
    except DeliveryError as error:
        step = "waits" if tries < TRIES else "given-up"
        answer = str(error)
    else:
        step, answer = "delivered", str(status)
    due = clock.now() + min(2.0 ** (tries - 1), LONGEST_WAIT)
    after = msgspec.structs.replace(delivery, tries=tries, due=due, step=step, answer=answer)
    book.keep(after)
    return after


def event_of(before: tuple[str, bool], seen: JobSnapshot) -> HookEvent | None:
    """The event that a change of a job is; None where it is none (pure).

    Args:
        before: Its former state, and whether it ran.
        seen: It now.
    """
    state, ran = before
    if seen.state == state and seen.running == ran:
        return None
    if seen.state == CRASHED:
        return "crashed"
    if ran and not seen.running:
        return "finished"
    if seen.running and not ran:
        return "started"
    if seen.state == "PAUSED":
        return "paused"
    return "resumed" if state in {"PAUSED", "PAUSING"} and seen.state == "RUNNING" else None


async def _address(hook: KeptHook) -> str:
    """The address of a webhook's host, which was looked at: another look-up may say another one.

    Raises:
        DeliveryError: It has none, or none that may be asked.
    """
    name = host(hook.wish.url).strip("[]")
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise DeliveryError(f"{name} has no address: {error.strerror}") from None
    addresses = [str(one[4][0]) for one in found]
    if hook.wish.private:
        return addresses[0]
    for address in addresses:
        if _GUARD.refusal(address):
            raise DeliveryError(
                f"{name} is {address}, which is not public; allow private networks for this webhook"
            )
    return addresses[0]
