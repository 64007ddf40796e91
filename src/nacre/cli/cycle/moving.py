"""`nacre cycle DIR import|export`: in and out of Nutch and of the continuous crawl."""

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import CommonOptions, opened, step_command
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.cycle.readers import looking
from nacre.cli.options import AsJson, job_of
from nacre.cli.output import count
from nacre.errors import ConfigError
from nacre.rounds.opening import clock_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nacre.rounds.tables.readers import TableView

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
            metavar="JOB|NUTCH_DIR", show_default=False,
            help="The directory of a continuous crawl; or a CrawlDb, LinkDb, HostDb or segments of "
            "Nutch, or the directory that has them.",
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
    """Bring what a continuous crawl or Apache Nutch knows into DIR.

    Of a URL that is known here, too, the newest visit counts; to import again what did not change
    changes nothing. The WARC files of JOB are named in the archive of DIR, and stay where they are.
    Java is not needed. A DIR that is not there gets the configuration of JOB.
    """
    from nacre.cli.cycle.moving_text import import_numbers, say_import
    from nacre.rounds.moving.nutch_import import NutchOptions, import_nutch, nutch_places
    from nacre.rounds.moving.nutch_segments import import_segments, segment_places

    if (source / "crawl.yaml").is_file():
        _import_job(job_of(ctx), source, common)
        return
    places = nutch_places(source)
    with opened(job_of(ctx), common.setup) as context:
        result = segments = None
        if any((places.crawldb, places.linkdb, places.hostdb)):
            result = import_nutch(context, places, NutchOptions(filtered, normalize, salvage))
        if places.segments is not None and not (common.dry and result is not None):
            paths = segment_places(places.segments)
            segments = import_segments(context, paths, salvage=salvage)
    if common.as_json:
        output.say_json(import_numbers(result, segments))
    else:
        say_import(result, segments, dry=common.dry)


def _import_job(target: Path, source: Path, common: CommonOptions) -> None:
    from nacre.cli.cycle.moving_text import job_text
    from nacre.inspect.stored_job import require_store
    from nacre.machine.layout import Layout
    from nacre.rounds.moving.job_import import import_job

    require_store(Layout(source))
    with (
        _configured(target, source, dry=common.dry) as directory,
        opened(directory, common.setup) as context,
    ):
        result = import_job(context, Layout(source))
    if common.as_json:
        version = result.taken.version.number if result.taken.version is not None else None
        outcome = {**result.taken._asdict(), "version": version}
        archive = {"warcs": result.warcs, "located": result.located}
        output.say_json({**result.rows._asdict(), **archive, "taken": outcome})
    else:
        output.say(job_text(result, dry=common.dry))
        if directory != target:
            names = output.shown(target), output.shown(source)
            output.say("{} would be made, with the configuration of {}".format(*names))


@contextmanager
def _configured(target: Path, source: Path, *, dry: bool) -> "Iterator[Path]":
    """The directory, with the configuration of the job where it has none; of a dry run a copy."""
    from nacre.rounds.moving.job_export import copy_configuration

    if target.exists() and any(target.iterdir()):
        yield target
    elif not dry:
        copy_configuration(source, target)
        yield target
    else:
        with TemporaryDirectory(prefix="import-") as folder:
            copy_configuration(source, Path(folder))
            yield Path(folder)


@step_command
def merge(
    ctx: typer.Context,
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="OTHER_DIR", help="Their directories.", show_default=False),
    ],
    *,
    filtered: Annotated[
        bool, typer.Option("--filter", help="Leave out what the scope of DIR refuses.")
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Bring URLs into the form that DIR gives them.")
    ] = False,
    common: CommonOptions,
) -> None:
    """Bring the URLs, links and hosts of other batch crawls into the tables of this one.

    Of a URL that several know, the newest visit counts. The WARC files with the captures of what is
    taken are named in the archive of DIR, and stay where they are. To merge again changes nothing.
    """
    from nacre.cli.cycle.moving_text import merge_text
    from nacre.cli.cycle.texts import result_numbers
    from nacre.machine.layout import Layout
    from nacre.rounds.steps.merge import MergeOptions
    from nacre.rounds.steps.merge import merge as run
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.load import load_job

    with opened(job_of(ctx), common.setup) as context:
        cycles = []
        for path in directories:
            layout = Layout(path)
            cycles.append(Cycle.open(layout.root, load_job(layout).settings.cycle.storage))
        result = run(context, cycles, MergeOptions(filtered, normalize))
    if common.as_json:
        output.say_json(result_numbers(result))
    else:
        output.say(merge_text(result, dry=common.dry))


def export(
    ctx: typer.Context,
    target: Annotated[
        Path,
        typer.Argument(metavar="JOB|FILE|FOLDER", help="What is made of it.", show_default=False),
    ],
    *,
    seeds: Annotated[
        bool,
        typer.Option("--nutch-seeds", help="Write a seed list for Nutch into FILE; -: to stdout."),
    ] = False,
    parquet: Annotated[
        bool,
        typer.Option(
            "--parquet",
            help="Keep a table of all URLs for other engines in FOLDER: Parquet, one row a URL. "
            "Only what changed since the last export is written.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a continuous crawl JOB of what DIR knows, a seed list for Nutch, or a flat table.

    JOB gets the configuration and all URLs: those that were fetched as known, the others waiting,
    in the order of their scores, and of equal scores in that in which they were found.
    """
    import asyncio

    from nacre.machine.layout import Layout

    if seeds and parquet:
        raise ConfigError("--nutch-seeds makes a file, and --parquet a folder: give one of them")
    with looking(ctx) as (layout, view):
        if seeds:
            _write_seeds(view, target)
            return
        if parquet:
            _write_flat(view, target, as_json=as_json)
            return
        from nacre.rounds.moving.job_export import export_job
        from nacre.settings.load import load_job

        settings = load_job(layout).settings
        moved = asyncio.run(export_job(view, settings, layout, Layout(target), clock_of("")))
    if as_json:
        output.say_json(moved._asdict())
        return
    output.say(f"{count(moved.visited, 'URL')} known, {moved.waiting:,} wait")
    command = "run" if moved.waiting else "recrawl"
    output.say(f"Start: {output.program()} {command} {output.typed(target)}")


def _write_flat(view: "TableView", folder: Path, *, as_json: bool) -> None:
    from nacre.rounds.tables.flat_table import export_flat

    result = export_flat(view, folder)
    if as_json:
        output.say_json(result._asdict())
        return
    removed = f", {result.removed:,} removed" if result.removed else ""
    output.say(
        f"{count(result.rows, 'URL')} of version {result.version} in {output.shown(folder)}: "
        f"{count(result.written, 'file')} written, {result.unchanged:,} unchanged{removed}"
    )


def _write_seeds(view: "TableView", target: Path) -> None:
    from nacre.rounds.moving.nutch_rows import nutch_seeds

    lines = nutch_seeds(view)
    if str(target) == "-":
        for line in lines:
            typer.echo(line)  # as it is: between its parts are TABs
        return
    number = 0
    temporary = target.with_name(f".{target.name}.new")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for number, line in enumerate(lines, 1):  # noqa: B007 - their number in the end
                file.write(f"{line}\n")
        temporary.replace(target)
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}") from error
    output.say(f"{count(number, 'seed')} in {output.shown(target)}")


def register(program: CycleProgram) -> None:
    """Add the commands."""
    program.command("export", rich_help_panel="Tables")(export)
    program.command("import", rich_help_panel="Tables")(import_)
    program.command("merge", rich_help_panel="Tables")(merge)
