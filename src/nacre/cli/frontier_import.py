"""`nacre frontier DIR import`: lists of URLs, recovery journals and crawl logs become URIs."""

import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, job_of, layout_and_settings
from nacre.errors import ConfigError

if TYPE_CHECKING:
    from nacre.job.frontier_edits import Imported
    from nacre.job.imports import ImportOptions, ImportTally

_LINES = 1000
"""Lines that are sent to a running job at a time."""

_LONGEST = 65_536
"""Characters of a line; what is longer is not a URL."""

_STDIN = Path("-")


def import_uris(  # noqa: PLR0917 - typer reads them by name
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Journal lines, or a URL a line; `.gz`: compressed; - for stdin.",
            show_default=False,
        ),
    ],
    recover: Annotated[
        bool,
        typer.Option(
            "--recover",
            help="FILE is a recovery journal (Heritrix's frontier.recover): first what succeeded "
            "is marked as seen, then what is not seen is scheduled.",
        ),
    ] = False,
    crawl_log: Annotated[
        bool,
        typer.Option(
            "--crawl-log",
            help="FILE is a crawl.log: what is done is marked as seen, what failed is scheduled.",
        ),
    ] = False,
    seeds: Annotated[
        bool, typer.Option("--seeds", help="FILE is a seed list: its URLs become seeds.")
    ] = False,
    retain_failures: Annotated[
        bool,
        typer.Option(
            "--retain-failures",
            help="With --recover or --crawl-log: what failed is marked as seen, not tried again.",
        ),
    ] = False,
    scope: Annotated[bool, typer.Option("--scope", help="Only what is in scope.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also what was deleted or done before."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Schedule URIs, in scope or not; lines Fs, Ff, Fd and Fi of a journal mark them as seen."""
    from nacre.job.imports import ImportMode, ImportOptions, ImportTally

    if recover + crawl_log + seeds > 1:
        raise ConfigError("a file is a recovery journal, a crawl.log or a seed list: say one")
    if recover and file == _STDIN:
        raise ConfigError("a recovery journal is read twice, so it must be a file")
    journal = (ImportMode.FINISHED, ImportMode.PENDING)
    way_of = ImportMode.CRAWL_LOG if crawl_log else ImportMode.SEEDS if seeds else ImportMode.IMPORT
    total = ImportTally()
    for way in journal if recover else (way_of,):
        options = ImportOptions(way, scoped=scope, force=force, retain_failures=retain_failures)
        for imported in import_file(job_of(ctx), file, options):
            _add(total, imported.tally)
            for number, text, why in imported.rejected:
                output.tell(f"line {number}: {why}: {output.safe(text)}")
    _tell(total, as_json=as_json)


def _add(total: "ImportTally", more: "ImportTally") -> None:
    for name in total.__struct_fields__:
        setattr(total, name, getattr(total, name) + getattr(more, name))


def _tell(total: "ImportTally", *, as_json: bool) -> None:
    import msgspec

    if as_json:
        output.say_json(msgspec.to_builtins(total))
        return
    passed = f", {total.passed:,} of no account" if total.passed else ""
    output.say(
        f"scheduled {output.count(total.scheduled, 'URI')}; {total.known:,} known before, "
        f"{total.done:,} marked as seen{passed}, {output.count(total.rejected, 'bad line')}"
    )


def import_file(directory: Path, path: Path, options: "ImportOptions") -> "Iterator[Imported]":
    """Take the lines of a file into the frontier: those of a running job in portions.

    Args:
        directory: The job.
        path: The file; `-` for stdin.
        options: How its lines are taken.

    Raises:
        ConfigError: The file cannot be read.
        JobError: The run of the job is over, or it refuses.
        StorageError: The store cannot be written.
    """
    import asyncio

    import msgspec

    from nacre.job.control import is_running, send_command
    from nacre.job.frontier_edits import Imported
    from nacre.job.stopped_job import open_stopped

    layout, settings = layout_and_settings(directory)
    if is_running(layout.socket):
        asked = msgspec.to_builtins(options)
        with _lines(path) as file:
            for first, lines in _chunks(file):
                answer = send_command(
                    layout.socket, "frontier-import", lines=lines, first=first, options=asked
                )
                yield msgspec.convert(answer["imported"], Imported)
        return

    async def change() -> Imported:
        with _lines(path) as file:
            async with open_stopped(layout, settings, new=True) as editor:
                return await editor.import_lines(file, options)

    yield asyncio.run(change())


@contextmanager
def _lines(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file, compressed or not, or of stdin; one over 64 kB comes in pieces.

    Files are in any encoding that a seed list may have.

    Raises:
        ConfigError: It cannot be read.
    """
    from nacre.engine.seeding.seedfile import WIDE, decoded_lines, file_coding, open_bytes

    if path == _STDIN:
        yield iter(lambda: sys.stdin.readline(_LONGEST), "")
        return
    try:
        with open_bytes(path) as packed:
            codec = file_coding(path)
            if not codec.startswith(WIDE) and b"\0" in packed.peek(_LONGEST):
                raise ConfigError(
                    f"{path} cannot be read: it is not text: there are NUL bytes in it"
                )
            yield decoded_lines(packed, codec)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error


def _chunks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Chunks of lines with the number of their first one."""
    first, rest = 1, iter(lines)
    while chunk := list(islice(rest, _LINES)):
        yield first, chunk
        first += len(chunk)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import")(import_uris)
