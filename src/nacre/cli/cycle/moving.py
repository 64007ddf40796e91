"""`nacre cycle DIR import`: what Nutch knows comes into the tables of a directory."""

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.cycle.moving_text import import_numbers, say_import
from nacre.cli.cycle.opening import (
    CommonOptions,
    opened,
    step_command,
)
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.options import job_of

Salvage = Annotated[
    bool,
    typer.Option("--salvage", help="Leave out records that cannot be read, and go on behind them."),
]


@step_command
def import_(
    ctx: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="NUTCH_DIR", show_default=False,
            help="A CrawlDb, LinkDb, HostDb or segments of Nutch, or the directory that has them.",
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
    common: CommonOptions,
) -> None:  # fmt: skip
    """Bring the URLs, links, hosts and pages that Apache Nutch has into DIR.

    Of a URL that is known here, too, the newest visit counts. Java is not needed.
    """
    from nacre.cycle.moving.nutch_import import NutchOptions, import_nutch, nutch_places
    from nacre.cycle.moving.nutch_segments import import_segments, segment_places

    with opened(job_of(ctx), common) as context:
        places = nutch_places(source)
        result = segments = None
        if any((places.crawldb, places.linkdb, places.hostdb)):
            result = import_nutch(context, places, NutchOptions(filtered, normalize, salvage))
        if places.segments is not None and not (common.dry and result is not None):
            found = segment_places(places.segments)
            segments = import_segments(context, found, salvage=salvage)
    if common.as_json:
        output.say_json(import_numbers(result, segments))
    else:
        say_import(result, segments)


def register(program: CycleProgram) -> None:
    """Add the commands."""
    program.command("import", rich_help_panel="Tables")(import_)
