"""The state of a batch crawl as `nacre status` shows it."""

from collections import Counter
from typing import Any

from nacre.cli import output
from nacre.store.layout import Layout


def rounds_status(layout: Layout) -> dict[str, Any]:
    """The state of a batch crawl as plain data.

    Args:
        layout: Its directory.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    from nacre.cycle.rounds import JournalFile
    from nacre.cycle.versions import Cycle
    from nacre.settings.load import load_job

    storage = load_job(layout, ()).settings.cycle.storage
    version = Cycle.open(layout.root, storage).newest()
    journal = JournalFile(layout).read()
    states = Counter(one.state for one in version.segments.values())
    return {
        "version": version.number,
        "step": version.step,
        "clock": version.clock,
        "segments": dict(states),
        "round": journal.round if journal is not None else None,
        "rounds": journal.rounds if journal is not None else None,
        "at": journal.step if journal is not None else "",
    }


def rounds_lines(found: dict[str, Any], place: str) -> list[str]:
    """The same for people.

    Args:
        found: What `rounds_status` returned.
        place: The directory, as it is typed.
    """
    from nacre.cli.cycle.texts import time_text

    lines = ["crawled in rounds; no version yet"]
    if found["version"]:
        when = time_text(found["clock"])
        lines = [f"crawled in rounds; version {found['version']}: {found['step']} of {when}"]
    if found["segments"]:
        states = (f"{number:,} {state}" for state, number in sorted(found["segments"].items()))
        lines.append(f"  segments    {', '.join(states)}")
    if found["at"]:
        lines.append(f"  round       {found['round']}, at {found['at']}")
    command = f"{output.program()} cycle {place}"
    return [
        *lines,
        f"Look:  {command} readdb --stats",
        f"Go on: {command} --rounds {found['rounds'] if found['at'] else 1}",
    ]
