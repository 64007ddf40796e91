"""`nacre cycle DIR import`: what Nutch knows comes into the tables of a directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
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
from nacre.cli.cycle.texts import refused_text
from nacre.cli.options import job_of
from nacre.cli.output import count

if TYPE_CHECKING:
    from nacre.cycle.moving.nutch_import import ImportResult

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
        return
    for line in result.messages:
        output.tell(f"left out: {line}")
    output.say(import_text(result))


def import_text(result: "ImportResult") -> str:
    """`10 records: 10 URLs, 10 new, 0 newer; 3 links, 2 hosts`."""
    taken = result.taken
    text = f"{count(result.records, 'record')}: {count(taken.known, 'URL')}, {taken.new:,} new, "
    text += f"{taken.newer:,} newer; {count(result.links, 'link')}, {count(taken.hosts, 'host')}"
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    left = [(result.no_urls, "key without a URL", "keys without a URL")]
    left.append((result.damaged, "damaged record", "damaged records"))
    for number, one, many in left:
        text += f"; left out: {number:,} {one if number == 1 else many}" if number else ""
    kept = ", ".join(f"{number:,} of {name}" for name, number in sorted(result.unknown.items()))
    return text + (f"; kept as bytes: {kept}" if kept else "")


def import_numbers(result: "ImportResult") -> dict[str, Any]:
    """The same as plain data."""
    version = result.version.number if result.version is not None else None
    taken = {**result.taken._asdict(), "version": version}
    return {**result._asdict(), "taken": taken, "version": version}


def register(program: CycleProgram) -> None:
    """Add the commands."""
    program.command("import", rich_help_panel="Tables")(import_)
