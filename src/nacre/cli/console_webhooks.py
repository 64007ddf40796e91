"""`nacre console webhook …`: servers that receive events."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.console_books import console_books, tell_broken
from nacre.cli.console_options import Places, State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.fleet.books import ConsoleBooks
    from nacre.fleet.webhook_book import HookDelivery, HookWish, KeptHook

_PATIENCE = 20.0
"""Seconds that a test waits for the running console to send it."""
_MOMENT = 0.1

Number = Annotated[
    int, typer.Argument(metavar="N", help="Number of the webhook.", show_default=False)
]
On = Annotated[
    list[str] | None,
    typer.Option(
        "--on", metavar="EVENT", show_default=False,
        help="Event to report: quota, schedule, started, paused, resumed, finished, crashed "
             "or changes; can be repeated. Default: quota, schedule, finished, crashed.",
    ),
]  # fmt: skip
Signed = Annotated[
    bool,
    typer.Option(
        "--secret",
        help="Sign messages; the command asks for the key, or reads it from the "
        "first line of stdin.",
    ),
]

webhook = Program()


@webhook.callback()
def _webhook() -> None:
    """Servers that receive events of jobs, quotas and schedules, by a POST of JSON."""


@webhook.command("list")
def list_webhooks(state: State = None, as_json: AsJson = False) -> None:
    """List the webhooks, without the keys of their signatures."""
    with console_books(state) as books:
        hooks = [_facts(books, hook) for hook in books.webhooks.all()]
        tell_broken(books.webhooks.broken())
    if as_json:
        output.say_json(hooks)
        return
    rows = [
        (
            hook["id"], hook["url"], ", ".join(hook["on"]), "paused" if hook["paused"] else "on",
            hook["waiting"], hook["last"] or "-",
        )
        for hook in hooks
    ]  # fmt: skip
    head = ("number", "URL", "events", "state", "waiting", "last")
    output.say(output.table([head, *rows]) if rows else "no webhooks")


def _facts(books: "ConsoleBooks", hook: "KeptHook") -> dict[str, Any]:
    from nacre.core.message_data import to_plain

    deliveries = books.webhooks.deliveries(hook.id)
    last = next(
        (f"{delivery.step}: {delivery.answer}" for delivery in deliveries if delivery.tries), ""
    )
    return {
        "id": hook.id, **to_plain(hook.wish), "signed": bool(hook.secret),
        "owner": hook.owner, "places": list(hook.places), "last": last,
        "waiting": sum(delivery.step == "waits" for delivery in deliveries),
    }  # fmt: skip


@webhook.command("show")
def show_webhook(number: Number, state: State = None, as_json: AsJson = False) -> None:
    """Show a webhook, and its last messages with their answers."""
    with console_books(state) as books:
        hook = _require_webhook(books, number)
        facts, sent = _facts(books, hook), books.webhooks.deliveries(number)
    messages = [_message(message) for message in sent]
    if as_json:
        output.say_json({**facts, "messages": messages})
        return
    output.say(output.pairs({name: value for name, value in facts.items() if value != ""}))
    for m in messages:
        text = f"{m['made']}  {m['event']}  {m['job']} {m['message']}: {m['step']} {m['answer']}"
        output.say(f"  {text}".rstrip())


def _message(delivery: "HookDelivery") -> dict[str, Any]:
    from nacre.core.clock import iso

    facts = delivery.facts
    return {
        "made": iso(delivery.made), "event": delivery.event, "job": facts["job"],
        "message": facts["message"], "step": delivery.step, "tries": delivery.tries,
        "answer": delivery.answer,
    }  # fmt: skip


@webhook.command("add")
def add_webhook(  # noqa: PLR0917 - typer reads them by name
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="Address to post messages to, http or https.", show_default=False
        ),
    ],
    on: On = None,
    secret: Signed = False,
    private: Annotated[
        bool,
        typer.Option("--private", help="The server is on this machine, or in a private network."),
    ] = False,
    place: Places = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Add a webhook."""
    from nacre.fleet.webhook_book import HookWish

    request = _with_events(HookWish(url, private=private), on)
    with console_books(state) as books:
        books.require_places(place or ())
        key = _ask_secret() if secret else ""
        number = books.webhooks.add(request, key, books.who, tuple(place or ()))
        added = _require_webhook(books, number)
        books.note("nacre console webhook add", None, None, added.wish)
        facts = _facts(books, added)
    output.say_json(facts) if as_json else output.say(f"added webhook {number}: {added.wish.url}")


@webhook.command("set")
def set_webhook(  # noqa: PLR0917 - typer reads them by name
    number: Number,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", show_default=False, help="New address to "
                                                                           "post messages to.")
    ] = "",
    on: On = None,
    secret: Signed = False,
    no_secret: Annotated[
        bool, typer.Option("--no-secret", help="Stop signing messages.")
    ] = False,
    private: Annotated[
        bool | None,
        typer.Option(
            "--private/--public", show_default=False,
            help="The server is in a private network, or not.",
        ),
    ] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Change a webhook; omitted values do not change."""
    import msgspec

    with console_books(state) as books:
        before = _require_webhook(books, number)
        is_private = before.wish.private if private is None else private
        request = msgspec.structs.replace(
            before.wish, url=url or before.wish.url, private=is_private
        )
        key = _ask_secret() if secret else "" if no_secret else before.secret
        _keep(books, before, _with_events(request, on), key, "set")
        facts = _facts(books, _require_webhook(books, number))
    output.say_json(facts) if as_json else output.say(f"changed webhook {number}")


@webhook.command("pause")
def pause_webhook(number: Number, state: State = None) -> None:
    """Pause a webhook; events of the pause are not reported later."""
    _pause(number, state, paused=True)


@webhook.command("resume")
def resume_webhook(number: Number, state: State = None) -> None:
    """Post to a webhook again."""
    _pause(number, state, paused=False)


@webhook.command("remove")
def remove_webhook(number: Number, state: State = None) -> None:
    """Remove a webhook and its waiting messages."""
    with console_books(state) as books:
        is_broken = number in books.webhooks.broken()
        request = None if is_broken else _require_webhook(books, number).wish
        books.webhooks.remove(number)
        books.note("nacre console webhook remove", None, request, None)
    output.say(f"removed webhook {number}")


@webhook.command("test")
def try_webhook(number: Number, state: State = None, as_json: AsJson = False) -> None:
    """Send a test message to a webhook and print the answer; exit code 1: not accepted."""
    from nacre.errors import JobError

    with console_books(state) as books:
        hook = _require_webhook(books, number)
        if hook.wish.paused:
            raise JobError(
                f"webhook {number} is paused: `nacre console webhook resume {number}` comes first"
            )
        message = books.webhooks.tell_test(number, books.who)
        books.note("nacre console webhook test", None, None, {"webhook": number})
        sent = (
            _await_delivery(books, hook, message)
            if books.is_served
            else _deliver(books, hook, message)
        )
    facts = _message(sent)
    if as_json:
        output.say_json(facts)
    else:
        output.say(f"{facts['step']}: {facts['answer'] or 'no answer yet'}")
    if sent.step != "delivered":
        raise typer.Exit(1)


def _await_delivery(books: "ConsoleBooks", hook: "KeptHook", number: int) -> "HookDelivery":
    """A message after the running console has posted it once, or has not in time."""
    import time

    end = time.monotonic() + _PATIENCE
    sent = _require_message(books, hook, number)
    while not sent.tries and time.monotonic() < end:
        time.sleep(_MOMENT)
        sent = _require_message(books, hook, number)
    return sent


def _deliver(books: "ConsoleBooks", hook: "KeptHook", number: int) -> "HookDelivery":
    """A message after this process has posted it once."""
    from nacre.cli.process import run
    from nacre.fleet.webhook_delivery import deliver
    from nacre.machine.clock import SystemClock

    return run(deliver(books.webhooks, SystemClock(), hook, _require_message(books, hook, number)))


def _require_message(books: "ConsoleBooks", hook: "KeptHook", number: int) -> "HookDelivery":
    """Return a message by its number.

    Raises:
        JobError: It is gone: its webhook was removed meanwhile.
    """
    from nacre.errors import JobError

    message = books.webhooks.delivery(hook.id, number)
    if message is None:
        raise JobError("the test is forgotten: its webhook was removed, or told much since")
    return message


def _with_events(request: "HookWish", on: list[str] | None) -> "HookWish":
    """Return a webhook with these events; None for no change.

    Raises:
        ConfigError: An event is unknown.
    """
    from typing import get_args

    import msgspec

    from nacre.errors import ConfigError, Problem
    from nacre.fleet.webhook_book import HookEvent

    if on is None:
        return request
    events = [name for name in get_args(HookEvent) if name != "test"]
    wrong = [name for name in on if name not in events]
    if wrong:
        raise ConfigError([Problem("on", f"{wrong[0]!r} is no event", ", ".join(events))])
    return msgspec.structs.replace(request, on=tuple(dict.fromkeys(on)))


def _ask_secret() -> str:
    """The key of signatures, typed or the first line of the input."""
    if sys.stdin.isatty():
        return str(typer.prompt("Key of the signatures", hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _require_webhook(books: "ConsoleBooks", number: int) -> "KeptHook":
    from nacre.errors import JobError

    hook = books.webhooks.find(number)
    if hook is None:
        raise JobError(f"there is no webhook {number}; `nacre console webhook list` lists them")
    return hook


def _keep(
    books: "ConsoleBooks", before: "KeptHook", request: "HookWish", secret: str, command: str
) -> None:
    books.webhooks.change(before.id, request, secret, books.who)
    books.note(f"nacre console webhook {command}", None, before.wish, request)


def _pause(number: int, state: Path | None, *, paused: bool) -> None:
    import msgspec

    with console_books(state) as books:
        before = _require_webhook(books, number)
        webhook = msgspec.structs.replace(before.wish, paused=paused)
        _keep(books, before, webhook, before.secret, "pause" if paused else "resume")
    output.say(f"webhook {number} is paused" if paused else f"webhook {number} is on again")
