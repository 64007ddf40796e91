"""`nacre migrate`: configurations of other crawlers become jobs."""

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from nacre.cli.options import AsJson
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.rounds.moving.nutch_import import ImportResult
    from nacre.rounds.moving.nutch_segments import SegmentsResult
    from nacre_migrate.answers import UnansweredError
    from nacre_migrate.draft import Draft
    from nacre_migrate.report import MigrationReport

    Moved = tuple[ImportResult, SegmentsResult | None]

migrate = Program(help="Make a job from the configuration of another crawler.")

_OUT = typer.Option("--out", metavar="DIR", help="Directory of the new job.", show_default=False)


def _table(name: str, title: str) -> Any:  # noqa: ANN401 - an option of typer
    return typer.Option(
        f"--{name}", metavar="DIR", help=f"Its {title}, which is brought in.", show_default=False,
    )  # fmt: skip


_CLASS = typer.Option(
    "--class", metavar="CLASS=WHAT", show_default=False,
    help="Treat an unknown class or plug-in as this component, such as org.x.Y=warc-writer; "
         "`drop` omits it. Can be repeated.",
)  # fmt: skip
_CLASSES = typer.Option(
    "--classes", metavar="FILE", show_default=False,
    help="File with one CLASS=WHAT per line; `#` begins a comment.",
)  # fmt: skip


@migrate.command()
def nutch(
    directory: Annotated[
        Path,
        typer.Argument(metavar="CONFDIR", help="Nutch's conf directory.", show_default=False),
    ],
    out: Annotated[Path, _OUT],
    *,
    seeds: Annotated[
        Path | None,
        typer.Option(
            "--seeds", metavar="PATH", show_default=False,
            help="Seeds, a file or a directory; default: `urls` or `seeds` in CONFDIR.",
        ),
    ] = None,
    classes: Annotated[list[str] | None, _CLASS] = None,
    answers: Annotated[Path | None, _CLASSES] = None,
    crawldb: Annotated[Path | None, _table("crawldb", "CrawlDb")] = None,
    linkdb: Annotated[Path | None, _table("linkdb", "LinkDb")] = None,
    hostdb: Annotated[Path | None, _table("hostdb", "HostDb")] = None,
    segments: Annotated[
        Path | None,
        typer.Option(
            "--segments", metavar="DIR", show_default=False,
            help="Segments of Nutch, whose pages are imported into the archive.",
        ),
    ] = None,
    salvage: Annotated[
        bool,
        typer.Option("--salvage", help="Omit unreadable records of tables."),
    ] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Create a job from an Apache Nutch 1.x configuration: properties, filters, seeds.

    With --crawldb, create a job of batch rounds with the data of Nutch.
    """
    from nacre_migrate.answers import UnansweredError, read_answers
    from nacre_migrate.nutch.convert import convert

    try:
        class_answers = read_answers(classes or (), answers)
        draft, report = convert(directory, seeds, class_answers, os.environ)
    except UnansweredError as error:
        options = ["--seeds", str(seeds)] if seeds is not None else []
        _ask(["nutch", str(directory), "--out", str(out), *options], classes, answers, error)
    tables = {"crawldb": crawldb, "linkdb": linkdb, "hostdb": hostdb, "segments": segments}
    sources = {name: path for name, path in tables.items() if path is not None}
    _write(out, draft, report, _plan_import(out, sources, salvage=salvage), as_json=as_json)


def _plan_import(
    out: Path, sources: Mapping[str, Path], *, salvage: bool
) -> "Callable[[], Moved] | None":
    """The import of tables of Nutch into the new job; None if there are none.

    Raises:
        ConfigError: A directory has no such table.
    """
    if not sources:
        return None
    from nacre.cli.output import tell
    from nacre.rounds.moving.nutch_import import (
        NutchOptions,
        NutchPlaces,
        import_nutch,
        require_tables,
    )
    from nacre.rounds.moving.nutch_segments import import_segments, segment_places
    from nacre.rounds.opening import open_step

    places = NutchPlaces(**sources)
    require_tables(places)
    segments = segment_places(places.segments) if places.segments is not None else []

    def run_import() -> "Moved":
        with open_step(out, warn=lambda text: tell(f"nacre: {text}")) as context:
            tables = import_nutch(context, places, NutchOptions(salvage=salvage))
            if not segments:
                return tables, None
            return tables, import_segments(context, segments, salvage=salvage)

    return run_import


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
            help="Contact, a web page or a mail address, in place of the one in FILE.",
        ),
    ] = "",
    classes: Annotated[list[str] | None, _CLASS] = None,
    answers: Annotated[Path | None, _CLASSES] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Create a job from a Heritrix configuration: scope, sheets, policies, seeds."""
    from nacre_migrate.answers import UnansweredError, read_answers
    from nacre_migrate.heritrix.convert import convert

    try:
        class_answers = read_answers(classes or (), answers)
        draft, report = convert(file, contact, class_answers, os.environ)
    except UnansweredError as error:
        options = ["--contact", contact] if contact else []
        _ask(["heritrix", str(file), "--out", str(out), *options], classes, answers, error)
    _write(out, draft, report, as_json=as_json)


@migrate.command()
def browsertrix(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="YAML file of `--config`, or JSON.", show_default=False
        ),
    ],
    out: Annotated[Path, _OUT],
    contact: Annotated[
        str,
        typer.Option(
            "--contact", metavar="TEXT", show_default=False,
            help="Contact, a web page or a mail address, in place of the one in FILE.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Create a job from a configuration of Browsertrix Crawler: seeds, scope, behaviors, limits.

    All pages are run in a browser (`browser.use: always`).
    """
    from nacre_migrate.browsertrix.convert import convert

    draft, report = convert(file, contact)
    _write(out, draft, report, as_json=as_json)


def _ask(
    typed: list[str], classes: list[str] | None, file: Path | None, error: "UnansweredError"
) -> NoReturn:
    """All questions, and the command that answers them as was inferred."""
    from nacre.cli import output

    output.complain(error)
    answers = [*(classes or ()), *(question.answer for question in error.questions)]
    options = ["--classes", str(file)] if file is not None else []
    options += [part for answer in answers for part in ("--class", answer)]
    output.tell(
        f"nacre: no job was written, because what these classes do would be missing from it. "
        f"With the answers that were inferred:\n\n"
        f"    {output.program()} migrate {shlex.join([*typed, *options])}\n\n"
        "or put the answers into a file, one a line, and say `--classes FILE`."
    )
    raise typer.Exit(2)


def _numbers(moved: "Moved") -> dict[str, Any]:
    # Late: the words of batch rounds bring their tables along.
    from nacre.cli.cycle.tables import import_numbers
    from nacre.ops.round_tables import NutchImport

    return {"imported": import_numbers(NutchImport(*moved))}


def _say(moved: "Moved") -> None:
    from nacre.cli import output
    from nacre.cli.cycle.tables import nutch_text, tell_left_out
    from nacre.ops.round_tables import NutchImport

    result = NutchImport(*moved)
    tell_left_out(result)
    output.say(nutch_text(result))


def _write(
    out: Path,
    draft: "Draft",
    report: "MigrationReport",
    moved: "Callable[[], Moved] | None" = None,
    *,
    as_json: bool,
) -> None:
    from nacre.cli import output
    from nacre_migrate.draft import REPORT, write_job

    write_job(out, draft, report)
    imported = moved() if moved is not None else None
    if as_json:
        more = _numbers(imported) if imported is not None else {}
        output.say_json({**report.as_json(), **more})
        return
    output.say(report.summary())
    for line in report.advice:
        output.say(f"  {line}")
    if imported is not None:
        _say(imported)
    where = output.format_path(out)
    output.say(f"What was done with each setting: {where}/{REPORT}.txt")
    output.say(f"Next: {output.program()} check {output.typed(out)}")
