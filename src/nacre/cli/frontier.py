"""`nacre frontier DIR list|count|delete|queues|retire|…`: waiting URIs and their queues."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.options import (
    AsJson,
    JobDir,
    Regex,
    job_of,
    layout_and_settings,
)
from nacre.cli.program import LateCallback, Program

if TYPE_CHECKING:
    from nacre.ops.queued_uris import QueuedUri

Queue = Annotated[
    str,
    typer.Option(
        "--queue", metavar="REGEX", help="Only queues whose key matches, such as com,example,.",
        show_default=False,
    ),
]  # fmt: skip

frontier = Program()
_CHANGES = ("delete", "exclude", "include", "retire", "unretire", "wake", "forget", "reconsider",
            "first")  # fmt: skip
"""The operations that change a frontier, in the order of `ops.frontier.FRONTIER`."""
QueueFilter = Annotated[
    str,
    typer.Option(
        "--queue", metavar="REGEX", help="Only queues whose key matches; default: all.",
        show_default=False,
    ),
]  # fmt: skip


@frontier.callback(invoke_without_command=True)
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """The waiting URIs and their queues, whether the job runs or not.

    Without a command: how many wait, and in how many queues.
    """
    from nacre.machine.layout import Layout

    brings_in = ctx.invoked_subcommand == "import"
    Layout(directory).require_runs("inject FILE" if brings_in else "generate --dry-run")
    if ctx.invoked_subcommand is None:
        _tell_how_many(directory)


def _tell_how_many(directory: Path) -> None:
    from nacre.inspect.view import reading
    from nacre.ops.queued_uris import count_waiting

    with reading(*layout_and_settings(directory)) as view:
        totals = count_waiting(view.store)
    queues, job = output.count(totals.queues, "queue"), output.typed(directory)
    verb = "waits" if totals.uris == 1 else "wait"
    output.say(f"{output.count(totals.uris, 'URI')} {verb} in {queues}")
    if totals.queues:
        output.say(f"Look:      {output.program()} frontier {job} list")
        output.say(f"           {output.program()} frontier {job} queues")


@frontier.command("list")
def list_uris(
    ctx: typer.Context,
    regex: Regex = "",
    queue: Queue = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="At most this many; 0: all.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List the queued URIs, queue by queue, in their order."""
    with _entries(job_of(ctx), regex, queue) as entries:
        for entry in islice(entries, limit or None):
            _print_entry(entry, as_json=as_json)
        if limit and next(entries, None) is not None:
            output.tell(
                f"and more; --limit 0 lists all, `nacre frontier {job_of(ctx)} count` counts"
            )


def _print_entry(entry: "QueuedUri", *, as_json: bool) -> None:
    uri = entry.uri
    if as_json:
        facts = {
            "url": uri.url,
            "queue": uri.queue,
            "via": uri.via,
            "path": uri.path,
            "directive": uri.directive,
            "precedence": uri.precedence,
            "attempts": uri.attempts,
            "last_status": uri.last_status,
            "waits": "for its time" if entry.is_planned else "in its queue",
        }
        print(output.json_text(facts))
        return
    tries = f"  ({output.count(uri.attempts, 'try', 'tries')}, {uri.last_status})"
    print(f"{uri.path or '-':<6} {output.safe(uri.url)}{tries if uri.attempts else ''}")


@frontier.command("count")
def count_uris(
    ctx: typer.Context, regex: Regex = "", queue: Queue = "", as_json: AsJson = False
) -> None:
    """Count the queued URIs."""
    from nacre.inspect.view import reading
    from nacre.ops.queued_uris import count_queued

    with reading(*layout_and_settings(job_of(ctx))) as view:
        number = count_queued(view.store, regex, queue)
    output.say_json({"count": number}) if as_json else output.say(str(number))


@frontier.command("export")
def export_uris(ctx: typer.Context, regex: Regex = "", queue: Queue = "") -> None:
    """Write the queued URIs as lines of a recovery journal: `F+ URI PATH VIA`."""
    from nacre.ops.queued_uris import export_lines

    with _entries(job_of(ctx), regex, queue) as entries:
        for line in export_lines(entry.uri for entry in entries):
            print(line)


@contextmanager
def _entries(directory: Path, regex: str, queue: str) -> "Iterator[Iterator[QueuedUri]]":
    """Return the queued URIs that match, as of the last commit."""
    from nacre.inspect.view import reading
    from nacre.ops.queued_uris import list_queued

    with reading(*layout_and_settings(directory)) as view:
        yield list_queued(view.store, regex, queue)


@frontier.command("queues")
def list_queues(
    ctx: typer.Context,
    queue: QueueFilter = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="At most this many; 0: all.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List queues: state, precedence, spent budget, reason for waiting; empty queues last."""
    from nacre.core.message_data import to_builtins
    from nacre.inspect.view import reading
    from nacre.job.overview import queue_facts
    from nacre.scope.patterns.matching import matcher

    layout, settings = layout_and_settings(job_of(ctx))
    matches = matcher(queue)
    with reading(layout, settings) as view:
        waiting = (facts for facts in queue_facts(view, matches) if facts.pending)
        empty = (facts for facts in queue_facts(view, matches) if not facts.pending)
        for number, facts in enumerate(chain(waiting, empty)):
            if limit and number == limit:
                output.tell("and more; --limit 0 lists all")
                break
            if as_json:
                print(output.json_text(to_builtins(facts)))
                continue
            if not number:
                output.say(_queue_line("queue", "state", "URIs", "precedence", "spent", "why"))
            numbers = (facts.pending, facts.precedence, facts.spent)
            output.say(_queue_line(facts.queue, facts.state, *numbers, facts.reason))


def _queue_line(queue: str, state: str, *numbers_and_why: object) -> str:
    """Return a line of the list of queues: waiting URIs, precedence, spent cost, reason."""
    pending, precedence, spent, reason = numbers_and_why
    return f"{queue:<30} {state:<10} {pending:>8} {precedence:>10} {spent:>8}  {reason}".rstrip()


@frontier.command("queue")
def show_queue(
    ctx: typer.Context,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Key of the queue, such as com,example,www,.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show all data of one queue."""
    from nacre.core.message_data import to_builtins
    from nacre.errors import JobError
    from nacre.inspect.view import reading
    from nacre.job.overview import facts_of

    layout, settings = layout_and_settings(job_of(ctx))
    with reading(layout, settings) as view:
        facts = facts_of(view, key)
    if facts is None:
        raise JobError(f"there is no queue {key}; `nacre frontier {job_of(ctx)} queues` lists them")
    data = to_builtins(facts)
    if as_json:
        output.say_json(data)
    else:
        budget = "no limit" if facts.budget is None else facts.budget
        output.say(output.pairs({**data, "budget": budget}, indent=""))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name in _CHANGES:
        place = "nacre.cli.frontier_changes:COMMANDS"
        frontier.command(name)(LateCallback(name, "", place))
    frontier.command("import")(LateCallback("import", "", "nacre.cli.frontier_import:COMMANDS"))
    app.add_typer(frontier, name="frontier", rich_help_panel="Look")
