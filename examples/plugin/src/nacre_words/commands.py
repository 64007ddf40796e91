"""`nacre words`: the pages with the most words."""

from pathlib import Path
from typing import Annotated

import typer

import nacre


def words(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of the job.")],
    top: Annotated[int, typer.Option("--top", min=1, help="Pages that are listed.")] = 10,
) -> None:
    """List the pages with the most words in the latest run of a job."""
    log = nacre.open_job(directory).layout.latest / "logs" / "words.log"
    lines = log.read_text().splitlines() if log.exists() else []
    counted = sorted((line.split(" ", 1) for line in lines), key=lambda pair: -int(pair[0]))
    for count, url in counted[:top]:
        typer.echo(f"{count:>7} {url}")


def register(app: typer.Typer) -> None:
    """See docs/plugins.md: add the command."""
    app.command()(words)
