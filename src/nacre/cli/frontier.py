"""`nacre frontier DIR list|count|delete|export|import`: the URIs that wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import imports, output, queues
from nacre.cli.options import AsJson, Everything, JobDir, Regex, require_choice
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.frontier.listing import Entry

Queue = Annotated[
    str,
    typer.Option(
        "--queue", metavar="REGEX", help="Found in the queue key, such as com,example,.",
        show_default=False,
    ),
]  # fmt: skip

frontier = Program()


@frontier.callback(invoke_without_command=True)
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """The waiting URIs and their queues, whether the job runs or not.

    Without a command: how many wait, and in how many queues.
    """
    ctx.obj = directory
    if ctx.invoked_subcommand is None:
        _tell_how_many(directory)


def _tell_how_many(directory: Path) -> None:
    from nacre.cli.look import opened
    from nacre.frontier.roster import scan_queues
    from nacre.job.offline import reading

    with reading(*opened(directory)) as view:
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
        int, typer.Option("--limit", metavar="N", min=0, help="At most; 0: all.")
    ] = 100,
    as_json: AsJson = False,
) -> None:
    """List the waiting URIs, queue by queue, in their order."""
    with _entries(ctx.obj, regex, queue) as entries:
        for entry in islice(entries, limit or None):
            _print_entry(entry, as_json=as_json)
        if limit and next(entries, None) is not None:
            output.tell(f"and more; --limit 0 lists all, `nacre frontier {ctx.obj} count` counts")


def _print_entry(entry: "Entry", *, as_json: bool) -> None:
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
    from nacre.cli.look import opened
    from nacre.frontier.listing import count
    from nacre.job.intake.edits import matcher
    from nacre.job.offline import reading

    layout, settings = opened(ctx.obj)
    with reading(layout, settings) as view:
        number = count(view.store, matcher(regex), matcher(queue))
    output.say_json({"count": number}) if as_json else output.say(str(number))


@frontier.command("export")
def export_uris(ctx: typer.Context, regex: Regex = "", queue: Queue = "") -> None:
    """Write the waiting URIs as lines of a recovery journal: `F+ URI PATH VIA`."""
    from nacre.frontier.listing import export

    with _entries(ctx.obj, regex, queue) as entries:
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
    number = _delete(ctx.obj, regex, queue)
    if as_json:
        output.say_json({"deleted": number})
    else:
        output.say(f"deleted {output.count(number, 'URI')}")


def _delete(directory: Path, regex: str, queue: str) -> int:
    import asyncio

    from nacre.job.asking import delete_urls

    return asyncio.run(delete_urls(directory, regex, queue))


@contextmanager
def _entries(directory: Path, regex: str, queue: str) -> "Iterator[Iterator[Entry]]":
    """The entries that match, as of the last commit."""
    from nacre.cli.look import opened
    from nacre.frontier.listing import pending
    from nacre.job.intake.edits import matcher
    from nacre.job.offline import reading

    layout, settings = opened(directory)
    urls, queues = matcher(regex), matcher(queue)
    with reading(layout, settings) as view:
        yield pending(view.store, urls, queues)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    queues.register(frontier)
    imports.register(frontier)
    app.add_typer(frontier, name="frontier", rich_help_panel="Look")
