"""`nacre links JOB URL`: the links to a page of a continuous crawl, or on it."""

from typing import Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, layout_and_settings


def links(
    directory: JobDir,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of the page.", show_default=False)],
    *,
    out: Annotated[
        bool, typer.Option("--out", help="Print the links on the page instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the pages that link to URL, the newest first; with --out, the links on it.

    The links are read from the WARC files of the job, which takes a while for a large archive. They
    have no anchors (texts of links).
    """
    from nacre.job.archived_links import archived_links

    found = archived_links(*layout_and_settings(directory), url)
    if found.lost:
        check = f"{output.program()} archive {output.typed(directory)} check"
        output.tell(
            f"nacre: the links of {output.count(found.lost, 'capture')} cannot be read, because "
            f"the record that has them is gone or damaged; `{check}` names it"
        )
    chosen = found.on_it if out else found.to_it
    if as_json:
        output.say_json([link._asdict() for link in chosen])
    elif chosen:
        rows = [(link.dst if out else link.src, link.hop, link.context) for link in chosen]
        output.say(output.table(rows, indent=""))
    else:
        output.say("no links on it" if out else "no page of the archive links to it")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("links", rich_help_panel="Look")(links)
