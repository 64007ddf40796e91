"""`nacre cycle DIR parsechecker URL`: fetch a page, and print its links."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.cycle.opening import opened
from nacre.cli.options import AsJson, Assignments, job_of
from nacre.report.escape import flat
from nacre.rounds.opening import StepSetup

if TYPE_CHECKING:
    from nacre.cli.cycle.program import CycleProgram
    from nacre.rounds.page_check import CheckedPage
    from nacre.rounds.steps.context import StepContext

_SHOWN = ("status", "error", "mime", "lang", "size", "redirect", "canonical", "noindex", "nofollow",
          "soft_404", "parse_failed", "payload_digest", "outlinks")  # fmt: skip


def parsechecker(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", show_default=False)],
    *,
    assignments: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Fetch and parse one page with the settings of DIR; print its links, and keep nothing."""
    from nacre.core.states import ExitCode
    from nacre.errors import JobError
    from nacre.machine.layout import Layout
    from nacre.rounds.page_check import SETTINGS, check_page

    @contextmanager
    def opening(directory: Path) -> "Iterator[StepContext]":
        setup = StepSetup(assignments=(*(assignments or ()), *SETTINGS))
        with opened(directory, setup) as context:
            yield context

    layout = Layout(job_of(ctx))
    layout.require()
    page = check_page(layout, url, opening)
    if page is None:
        raise JobError(
            f"{url} was not tried: `nacre explain` says which rule or setting refuses it"
        )
    if as_json:
        visit = {name: page.visit[name] for name in _SHOWN}
        output.say_json({"url": page.url, **visit, "links": page.links})
    else:
        _say(page)
    is_page = 200 <= int(page.visit["status"] or 0) < 400
    raise typer.Exit(ExitCode.FINISHED if is_page else ExitCode.NOTHING_FETCHED)


def _say(page: "CheckedPage") -> None:
    output.say(page.url)
    values = {name: page.visit[name] for name in _SHOWN}
    output.say(
        output.pairs({name: value for name, value in values.items() if value not in (None, False)})
    )
    output.say(f"{output.count(len(page.links), 'link')} that the scope accepts")
    for link in page.links:
        anchor = f"  {flat(link['anchor'])}" if link["anchor"] else ""
        output.say(f"  {link['hop']} {link['dst']}{anchor}")


def register(program: "CycleProgram") -> None:
    """Add the command."""
    program.command("parsechecker", rich_help_panel="Look")(parsechecker)
