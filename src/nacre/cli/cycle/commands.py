"""`nacre cycle DIR`: rounds, where no step is named behind it, and the list of all steps."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nacre.cli import crawl
from nacre.cli.cycle import (
    index_step,
    moving,
    parsechecker,
    rank,
    readers,
    segments,
    sitemaps,
    steps,
    table_steps,
)
from nacre.cli.cycle.opening import (
    AsJson,
    Assignments,
    At,
    CommonOptions,
    DryRun,
    EngineName,
    Master,
    Quiet,
    Tasks,
    TimeLimit,
    Top,
    Units,
    list_limits,
    seconds_of,
)
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.installing import Yes
from nacre.cli.options import JobDir

cycle = CycleProgram()

_ROUNDS, _NEW = "Rounds", "A new directory"

Seeds = Annotated[
    list[str] | None,
    typer.Option(
        "--seeds", "-s", metavar="URL|FILE", rich_help_panel=_ROUNDS, show_default=False,
        help="Inject these seeds first; the directory is made when it does not exist.",
    ),
]  # fmt: skip
Rounds = Annotated[
    int,
    typer.Option(
        "--rounds", metavar="N", min=0, rich_help_panel=_ROUNDS,
        help="Rounds; 0: until nothing is due.",
    ),
]  # fmt: skip
UntilDue = Annotated[
    str,
    typer.Option(
        "--until-due", metavar="TIME", rich_help_panel=_ROUNDS, show_default=False,
        help="Wait up to this long for something to be due, such as 2h; default: end.",
    ),
]  # fmt: skip
Dedup = Annotated[
    Literal["none", "host", "domain", "off"] | None,
    typer.Option(
        "--dedup", metavar="none|host|domain|off", rich_help_panel=_ROUNDS, show_default=False,
        help="Look for duplicates among all pages, or those of a host or domain; off: not at all. "
        "Default: cycle.dedup.",
    ),
]  # fmt: skip
Sitemaps = Annotated[
    list[str] | None,
    typer.Option(
        "--sitemaps", metavar="URL|FILE", rich_help_panel=_ROUNDS, show_default=False,
        help="Read these sitemaps, or a file of their URLs, before the first round.",
    ),
]  # fmt: skip
FromHosts = Annotated[
    Literal["never", "once", "always"] | None,
    typer.Option(
        "--sitemaps-from-hosts", metavar="never|once|always", rich_help_panel=_ROUNDS,
        show_default=False,
        help="Read the sitemaps that robots.txt of known hosts name, before the first or every "
        "round. Default: cycle.sitemaps.from_hosts.",
    ),
]  # fmt: skip
Index = Annotated[
    bool | None,
    typer.Option(
        "--index/--no-index", rich_help_panel=_ROUNDS, show_default=False,
        help="Bring what changed into the index of words at the end of each round. Default: "
        "cycle.index.rounds.",
    ),
]  # fmt: skip
Delay = Annotated[
    str | None,
    typer.Option(
        "--delay", metavar="SECONDS", rich_help_panel=_NEW, show_default=False,
        help="Wait this long between two fetches from a host; 0 only for your own servers.",
    ),
]  # fmt: skip


@cycle.callback(invoke_without_command=True)
def rounds(
    ctx: typer.Context,
    directory: JobDir,
    *,
    seeds: Seeds = None,
    number: Rounds = 1,
    top: Top = None,
    units: Units = 0,
    until_due: UntilDue = "",
    time_limit: TimeLimit = "",
    deduplicate: Dedup = None,
    maps: Sitemaps = None,
    from_hosts: FromHosts = None,
    indexes: Index = None,
    engine: EngineName = "local",
    master: Master = "",
    tasks: Tasks = 0,
    at: At = "",
    dry: DryRun = False,
    profile: crawl.Profile = None,
    scope: crawl.Scope = None,
    depth: crawl.Depth = None,
    include: crawl.Include = None,
    exclude: crawl.Exclude = None,
    contact: crawl.Contact = None,
    allow_net: crawl.AllowNet = None,
    delay: Delay = None,
    parallel: crawl.Parallel = None,
    assignments: Assignments = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Crawl in rounds: generate a list, fetch it, update the table; again and again.

    A round that was interrupted is continued at the step that it was in. `nacre cycle DIR STEP`
    does one step.
    """
    if ctx.invoked_subcommand is not None:
        _require_nothing_else(ctx)
        return
    from nacre.cli.cycle.running import CycleCommandLine, run_cycle

    common = CommonOptions(engine, master, tasks, at, tuple(assignments or ()), dry)
    line = CycleCommandLine(
        directory=Path(directory),
        common=common,
        seeds=tuple(seeds or ()),
        rounds=number,
        limits=list_limits(top, units, time_limit),
        until_due=seconds_of("--until-due", until_due) if until_due else 0.0,
        parallel=parallel or 0,
        dedup=deduplicate or "",
        sitemaps=tuple(maps or ()),
        from_hosts=from_hosts or "",
        index=indexes,
        new={name: ctx.params[name] for name in _NEW_JOB},
    )
    raise typer.Exit(run_cycle(line, quiet=quiet, as_json=as_json))


_NEW_JOB = (
    "profile", "scope", "depth", "include", "exclude", "contact", "allow_net", "delay", "parallel",
    "assignments",
)  # fmt: skip
"""Parameters that `nacre new` has, too."""


def _require_nothing_else(ctx: typer.Context) -> None:
    """Raise ConfigError for options of rounds before the name of a step."""
    from nacre.errors import ConfigError

    given = [
        param
        for param in ctx.command.params
        if param.name not in {"directory", "_yes"} and _is_typed(ctx, str(param.name))
    ]
    if given:
        step = ctx.invoked_subcommand
        raise ConfigError(
            f"{given[0].opts[0]} stands before {step}, where options of rounds stand: write "
            f"{ctx.command_path} DIR {step} {given[0].opts[0]} …"
        )


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


steps.register(cycle)
sitemaps.register(cycle)
table_steps.register(cycle)
moving.register(cycle)
rank.register(cycle)
index_step.register(cycle)
readers.register(cycle)
parsechecker.register(cycle)
segments.register(cycle)
