"""`nacre console job …`: the console's data about a job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.console_books import Job, console_books
from nacre.cli.console_options import State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.fleet.books import ConsoleBooks
    from nacre.fleet.places import FoundJob

job = Program()


@job.callback()
def _job() -> None:
    """Names and tags of jobs, their place, and jobs that are not shown."""


@job.command("list")
def list_jobs(
    tag: Annotated[str, typer.Option("--tag", metavar="TAG", help="Only jobs with this tag.")] = "",
    folder: State = None,
    as_json: AsJson = False,
) -> None:
    """List the jobs of the console, including removed ones, with their names and tags."""
    from nacre.core.clock import iso

    with console_books(folder) as books:
        items, rows = list[dict[str, Any]](), list[tuple[str, ...]]()
        for entry in books.jobs():
            labels, removal = books.labels.of(entry), books.removals.find(str(entry.layout.root))
            if tag and tag not in labels.tags:
                continue
            removed = iso(removal.time) if removal is not None else None
            facts = {
                "id": entry.id, "directory": str(entry.layout.root), "place": entry.place,
                "name": labels.name or entry.name, "tags": list(labels.tags), "removed": removed,
            }  # fmt: skip
            items.append(facts)
            tags, state = (
                ", ".join(labels.tags) or "-",
                f"removed {removed}" if removed else "shown",
            )
            rows.append((entry.id, labels.name or entry.name, tags, state))
    if as_json:
        output.say_json(items)
        return
    head = ("id", "name", "tags", "state")
    output.say(output.table([head, *rows]) if rows else "no jobs; no console was started there yet")


@job.command("label")
def label_job(
    directory: Job,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", show_default=False,
            help="Name to show; empty: the name of the directory.",
        ),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option(
            "--tag", metavar="TAG", show_default=False,
            help="Tag; can be repeated, and replaces all other tags.",
        ),
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Change the name and the tags of a job in the console; omitted values do not change."""
    import msgspec

    from nacre.core.message_data import to_plain
    from nacre.fleet.job_books import JobLabelsWish, changed_labels

    labels = JobLabelsWish(
        name=msgspec.UNSET if name is None else name,
        tags=() if no_tags else msgspec.UNSET if tags is None else tuple(tags),
    )
    with console_books(state) as books:
        entry = books.job(directory)
        before = books.labels.of(entry)
        after = changed_labels(before, labels)
        if after != before:
            books.labels.set(entry, after)
            books.note("nacre console job label", entry, before, after)
    if as_json:
        output.say_json(to_plain(after))
        return
    output.say(f"{entry.id}: {after.name or entry.name}; tags: {', '.join(after.tags) or 'none'}")


@job.command("wanted")
def wanted_kinds(
    directory: Job,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add", metavar="PREFIX", show_default=False,
            help="Prefix of the URLs of a wanted kind; can be repeated.",
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove", metavar="PREFIX", show_default=False,
            help="Prefix of a kind that is no longer wanted; can be repeated.",
        ),
    ] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """List, add or remove kinds of URLs for which no banner warns of a trap."""
    from nacre.fleet.job_books import kinds_of

    with console_books(state) as books:
        entry = books.job(directory)
        before = after = books.wanted.of(entry)
        if add or remove:
            after = books.wanted.set(entry, kinds_of(before, add or (), remove or ()))
            books.note("nacre console job wanted", entry, list(before), list(after))
    if as_json:
        output.say_json({"prefixes": list(after)})
        return
    for prefix in after:
        output.say(prefix)


@job.command("move")
def move_job(
    directory: Job,
    label: Annotated[
        str,
        typer.Argument(metavar="LABEL", help="Label of the other place.", show_default=False),
    ],
    state: State = None,
) -> None:
    """Move a job at rest to another place, with its name, tags, quota and schedules."""
    from nacre.errors import JobError
    from nacre.fleet.job_folders import rename_job

    with console_books(state) as books:
        entry, home = books.job(directory), books.home(label)
        target = home.root / entry.layout.root.name
        if target.exists() and target.samefile(entry.layout.root):
            output.say(f"{entry.id} is there already")
            return
        if books.removals.find(str(entry.layout.root)) is not None:
            raise JobError(
                f"{entry.id} is removed from the console: "
                f"`nacre console job show {output.typed(entry.id)}` shows it again first"
            )
        books.require_rest(entry)
        before = str(entry.layout.root)
        rename_job(entry.layout.root, target)
        books.of_jobs.move(before, target)
        moved = books.job(target)
        books.schedules.move(before, str(target), moved.id)
        books.note(
            "nacre console job move", moved, {"directory": before}, {"directory": str(target)}
        )
    output.say(f"{entry.id} is {moved.id} now: {output.format_path(target)}")


@job.command("remove")
def remove_job(directory: Job, state: State = None) -> None:
    """Remove a job at rest from the console; its files stay, and `show` restores it."""
    from nacre.fleet.places import JobRemoval

    with console_books(state) as books:
        entry = books.job(directory)
        _require_no_start(books, entry)
        root = entry.layout.root
        books.removals.put(JobRemoval(str(root), books.now(), books.who))
        books.note("nacre console job remove", entry, {"directory": str(root)}, None)
    output.say(
        f"{entry.id} is removed from the console; its files stay in {output.format_path(root)}"
    )


def _require_no_start(books: "ConsoleBooks", job: "FoundJob") -> None:
    """Refuse a job that runs, will be started, or has schedules.

    Raises:
        JobError: It does.
        RefusedRequestError: It has schedules.
    """
    from nacre.fleet.schedule_book import require_unscheduled

    books.require_rest(job)
    require_unscheduled(books.schedules, job)


@job.command("show")
def show_job(directory: Job, state: State = None) -> None:
    """Show a removed job in the console again."""
    from nacre.errors import JobError

    with console_books(state) as books:
        entry = books.job(directory)
        root: Path = entry.layout.root
        if books.removals.find(str(root)) is None:
            raise JobError(f"{entry.id} is not removed; `nacre console job list` lists all")
        books.removals.drop(str(root))
        books.note("nacre console job show", entry, None, {"directory": str(root)})
    output.say(f"{entry.id} is shown again")
