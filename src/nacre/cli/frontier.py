"""`nacre frontier DIR list|count|delete|queues|retire|…`: waiting URIs and their queues."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import frontier_import, output
from nacre.cli.options import (
    AsJson,
    Everything,
    JobDir,
    Regex,
    job_of,
    layout_and_settings,
    require_choice,
)
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.frontier.pending import PendingUri
    from nacre.settings.settings import JobSettings
    from nacre.store.layout import Layout

Queue = Annotated[
    str,
    typer.Option(
        "--queue", metavar="REGEX", help="Only queues whose key matches, such as com,example,.",
        show_default=False,
    ),
]  # fmt: skip

frontier = Program()
_OF_URIS = frozenset(("forget", "first"))
"""Actions on URIs; the others are on queues."""
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
    from nacre.store.layout import Layout

    brings_in = ctx.invoked_subcommand == "import"
    Layout(directory).require_runs("inject FILE" if brings_in else "generate --dry-run")
    if ctx.invoked_subcommand is None:
        _tell_how_many(directory)


def _tell_how_many(directory: Path) -> None:
    from nacre.frontier.queue_cache import scan_queues
    from nacre.inspect.view import reading

    with reading(*layout_and_settings(directory)) as view:
        sizes = [size for row in scan_queues(view.store) if (size := row.size + row.waiting)]
    told, job = output.count(len(sizes), "queue"), output.typed(directory)
    verb = "waits" if sum(sizes) == 1 else "wait"
    output.say(f"{output.count(sum(sizes), 'URI')} {verb} in {told}")
    if sizes:
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
    """List the waiting URIs, queue by queue, in their order."""
    with _entries(job_of(ctx), regex, queue) as entries:
        for entry in islice(entries, limit or None):
            _print_entry(entry, as_json=as_json)
        if limit and next(entries, None) is not None:
            output.tell(
                f"and more; --limit 0 lists all, `nacre frontier {job_of(ctx)} count` counts"
            )


def _print_entry(entry: "PendingUri", *, as_json: bool) -> None:
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
            "waits": "for its time" if entry.family == "future" else "in its queue",
        }
        print(output.json_text(facts))
        return
    tries = f"  ({output.count(uri.attempts, 'try', 'tries')}, {uri.last_status})"
    print(f"{uri.path or '-':<6} {output.safe(uri.url)}{tries if uri.attempts else ''}")


@frontier.command("count")
def count_uris(
    ctx: typer.Context, regex: Regex = "", queue: Queue = "", as_json: AsJson = False
) -> None:
    """Count the waiting URIs."""
    from nacre.frontier.pending import count, matcher
    from nacre.inspect.view import reading

    layout, settings = layout_and_settings(job_of(ctx))
    with reading(layout, settings) as view:
        number = count(view.store, matcher(regex), matcher(queue))
    output.say_json({"count": number}) if as_json else output.say(str(number))


@frontier.command("export")
def export_uris(ctx: typer.Context, regex: Regex = "", queue: Queue = "") -> None:
    """Write the waiting URIs as lines of a recovery journal: `F+ URI PATH VIA`."""
    from nacre.frontier.pending import export

    with _entries(job_of(ctx), regex, queue) as entries:
        for line in export(entries):
            print(line)


@frontier.command("delete")
def delete_uris(
    ctx: typer.Context,
    regex: Regex = "",
    queue: Queue = "",
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """Delete the waiting URIs that match; they count as disregarded (-6000)."""
    require_choice(regex, queue, everything=everything)
    number = _delete(job_of(ctx), regex, queue)
    if as_json:
        output.say_json({"deleted": number})
    else:
        output.say(f"deleted {output.count(number, 'URI')}")


@frontier.command("exclude")
def exclude_uris(
    ctx: typer.Context,
    regex: Annotated[
        str,
        typer.Option(
            "--regex", "-r", metavar="REGEX", show_default=False,
            help="Found anywhere in the URL; it joins the scope's rule matches-list-regex.",
        ),
    ],
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Exclude URLs from the scope, at once if the job runs, and delete those that wait."""
    from nacre.cli.settings import change_job
    from nacre.editing.exclusion import exclusion
    from nacre.job.apply_change import ChangeRequest, alone

    layout, settings = layout_and_settings(job_of(ctx))
    assignment = exclusion(settings.scope, regex)
    if assignment:
        with alone(layout):
            change_job(layout, ChangeRequest(assignments=[assignment]))
    number = _delete(layout.root, regex, "") if layout.has_store else 0
    if as_json:
        output.say_json({"changed": bool(assignment), "deleted": number})
        return
    what = "excluded" if assignment else "it was excluded already"
    output.say(f"{what}; deleted {output.count(number, 'URI')}")


@frontier.command("include")
def include_uris(
    ctx: typer.Context,
    regex: Annotated[
        str,
        typer.Option(
            "--regex", "-r", metavar="REGEX", show_default=False,
            help="As it was excluded, or as the rule of the scope has it.",
        ),
    ],
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Undo an exclusion: the scope takes the URLs; what was deleted or refused waits again."""
    from nacre.cli.settings import change_job
    from nacre.editing.exclusion import readmission
    from nacre.job.apply_change import ChangeRequest, alone

    layout, settings = layout_and_settings(job_of(ctx))
    assignment, found = readmission(settings.scope, regex)
    if assignment:
        with alone(layout):
            change_job(layout, ChangeRequest(assignments=[assignment]))
    number = _readmit(layout, settings, found) if layout.has_store else None
    if as_json:
        output.say_json({"changed": bool(assignment), "waiting": number})
        return
    what = "the scope takes them again" if assignment else "no rule of the scope had it"
    if number is None:
        job, nacre = output.typed(layout.root), output.program()
        way = f"no run goes on: `{nacre} recrawl {job} --full` finds all of them"
        never = f"it never ran: `{nacre} run {job}` begins the first run"
        output.say(f"{what}; {way if layout.has_store else never}")
        return
    urls = output.count(number, "URI that was deleted or refused waits again",
                        "URIs that were deleted or refused wait again")  # fmt: skip
    output.say(f"{what}; {urls}")


def _readmit(layout: "Layout", settings: "JobSettings", regex: str) -> int | None:
    """Let what was deleted or refused wait again; how much, None where no run goes on."""
    from nacre.editing.exclusion import exclusions
    from nacre.frontier.pending import matcher
    from nacre.inspect.view import reading
    from nacre.job.control import is_running
    from nacre.job.readmission import readmitted_files, takes_back
    from nacre.settings.load import load_job

    look, number = partial(reading, layout, settings), 0
    with look() as view:
        if not is_running(layout.socket) and not takes_back(view.store):
            return None
    excluded = [exclusion.found for exclusion in exclusions(load_job(layout).settings.scope)]
    for path, options in readmitted_files(look, matcher(regex), excluded):
        imports = frontier_import.import_file(layout.root, path, options)
        number += sum(one.tally.scheduled for one in imports)
    return number


def _delete(directory: Path, regex: str, queue: str) -> int:
    import asyncio

    from nacre.job.api import delete_urls

    return asyncio.run(delete_urls(directory, regex, queue))


@contextmanager
def _entries(directory: Path, regex: str, queue: str) -> "Iterator[Iterator[PendingUri]]":
    """The entries that match, as of the last commit."""
    from nacre.frontier.pending import matcher, pending
    from nacre.inspect.view import reading

    layout, settings = layout_and_settings(directory)
    urls, queues = matcher(regex), matcher(queue)
    with reading(layout, settings) as view:
        yield pending(view.store, urls, queues)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    frontier_import.register(frontier)
    app.add_typer(frontier, name="frontier", rich_help_panel="Look")


@frontier.command("queues")
def list_queues(
    ctx: typer.Context,
    queue: QueueFilter = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="At most this many; 0: all.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List queues: state, precedence, what they spent, why they wait; empty ones last."""
    from nacre.frontier.pending import matcher
    from nacre.inspect.view import reading
    from nacre.job.overview import queue_facts

    layout, settings = layout_and_settings(job_of(ctx))
    wanted = matcher(queue)
    with reading(layout, settings) as view:
        waiting = (facts for facts in queue_facts(view, wanted) if facts["pending"])
        empty = (facts for facts in queue_facts(view, wanted) if not facts["pending"])
        for number, facts in enumerate(chain(waiting, empty)):
            if limit and number == limit:
                output.tell("and more; --limit 0 lists all")
                break
            if as_json:
                print(output.json_text(facts))
                continue
            if not number:
                output.say(_queue_line("queue", "state", "URIs", "precedence", "spent", "why"))
            names = ("queue", "state", "pending", "precedence", "spent", "why")
            output.say(_queue_line(*(facts[name] for name in names)))


def _queue_line(queue: str, state: str, *numbers_and_why: object) -> str:
    """A line of the list of queues: URIs that wait, precedence, cost spent, why it rests."""
    pending, precedence, spent, why = numbers_and_why
    return f"{queue:<30} {state:<10} {pending:>8} {precedence:>10} {spent:>8}  {why}".rstrip()


@frontier.command("queue")
def show_queue(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its key, such as com,example,www,.")],
    as_json: AsJson = False,
) -> None:
    """Show all that is known of one queue."""
    from nacre.errors import JobError
    from nacre.inspect.view import reading
    from nacre.job.overview import facts_of

    layout, settings = layout_and_settings(job_of(ctx))
    with reading(layout, settings) as view:
        facts = facts_of(view, key)
    if facts is None:
        raise JobError(f"there is no queue {key}; `nacre frontier {job_of(ctx)} queues` lists them")
    if as_json:
        output.say_json(facts)
    else:
        facts["budget"] = "no limit" if facts["budget"] is None else facts["budget"]
        output.say(output.pairs(facts, indent=""))


@frontier.command()
def retire(ctx: typer.Context, queue: QueueFilter = "", as_json: AsJson = False) -> None:
    """Stop handing out URIs of these queues until `unretire`."""
    _apply(job_of(ctx), "retire", "retired", queue, as_json=as_json)


@frontier.command()
def unretire(ctx: typer.Context, queue: QueueFilter = "", as_json: AsJson = False) -> None:
    """Bring retired queues back; those over their budget or quota retire again."""
    _apply(job_of(ctx), "unretire", "brought back", queue, as_json=as_json)


@frontier.command()
def wake(ctx: typer.Context, queue: QueueFilter = "", as_json: AsJson = False) -> None:
    """End the wait of queues; the politeness delay stays."""
    _apply(job_of(ctx), "wake", "woken", queue, as_json=as_json)


@frontier.command()
def forget(
    ctx: typer.Context,
    regex: Regex = "",
    queue: QueueFilter = "",
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """Forget that URIs were crawled, so that they are crawled again once they are found again."""
    require_choice(regex, queue, everything=everything)
    _apply(job_of(ctx), "forget", "forgotten", queue, regex, as_json=as_json)


@frontier.command()
def reconsider(ctx: typer.Context, queue: QueueFilter = "", as_json: AsJson = False) -> None:
    """Check budgets, quotas and order of queues again; those retired by command stay retired."""
    _apply(job_of(ctx), "reconsider", "changed places", queue, as_json=as_json)


@frontier.command()
def first(
    ctx: typer.Context,
    regex: Regex = "",
    queue: QueueFilter = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="At most this many; 0: all.")
    ] = 0,
    everything: Everything = False,
    as_json: AsJson = False,
) -> None:
    """Move waiting URIs to the front of their queues; those that wait for a retry keep its time."""
    require_choice(regex, queue, everything=everything)
    done = "moved to the front"
    _apply(job_of(ctx), "first", done, queue, regex, limit=limit, as_json=as_json)


def _apply(
    directory: Path,
    action: str,
    done: str,
    queue: str,
    url: str = "",
    *,
    limit: int = 0,
    as_json: bool,
) -> None:
    import asyncio

    from nacre.job.control import is_running, send_command
    from nacre.job.stopped_job import open_stopped

    layout, settings = layout_and_settings(directory)

    async def change() -> int:
        async with open_stopped(layout, settings) as editor:
            return await editor.apply(action, queue, url, limit)

    if is_running(layout.socket):
        asked = {"action": action, "queue": queue, "url": url, "limit": limit}
        answer = send_command(layout.socket, "frontier-steer", **asked)
        number = int(answer["changed"])
    else:
        number = asyncio.run(change())
    what = output.count(number, "URI" if action in _OF_URIS else "queue")
    output.say_json({"changed": number}) if as_json else output.say(f"{what} {done}")
