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
        found = [
            {"label": home.label, "directory": str(home.root), "added": home.root in added}
            for home in books.homes()
        ]
    if as_json:
        output.say_json(found)
        return
    rows = [
        (
            one["label"], output.shown(Path(str(one["directory"]))),
            "added" if one["added"] else "named at the start",
        )
        for one in found
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
    from nacre.console.fleet.place_book import checked_place
    from nacre.console.fleet.standing import held_elsewhere
    from nacre.errors import JobError

    with console_books(state) as books:
        known, taken = tuple(books.homes()), books.places.labels
        made = checked_place(str(directory.absolute()), known, os.getuid(), taken)
        elsewhere = held_elsewhere(made)
        if elsewhere is not None:
            raise JobError(f"{elsewhere.words}: end that one first")
        books.places.add(made)
        facts = {"label": made.label, "directory": str(made.root)}
        books.note("nacre console place add", None, None, facts)
    output.say(f"added {made.label}: {output.shown(made.root)}")


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
        given = Path(label).absolute()
        found = [home for home in books.homes() if label == home.label or home.root == given]
        if not found:
            raise JobError(f"there is no place {label!r}; `nacre console place list` lists them")
        if not books.places.remove(found[0].root):
            raise JobError(
                f"{found[0].root} was named when the console was started: leave it out at the "
                "next start"
            )
        facts = {"label": found[0].label, "directory": str(found[0].root)}
        books.note("nacre console place remove", None, facts, None)
    output.say(f"removed {found[0].label}; its jobs stay")
