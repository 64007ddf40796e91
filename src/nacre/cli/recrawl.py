"""`nacre recrawl`: visit a finished job again, and keep what changed."""

from shlex import quote
from typing import Annotated, Literal

import typer

from nacre.cli.options import AsJson, Assignments, By, JobDir, Now, Quiet, clock_at
from nacre.cli.output import typed

Keep = Literal["strict", "lean", "delta"]


BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="N",
        show_default=False,
        help="Limit of the run: requests (500), bytes (2GB) or time (3h); with /day (5000/day) "
        "for all passes of any 24 hours. Default: as much as the target recall needs "
        "(recrawl.recall).",
    ),
]
Kept = Annotated[
    Keep,
    typer.Option(
        "--keep",
        metavar="strict|lean|delta",
        help="strict: store every reply with new bytes; lean: store a note for a page in which "
        "only markup, noise or the template differs; delta: store a page that resembles "
        "an earlier version as its difference.",
    ),
]
Every = Annotated[
    str,
    typer.Option(
        "--every",
        metavar="TIME",
        show_default=False,
        help="Repeat without end: begin a pass this long after the beginning of the previous "
        "one, such as 6h; it visits the due URLs.",
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="CRON",
        show_default=False,
        help="Repeat without end, by a calendar: cron's five fields, or @daily.",
    ),
]
Zone = Annotated[
    str,
    typer.Option("--time-zone", metavar="NAME", help="Time zone of --at, such as Asia/Shanghai."),
]
Continuous = Annotated[
    bool,
    typer.Option(
        "--continuous",
        help="Repeat without end: begin a pass when the next page is due, by its schedule or "
        "by the value of a visit, but not sooner than recrawl.gap after the previous one.",
    ),
]
Times = Annotated[
    int,
    typer.Option("--times", metavar="N", min=0, help="Stop after this many passes; 0: never."),
]
Full = Annotated[bool, typer.Option("--full", help="Visit everything, as the first run did.")]


def _typed_rhythm(every: str, at: str, zone: str) -> str:
    """The options that say when passes begin, as a shell takes them."""
    if every:
        return f"--every {typed(every)}"
    if at:
        return f"--at {quote(at)}" + ("" if zone == "UTC" else f" --time-zone {typed(zone)}")
    return "--continuous"


def _refuse_calendar_with_clock(at: str, now: str | None) -> None:
    """Refuse a calendar of passes together with another clock.

    Raises:
        ConfigError: Both options are given.
    """
    from nacre.errors import ConfigError

    if at and now is not None:
        raise ConfigError(
            "--at is a calendar of passes, by the real time; --now moves the clock of a run. "
            "Leave one of them out"
        )


def recrawl(
    directory: JobDir,
    *,
    budget: BudgetText = "",
    keep: Kept = "strict",
    full: Full = False,
    every: Every = "",
    at: At = "",
    zone: Zone = "UTC",
    continuous: Continuous = False,
    times: Times = 0,
    assignments: Assignments = None,
    now: Now = None,
    by: By = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Crawl a job again: find new, changed and missing pages with few requests.

    Begins a new run, or resumes an interrupted one. Earlier runs are kept.

    With --every, --at or --continuous, passes are repeated without end, each as a separate run.
    """
    from nacre.cli.output import tell, to_copy, warn
    from nacre.cli.running import run_and_summarize
    from nacre.errors import ConfigError
    from nacre.machine.layout import Layout
    from nacre.ops.passes import pass_after_pass
    from nacre.ops.recrawl import PassRequest, RepeatedRecrawl, plan_pass
    from nacre.runs.passes import parse_rhythm
    from nacre.runs.runs import FULL, INCREMENTAL

    _refuse_calendar_with_clock(at, now)
    clock = clock_at(now)
    Layout(directory).require_continuous()
    rhythm = parse_rhythm(every, at, zone, continuous=continuous)
    if full and budget and not (rhythm or continuous):
        raise ConfigError("--full visits everything and knows no --budget; leave one of them out")
    mode = FULL if full else INCREMENTAL
    request = PassRequest(mode, budget, keep, assignments or ())
    layout = Layout(directory)

    def run(request: PassRequest) -> int:
        planned = plan_pass(layout, request, clock)
        warn(planned.warnings)
        loaded = planned.loaded
        return run_and_summarize(
            layout, loaded.settings, clock,
            quiet=quiet, as_json=as_json, origin=loaded.origin, by=by,
        )  # fmt: skip

    if rhythm is None and not continuous:
        raise typer.Exit(run(request))
    recurrence = RepeatedRecrawl(layout, request, rhythm, clock, run)
    typed = _typed_rhythm(every, at, zone)
    raise typer.Exit(
        pass_after_pass(
            layout, recurrence, clock, lambda text: tell(to_copy(text)), rhythm=typed, times=times
        )
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Crawl")(recrawl)
