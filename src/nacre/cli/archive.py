"""`nacre archive DIR check|index|expand|digests|salvage`: the files of the captures."""

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir
from nacre.cli.program import Program
from nacre.job.states import ExitCode

archive = Program()


@archive.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """The files of the captures: check them, rebuild the index, expand, salvage."""
    ctx.obj = directory


@archive.command("check")
def check_archive(
    ctx: typer.Context,
    notes: Annotated[
        bool, typer.Option("--notes", help="Print each warning and note, not only errors.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify structure, fields, digests, gzip members, and the index against the content."""
    from nacre.archive.check import Checker
    from nacre.cli.archive_text import check_data, check_lines
    from nacre.cli.look import opened
    from nacre.job.holdings.warcs import warc_files
    from nacre.job.operator.absent import committed_sizes, known_files, missing_files

    layout, settings = opened(ctx.obj)
    checker = Checker()
    known = known_files(layout, settings)
    sizes = committed_sizes(known)
    for warc, index in warc_files(layout, settings):
        checker.file(warc, index, sizes.get(str(warc)))
    checker.finish()
    for file in missing_files(known):
        there = f"{file.size:,} bytes are there" if file.size is not None else "it is gone"
        message = f"{there}; {file.row.size:,} were committed"
        checker.note(file.path, file.size or 0, "file-missing", message)
    if as_json:
        output.say_json(check_data(checker))
    else:
        for line in check_lines(checker, layout.root, notes=notes):
            output.say(line)
    raise typer.Exit(ExitCode.DAMAGED if checker.damaged else 0)


@archive.command("index")
def rebuild(ctx: typer.Context) -> None:
    """Rebuild the index of every WARC from its content."""
    from nacre.cli.look import opened
    from nacre.job.operator.reindex import reindex

    damaged = False
    for index in reindex(*opened(ctx.obj)):
        output.say(f"{output.shown(index.made)}: {output.count(index.lines, 'line')}")
        for note in index.notes:
            output.tell(f"{output.shown(index.warc)}:{note}")
        damaged = damaged or bool(index.notes)
    raise typer.Exit(ExitCode.DAMAGED if damaged else 0)


@archive.command("expand")
def expand_archive(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", show_default=False,
            help="Where the WARCs go; else `expanded/` in the job.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Make ordinary responses of what `recrawl --keep delta` stored as differences.

    They go into WARCs of their own, with an index beside each. Together with the WARCs of the runs
    they serve any reader. The job is not changed, and the same is made each time.
    """
    from nacre.cli.look import opened
    from nacre.cli.next_steps import collection
    from nacre.job.holdings.expanding import expand
    from nacre.job.holdings.warcs import warc_files

    layout, settings = opened(ctx.obj)
    warcs = [warc for warc, _ in warc_files(layout, settings)]
    defects = count = 0
    for made in expand(warcs, folder or layout.root / "expanded"):
        count += 1
        defects += len(made.defects)
        output.say(
            f"{output.shown(made.path)}: {output.count(made.responses, 'response')}, "
            f"{output.count(made.revisits, 'revisit')}"
        )
        for defect in made.defects:
            output.tell(f"{output.shown(made.source)}:{defect}")
    if not count:
        output.say("no differences in this job")
    else:
        runs = output.typed(layout.root / "runs/*/archive/*.warc.gz")
        beside = output.typed((folder or layout.root / "expanded") / "*.warc.gz")
        output.say(f"Browse: wb-manager add {collection(layout.root.name)} {runs} {beside}")
    raise typer.Exit(ExitCode.DAMAGED if defects else 0)


@archive.command("digests")
def list_digests(
    ctx: typer.Context,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Of the bytes as they came: chunked replies with their chunk sizes, as Heritrix "
            "over HTTP/1.1 and warcio digest them.",
        ),
    ] = False,
) -> None:
    """Payload digest, date and URL of every capture, one a line."""
    from nacre.archive.payloads import PayloadDigests
    from nacre.cli.look import opened
    from nacre.job.holdings.warcs import warc_files

    digests = PayloadDigests(raw=raw)
    for warc, _ in warc_files(*opened(ctx.obj)):
        for one in digests.of(warc):
            output.say(f"{one.digest} {one.date} {one.url}")


@archive.command("salvage")
def salvage_archive(ctx: typer.Context) -> None:
    """Register captures that the store does not know, after it was restored or damaged."""
    from nacre.cli.look import opened
    from nacre.job.operator.salvage import salvage

    layout, settings = opened(ctx.obj)
    saved = salvage(layout, settings)
    for path in saved.moved:
        output.tell(f"moved aside: {output.shown(Path(path))}")
    output.say(
        f"registered {output.count(saved.captures, 'capture')} in "
        f"{output.count(saved.files, 'file')}"
    )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(archive, name="archive", rich_help_panel="Look")
