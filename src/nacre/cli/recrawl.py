"""`nacre recrawl`: visit a finished job again, and keep what changed."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nacre.cli.options import AsJson, Assignments, By, JobDir, Now, Quiet, clock_at
from nacre.cli.output import typed
from nacre.core.clock import Clock

if TYPE_CHECKING:
    from nacre.job.continuous import PassesWhenDue
    from nacre.runs.passes import NextPass, PassSchedule, RegularPasses

Keep = Literal["strict", "lean", "delta"]


BudgetText = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="N",
        show_default=False,
        help="Limit of the run: requests (500), bytes (2GB) or time (3h); with /day (5000/day) for "
        "all passes of any 24 hours. Without it, as much as the wanted recall takes "
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
        help="Repeat without end: begin a pass this long after the beginning of the last, such as "
        "6h; it visits the URLs that are due.",
    ),
]
At = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="CRON",
        show_default=False,
        help="Repeat without end, by a calendar: five fields of cron, or @daily.",
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
        help="Repeat without end: begin a pass when the next page is due, by its schedule or by "
        "the value of a visit, but not sooner than recrawl.gap after the last.",
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
    """Crawl a job again: find what is new, changed or gone, with few requests.

    Begins a new run, and keeps those before it; a run that was interrupted is resumed.

    With --every, --at or --continuous passes are repeated without end, each as a run of its own.
    """
    from nacre.errors import ConfigError
    from nacre.runs.passes import parse_rhythm
    from nacre.runs.runs import FULL, INCREMENTAL
    from nacre.store.layout import Layout

    if at and now is not None:
        raise ConfigError(
            "--at is a calendar of passes, by the real time; --now moves the clock of a run. "
            "Leave one of them out"
        )
    clock = clock_at(now)
    Layout(directory).require_continuous()
    rhythm = parse_rhythm(every, at, zone, continuous=continuous)
    if full and budget and not (rhythm or continuous):
        raise ConfigError("--full visits everything and knows no --budget; leave one of them out")
    mode = FULL if full else INCREMENTAL
    one = _Pass(
        directory, assignments or (), mode, budget, keep, clock,
        quiet=quiet, as_json=as_json, continuous=continuous, by=by,
    )  # fmt: skip
    if rhythm is None and not continuous:
        raise typer.Exit(_pass(one))
    from nacre.cli.passes import pass_after_pass

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
    clock: Clock
    quiet: bool
    as_json: bool
    continuous: bool = False
    by: str = ""


class _Again:
    """See `passes.Recurrence`: the first pass as it was asked for, incremental ones after it.

    Args:
        one: The first.
        rhythm: When passes begin; None: as pages become due.
        clock: The time.
    """

    def __init__(self, one: _Pass, rhythm: "RegularPasses | None", clock: Clock) -> None:
        self._one = one
        self._rhythm = rhythm
        self._clock = clock

    def make(self) -> int:
        """See `Recurrence`."""
        from nacre.runs.runs import INCREMENTAL

        one = self._one
        self._one = one._replace(mode=INCREMENTAL)
        return _pass(one)

    def first(self) -> "NextPass | None":
        """See `Recurrence`: at once, but where passes are made as pages become due."""
        from nacre.runs.passes import NextPass
        from nacre.runs.runs import INCREMENTAL

        now = self._clock.now()
        if self._rhythm is None and self._one.mode == INCREMENTAL:
            return self._when_due().begins(now)
        return NextPass(now)

    def expected(self, began: float) -> "NextPass | None":
        """See `Recurrence`."""
        return self._rhythm and self._rhythm.following(began, began)

    def following(self, began: float) -> "NextPass | None":
        """See `Recurrence`."""
        passes: PassSchedule = self._rhythm or self._when_due()
        return passes.following(began, self._clock.now())

    def _when_due(self) -> "PassesWhenDue":
        """By the settings as they are now."""
        from nacre.inspect.stored_job import require_store
        from nacre.job.continuous import PassesWhenDue
        from nacre.settings.load import load_job
        from nacre.store.layout import Layout

        layout = Layout(self._one.directory)
        require_store(layout)
        settings = load_job(layout, self._one.assignments).settings
        return PassesWhenDue(layout, settings, self._one.budget)


def _pass(one: _Pass) -> int:
    """One run; its exit code."""
    from nacre.cli.jobs import examined
    from nacre.cli.output import warn
    from nacre.cli.running import refuse_earlier, run_and_summarize
    from nacre.job.control import is_running
    from nacre.job.next_run import plan_next
    from nacre.store.layout import Layout

    layout = Layout(one.directory)
    loaded, findings = examined(layout, one.assignments)
    findings.require()
    warn(findings.idle)
    if loaded is None:
        raise typer.Exit(2)
    if not is_running(layout.socket):
        refuse_earlier(layout, one.clock)
        now = one.clock.now()
        plan_next(layout, loaded.settings, now, mode=one.mode, budget=one.budget, keep=one.keep)
    return run_and_summarize(
        layout, loaded.settings, one.clock,
        quiet=one.quiet, as_json=one.as_json, origin=loaded.origin, by=one.by,
    )  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Crawl")(recrawl)
