"""`nacre recrawl`: visit a finished job again, and keep what changed."""

from typing import Annotated, Literal

import typer

from nacre.cli.options import AsJson, Assignments, JobDir, Quiet

Keep = Literal["strict", "lean"]


def recrawl(
    directory: JobDir,
    *,
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="N", show_default=False,
            help="What it may cost: requests (500), bytes (2GB) or time (3h); without it, what "
            "the wanted recall takes (recrawl.recall).",
        ),
    ] = "",
    keep: Annotated[
        Keep,
        typer.Option(
            "--keep", metavar="strict|lean",
            help="strict: every reply whose bytes are new is stored; lean: pages in which only "
            "markup, noise or the template differs leave a note.",
        ),
    ] = "strict",
    full: Annotated[
        bool, typer.Option("--full", help="Visit everything, as the first run did.")
    ] = False,
    assignments: Assignments = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Visit a job again: what is new, changed or gone, as cheaply as what is known allows.

    A new run begins, beside those before it; a run that was interrupted goes on.
    """
    from nacre.cli.jobs import examined, run_and_tell
    from nacre.job.control import running
    from nacre.job.layout import Layout
    from nacre.job.newrun import FULL, INCREMENTAL
    from nacre.job.offline import plan_next

    layout = Layout(directory)
    loaded, findings = examined(layout, assignments or ())
    findings.require()
    if loaded is None:
        raise typer.Exit(2)
    if not running(layout.socket):
        mode = FULL if full else INCREMENTAL
        plan_next(layout, loaded.settings, mode=mode, budget=budget, keep=keep)
    code = run_and_tell(layout, loaded.settings, quiet=quiet, as_json=as_json, origin=loaded.origin)
    raise typer.Exit(code)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Crawl")(recrawl)
