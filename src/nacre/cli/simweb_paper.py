"""`nacre simweb paper`: the paper's experiment, with a column for recall."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nacre.cli import output
from nacre.cli.options import AsJson
from nacre.cli.simweb import Hints, Scale, Seed, seconds, simweb


def paper(
    *,
    world: Annotated[
        str,
        typer.Option("--world", metavar="NAME", help="A world; mct-twin and gov-twin: its sites."),
    ] = "mct-twin",
    seed: Seed = 7,
    after: Annotated[
        str, typer.Option("--after", metavar="TIME", help="Time between the two visits.")
    ] = "91d",
    hints: Hints = "none",
    keep: Annotated[
        Literal["strict", "lean", "delta"],
        typer.Option("--keep", metavar="strict|lean|delta", help="What `recrawl` stores."),
    ] = "strict",
    bytes_scale: Scale = 0.01,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where jobs and results go.")
    ] = Path("paper-results"),
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """The experiment of the National Library of China's paper, with truth beside it.

    A full crawl, time passes, `nacre recrawl`, and a second full crawl: the real crawler over HTTP.
    """
    from nacre.report.plain import plain_text
    from nacre.simweb.calendar import DAY
    from nacre.simweb.experiment import Plan
    from nacre.simweb.paper.document import document
    from nacre.simweb.paper.experiment import compare
    from nacre.simweb.paper.results import as_json as json_of
    from nacre.simweb.paper.results import write_results

    days = seconds("--after", after) / DAY
    plan = Plan(world, hints, seed, days, days * DAY, ("nacre",), (), bytes_scale, "http")
    found = compare(plan, keep, out)
    write_results(found, out)
    _make_readable(out)
    text = json_of(found).decode() if as_json else plain_text(document(found, output.shown(out)))
    output.say(text.rstrip())
    output.tell(f"Written to {output.shown(out)}")


_SETTINGS = """\
# A job of `nacre simweb paper`, to be read by `nacre report`, `history` and `archive`.
# It has no seeds: its world exists no more.
{}
"""


def _make_readable(out: Path) -> None:
    """Let the other commands take the jobs, which ran from a program and have no `crawl.yaml`."""
    for runs in out.glob("*/runs"):
        runs.with_name("crawl.yaml").write_text(_SETTINGS, "utf-8")


def register(_: typer.Typer) -> None:
    """Add the command to those of the simulated web."""
    simweb.command()(paper)
