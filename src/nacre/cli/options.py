"""Arguments and options that several commands have."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from nacre.catalogue.holdings import Holding
    from nacre.core.clock import Clock
    from nacre.machine.layout import Layout
    from nacre.settings.settings import JobSettings

JobDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="Directory of the job.", show_default=False)
]
Target = Annotated[
    str,
    typer.Argument(
        metavar="JOB|COLLECTION|FILE", show_default=False,
        help="Directory of a job, name of a collection, or a WARC or WACZ file.",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show internal details.")]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", show_default=False,
        help="Write the report to FILE as one HTML page, with plots.",
    ),
]  # fmt: skip
Language = Literal["en", "zh"]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
By = Annotated[
    str,
    typer.Option(
        "--by", metavar="NAME", show_default=False,
        help="User on whose behalf the command runs, for job.log.",
    ),
]  # fmt: skip
Now = Annotated[
    str | None,
    typer.Option(
        "--now", metavar="TIME", show_default=False,
        help="Begin at this time instead of the current time, for tests and replays: ISO 8601 "
             "(UTC without a zone) or 14 digits. The archive, the logs, the history and the "
             "planner follow it; timeouts, politeness and TLS do not.",
    ),
]  # fmt: skip
NewDir = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", rich_help_panel="How", show_default=False,
        help="Directory of the job; default: crawls/HOST-TIME.",
    ),
]  # fmt: skip
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Set any other setting.", show_default=False),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Treat an invalid line of a seed list as an error.")
]

Regex = Annotated[
    str,
    typer.Option(
        "--regex", "-r", metavar="REGEX", help="Only URLs that match.", show_default=False
    ),
]


_LONG_READ = 64_000_000
"""Bytes of a file from which the progress of its index is printed."""


def clock_at(now: str | None) -> "Clock":
    """The clock of a command with `--now`; the machine's for None.

    Raises:
        ConfigError: It is no time.
    """
    from nacre.machine.clock import MovedClock, SystemClock

    return SystemClock() if now is None else MovedClock(seconds_at("--now", now))


def seconds_at(option: str, text: str) -> float:
    """A time that was typed, seconds since the epoch.

    Raises:
        ConfigError: It is none.
    """
    from nacre.core.clock import parse_time
    from nacre.errors import ConfigError, Problem

    try:
        return parse_time(text)
    except ValueError as error:
        hint = "an ISO 8601 time, UTC without a zone, or 14 digits"
        raise ConfigError(
            [Problem("", f"{option} {error}", hint, "2026-11-23T02:00:00Z")]
        ) from None


def job_of(ctx: typer.Context) -> Path:
    """The directory behind the name of a group: `nacre frontier DIR list`."""
    group = ctx.parent
    if group is None:
        raise RuntimeError(f"{ctx.command_path} belongs to no group")
    return Path(group.params["directory"])


def is_typed(ctx: typer.Context, name: str) -> bool:
    """Return whether a parameter was typed, also with its default value."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def holding_of(targets: Sequence[str | Path]) -> "Holding":
    """Open jobs, collections and files; gaps and damage are warnings.

    The progress is printed if a file of 64 MB or more has to be read for its index.
    """
    from nacre.catalogue.holdings import open_holding
    from nacre.cli import output
    from nacre.report.formatting import size

    shares: set[int] = set()

    def tell(done: int, total: int) -> None:
        share = 10 * done // total if total >= _LONG_READ else 0
        if share and share not in shares:
            shares.add(share)
            output.tell(f"nacre: made the index of {size(done)} of {size(total)}")

    holding = open_holding(targets, tell=tell)
    for warning in holding.warnings:
        output.tell(f"nacre: warning: {warning}")
    return holding


def layout_and_settings(directory: Path) -> "tuple[Layout, JobSettings]":
    """A job's directories and settings."""
    from nacre.machine.layout import Layout
    from nacre.settings.load import load_job

    layout = Layout(directory)
    return layout, load_job(layout).settings
