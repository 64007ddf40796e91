"""Steps over tables as commands: `nacre cycle DIR parse|links|dedup|merge`, with their texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import (
    CommonOptions,
    opened,
    step_command,
)
from nacre.cli.options import job_of
from nacre.cli.output import count

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.rounds.steps.dedup import DedupResult
    from nacre.rounds.steps.links import LinksResult
    from nacre.rounds.steps.merge import MergeResult
    from nacre.rounds.steps.parse import ParseResult

GROUPS = ("none", "host", "domain")


@step_command
def links(
    ctx: typer.Context,
    *,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Take the links of all segments again, by the settings of now."
        ),
    ] = False,
    common: CommonOptions,
) -> None:
    """Take the links of fetched segments into the table of links."""
    from nacre.report.formatting import size
    from nacre.rounds.steps.links import links as run

    with opened(job_of(ctx), common.setup) as context:
        result = run(context, rebuild=rebuild)
    if common.as_json:
        output.say_json(links_numbers(result))
    else:
        written = f"; {size(result.size)}" if result.size else ""
        output.say(f"{links_text(result)}{written}")


@step_command
def parse(
    ctx: typer.Context,
    segments: Annotated[
        list[str], typer.Argument(metavar="SEGMENT", help="Which ones.", show_default=False)
    ],
    *,
    common: CommonOptions,
) -> None:
    """Make the facts of fetched segments again, out of their WARC files.

    Links are taken while a page is fetched. This is for facts that were damaged.
    """
    from nacre.rounds.steps.parse import parse as run

    with opened(job_of(ctx), common.setup) as context:
        parts: dict[str, list[str]] = {name: [] for name in segments}
        place, clock = context.place, context.clock
        result = run(context.cycle, context.engine, place, clock, parts, dry=common.dry)
    if common.as_json:
        output.say_json({**result._asdict(), "version": _number(result)})
    elif common.dry:
        output.say(f"{count(result.parts, 'part')} of {count(len(segments), 'segment')} to parse")
    else:
        output.say(parse_text(result))


def parse_text(result: "ParseResult") -> str:
    """`12 pages, 240 links of 1 segment; 1 URL is lost and due again`."""
    segments = count(len(result.segments), "segment")
    text = f"{count(result.pages, 'page')}, {count(result.links, 'link')} of {segments}"
    text += f"; {count(result.failed, 'page')} not parsed" if result.failed else ""
    if result.rebuilt:
        text += f"; the visits of {count(result.rebuilt, 'part')} are made of the archive"
    return text + (f"; {count(result.lost, 'URL')} lost, due again" if result.lost else "")


@step_command
def dedup(
    ctx: typer.Context,
    *,
    group: Annotated[
        str,
        typer.Option(
            "--group",
            metavar="NAME",
            help="Compare pages of the same host or domain only: host, domain; none: all. Default: "
            "cycle.dedup.group.",
            show_default=False,
        ),
    ] = "",
    order: Annotated[
        str,
        typer.Option(
            "--order",
            metavar="LIST",
            help="The criteria, separated by commas: score, fetchTime, httpsOverHttp, urlLength. "
            "Default: cycle.dedup.order.",
            show_default=False,
        ),
    ] = "",
    canonical: Annotated[
        bool,
        typer.Option("--canonical", help="Pages are copies of what they declare as canonical."),
    ] = False,
    near: Annotated[
        bool,
        typer.Option(
            "--near",
            help="Pages are copies of what has almost the same text; cycle.dedup.near lets units "
            "make the simhashes that this needs.",
        ),
    ] = False,
    common: CommonOptions,
) -> None:
    """Mark pages with the same content as duplicates of the best one."""
    from nacre.ops.round_steps import dedup_settings
    from nacre.rounds.steps.dedup import dedup as run

    with opened(job_of(ctx), common.setup) as context:
        settings = dedup_settings(context.settings.cycle.dedup, group, order, canonical=canonical)
        if near and not settings.near:
            output.tell(
                "pages that were fetched without `cycle.dedup.near: true` have no simhash: --near "
                "cannot compare them"
            )
        settings = settings.model_copy(update={"near": near or settings.near})
        result = run(context, settings)
    if common.as_json:
        output.say_json(dedup_numbers(result))
    else:
        output.say(dedup_text(result))


@step_command
def merge(
    ctx: typer.Context,
    directories: Annotated[
        list[Path],
        typer.Argument(metavar="OTHER_DIR", help="Their directories.", show_default=False),
    ],
    *,
    filtered: Annotated[
        bool, typer.Option("--filter", help="Leave out what the scope of DIR refuses.")
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Bring URLs into the form that DIR gives them.")
    ] = False,
    common: CommonOptions,
) -> None:
    """Bring the URLs, links and hosts of other batch crawls into the tables of this one.

    Of a URL that several know, the newest visit counts. The WARC files with the captures of what is
    taken are named in the archive of DIR, and stay where they are. To merge again changes nothing.
    """
    from nacre.machine.layout import Layout
    from nacre.rounds.steps.merge import MergeOptions
    from nacre.rounds.steps.merge import merge as run
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.load import load_job

    with opened(job_of(ctx), common.setup) as context:
        cycles = []
        for path in directories:
            layout = Layout(path)
            cycles.append(Cycle.open(layout.root, load_job(layout).settings.cycle.storage))
        result = run(context, cycles, MergeOptions(filtered, normalize))
    if common.as_json:
        output.say_json({**result._asdict(), "version": _number(result)})
    else:
        output.say(merge_text(result, dry=common.dry))


def merge_text(result: "MergeResult", *, dry: bool = False) -> str:
    """`412 URLs: 300 new, 12 newer; 4 refused by scope; 900 links, 3 hosts; 1 WARC file …`."""
    from nacre.cli.cycle.moving_text import unchanged_text
    from nacre.cli.cycle.texts import refused_text

    text = f"{count(result.known, 'URL')}: {result.new:,} new, {result.newer:,} newer"
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    text += f"; {count(result.links, 'link')}, {count(result.hosts, 'host')}; "
    captures = count(result.located, "new capture")
    text += f"{count(result.warcs, 'WARC file')} with {captures}"
    return text + unchanged_text(result.version, dry=dry)


def links_text(result: "LinksResult") -> str:
    """`240 links of 2 segments, 180 rows written; 60 within a host left out (cycle.links.…)`."""
    mixed = "; other segments were taken by other settings: `links --rebuild` makes all again"
    if not result.segments:
        text = "nothing new: the links of all fetched segments are in the table"
        return text + (mixed if result.mixed else "")
    segments = count(len(result.segments), "segment")
    text = f"{count(result.facts, 'link')} of {segments}, {count(result.rows, 'row')} written"
    if result.internal:
        within = f"within a {result.within} left out (cycle.links.ignore_internal)"
        text += f"; {result.internal:,} {within}"
    if result.external:
        text += f"; {result.external:,} to other hosts left out (cycle.links.ignore_external)"
    if result.kept:
        text += f"; {count(result.kept, 'row')} of pages that no segment has stay"
    return text + (mixed if result.mixed else "")


def links_numbers(result: "LinksResult") -> dict[str, Any]:
    """The same as plain data."""
    return {**result._asdict(), "version": _number(result)}


def dedup_text(result: "DedupResult") -> str:
    """`12 pages in 5 groups: 7 duplicates, 1 no longer one`."""
    if not result.segments:
        return "nothing new: the pages of all updated segments were compared"
    text = ""
    if result.again:
        text = f"{count(result.again, 'segment')} compared again, with other options: "
    if not result.pages and not result.marked and not result.released:
        return f"{text}no duplicates"
    if result.pages:
        text += f"{count(result.pages, 'page')} in {count(result.groups, 'group')}: "
    text += count(result.marked, "new duplicate")
    text += f", {result.canonical:,} of them by their canonical link" if result.canonical else ""
    text += f", {result.near:,} of them by almost the same text" if result.near else ""
    return text + (f", {result.released:,} no longer one" if result.released else "")


def dedup_numbers(result: "DedupResult") -> dict[str, Any]:
    """The same as plain data."""
    return {**result._asdict(), "version": _number(result)}


def _number(result: "DedupResult | LinksResult | MergeResult | ParseResult") -> int | None:
    return result.version.number if result.version is not None else None


def register(program: "CycleProgram") -> None:
    """Add the commands."""
    program.command("parse", rich_help_panel="Steps")(parse)
    program.command("links", rich_help_panel="Steps")(links)
    program.command("dedup", rich_help_panel="Steps")(dedup)
    program.command("merge", rich_help_panel="Tables")(merge)
