"""`nacre cycle DIR import`: what Nutch knows comes into the tables of a directory."""

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.cycle.moving_text import import_numbers, say_import
from nacre.cli.cycle.opening import (
    AsJson,
    Assignments,
    At,
    CommonOptions,
    DryRun,
    EngineName,
    Master,
    Quiet,
    Tasks,
    opened,
)
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.options import job_of

Salvage = Annotated[
    bool,
    typer.Option("--salvage", help="Leave out records that cannot be read, and go on behind them."),
]


def import_(
    ctx: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="NUTCH_DIR", show_default=False,
            help="A CrawlDb, LinkDb or HostDb of Nutch, or the directory that has them.",
        ),
    ],
    *,
    filtered: Annotated[
        bool, typer.Option("--filter", help="Leave out what the scope of DIR refuses.")
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Bring URLs into the form that DIR gives them.")
    ] = False,
    salvage: Salvage = False,
    engine: EngineName = "local",
    master: Master = "",
    tasks: Tasks = 0,
    at: At = "",
    dry: DryRun = False,
    assignments: Assignments = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Bring the URLs, links and hosts that Apache Nutch knows into the tables of DIR.

    Of a URL that is known here, too, the newest visit counts. Java is not needed.
    """
    from nacre.cycle.moving.nutch_import import NutchOptions, import_nutch, nutch_places

    common = CommonOptions(engine, master, tasks, at, tuple(assignments or ()), dry)
    with opened(job_of(ctx), common) as context:
        options = NutchOptions(filtered, normalize, salvage)
        result = import_nutch(context, nutch_places(source), options)
    if as_json:
        output.say_json(import_numbers(result))
    else:
        say_import(result)


def register(program: CycleProgram) -> None:
    """Add the commands."""
    program.command("import", rich_help_panel="Tables")(import_)
