"""What was changed while a job did not run, kept for its job.log."""

import json
from collections.abc import Sequence

from nacre.job.layout import Layout
from nacre.store.private import make_private

NOTES = "changes.jsonl"


def keep_notes(layout: Layout, notes: Sequence[str]) -> None:
    """Keep lines for the next start."""
    make_private(layout.state)
    with (layout.state / NOTES).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in notes)


def take_notes(layout: Layout) -> list[str]:
    """The lines; they are forgotten by this."""
    path = layout.state / NOTES
    try:
        lines = path.read_text("utf-8").splitlines()
        path.unlink()
    except OSError:
        return []
    return [str(json.loads(line)) for line in lines if line]
