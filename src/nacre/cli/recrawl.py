"""`nacre recrawl`: visit a finished job again, and keep what changed."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nacre.cli.options import AsJson, Assignments, JobDir, Quiet
from nacre.cli.output import tell
from nacre.core.clock import Clock
from nacre.job.states import ExitCode

if TYPE_CHECKING:
    from nacre.job.operator.continuous import WhenDue
    from nacre.job.runs.passes import Following, Passes, Rhythm

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
    raise typer.Exit(_passes(one, rhythm, times))


class _Pass(NamedTuple):
    directory: Path
    assignments: list[str] | tuple[str, ...]
    mode: str
    budget: str
    keep: Keep
    quiet: bool
    as_json: bool
    continuous: bool = False


_ENDS = frozenset(
    (
        ExitCode.ERROR,
        ExitCode.USAGE,
        ExitCode.INTERRUPTED,
        ExitCode.STOPPED,
        ExitCode.NOTHING_ARCHIVED,
    )
)
"""Exit codes after which no further pass begins: a fault, or somebody's wish."""
_LONGEST_NAP = 30.0
_SET_BACK = 60.0
"""A clock that was set back by more than this, seconds: what was planned by it is planned again."""
_NOTHING = "No further pass: nothing will be due."


def _passes(one: _Pass, rhythm: "Rhythm | None", times: int) -> int:
    """One pass, or pass after pass; the exit code of the last."""
    from nacre.job.clock import SystemClock
    from nacre.job.runs.newrun import INCREMENTAL

    clock, done = SystemClock(), 0
    begins = one.continuous and one.mode == INCREMENTAL
    if begins and not _wait(lambda: _when_due(one).begins(clock.now()), clock, first=True):
        return 0
    while True:
        began = clock.now()
        code = _pass(one)
        done += 1
        if not (one.continuous or rhythm) or code in _ENDS or done == times:
            return code
        if not _wait(partial(_following, one, rhythm, began, clock), clock):
            return code
        one = one._replace(mode=INCREMENTAL)


def _following(
    one: _Pass, rhythm: "Rhythm | None", began: float, clock: Clock
) -> "Following | None":
    passes: Passes = rhythm or _when_due(one)
    return passes.following(began, clock.now())


def _when_due(one: _Pass) -> "WhenDue":
    """Passes as pages become due; by the settings as they are now."""
    from nacre.job.configuration.configure import load_job
    from nacre.job.layout import Layout
    from nacre.job.offline import require_store
    from nacre.job.operator.continuous import WhenDue

    layout = Layout(one.directory)
    require_store(layout)
    return WhenDue(layout, load_job(layout, one.assignments).settings, one.budget)


def _wait(ask: "Callable[[], Following | None]", clock: Clock, *, first: bool = False) -> bool:
    """Sleep until a pass begins; False when none does any more, or the user ends it."""
    try:
        following = ask()
        if following is None:
            tell(_NOTHING)
            return False
        until, why = following
        if until > clock.now() or not first:
            _tell_next(until, why)
        # Short naps, so that a clock that was set or a machine that slept does not matter.
        while (left := until - (slept := clock.now())) > 0:
            time.sleep(min(left, _LONGEST_NAP))
            if clock.now() < slept - _SET_BACK:
                return _wait(ask, clock)
    except KeyboardInterrupt:
        return False
    return True


def _tell_next(until: float, why: str) -> None:
    from nacre.report.forms import to_the_second

    because = f" ({why})" if why else ""
    tell(f"Next pass: {to_the_second(until)} UTC{because}. Ctrl-C ends here; nothing is open.")


def _pass(one: _Pass) -> int:
    """One run; its exit code."""
    from nacre.cli.jobs import examined, run_and_tell
    from nacre.job.layout import Layout
    from nacre.job.offline import plan_next
    from nacre.job.operator.control import running

    layout = Layout(one.directory)
    loaded, findings = examined(layout, one.assignments)
    findings.require()
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
