"""The console's webhooks and their deliveries, in its database.

A webhook receives the events of all jobs that its owner may see. A delivery is stored until it is
accepted or given up, so that a killed console loses none; so is a run, from its begin until its
changes are read and queued. The last deliveries of each webhook are kept for inspection.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

import msgspec

from nacre.core.clock import Clock
from nacre.core.message_data import (
    from_stored_json,
    from_stored_text,
    to_json,
    to_stored_json,
    to_stored_text,
)
from nacre.errors import ConfigError, Problem, URIError
from nacre.fleet.database import BrokenRow, ConsoleDatabase, ConsoleTable
from nacre.fleet.keys import joined_places
from nacre.fleet.refusals import RefusedRequestError
from nacre.messages import error_text, message
from nacre.ops.fields import bounded
from nacre.uri.parse import host, parse

HookEvent = Literal[
    "quota", "schedule", "started", "paused", "resumed", "finished", "crashed", "changes", "test"
]
"""Events that are posted: quotas and schedules of the console, state changes of jobs, and what
their runs found changed."""
MOST_HOOKS = 20
"""Maximum number of webhooks."""
MOST_WAITING = 100
"""Maximum pending deliveries of a webhook; more are dropped, and counted in the next one."""
KEPT = 50
"""Number of finished deliveries that are kept for each webhook."""
_NO_MORE: Mapping[str, object] = {}

_UNREADABLE: Final = message(
    "console.delivery-unreadable", "the stored message is damaged; job.log may have the event"
)

HookText = Annotated[str, msgspec.Meta(max_length=2000)]


class HookWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request to create or change a webhook.

    Attributes:
        url: URL that messages are posted to, http or https.
        on: The events that are posted; a test is always posted.
        private: The address may belong to this machine or to a private network.
        paused: Nothing is posted; events during the pause are not posted later.
    """

    url: HookText
    on: tuple[HookEvent, ...] = ("quota", "schedule", "finished", "crashed")
    private: bool = False
    paused: bool = False


class KeptHook(msgspec.Struct, frozen=True):
    """A stored webhook.

    Attributes:
        id: Its number.
        wish: The request that set it last.
        secret: Key of its signatures; "" for none. It is never shown.
        owner: Name of the user of the last change.
        places: Labels of the places whose events are posted; empty for all.
    """

    id: int
    wish: HookWish
    secret: str
    owner: str
    places: tuple[str, ...] = ()

    def is_about(self, job: str) -> bool:
        """Whether the webhook receives the events of a job.

        Args:
            job: Id of the job, which begins with the label of its place; "" for all jobs together.
        """
        return not self.places or job.partition("~")[0] in self.places


class HookDelivery(msgspec.Struct, frozen=True):
    """A message on its way to a webhook.

    Attributes:
        number: Its number.
        hook: Number of the webhook.
        event: The event.
        body: The message, JSON, with the codes of its texts.
        made: Time of the event, seconds since the epoch.
        tries: Number of attempts so far.
        due: Time of the next attempt, seconds since the epoch.
        step: `waits`, `delivered` or `given-up`.
        answer: The last answer, or the reason for its absence; "" before the first attempt.
    """

    number: int
    hook: int
    event: str
    body: bytes
    made: float
    tries: int
    due: float
    step: str
    answer: str

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of the message, without the codes of its texts.

        A message that cannot be read does not hold up the others: its fields say so.
        """
        broken = {"event": self.event, "job": "", "message": _UNREADABLE, "why": ""}
        try:
            facts = from_stored_json(self.body, dict[str, Any])
        except msgspec.MsgspecError:
            return broken
        return facts if all(isinstance(facts.get(name), str) for name in broken) else broken


class UnreadRun(msgspec.Struct, frozen=True):
    """A run whose changes are not read yet; it may not have ended.

    Attributes:
        number: Its number.
        job: Id of the job.
        run: Name of the run.
        tries: How often it could not be read.
    """

    number: int
    job: str
    run: str
    tries: int = 0


def check_hook(request: HookWish) -> HookWish:
    """Check a webhook request, and return it with its URL normalized (pure).

    Raises:
        ConfigError: The URL is invalid or too long, or the request has no events.
    """
    sample = "https://ops.example/hooks/crawls"
    if not request.url.startswith(("http://", "https://")):
        text = message(
            "console.webhook-scheme", "the address of a webhook begins with http:// or https://"
        )
        raise ConfigError([Problem("url", text, "", sample)])
    try:
        url = parse(request.url)
    except URIError as error:
        raise ConfigError([Problem("url", error_text(error), "", sample)]) from None
    if not host(url) or "@" in url.partition("://")[2].partition("/")[0]:
        text = message(
            "console.webhook-host", "a webhook has a host, and no user and password before it"
        )
        raise ConfigError([Problem("url", text, "", sample)])
    if not request.on:
        raise ConfigError(
            [Problem("on", message("console.webhook-without-event", "choose one event at least"))]
        )
    return bounded(msgspec.structs.replace(request, url=url))


class WebhookBook:
    """The webhooks.

    Args:
        database: The console's database.
        clock: The time.
    """

    def __init__(self, database: ConsoleDatabase, clock: Clock) -> None:
        self._database = database
        self._table = ConsoleTable(database, "webhooks", KeptHook)
        self._unread = ConsoleTable(database, "unread_runs", UnreadRun)
        self._clock = clock
        self.some = asyncio.Event()
        """Set when there is something to post."""
        self._dropped: dict[int, int] = {}

    def all(self) -> list[KeptHook]:
        """Return all webhooks that can be read, by their numbers."""
        return self._table.all()

    def broken(self) -> dict[int, BrokenRow]:
        """Return the webhooks that cannot be read, by their numbers."""
        return self._table.broken()

    def find(self, number: int) -> KeptHook | None:
        """Return a webhook; None if there is none."""
        return self._table.find(number)

    def add(self, request: HookWish, secret: str, owner: str, places: tuple[str, ...] = ()) -> int:
        """Add a webhook, and return its number.

        Args:
            request: The request.
            secret: Key of its signatures; "" for none.
            owner: Name of the user.
            places: Labels of the places that the owner may see; empty for all.

        Raises:
            ConfigError: The request is invalid, or there are too many webhooks.
        """
        if len(self.all()) >= MOST_HOOKS:
            raise ConfigError(
                message(
                    "console.webhooks-limit",
                    "there are {most_hooks} webhooks already: remove one first",
                    most_hooks=MOST_HOOKS,
                )
            )
        rows = self._database.rows(
            "INSERT INTO webhooks (wish, secret, owner, places) VALUES (?, ?, ?, ?) RETURNING id",
            to_json(check_hook(request)), secret, owner, joined_places(places),
        )  # fmt: skip
        return int(str(rows[0][0]))

    def change(self, number: int, request: HookWish, secret: str, owner: str) -> None:
        """Change a webhook.

        Raises:
            ConfigError: The request is invalid.
        """
        self._database.rows(
            "UPDATE webhooks SET wish = ?, secret = ?, owner = ? WHERE id = ?",
            to_json(check_hook(request)), secret, owner, number,
        )  # fmt: skip

    def restrict(self, owner: str, places: tuple[str, ...]) -> None:
        """Limit the webhooks of a user to the places that the user may see from now on.

        Args:
            owner: The owner.
            places: Labels of the places.
        """
        for hook in self.all():
            if hook.owner == owner:
                stored = tuple(place for place in hook.places or places if place in places)
                self._database.rows(
                    "UPDATE webhooks SET places = ? WHERE id = ?",
                    joined_places(stored or places), hook.id,
                )  # fmt: skip

    def remove(self, number: int) -> None:
        """Delete a webhook and its deliveries."""
        self._table.drop(number)
        self._database.rows("DELETE FROM deliveries WHERE hook = ?", number)

    # ---- runs whose changes are not read

    def unread_runs(self) -> list[UnreadRun]:
        """Return the runs whose changes are not read yet, in order."""
        return self._unread.all()

    def add_unread(self, job: str, run: str) -> None:
        """Store a run until its changes are read."""
        self._database.rows("INSERT OR IGNORE INTO unread_runs (job, run) VALUES (?, ?)", job, run)

    def count_try(self, unread: UnreadRun) -> None:
        """Store that the changes of a run could not be read."""
        self._database.rows(
            "UPDATE unread_runs SET tries = tries + 1 WHERE number = ?", unread.number
        )

    def tell_changes(
        self, unread: UnreadRun, message: str, more: Mapping[str, object] = _NO_MORE
    ) -> None:
        """Queue the changes of a run, which counts as read then.

        Args:
            unread: The run.
            message: Text of the event; "" if there are no changes, and nothing is queued.
            more: Further fields of the message.
        """
        with self._database.together():
            if message:
                self.tell("changes", unread.job, message, more={"run": unread.run, **more})
            self._unread.drop(unread.number)

    # ---- deliveries

    def receivers(self, event: HookEvent, job: str) -> list[KeptHook]:
        """Return the webhooks that receive an event of a job; "" for all jobs together."""
        return [
            hook
            for hook in self.all()
            if event in hook.wish.on and not hook.wish.paused and hook.is_about(job)
        ]

    def tell(
        self,
        event: HookEvent,
        job: str,
        message: str,
        reason: str = "",
        more: Mapping[str, object] = _NO_MORE,
    ) -> int:
        """Queue an event for each webhook that subscribes to it and may see the job.

        Args:
            event: The event.
            job: Id of the job; "" for all jobs.
            message: Text of the event.
            reason: The reason; "" for none.
            more: Further fields of the message.

        Returns:
            Number of the last delivery; 0 if it was dropped or there is none.
        """
        facts = {"job": job, "message": message, "why": reason, **more}
        number = 0
        for hook in self.receivers(event, job):
            number = self._put(hook.id, event, facts)
        return number

    def _put(self, hook: int, event: HookEvent, facts: Mapping[str, object]) -> int:
        """Store a delivery and return its number; 0 if too many are pending and it is dropped."""
        rows = self._database.rows(
            "SELECT count(*) FROM deliveries WHERE hook = ? AND step = 'waits'", hook
        )
        if int(str(rows[0][0])) >= MOST_WAITING:
            if event != "test":  # the caller of a test learns that it was dropped
                self._dropped[hook] = self._dropped.get(hook, 0) + 1
            return 0
        now = self._clock.now()
        moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        dropped = self._dropped.pop(hook, 0)
        body = {"event": event, "time": moment, **facts, "dropped_before": dropped}
        rows_made = self._database.rows(
            "INSERT INTO deliveries (hook, event, body, made, due) VALUES (?, ?, ?, ?, ?)"
            " RETURNING number",
            hook, event, to_stored_json(body), now, now,
        )  # fmt: skip
        self.some.set()
        return int(str(rows_made[0][0]))

    def tell_test(self, hook: int, user: str) -> int:
        """Queue a test for a webhook, whatever its events, and return the delivery's number.

        Args:
            hook: Number of the webhook.
            user: User who requests the test.

        Raises:
            RefusedRequestError: Too many deliveries of the webhook are pending (409).
        """
        text = message("console.webhook-test", "a test that {user} asked for", user=user)
        number = self._put(hook, "test", {"job": "", "message": text, "why": ""})
        if number:
            return number
        raise RefusedRequestError(
            409,
            "full",
            message(
                "console.webhook-queue-full",
                "{most_waiting} messages wait for webhook {hook}, and a test has no place among "
                "them: its last answer says why they wait",
                most_waiting=MOST_WAITING,
                hook=hook,
            ),
        )

    def deliveries(self, hook: int, step: str = "") -> list[HookDelivery]:
        """Return the deliveries of a webhook, the newest first.

        Args:
            hook: Number of the webhook.
            step: Return only the deliveries with this step; "" for all.
        """
        rows = self._database.rows(
            "SELECT number, hook, event, body, made, tries, due, step, answer FROM deliveries"
            " WHERE hook = ? AND (? = '' OR step = ?) ORDER BY number DESC",
            hook, step, step,
        )  # fmt: skip
        return [msgspec.convert(row, HookDelivery, strict=False) for row in map(_facts, rows)]

    def delivery(self, hook: int, number: int) -> HookDelivery | None:
        """Return a delivery of a webhook by its number; None if it no longer exists."""
        return next(
            (delivery for delivery in self.deliveries(hook) if delivery.number == number),
            None,
        )

    def keep(self, delivery: HookDelivery) -> None:
        """Store the result of a delivery, and delete the oldest finished deliveries."""
        self._database.rows(
            "UPDATE deliveries SET tries = ?, due = ?, step = ?, answer = ? WHERE number = ?",
            delivery.tries, delivery.due, delivery.step, to_stored_text(delivery.answer),
            delivery.number,
        )  # fmt: skip
        self._database.rows(
            "DELETE FROM deliveries WHERE hook = ? AND step <> 'waits' AND number NOT IN (SELECT"
            " number FROM deliveries WHERE hook = ? AND step <> 'waits' ORDER BY number DESC"
            " LIMIT ?)",
            delivery.hook, delivery.hook, KEPT,
        )  # fmt: skip


def _facts(row: tuple[object, ...]) -> dict[str, object]:
    facts = dict(zip(HookDelivery.__struct_fields__, row, strict=True))
    return {**facts, "answer": from_stored_text(str(facts["answer"]))}
