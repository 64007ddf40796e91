"""`nacre console place …`: directories in which the console looks for jobs."""

import os
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.console_books import console_books
from nacre.cli.console_options import State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

place = Program()


@place.callback()
def _place() -> None:
    """Directories in which the console looks for jobs, beside those of its start."""


@place.command("list")
def list_places(state: State = None, as_json: AsJson = False) -> None:
    """List the places: those of the last started console, and those that were added."""
    with console_books(state) as books:
        added = set(books.places.all())
        items = [
            {"label": home.label, "directory": str(home.root), "added": home.root in added}
            for home in books.homes()
        ]
    if as_json:
        output.say_json(items)
        return
    rows = [
        (
            item["label"], output.format_path(Path(str(item["directory"]))),
            "added" if item["added"] else "named at the start",
        )
        for item in items
    ]  # fmt: skip
    head = ("label", "directory", "since")
    output.say(output.table([head, *rows]) if rows else "no places: no console was started yet")


@place.command("add")
def add_place(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory with jobs.", show_default=False)
    ],
    state: State = None,
) -> None:
    """Add a place; its jobs are shown at once, and after each restart."""
    from nacre.errors import JobError
    from nacre.fleet.place_book import checked_place
    from nacre.fleet.standing import held_elsewhere

    with console_books(state) as books:
        homes, labels = tuple(books.homes()), books.places.labels
        new_place = checked_place(str(directory.absolute()), homes, os.getuid(), labels)
        elsewhere = held_elsewhere(new_place)
        if elsewhere is not None:
            raise JobError(f"{elsewhere.words}: end that one first")
        books.places.add(new_place)
        facts = {"label": new_place.label, "directory": str(new_place.root)}
        books.note("nacre console place add", None, None, facts)
    output.say(f"added {new_place.label}: {output.format_path(new_place.root)}")


@place.command("remove")
def remove_place(
    label: Annotated[
        str,
        typer.Argument(
            metavar="LABEL|DIR", help="Label of the place, or its directory.", show_default=False
        ),
    ],
    state: State = None,
) -> None:
    """Remove an added place; its jobs stay and continue."""
    from nacre.errors import JobError

    with console_books(state) as books:
        path = Path(label).absolute()
        matches = [home for home in books.homes() if label == home.label or home.root == path]
        if not matches:
            raise JobError(f"there is no place {label!r}; `nacre console place list` lists them")
        if not books.places.remove(matches[0].root):
            raise JobError(
                f"{matches[0].root} was named when the console was started: leave it out at the "
                "next start"
            )
        facts = {"label": matches[0].label, "directory": str(matches[0].root)}
        books.note("nacre console place remove", None, facts, None)
    output.say(f"removed {matches[0].label}; its jobs stay")
