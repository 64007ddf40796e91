"""The step `nacre cycle DIR index`: what changed goes into indexes of words."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import CommonOptions, opened, step_command
from nacre.cli.options import job_of
from nacre.cli.search import index_text

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.cycle.steps.index import IndexResult

Rebuild = Annotated[
    bool,
    typer.Option(
        "--rebuild",
        help="Make the index anew out of the archive, as after a change of settings; the old one "
        "stays until the new one is whole. Nothing is fetched.",
    ),
]


@step_command
def index(
    ctx: typer.Context,
    *,
    rebuild: Rebuild = False,
    common: CommonOptions,
) -> None:
    """Bring pages that changed into the index of words, and take out those that are gone.

    `nacre search DIR WORDS` looks in it.
    """
    from nacre.cycle.steps.index import index as run
    from nacre.search.local_index import LocalWriter

    with opened(job_of(ctx), common) as context:
        result = run(context, LocalWriter(context.layout.search), rebuild=rebuild)
    if common.as_json:
        output.say_json(index_numbers(result))
    else:
        output.say(index_text(result))


def index_numbers(result: "IndexResult") -> dict[str, Any]:
    """The same as plain data."""
    number = result.version.number if result.version is not None else None
    return {**result._asdict(), "version": number}


def register(program: "CycleProgram") -> None:
    """Add the command."""
    program.command("index", rich_help_panel="Steps")(index)
