"""The step `nacre cycle DIR index`: what changed goes into indexes of words."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import CommonOptions, opened, step_command
from nacre.cli.options import job_of
from nacre.cli.output import count

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


def index_text(result: "IndexResult") -> str:
    """`12 added, 3 updated, 2 deleted (1 gone, 1 redirect); 4 skipped (4 noindex)`."""
    if not (result.added or result.updated or result.deleted or result.skipped):
        return "nothing new: the index has all pages as they were fetched last"
    text = f"{count(result.added, 'page')} added, {result.updated:,} updated"
    text += f", {sum(result.deleted.values()):,} deleted{_reasons(result.deleted)}"
    if result.skipped:
        text += f"; {sum(result.skipped.values()):,} skipped{_reasons(result.skipped)}"
    return text


def _reasons(counts: Any) -> str:  # noqa: ANN401 - a mapping
    said = ", ".join(f"{number:,} {why}" for why, number in sorted(counts.items()))
    return f" ({said})" if said else ""


def index_numbers(result: "IndexResult") -> dict[str, Any]:
    """The same as plain data."""
    number = result.version.number if result.version is not None else None
    return {**result._asdict(), "version": number}


def register(program: "CycleProgram") -> None:
    """Add the command."""
    program.command("index", rich_help_panel="Steps")(index)
