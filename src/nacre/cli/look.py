"""`status`, `explain`: looking at a job, running or not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, Verbose

if TYPE_CHECKING:
    from nacre.job.configuration.settings import JobSettings
    from nacre.job.layout import Layout

_PANEL = "Look"


def opened(directory: Path) -> "tuple[Layout, JobSettings]":
    """A job's directories and settings."""
    from nacre.job.configuration.configure import load_job
    from nacre.job.layout import Layout

    layout = Layout(directory)
    return layout, load_job(layout).settings


def status(directory: JobDir, verbose: Verbose = False, as_json: AsJson = False) -> None:
    """How a job stands."""
    import msgspec

    from nacre.cli.status_text import status_lines
    from nacre.job.layout import Layout
    from nacre.job.operator.control import GoneError, ask
    from nacre.job.operator.recurring import recurring

    layout = Layout(directory)
    layout.require()
    again = recurring(layout)
    try:
        answer = ask(layout.socket, "status")
        answer.pop("ok")
    except GoneError:
        answer = _stored_status(layout, policy=verbose or as_json)
    answer["recurring"] = msgspec.to_builtins(again)
    if as_json:
        output.say_json(answer)
        return
    for line in status_lines(answer, output.typed(layout.root), verbose=verbose):
        output.say(line)


def _stored_status(layout: "Layout", *, policy: bool) -> dict[str, Any]:
    """The numbers of a job that does not run.

    The settings are read only where somebody asks for the policy: they take longer than all else.
    """
    import msgspec

    from nacre.job.operator.overview import Overview, stored_overview
    from nacre.job.runs.runs import read_run
    from nacre.job.stored import reading_store

    overview = Overview("NASCENT")
    if layout.has_store:
        with reading_store(layout) as store:
            overview = stored_overview(store, read_run(store))
    if policy and overview.state != "NASCENT":
        from nacre.job.configuration.configure import load_job
        from nacre.job.reports.policy_text import policy_lines

        lines = tuple(policy_lines(load_job(layout).settings))
        overview = msgspec.structs.replace(overview, policy=lines)
    return {"overview": msgspec.to_builtins(overview), "slowest": [], "fetching": []}


def explain(
    directory: JobDir,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Why a URL was or was not crawled, and by which rule."""
    import msgspec

    from nacre.cli.explain_text import explanation_lines
    from nacre.job.asking import explain_url

    explanation = explain_url(directory, url)
    if as_json:
        output.say_json(msgspec.to_builtins(explanation))
        return
    for line in explanation_lines(explanation, output.typed(directory.absolute())):
        output.say(line)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, explain):
        app.command(rich_help_panel=_PANEL)(command)
