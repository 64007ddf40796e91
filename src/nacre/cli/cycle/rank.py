"""`nacre cycle DIR rank`: LinkRank of hosts, domains or pages, and who has the best."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import CommonOptions, opened, step_command
from nacre.cli.cycle.program import CycleProgram
from nacre.cli.cycle.readers import looking
from nacre.cli.options import job_of
from nacre.cli.output import count

if TYPE_CHECKING:
    from nacre.crawldb.rank import RankLevel
    from nacre.rounds.steps.rank import RankResult
    from nacre.rounds.tables.readers import TableView


@step_command
def rank(
    ctx: typer.Context,
    *,
    level: Annotated[
        str, typer.Option("--level", metavar="host|domain|page", help="Whose ranks.")
    ] = "host",
    iterations: Annotated[
        int, typer.Option("--iterations", metavar="N", min=1, help="How often they are computed.")
    ] = 10,
    damping: Annotated[
        float,
        typer.Option("--damping", metavar="D", min=0, max=1, help="Share that links give."),
    ] = 0.85,
    per_domain: Annotated[
        bool,
        typer.Option("--per-domain", help="Of a page one link to each domain; with --level page."),
    ] = False,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Make the ranks the scores of URLs: for `scoring: rank`."),
    ] = False,
    show: Annotated[
        int,
        typer.Option(
            "--show", metavar="N", min=0,
            help="Print the best N of the last computation, and compute nothing.",
        ),
    ] = 0,
    common: CommonOptions,
) -> None:  # fmt: skip
    """Compute how important hosts, domains or pages are by the links to them.

    Each iteration is kept, so that a command that was interrupted goes on behind the last one.
    """
    from nacre.rounds.steps.rank import RankOptions
    from nacre.rounds.steps.rank import rank as run

    rank_level = _level(level)
    if show:
        with looking(ctx, common.setup) as (_, view):
            _print_best(view, rank_level, show, as_json=common.as_json)
        return
    with opened(job_of(ctx), common.setup) as context:
        result = run(context, RankOptions(rank_level, iterations, damping, per_domain, apply))
    if common.as_json:
        version = result.version.number if result.version is not None else None
        output.say_json({**result._asdict(), "version": version})
    else:
        output.say(rank_text(result))


def _level(text: str) -> "RankLevel":
    from nacre.crawldb.rank import LEVELS
    from nacre.errors import ConfigError

    for level in LEVELS:
        if level == text:
            return level
    raise ConfigError(f"--level {text!r}: one of {', '.join(LEVELS)}")


def rank_text(result: "RankResult") -> str:
    """`12 hosts, 40 links between them; residual 0.31, 0.02; 900 scores changed`."""
    nodes = count(result.nodes, result.level)
    if not result.edges:
        return f"nothing to rank: no link joins two {result.level}s (cycle.links says which count)"
    if not result.residuals:
        return f"at most {count(result.edges, 'link')} to rank by"
    residuals = ", ".join(f"{residual:.2g}" for residual in result.residuals)
    text = f"{nodes}, {count(result.edges, 'link')} between them; residual {residuals}"
    return text + (f"; {count(result.applied, 'score')} changed" if result.applied else "")


def _print_best(view: "TableView", level: "RankLevel", number: int, *, as_json: bool) -> None:
    from nacre.rounds.steps.rank import best_nodes

    rows = best_nodes(view, level, number)
    if as_json:
        output.say_json([row._asdict() for row in rows])
        return
    lines = [(f"{row.rank:.6g}", f"{row.num_in:,}", f"{row.num_out:,}", row.node) for row in rows]
    output.say(output.table([("rank", "in", "out", level), *lines], indent=""))


def register(program: CycleProgram) -> None:
    """Add the command."""
    program.command("rank", rich_help_panel="Steps")(rank)
