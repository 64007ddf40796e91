"""`nacre migrate`: configurations of other crawlers become jobs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.migrate.draft import Draft
    from nacre.migrate.report import Report

migrate = Program(help="Make a job of the configuration of another crawler.")

_OUT = typer.Option("--out", metavar="DIR", help="Directory of the new job.", show_default=False)


@migrate.command()
def nutch(
    directory: Annotated[
        Path,
        typer.Argument(metavar="CONFDIR", help="Nutch's conf directory.", show_default=False),
    ],
    out: Annotated[Path, _OUT],
    seeds: Annotated[
        Path | None,
        typer.Option(
            "--seeds", metavar="PATH", show_default=False,
            help="Its seeds, a file or a directory; else `urls` or `seeds` in CONFDIR.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Apache Nutch 1.x: nutch-site.xml, nutch-default.xml, URL filters, normalizers, seeds."""
    from nacre.migrate.nutch.convert import convert

    draft, report = convert(directory, seeds)
    _write(out, draft, report, as_json=as_json)


@migrate.command()
def heritrix(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="crawler-beans.cxml or order.xml.", show_default=False
        ),
    ],
    out: Annotated[Path, _OUT],
    contact: Annotated[
        str,
        typer.Option(
            "--contact", metavar="TEXT", show_default=False,
            help="Who crawls: a web page or a mail address, in place of what FILE says.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Heritrix 3 (crawler-beans.cxml) or 1 (order.xml): scope, sheets, policies, seeds."""
    from nacre.migrate.heritrix.convert import convert

    draft, report = convert(file, contact)
    _write(out, draft, report, as_json=as_json)


def _write(out: Path, draft: "Draft", report: "Report", *, as_json: bool) -> None:
    from nacre.cli import output
    from nacre.migrate.draft import REPORT, write_job

    write_job(out, draft, report)
    if as_json:
        output.say_json(report.as_json())
        return
    output.say(report.summary())
    for line in report.advice:
        output.say(f"  {line}")
    where = output.shown(out)
    output.say(f"What became of each: {where}/{REPORT}.txt")
    output.say(f"Next: {output.program()} check {output.typed(out)}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(migrate, name="migrate", rich_help_panel="Rules and settings")
