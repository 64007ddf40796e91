"""Task of reader processes for batch crawls: their state in facts."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from nacre.core.clock import iso
from nacre.errors import JobError, NacreError
from nacre.rounds.journal import GENERATE, SITEMAPS, UPDATED, JournalFile
from nacre.rounds.tables.versions import Cycle, CycleVersion
from nacre.settings.load import load_job
from nacre.store.layout import Layout

_LOOK_BACK: Final = 50
"""Versions that are looked at for the last generate: a round commits five or six."""


def rounds_facts(layout: Layout) -> dict[str, Any]:
    """The state of a batch crawl.

    Args:
        layout: Its directory.

    Returns:
        `version`, its `step`, `clock` (ms) and `host`; `versions` (kept ones); `segments` by
        state; `done` (rounds whose lists are all in the tables); `round` of `rounds` (0: until
        nothing is due), `at` (its step) and `since` (ms) of a command that runs or was
        interrupted, else None, "" and 0; `list`: the counts of the last generate with its
        `version`, None for none; `place`, `tables` and `archive` (bytes in tables and WARC files).

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    storage = load_job(layout, ()).settings.cycle.storage
    cycle = Cycle.open(layout.root, storage)
    version, numbers = cycle.newest(), cycle.numbers()
    journal = JournalFile(layout).read()
    return {
        "version": version.number,
        "step": version.step,
        "clock": version.clock,
        "host": version.host,
        "versions": len(numbers),
        "segments": dict(Counter(one.state for one in version.segments.values())),
        "done": rounds_done(version),
        "round": journal.round if journal is not None else None,
        "rounds": journal.rounds if journal is not None else None,
        "at": journal.step if journal is not None else "",
        "since": journal.clock if journal is not None and journal.step else 0,
        "list": _last_counts(cycle, numbers),
        "place": cycle.storage.place,
        "tables": sum(one.size for one in version.tables.values()),
        "archive": version.archive.size if version.archive is not None else 0,
    }


def cycle_versions(layout: Layout, _: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The versions of a batch crawl that are kept, the newest first.

    Raises:
        ConfigError: Its configuration is wrong.
        JobError: Its versions cannot be read.
    """
    cycle = Cycle.open(layout.root, load_job(layout, ()).settings.cycle.storage)
    found = []
    for number in sorted(cycle.numbers(), reverse=True):
        try:
            one = cycle.version(number)
        except JobError:  # it was removed meanwhile
            continue
        states = Counter(str(segment.state) for segment in one.segments.values())
        found.append(
            {
                "number": one.number, "step": one.step, "host": one.host,
                "time": iso(one.clock / 1000), "segments": dict(states),
            }
        )  # fmt: skip
    return found


def rounds_done(version: CycleVersion) -> int:
    """The rounds whose lists are all in the tables; a round may have several segments (pure)."""
    lists: dict[object, bool] = {}
    for name, one in version.segments.items():
        if SITEMAPS not in one.more:
            made = one.more.get("version", name)
            lists[made] = lists.get(made, True) and one.state == UPDATED
    return sum(lists.values())


def _last_counts(cycle: Cycle, numbers: list[int]) -> dict[str, Any] | None:
    """The counts of the last generate among the newest versions; None for none."""
    for number in sorted(numbers, reverse=True)[:_LOOK_BACK]:
        try:
            version = cycle.version(number)
        except NacreError:  # it was removed meanwhile
            return None
        if version.step == GENERATE and "known" in version.counters:
            return {"version": number, "clock": version.clock, **version.counters}
    return None
