"""`nacre changes`: what the runs of a job found new, changed and gone."""

from pathlib import Path
from typing import Annotated, Final

import typer

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, JobDir, Language, layout_and_settings
from nacre.ops.changes import ChangesQuery

_Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FOLDER", show_default=False,
        help="Write the feed into FOLDER for a web server: HTML pages, feed.atom and feed.json. "
             "Files that stay the same are not written again.",
    ),
]  # fmt: skip
_Address = Annotated[
    str,
    typer.Option(
        "--url", metavar="URL", show_default=False,
        help="With --out: address at which the folder is published, for the links of the feeds.",
    ),
]  # fmt: skip
_Lang = Annotated[Language, typer.Option("--lang", help="With --out: English or Chinese.")]


@with_options_of(ChangesQuery)
def changes(
    directory: JobDir,
    *,
    options: ChangesQuery,
    out: _Out = None,
    address: _Address = "",
    language: _Lang = "en",
    as_json: AsJson = False,
) -> None:
    """List what the runs of a job found new, changed and gone, with the words that differ.

    Differences that are only noise are left out. Words that went are in [-…-], new ones in {+…+}.
    """
    from nacre.core.message_data import to_plain
    from nacre.inspect.changes.wording import feed_lines
    from nacre.inspect.view import reading
    from nacre.machine.layout import Layout
    from nacre.ops.changes import publish_changes, read_changes
    from nacre.ops.fields import bounded

    Layout(directory).require_runs("readdb --stats")
    query = bounded(options)
    with reading(*layout_and_settings(directory)) as view:
        if out is not None:
            published = publish_changes(view, query, out, address, language)
            number = output.count(published.written, "file")
            output.say(
                f"{output.format_path(published.folder)}: {number} written, {published.same} kept"
            )
            return
        feed = read_changes(view, query)
    if as_json:
        output.say_json(to_plain(feed))
        return
    for line in feed_lines(feed):
        output.say(output.to_copy(line, directory))


COMMANDS: Final = {"changes": changes}
"""The function of the command, by name."""
