"""`nacre frontier DIR import`: lists of URLs, recovery journals and crawl logs become URIs."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, job_of
from nacre.errors import ConfigError

if TYPE_CHECKING:
    from nacre.job.imports import ImportOptions, ImportTally

_LONGEST = 65_536
"""Characters of a piece of stdin: a longer line is not a URL."""

_STDIN = Path("-")


def import_uris(  # noqa: PLR0917 - typer reads them by name
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Lines of a recovery journal, or one URL per line; `.gz`: compressed; `-`: stdin.",
            show_default=False,
        ),
    ],
    recover: Annotated[
        bool,
        typer.Option(
            "--recover",
            help="FILE is a recovery journal (Heritrix's frontier.recover): mark succeeded "
            "URIs as seen, then schedule the unseen ones.",
        ),
    ] = False,
    crawl_log: Annotated[
        bool,
        typer.Option(
            "--crawl-log",
            help="FILE is a crawl.log: mark finished URIs as seen, and schedule failed ones.",
        ),
    ] = False,
    seeds: Annotated[
        bool, typer.Option("--seeds", help="FILE is a seed list: its URLs become seeds.")
    ] = False,
    retain_failures: Annotated[
        bool,
        typer.Option(
            "--retain-failures",
            help="With --recover or --crawl-log: mark failed URIs as seen instead of "
            "scheduling them.",
        ),
    ] = False,
    scope: Annotated[bool, typer.Option("--scope", help="Import only URIs in scope.")] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also schedule URIs that were deleted or fetched before."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Schedule URIs, in scope or not; journal lines Fs, Ff, Fd and Fi mark them as seen."""
    from nacre.job.imports import ImportMode, ImportOptions

    if recover + crawl_log + seeds > 1:
        raise ConfigError("a file is a recovery journal, a crawl.log or a seed list: say one")
    if recover and file == _STDIN:
        raise ConfigError("a recovery journal is read twice, so it must be a file")
    way_of = ImportMode.CRAWL_LOG if crawl_log else ImportMode.SEEDS if seeds else ImportMode.IMPORT
    modes = (ImportMode.FINISHED, ImportMode.PENDING) if recover else (way_of,)
    options = ImportOptions(way_of, scoped=scope, force=force, retain_failures=retain_failures)
    passes = [options._replace(way=mode) for mode in modes]
    _tell(_import_passes(job_of(ctx), file, passes), as_json=as_json)


def _import_passes(directory: Path, file: Path, passes: "Sequence[ImportOptions]") -> "ImportTally":
    """Import a file in one or more passes, and print the rejected lines."""
    from nacre.cli.operations import context_of
    from nacre.job.imports import ImportTally
    from nacre.ops.uri_import import file_lines, import_lines

    lines = _stdin_lines if file == _STDIN else partial(file_lines, file)
    total = ImportTally()
    for options in passes:
        for imported in import_lines(context_of(directory), lines, options):
            total.add(imported.tally)
            for number, text, reason in imported.rejected:
                output.tell(f"line {number}: {reason}: {output.safe(text)}")
    return total


def _tell(total: "ImportTally", *, as_json: bool) -> None:
    import msgspec

    if as_json:
        output.say_json(msgspec.to_builtins(total, enc_hook=str))
        return
    passed = f", {total.passed:,} of no account" if total.passed else ""
    output.say(
        f"scheduled {output.count(total.scheduled, 'URI')}; {total.known:,} known before, "
        f"{total.done:,} marked as seen{passed}, {output.count(total.rejected, 'bad line')}"
    )


@contextmanager
def _stdin_lines() -> Iterator[Iterable[str]]:
    """The lines of stdin; a line over 64 kB comes in pieces."""
    yield iter(lambda: sys.stdin.readline(_LONGEST), "")


COMMANDS = {"import": import_uris}
"""The functions of the commands, by name."""
