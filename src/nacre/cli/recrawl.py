"""`nacre recrawl`: visit a finished job again, and keep what changed."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nacre.cli.options import AsJson, Assignments, JobDir, Quiet
from nacre.cli.output import typed
from nacre.core.clock import Clock

if TYPE_CHECKING:
    from nacre.job.operator.continuous import WhenDue
    from nacre.job.runs.following import Following
    from nacre.job.runs.passes import Passes, Rhythm

Keep = Literal["strict", "lean", "delta"]


BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="N",
        show_default=False,
        help="What it may cost: requests (500), bytes (2GB) or time (3h), all passes of any 24 "
        "hours together with /day (5000/day); without it, what the wanted recall takes "
        "(recrawl.recall).",
    ),
]
Kept = Annotated[
    Keep,
    typer.Option(
        "--keep",
        metavar="strict|lean|delta",
        help="strict: every reply whose bytes are new is stored; lean: pages in which only "
        "markup, noise or the template differs leave a note; delta: pages that resemble an "
        "earlier version are stored as differences from it.",
    ),
]
Every = Annotated[
    str,
    typer.Option(
        "--every",
        metavar="TIME",
        show_default=False,
        help="Go on for ever: a pass begins so long after the beginning of the one before, "
        "such as 6h; URLs come back in it when they are due.",
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="CRON",
        show_default=False,
        help="Go on for ever, passes by a calendar: five fields of cron, or @daily.",
    ),
]
Zone = Annotated[
    str, typer.Option("--time-zone", metavar="NAME", help="Of --at, such as Asia/Shanghai.")
]
Continuous = Annotated[
    bool,
    typer.Option(
        "--continuous",
        help="Go on for ever: a pass begins when the next page is due, by its schedule or by "
        "what a visit is worth, and not sooner than recrawl.gap after the one before.",
    ),
]
Times = Annotated[
    int,
    typer.Option("--times", metavar="N", min=0, help="End after so many passes; 0: never."),
]
Full = Annotated[bool, typer.Option("--full", help="Visit everything, as the first run did.")]


def _typed_rhythm(every: str, at: str, zone: str) -> str:
    """The options that say when passes begin, as a shell takes them."""
    if every:
        return f"--every {typed(every)}"
    if at:
        return f"--at {quote(at)}" + ("" if zone == "UTC" else f" --time-zone {typed(zone)}")
    return "--continuous"


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
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Visit a job again: what is new, changed or gone, as cheaply as what is known allows.

    A new run begins, beside those before it; a run that was interrupted goes on.

    With --every, --at or --continuous the crawl never ends: pass follows pass, each a run of its
    own.
    """
    from nacre.errors import ConfigError
    from nacre.job.runs.newrun import FULL, INCREMENTAL
    from nacre.job.runs.passes import parse_rhythm

    rhythm = parse_rhythm(every, at, zone, continuous=continuous)
    if full and budget and not (rhythm or continuous):
        raise ConfigError("--full visits everything and knows no --budget; leave one of them out")
    mode = FULL if full else INCREMENTAL
    one = _Pass(
        directory, assignments or (), mode, budget, keep,
        quiet=quiet, as_json=as_json, continuous=continuous,
    )  # fmt: skip
    if rhythm is None and not continuous:
        raise typer.Exit(_pass(one))
    from nacre.cli.passes import pass_after_pass
    from nacre.job.clock import SystemClock
    from nacre.job.layout import Layout

    clock = SystemClock()
    recurrence = _Again(one, rhythm, clock)
    said = _typed_rhythm(every, at, zone)
    raise typer.Exit(
        pass_after_pass(Layout(directory), recurrence, clock, rhythm=said, times=times)
    )


class _Pass(NamedTuple):
    directory: Path
    assignments: list[str] | tuple[str, ...]
    mode: str
    budget: str
    keep: Keep
    quiet: bool
    as_json: bool
    continuous: bool = False


class _Again:
    """See `passes.Recurrence`: the first pass as it was asked for, incremental ones after it.

    Args:
        one: The first.
        rhythm: When passes begin; None: as pages become due.
        clock: The time.
    """

    def __init__(self, one: _Pass, rhythm: "Rhythm | None", clock: Clock) -> None:
        self._one = one
        self._rhythm = rhythm
        self._clock = clock

    def make(self) -> int:
        """See `Recurrence`."""
        from nacre.job.runs.newrun import INCREMENTAL

        one = self._one
        self._one = one._replace(mode=INCREMENTAL)
        return _pass(one)

    def first(self) -> "Following | None":
        """See `Recurrence`: at once, but where passes are made as pages become due."""
        from nacre.job.runs.following import Following
        from nacre.job.runs.newrun import INCREMENTAL

        now = self._clock.now()
        if self._rhythm is None and self._one.mode == INCREMENTAL:
            return self._when_due().begins(now)
        return Following(now)

    def expected(self, began: float) -> "Following | None":
        """See `Recurrence`."""
        return self._rhythm and self._rhythm.following(began, began)

    def following(self, began: float) -> "Following | None":
        """See `Recurrence`."""
        passes: Passes = self._rhythm or self._when_due()
        return passes.following(began, self._clock.now())

    def _when_due(self) -> "WhenDue":
        """By the settings as they are now."""
        from nacre.job.configuration.configure import load_job
        from nacre.job.layout import Layout
        from nacre.job.operator.continuous import WhenDue
        from nacre.job.stored import require_store

        layout = Layout(self._one.directory)
        require_store(layout)
        settings = load_job(layout, self._one.assignments).settings
        return WhenDue(layout, settings, self._one.budget)


def _pass(one: _Pass) -> int:
    """One run; its exit code."""
    from nacre.cli.jobs import examined, run_and_tell
    from nacre.cli.output import warn
    from nacre.job.layout import Layout
    from nacre.job.offline import plan_next
    from nacre.job.operator.control import running

    layout = Layout(one.directory)
    loaded, findings = examined(layout, one.assignments)
    findings.require()
    warn(findings.idle)
    if loaded is None:
        raise typer.Exit(2)
    if not running(layout.socket):
        plan_next(layout, loaded.settings, mode=one.mode, budget=one.budget, keep=one.keep)
    return run_and_tell(
        layout, loaded.settings, quiet=one.quiet, as_json=one.as_json, origin=loaded.origin
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Crawl")(recrawl)
