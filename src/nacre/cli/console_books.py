"""The console's files as commands open them: an argument for jobs, and the books."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output

if TYPE_CHECKING:
    from nacre.fleet.books import ConsoleBooks
    from nacre.fleet.database import BrokenRow

Job = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", show_default=False,
        help="Directory of the job, or its id in the console.",
    ),
]  # fmt: skip


@contextmanager
def console_books(state: Path | None) -> "Iterator[ConsoleBooks]":
    """Open the books of a console.

    Args:
        state: Folder of its files; None for the default folder.
    """
    from nacre.fleet.books import ConsoleBooks
    from nacre.fleet.database import state_folder
    from nacre.machine.clock import SystemClock

    with closing(ConsoleBooks(state or state_folder(), SystemClock())) as books:
        yield books


def tell_broken(rows: "Mapping[int, BrokenRow]") -> None:
    """Report rows that cannot be read.

    Args:
        rows: The rows by their numbers.
    """
    for row in rows.values():
        output.tell(f"nacre: {row.words}")
