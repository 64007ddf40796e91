"""The step `nacre cycle DIR index`: write changes into indexes of words."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import CommonOptions, opened, step_command
from nacre.cli.options import job_of
from nacre.cli.search import CheckURL, WriterName, index_text, show_document, tell_rebuild

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.rounds.steps.index import IndexResult

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
    writer: WriterName = "",
    check: CheckURL = "",
    common: CommonOptions,
) -> None:
    """Bring pages that changed into the index of words, and take out those that are gone.

    `nacre search DIR WORDS` looks in it.
    """
    from nacre.ops.round_steps import index_results

    if check:
        _show_checked(ctx, writer, check, common)
        return
    with opened(job_of(ctx), common.setup) as context:
        results = index_results(context, writer, rebuild=rebuild)
    tell_rebuild(job_of(ctx))
    if common.as_json:
        numbers = [index_numbers(result) for result in results]
        output.say_json(numbers[0] if len(numbers) == 1 else numbers)
        return
    for r in results:
        output.say(index_text(r, named=len(results) > 1))


def _show_checked(ctx: typer.Context, writer: str, url: str, common: CommonOptions) -> None:
    from nacre.rounds.index_check import checked_document
    from nacre.rounds.typed_keys import key_of
    from nacre.search.writer_kinds import chosen_writers

    with opened(job_of(ctx), common.setup) as context:
        chosen = chosen_writers(context.settings.cycle.index.writers, writer)
        plain, key = key_of(context.settings, url, context.layout.root)
        document = checked_document(context, key)
    show_document(plain, document, chosen, as_json=common.as_json)


def index_numbers(result: "IndexResult") -> dict[str, Any]:
    """The same as plain data."""
    number = result.version.number if result.version is not None else None
    return {**result._asdict(), "version": number}


def register(program: "CycleProgram") -> None:
    """Add the command."""
    program.command("index", rich_help_panel="Steps")(index)
