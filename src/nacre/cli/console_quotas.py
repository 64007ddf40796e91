"""`nacre console quota …`: bytes that jobs may use."""

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.console_books import console_books
from nacre.cli.console_options import State
from nacre.cli.options import AsJson
from nacre.cli.program import Program

quota = Program()


@quota.callback()
def _quota() -> None:
    """Bytes that jobs may use. A running console measures, and holds a job whose quota is full."""


@quota.command("list")
def list_quotas(state: State = None, as_json: AsJson = False) -> None:
    """List the quotas, with the last measured use."""
    from nacre.core.clock import iso
    from nacre.core.message_data import to_plain
    from nacre.report.formatting import size

    with console_books(state) as books:
        quotas = books.quotas.all().values()
    if as_json:
        output.say_json(to_plain(list(quotas)))
        return
    rows = [
        (
            output.format_path(Path(item.path)) if item.path else "all jobs together",
            size(item.limit) if item.limit else "-",
            size(item.used) if item.measured else "-",
            iso(item.measured) if item.measured else "not yet",
            item.trouble or ("held" if item.held else item.level.value),
        )
        for item in quotas
    ]
    head = ("job", "quota", "used", "measured", "state")
    output.say(output.table([head, *rows]) if rows else "no quotas")


@quota.command("set")
def set_quota(
    limit: Annotated[
        str,
        typer.Argument(
            metavar="SIZE", show_default=False, help="Such as 500GB or 2TiB; 0 for none."
        ),
    ],
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", show_default=False,
            help="Directory of the job, or its id; default: all jobs together.",
        ),
    ] = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Set the quota of a job, or of all jobs together."""
    from nacre.core.message_data import to_plain
    from nacre.fleet.job_books import ALL_JOBS, limit_of
    from nacre.report.formatting import size

    size_limit = limit_of(limit)
    with console_books(state) as books:
        job = books.job(directory) if directory is not None else None
        path = str(job.layout.root) if job is not None else ALL_JOBS
        before = books.quotas.find(path).limit
        books.quotas.set(path, size_limit)
        books.note("nacre console quota set", job, {"limit": before}, {"limit": size_limit})
        stored, is_served = books.quotas.find(path), books.is_served
    if as_json:
        output.say_json(to_plain(stored))
        return
    about = job.id if job is not None else "all jobs together"
    output.say(f"{about}: {size(size_limit) if size_limit else 'no quota'}")
    if size_limit and not is_served:
        output.tell("nacre: no console runs with these files; `nacre console` keeps the quota")
