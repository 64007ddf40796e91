"""`nacre crawl` and `nacre new`: from URLs to a job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, NewDir, Now, Quiet, clock_at
from nacre.ops.job_options import JobOptions

if TYPE_CHECKING:
    from nacre.machine.layout import Layout
    from nacre.ops.new_job import NewJobResult
    from nacre.settings.settings import JobSettings


def print_made(result: "NewJobResult") -> "tuple[Layout, JobSettings]":
    """Print the notes and warnings about a new job; return its directories and settings."""
    for note in result.notes:
        output.tell(f"nacre: {note}")
    output.warn(result.warnings)
    return result.layout, result.settings


@with_options_of(JobOptions)
def crawl(
    *,
    options: JobOptions,
    out: NewDir = None,
    now: Now = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Crawl URLs now, with sensible defaults.

    Creates an ordinary job directory, so that all other commands work on it. Ctrl-C stops
    cleanly; `nacre run DIR` resumes.
    """
    from nacre.cli.running import run_and_summarize
    from nacre.ops.new_job import CRAWL_DEFAULTS, make_job

    clock = clock_at(now)
    layout, settings = print_made(make_job(options, out, "--out", clock, CRAWL_DEFAULTS))
    raise typer.Exit(run_and_summarize(layout, settings, clock, quiet=quiet, as_json=as_json))


def _list_profiles(is_set: bool) -> None:
    if is_set:
        from nacre.settings.layers import list_profiles

        output.say(
            output.table(
                [(profile.name, profile.purpose) for profile in list_profiles()], indent=""
            )
        )
        raise typer.Exit


@with_options_of(JobOptions)
def new(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory to create.", show_default=False)
    ],
    *,
    options: JobOptions,
    list_profiles: Annotated[
        bool,
        typer.Option(
            "--list-profiles", callback=_list_profiles, is_eager=True,
            rich_help_panel="What is crawled", help="List the profiles and exit.",
        ),
    ] = False,
) -> None:  # fmt: skip
    """Create a job directory with comments; `nacre run DIR` starts it."""
    from nacre.ops.new_job import make_job

    layout, _ = print_made(make_job(options, directory))
    program, job = output.program(), output.typed(layout.root)
    shown_root, settings = output.format_path(layout.root), output.format_path(layout.config)
    output.say(f"Made {shown_root}: settings in {settings}, seeds beside them.")
    output.say(f"Check:  {program} check {job}")
    output.say(f"Start:  {program} run {job}")


COMMANDS: Final = {"crawl": crawl, "new": new}
"""The functions of the commands, by name."""
