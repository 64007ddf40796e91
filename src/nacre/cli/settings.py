"""`set` and `sheet`: other settings for a job, running or not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, job_of, layout_and_settings
from nacre.cli.program import Program

if TYPE_CHECKING:
    from nacre.job.apply_change import Changed, ChangeRequest
    from nacre.machine.layout import Layout

_PANEL = "While it runs"

Values = Annotated[
    list[str],
    typer.Argument(metavar="PATH=VALUE", help="Settings and values.", show_default=False),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the sheet.", show_default=False)]
Preview = Annotated[
    bool,
    typer.Option("--preview", help="Change nothing; count the queued URIs that would be affected."),
]
Surts = Annotated[
    list[str] | None,
    typer.Option(
        "--surt", metavar="URL", show_default=False,
        help="URL or SURT prefix: `http://example.org/` is this host, without the last slash its "
        "subdomains too. May be repeated.",
    ),
]  # fmt: skip

sheets = Program()


def set_values(
    directory: JobDir,
    values: Values,
    place: Annotated[
        str,
        typer.Option(
            "--for", metavar="URL", show_default=False,
            help="Only for this URL or SURT prefix and the URLs below it; creates a sheet.",
        ),
    ] = "",
    preview: Preview = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Change settings of a job, at once if it runs, and in its crawl.yaml."""
    from nacre.job.apply_change import ChangeRequest

    _change(
        directory,
        ChangeRequest(assignments=values, place=place, preview=preview, moves_secrets=True),
        as_json=as_json,
    )


@sheets.callback()
def _job(ctx: typer.Context, directory: JobDir) -> None:
    """Sheets: other settings for some URIs, also while the job runs."""


@sheets.command("list")
def list_sheets(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all sheets with the URLs that they apply to."""
    from nacre.core.message_data import to_builtins
    from nacre.settings.sheets import sheet_rows

    rows = sheet_rows(layout_and_settings(job_of(ctx))[1])
    if as_json:
        output.say_json(to_builtins(rows))
        return
    lines = [(row.sheet, row.settings, ", ".join(row.uses) or "-") for row in rows]
    output.say(output.table([("sheet", "settings", "for"), *lines]))


@sheets.command()
def show(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show a sheet: its settings and the URLs that it applies to."""
    from nacre.settings.sheets import sheet_values

    facts = sheet_values(layout_and_settings(job_of(ctx))[1], name)
    output.say_json(facts) if as_json else output.say(output.pairs(facts))


@sheets.command()
def add(
    ctx: typer.Context,
    name: Name,
    values: Values,
    preview: Preview = False,
    as_json: AsJson = False,
) -> None:
    """Create a sheet, or add settings to it."""
    from nacre.job.apply_change import ChangeRequest

    assignments = [f"sheets.{name}.{text}" for text in values]
    _change(
        job_of(ctx),
        ChangeRequest(assignments=assignments, preview=preview, moves_secrets=True),
        as_json=as_json,
    )


@sheets.command()
def remove(
    ctx: typer.Context, name: Name, preview: Preview = False, as_json: AsJson = False
) -> None:
    """Remove a sheet; no URIs may be associated with it."""
    from nacre.job.apply_change import ChangeRequest

    _change(job_of(ctx), ChangeRequest(remove=name, preview=preview), as_json=as_json)


@sheets.command()
def associate(  # noqa: PLR0917 - typer reads them by name
    ctx: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Sheets, the strongest last.")
    ],
    surts: Surts = None,
    rule: Annotated[
        str,
        typer.Option(
            "--rule", metavar="YAML", show_default=False,
            help="A DecideRule: `{rule: matches-list-regex, regexes: [...]}`.",
        ),
    ] = "",
    order: Annotated[
        int, typer.Option("--order", help="Order among rules; later ones are stronger.")
    ] = 0,
    preview: Preview = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Apply sheets to the URIs with some prefixes, or to those that a rule accepts."""
    from nacre.job.apply_change import ChangeRequest
    from nacre.settings.sheets import association_tree

    association = association_tree(names, surts or [], rule, order)
    _change(job_of(ctx), ChangeRequest(associate=association, preview=preview), as_json=as_json)


@sheets.command()
def dissociate(
    ctx: typer.Context,
    name: Name,
    surts: Surts = None,
    preview: Preview = False,
    as_json: AsJson = False,
) -> None:
    """Remove a sheet from all URIs that it applies to, or from some prefixes only."""
    from nacre.job.apply_change import ChangeRequest

    request = ChangeRequest(dissociate=name, surts=surts or [], preview=preview)
    _change(job_of(ctx), request, as_json=as_json)


def _change(directory: Path, request: "ChangeRequest", *, as_json: bool) -> None:
    """Ask the running job, or change the file; and print the result."""
    from nacre.cli.operations import context_of
    from nacre.core.message_data import to_plain
    from nacre.ops.settings import change_settings

    context = context_of(directory)
    runs, changed = change_settings(context, request)
    if as_json:
        output.say_json({"running": runs, **to_plain(changed)})
        return
    for line in _lines(context.layout, changed, runs=runs):
        output.say(line)


def _lines(layout: "Layout", changed: "Changed", *, runs: bool) -> list[str]:
    lines = [f"{path}: {_value_text(old)} -> {_value_text(new)}" for path, old, new in changed.said]
    touched = changed.touched
    if touched is not None:
        lines.append(
            f"would touch {touched.urls:,} of {touched.pending:,} queued URIs, in "
            f"{output.count(touched.queues, 'queue')}; nothing was changed"
        )
        return [*lines, *(f"  {url}" for url in touched.examples)]
    where = output.format_path(layout.config)
    lines.append(f"in force now, and in {where}" if runs else f"in {where}, for the next start")
    return lines


def _value_text(value: Any) -> str:  # noqa: ANN401 - JSON
    return "nothing" if value is None else output.json_text(value)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("set", rich_help_panel=_PANEL)(set_values)
    app.add_typer(sheets, name="sheet", rich_help_panel=_PANEL)
