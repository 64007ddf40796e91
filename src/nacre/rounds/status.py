"""The status of a batch crawl."""

from collections import Counter
from typing import Any

import msgspec

from nacre.machine.layout import Layout
from nacre.rounds.journal import JournalFile
from nacre.rounds.rounds_mark import rounds_run, step_progress
from nacre.rounds.tables.versions import Cycle
from nacre.settings.sections import load_tables


def rounds_status(layout: Layout) -> dict[str, Any]:
    """Return the status of a batch crawl as plain data.

    `progress` is the `StepProgress` of running rounds, else None.

    Args:
        layout: The directory of the crawl.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    storage = load_tables(layout).settings.cycle.storage
    version = Cycle.open(layout.root, storage).newest()
    journal = JournalFile(layout).read()
    states = Counter(segment.state for segment in version.segments.values())
    progress = step_progress(layout) if rounds_run(layout) else None
    return {
        "progress": msgspec.to_builtins(progress),
        "version": version.number,
        "step": version.step,
        "clock": version.clock,
        "segments": dict(states),
        "round": journal.round if journal is not None else None,
        "rounds": journal.rounds if journal is not None else None,
        "at": journal.step if journal is not None else "",
    }
