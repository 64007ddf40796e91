"""`nacre changes`: what the runs of a job found new, changed and gone."""

from typing import Final

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, JobDir, layout_and_settings
from nacre.ops.changes import ChangesQuery


@with_options_of(ChangesQuery)
def changes(directory: JobDir, *, options: ChangesQuery, as_json: AsJson = False) -> None:
    """List what the runs of a job found new, changed and gone, with the words that differ.

    Differences that are only noise are left out. Words that went are in [-…-], new ones in {+…+}.
    """
    from nacre.core.message_data import to_plain
    from nacre.inspect.changes.plain import feed_lines
    from nacre.inspect.view import reading
    from nacre.machine.layout import Layout
    from nacre.ops.changes import read_changes
    from nacre.ops.fields import bounded

    Layout(directory).require_runs("readdb --stats")
    with reading(*layout_and_settings(directory)) as view:
        feed = read_changes(view, bounded(options))
    if as_json:
        output.say_json(to_plain(feed))
        return
    for line in feed_lines(feed):
        output.say(line)


COMMANDS: Final = {"changes": changes}
"""The function of the command, by name."""
