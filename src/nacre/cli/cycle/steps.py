"""The steps as separate commands: `nacre cycle DIR inject|generate|fetch|update`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import (
    CommonOptions,
    limit_command,
    opened,
    signals_to,
    step_command,
    warn,
)
from nacre.cli.options import job_of
from nacre.ops.round_requests import RoundsRequest

if TYPE_CHECKING:
    from pathlib import Path

    from nacre.cli.cycle.program import CycleProgram
    from nacre.rounds.steps.context import StepContext
    from nacre.rounds.steps.refilter import RefilterResult

_GIVEN = "Given URLs"

Lists = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL|FILE",
        help="Seeds, or files of them with metadata behind tabs; default: the job's own list.",
        show_default=False,
    ),
]


@step_command
def inject(
    ctx: typer.Context,
    lists: Lists = None,
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Seeds replace what is known of their URLs.")
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update", help="Known rows keep their state and take metadata, score and interval."
        ),
    ] = False,
    no_filter: Annotated[
        bool, typer.Option("--no-filter", help="Take seeds that filters refuse, too.")
    ] = False,
    no_normalize: Annotated[
        bool, typer.Option("--no-normalize", help="Leave seeds as they are written.")
    ] = False,
    refilter: Annotated[
        bool,
        typer.Option("--refilter", help="Judge and normalize all known URLs, too."),
    ] = False,
    common: CommonOptions,
) -> None:
    """Bring seeds into the table of URLs.

    A line is a URL; behind tabs may stand metadata, `nutch.score=`, `nutch.fetchInterval=` and
    `nutch.fetchInterval.fixed=` among them.
    """
    from nacre.cli.cycle.texts import inject_numbers, inject_text, refilter_text, tell_malformed
    from nacre.ops.round_steps import inject_lists
    from nacre.rounds.steps.inject import InjectOptions

    options = InjectOptions(overwrite, update, filter=not no_filter, normalize=not no_normalize)
    with opened(job_of(ctx), common.setup) as context:
        result = inject_lists(context, lists or (), options, warn)
        again = _refiltered(context, filter_known=refilter, normalize_known=refilter)
    tell_malformed(result)
    if common.as_json:
        output.say_json({**inject_numbers(result), **_again_numbers(again)})
        return
    output.say(inject_text(result))
    if again is not None:
        output.say(refilter_text(again))


def _refiltered(
    context: "StepContext", *, filter_known: bool, normalize_known: bool
) -> "RefilterResult | None":
    """All known URLs judged and normalized as far as that is asked for; None: not at all."""
    from nacre.rounds.steps.refilter import RefilterOptions
    from nacre.rounds.steps.refilter import refilter as run

    if not filter_known and not normalize_known:
        return None
    return run(context, RefilterOptions(filter=filter_known, normalize=normalize_known))


def _again_numbers(again: "RefilterResult | None") -> dict[str, Any]:
    from nacre.cli.cycle.texts import refilter_numbers

    return {} if again is None else {"refilter": refilter_numbers(again)}


Segments = Annotated[
    int | None,
    typer.Option(
        "--segments", metavar="N", min=1, show_default=False,
        help="Lists that are made. Default: cycle.generate.segments, 1.",
    ),
]  # fmt: skip
Where = Annotated[
    str,
    typer.Option(
        "--where", metavar="SQL", show_default=False,
        help="Only URLs for which this is true, over the columns that readdb and sql show.",
    ),
]  # fmt: skip
AddDays = Annotated[
    float,
    typer.Option("--add-days", metavar="D", help="Days by which the clock is ahead."),
]  # fmt: skip
NoFilter = Annotated[
    bool,
    typer.Option("--no-filter", help="Do not ask changed rules about what is known."),
]  # fmt: skip
NoNormalize = Annotated[
    bool,
    typer.Option("--no-normalize", help="Caps count hosts as they are, not as normalized."),
]  # fmt: skip
GivenUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--urls", metavar="URL|FILE", show_default=False, rich_help_panel=_GIVEN,
        help="List these URLs, or those of a file, whatever is known of them.",
    ),
]  # fmt: skip
FilterGiven = Annotated[
    bool,
    typer.Option("--filter", rich_help_panel=_GIVEN, help="Filters judge the URLs of --urls."),
]  # fmt: skip
NormalizeGiven = Annotated[
    bool,
    typer.Option(
        "--normalize", rich_help_panel=_GIVEN, help="Normalizers rewrite the URLs of --urls."
    ),
]  # fmt: skip


@step_command
@limit_command("top", "units", "time_limit")
def generate(
    ctx: typer.Context,
    *,
    limits: RoundsRequest,
    segments: Segments = None,
    where: Where = "",
    add_days: AddDays = 0.0,
    no_filter: NoFilter = False,
    no_normalize: NoNormalize = False,
    urls: GivenUrls = None,
    filter_urls: FilterGiven = False,
    normalize_urls: NormalizeGiven = False,
    common: CommonOptions,
) -> None:  # fmt: skip
    """Choose what is fetched next, the best first, and write a list for each unit."""
    from nacre.cli.cycle.texts import generate_numbers, generate_text
    from nacre.core.states import ExitCode
    from nacre.ops.round_steps import generate_options, list_limits
    from nacre.rounds.fetch_check import fetch_check
    from nacre.rounds.steps.generate import generate as run

    list_limits(limits)
    if _of_given(ctx, urls or (), filter_urls=filter_urls, normalize_urls=normalize_urls):
        _generate_given(job_of(ctx), common, ctx.params)
        return
    with opened(job_of(ctx), common.setup) as context:
        options = generate_options(
            context, list_limits(limits, segments or 0), where=where, add_days=add_days,
            filters=not no_filter, normalizes=not no_normalize,
        )  # fmt: skip
        result = run(context, options, fetch_check(context))
    if common.as_json:
        output.say_json(generate_numbers(result))
    else:
        output.say(generate_text(result))
        say_segments(result.segments)
    raise typer.Exit(ExitCode.FINISHED if result.selected else ExitCode.NOTHING_DUE)


def _of_given(
    ctx: typer.Context, urls: Sequence[str], *, filter_urls: bool, normalize_urls: bool
) -> bool:
    """Whether the list is of given URLs.

    Raises:
        ConfigError: Options of the one are given with the other.
    """
    from nacre.errors import ConfigError

    chosen = ("top", "segments", "where", "add_days", "no_filter", "no_normalize", "time_limit")
    for param in ctx.command.params:
        source = ctx.get_parameter_source(str(param.name))
        if urls and param.name in chosen and source is not None and source.name == "COMMANDLINE":
            raise ConfigError(
                f"{param.opts[0]} chooses among known URLs, and --urls names them: give one of them"
            )
    if not urls and (filter_urls or normalize_urls):
        name = "--filter" if filter_urls else "--normalize"
        raise ConfigError(
            f"{name} is for the URLs of --urls; `generate` asks changed rules about known URLs "
            "anyway, and `inject --refilter` normalizes them, too"
        )
    return bool(urls)


def _generate_given(directory: "Path", common: CommonOptions, params: Mapping[str, Any]) -> None:
    """List the URLs of `--urls`."""
    from nacre.cli.cycle.texts import given_numbers, given_text, tell_malformed
    from nacre.core.states import ExitCode
    from nacre.ops.round_steps import ListLimits
    from nacre.ops.seed_input import seed_input
    from nacre.rounds.fetch_check import fetch_check
    from nacre.rounds.steps.given import GivenOptions, generate_given

    given_input = seed_input(params["urls"], [], [], "URL")
    for note in given_input.notes:
        output.tell(f"nacre: {note}")
    with opened(directory, common.setup) as context:
        limits = ListLimits(units=params["units"])
        units = limits.units_of(context.settings.cycle, context.engine.workers)
        options = GivenOptions(
            units, filter=params["filter_urls"], normalize=params["normalize_urls"]
        )
        result = generate_given(context, given_input.lists, options, fetch_check(context))
    tell_malformed(result)
    if params["as_json"]:
        output.say_json(given_numbers(result))
    else:
        output.say(given_text(result))
        say_segments(result.segments)
    raise typer.Exit(ExitCode.FINISHED if result.selected else ExitCode.NOTHING_DUE)


@step_command
@limit_command("time_limit")
def fetch(
    ctx: typer.Context,
    segment: Annotated[
        str,
        typer.Argument(
            metavar="SEGMENT", help="Default: the one that waits longest.", show_default=False
        ),
    ] = "",
    *,
    parallel: Annotated[
        int,
        typer.Option("--parallel", metavar="N", min=0, help="Fetches at the same time in a unit."),
    ] = 0,
    limits: RoundsRequest,
    common: CommonOptions,
) -> None:
    """Fetch the lists of a segment. What was interrupted goes on where it was."""
    from nacre.cli.cycle.display import display_of
    from nacre.cli.cycle.texts import fetch_lines, fetch_numbers, fetch_progress_text, fetch_text
    from nacre.core.states import ExitCode
    from nacre.ops.round_steps import list_limits, set_values
    from nacre.rounds.journal import GENERATED, StopSignal, waiting
    from nacre.rounds.pushing import push_rounds
    from nacre.rounds.steps.fetch import FetchOptions
    from nacre.rounds.steps.fetch import fetch as run

    display = display_of(quiet=common.quiet, as_json=common.as_json)
    display.step("", "fetch")

    def report(_name: str, numbers: Mapping[str, Any]) -> None:
        display.progress(numbers, fetch_progress_text(numbers))

    longest = list_limits(limits)
    with (
        opened(job_of(ctx), common.setup, report) as context,
        signals_to(StopSignal(context.layout)) as stop,
    ):
        waits = waiting(context.cycle.newest(), GENERATED)
        if not segment and not waits:
            output.tell(f"nacre: no segment waits: `nacre cycle {context.layout.root} generate`")
            raise typer.Exit(ExitCode.NOTHING_DUE)
        if common.dry:
            _say_list(context, segment or waits[0], as_json=common.as_json)
            return
        options = FetchOptions(
            parallel=parallel,
            time_limit=longest.seconds_of(context.settings.cycle),
            stopped=lambda: bool(stop.signals),
        )
        set_values(context, segment or waits[0], common.setup.assignments)
        result = run(context, segment or waits[0], options)
        display.leave()
        push_rounds(context.layout, context.settings, display.note)
    if common.as_json:
        output.say_json(fetch_numbers(result))
    else:
        output.say("\n".join(filter(None, (fetch_text(result), fetch_lines(result)))))
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    raise typer.Exit(ExitCode.FAULTS if result.faults else ExitCode.FINISHED)


def say_segments(names: "Sequence[str]") -> None:
    """Print the names of new segments, which other commands take."""
    for name in names:
        output.say(f"segment {name}")


def _say_list(context: "StepContext", segment: str, *, as_json: bool) -> None:
    """What `fetch` would do with a segment."""
    from nacre.cli.cycle.texts import time_text
    from nacre.rounds.tables.versions import state_of

    state = state_of(context.cycle.newest(), segment)
    if as_json:
        numbers = {"state": state.state, "urls": state.urls, "units": state.units}
        output.say_json({"segment": segment, **numbers, "until": state.until})
        return
    if state.state != "generated":
        output.say(f"{segment} is fetched already")
        return
    until = f", leased until {time_text(state.until)}" if state.until else ""
    urls, units = output.count(state.urls, "URL"), output.count(state.units, "unit")
    output.say(f"{segment}: {urls} in {units}{until}")


@step_command
def update(
    ctx: typer.Context,
    segments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SEGMENT", help="Default: all that were fetched.", show_default=False
        ),
    ] = None,
    *,
    no_additions: Annotated[
        bool,
        typer.Option(
            "--no-additions", help="Add no URLs: neither those that links name, nor visited ones."
        ),
    ] = False,
    filter_known: Annotated[
        bool, typer.Option("--filter", help="Then ask changed rules about all known URLs.")
    ] = False,
    normalize_known: Annotated[
        bool, typer.Option("--normalize", help="Then bring all known URLs into their normal form.")
    ] = False,
    common: CommonOptions,
) -> None:
    """Bring what was fetched into the table of URLs."""
    from nacre.cli.cycle.texts import (
        refilter_text,
        transitions_table,
        update_numbers,
        update_text,
    )
    from nacre.rounds.steps.update import UpdateOptions
    from nacre.rounds.steps.update import update as run

    with opened(job_of(ctx), common.setup) as context:
        additions = context.settings.cycle.update.additions and not no_additions
        result = run(context, UpdateOptions(additions), segments or ())
        again = _refiltered(context, filter_known=filter_known, normalize_known=normalize_known)
    if common.as_json:
        output.say_json({**update_numbers(result), **_again_numbers(again)})
        return
    output.say(update_text(result))
    if result.transitions:
        output.say(transitions_table(result))
    if again is not None:
        output.say(refilter_text(again))


def register(program: "CycleProgram") -> None:
    """Add the commands."""
    program.command("inject", rich_help_panel="Steps")(inject)
    program.command("generate", rich_help_panel="Steps")(generate)
    program.command("fetch", rich_help_panel="Steps")(fetch)
    program.command("update", rich_help_panel="Steps")(update)
