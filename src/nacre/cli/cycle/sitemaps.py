"""The step `sitemaps` as a command, and the text of its result."""

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
)
from nacre.cli.options import job_of
from nacre.core.states import ExitCode
from nacre.core.status import cause
from nacre.ops.round_requests import RoundsRequest

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.rounds.steps.sitemaps import SitemapsResult


_LINES = 20
"""Lines of lists that are printed one by one."""

SitemapLists = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL|FILE", show_default=False,
        help="Sitemaps, or files of their URLs; default: those that robots.txt of all known "
        "hosts name.",
    ),
]  # fmt: skip
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Known URLs take priority, changefreq and lastmod of a sitemap of their domain.",
    ),
]
NoFilter = Annotated[
    bool, typer.Option("--no-filter", help="Take URLs that the scope refuses, too.")
]  # fmt: skip
NoNormalize = Annotated[
    bool, typer.Option("--no-normalize", help="Leave URLs as sitemaps have them.")
]  # fmt: skip


@step_command
@limit_command("units", "time_limit")
def sitemaps(
    ctx: typer.Context,
    lists: SitemapLists = None,
    *,
    overwrite: Overwrite = False,
    no_filter: NoFilter = False,
    no_normalize: NoNormalize = False,
    limits: RoundsRequest,
    common: CommonOptions,
) -> None:  # fmt: skip
    """Fetch sitemaps, and bring the URLs that they list into the table."""
    from nacre.cli.cycle.display import display_of
    from nacre.cli.cycle.texts import fetch_progress_text
    from nacre.ops.round_steps import list_limits
    from nacre.ops.seed_input import seed_input
    from nacre.rounds.journal import StopSignal
    from nacre.rounds.steps.sitemaps import SitemapOptions
    from nacre.rounds.steps.sitemaps import sitemaps as run

    display = display_of(quiet=common.quiet, as_json=common.as_json)
    display.step("", "sitemaps")

    def report(_name: str, numbers: Mapping[str, Any]) -> None:
        display.progress(numbers, fetch_progress_text(numbers))

    named = seed_input(list(lists), [], []).lists if lists else []
    longest = list_limits(limits)
    with (
        opened(job_of(ctx), common.setup, report) as context,
        signals_to(StopSignal(context.layout)) as stop,
    ):
        settings = context.settings.cycle
        options = SitemapOptions(
            hosts=not named,
            overwrite=overwrite or settings.sitemaps.overwrite,
            filter=settings.sitemaps.filter and not no_filter,
            normalize=not no_normalize,
            units=longest.units_of(settings, context.engine.workers),
            time_limit=longest.seconds_of(settings),
            stopped=lambda: bool(stop.signals),
        )
        result = run(context, named, options)
    display.leave()
    tell_unread(result)
    if common.as_json:
        output.say_json(sitemaps_numbers(result))
    else:
        output.say(sitemaps_text(result))
    raise typer.Exit(sitemaps_code(result, lists or ()))


def sitemaps_code(result: "SitemapsResult", lists: Sequence[str]) -> ExitCode:
    """The exit code of the step; it tells of lists without a URL, too.

    Args:
        result: What came of it.
        lists: URLs and files that the command names.
    """
    if result.interrupted:
        return ExitCode.INTERRUPTED
    if not lists or result.sitemaps or result.late or result.planned:
        return ExitCode.FINISHED
    if result.failed or result.unasked or result.left or result.refused:
        return ExitCode.NOTHING_FETCHED
    named = ", ".join(map(repr, lists))
    output.tell(f"nacre: no URL of a sitemap in {named}: name sitemaps, or files of their URLs")
    return ExitCode.USAGE


def tell_unread(result: "SitemapsResult") -> None:
    """Print each line that is no URL, and each unreadable sitemap, to stderr."""
    for bad in result.malformed[:_LINES]:
        output.tell(f"nacre: {bad}" if bad.file else f"nacre: line {bad.line}: {bad}")
    more = len(result.malformed) - _LINES
    if more > 0:
        output.tell(f"nacre: and {output.count(more, 'more line')} that are wrong")
    for url, status, instead in result.unread:
        reason = cause(status)
        if 200 <= status < 300:
            reason = f"it is {instead or 'not in the archive'}"
        output.tell(f"nacre: the sitemap {url} could not be read: {reason}")


def sitemaps_text(result: "SitemapsResult") -> str:
    """`1 host asked; 3 sitemaps: 120 URLs, 100 new, 18 known; 2 refused by scope`."""
    from nacre.cli.cycle.texts import refused_text

    parts = [f"{output.count(result.asked, 'host')} asked"] if result.asked else []
    text = output.count(result.sitemaps + result.planned, "sitemap")
    if result.planned:
        text += " to fetch"
    if result.sitemaps:
        named = ((result.new, "new"), (result.merged, "changed"), (result.known, "known"))
        counts = [output.count(result.urls, "URL")]
        counts += [f"{number:,} {label}" for number, label in named if number]
        text += f": {', '.join(counts)}"
    parts.append(text)
    if result.refused:
        parts.append(refused_text(result.refused))
    more = (
        (result.failed, "could not be read"),
        (result.too_deep, "behind too many indexes"),
        (result.left, "beyond cycle.sitemaps.max or max_count"),
        (result.unasked, "not asked for: the host failed"),
        (
            result.late,
            "not asked for: the time was over (the next round, or `sitemaps`, takes them along)",
        ),
    )
    parts += [f"{number:,} {label}" for number, label in more if number]
    return "; ".join([*parts, *(["interrupted"] if result.interrupted else [])])


def sitemaps_numbers(result: "SitemapsResult") -> dict[str, Any]:
    """Return the result as plain data."""
    numbers = result._asdict()
    numbers["malformed"] = [bad._asdict() for bad in result.malformed]
    numbers["version"] = result.version.number if result.version is not None else None
    return numbers


def register(program: "CycleProgram") -> None:
    """Add the command."""
    program.command("sitemaps", rich_help_panel="Steps")(sitemaps)
