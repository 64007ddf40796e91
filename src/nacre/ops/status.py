"""The state of a job: its numbers and its diagnosis."""

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from nacre.core.message_data import to_builtins
from nacre.errors import NacreError

if TYPE_CHECKING:
    from nacre.core.clock import Clock
    from nacre.job.diagnosis import CrowdedKind, Diagnosis
    from nacre.job.diagnosis_facts import JobStatus
    from nacre.job.overview import SlowQueue
    from nacre.job.start_survey import StartFindings
    from nacre.machine.layout import Layout
    from nacre.rounds.tables.versions import Cycle, CycleVersion


class StatusAnswer(NamedTuple):
    """The state of a continuous crawl.

    Attributes:
        numbers: The numbers, as `nacre status --json` prints them.
        sentences: The diagnosis by name: `sentence`, and `crowded` if one kind of URLs crowds a
            queue.
        slowest: The slowest queues.
    """

    numbers: dict[str, Any]
    sentences: "dict[str, Diagnosis]"
    slowest: "tuple[SlowQueue, ...]"


def read_status(layout: "Layout", clock: "Clock", *, policy: bool) -> StatusAnswer:
    """Read the state of a job, from its process or its store.

    Args:
        layout: Directories of the job.
        clock: The time.
        policy: Include the lines of the politeness policy of a job at rest, which takes longer.

    Raises:
        JobError: The directory is not a job.
        StorageError: The store cannot be read.
    """
    from nacre.job.control import NotRunningError, send_command
    from nacre.job.diagnosis import crowd_diagnosis, diagnose
    from nacre.job.diagnosis_facts import diagnosis_facts, job_status
    from nacre.job.lately import NO_LINES, last_lines
    from nacre.job.overview import name_sharers
    from nacre.runs.passes import find_recurring

    again = find_recurring(layout)
    try:
        numbers = send_command(layout.socket, "status")
        numbers.pop("ok")
        lines = last_lines(layout)
    except NotRunningError:
        numbers = stored_status(layout, policy=policy)
        if numbers["overview"]["state"] == "NASCENT":
            numbers |= to_builtins(_kept_from_start(layout)) | _scarce_space(layout)
        lines = NO_LINES
    numbers["recurring"] = to_builtins(again)
    status = job_status(numbers)
    crowded = _find_crowd(layout, status)
    sentences = {"sentence": diagnose(diagnosis_facts(status, clock.now(), lines, crowded))}
    if crowded is not None:
        sentences["crowded"] = crowd_diagnosis(crowded, grows=status.pace.grows)
    name_sharers(layout.root, numbers["slowest"], clock)
    return StatusAnswer(numbers, sentences, status.slowest)


def _find_crowd(layout: "Layout", status: "JobStatus") -> "CrowdedKind | None":
    """Find the kind of most queued URLs, if the queues grow; None for none."""
    if not status.pace.grows:
        return None
    from nacre.errors import NacreError
    from nacre.inspect.view import reading
    from nacre.job.diagnosis_facts import crowded_queue, find_crowded_kind
    from nacre.settings.load import load_job

    queue = crowded_queue(status.overview, status.slowest, grows=True)
    if queue is None:
        return None
    with suppress(NacreError), reading(layout, load_job(layout).settings) as view:
        return find_crowded_kind(view.store, queue.name)
    return None  # it ended just now, or its store cannot be read: the numbers are shown anyway


def stored_status(layout: "Layout", *, policy: bool = False) -> dict[str, Any]:
    """Read the numbers of a job that does not run.

    Args:
        layout: Directories of the job.
        policy: Include the lines of the politeness policy: the settings are read, which takes
            longer than all else.

    Raises:
        StorageError: The store cannot be read.
    """
    from nacre.inspect.stored_job import reading_store
    from nacre.job.overview import JobOverview, stored_overview
    from nacre.runs.runs import read_run

    overview = JobOverview("NASCENT")
    if layout.has_store:
        with reading_store(layout) as store:
            overview = stored_overview(store, read_run(store))
    if policy and overview.state != "NASCENT":
        from nacre.inspect.reports.policy_text import policy_lines
        from nacre.settings.load import load_job

        lines = tuple(policy_lines(load_job(layout).settings))
        overview = msgspec.structs.replace(overview, policy=lines)
    return {"overview": to_builtins(overview), "slowest": [], "fetching": []}


def _kept_from_start(layout: "Layout") -> "StartFindings":
    """Return what keeps a job that never ran from starting."""
    from nacre.job.start_survey import kept_from_start  # late: it brings the settings along

    return kept_from_start(layout)


def _scarce_space(layout: "Layout") -> dict[str, int]:
    """Return the free and the needed space of a job that cannot start for lack of it; else {}."""
    from nacre.job.start_survey import scarce_space

    space = scarce_space(layout)
    return {} if space is None else to_builtins(space)


_LOOK_BACK: Final = 50
"""Versions in which the last generate is searched: a round commits five or six."""


def rounds_facts(layout: "Layout") -> dict[str, Any]:
    """Return the state of a batch crawl.

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
    from nacre.rounds.journal import JournalFile
    from nacre.rounds.tables.versions import Cycle
    from nacre.settings.load import load_job

    cycle = Cycle.open(layout.root, load_job(layout, ()).settings.cycle.storage)
    version, numbers = cycle.newest(), cycle.numbers()
    journal = JournalFile(layout).read()
    return {
        "version": version.number,
        "step": version.step,
        "clock": version.clock,
        "host": version.host,
        "versions": len(numbers),
        "segments": dict(Counter(segment.state for segment in version.segments.values())),
        "done": rounds_done(version),
        "round": journal.round if journal is not None else None,
        "rounds": journal.rounds if journal is not None else None,
        "at": journal.step if journal is not None else "",
        "since": journal.clock if journal is not None and journal.step else 0,
        "list": _last_counts(cycle, numbers),
        "place": cycle.storage.place,
        "tables": sum(table.size for table in version.tables.values()),
        "archive": version.archive.size if version.archive is not None else 0,
    }


def rounds_done(version: "CycleVersion") -> int:
    """Count the rounds whose lists are all in the tables; a round can have several segments."""
    from nacre.rounds.journal import SITEMAPS, UPDATED

    lists: dict[object, bool] = {}
    for name, segment in version.segments.items():
        if SITEMAPS not in segment.more:
            key = segment.more.get("version", name)
            lists[key] = lists.get(key, True) and segment.state == UPDATED
    return sum(lists.values())


def _last_counts(cycle: "Cycle", numbers: list[int]) -> dict[str, Any] | None:
    """Return the counts of the last generate among the newest versions; None for none."""
    from nacre.rounds.journal import GENERATE

    for number in sorted(numbers, reverse=True)[:_LOOK_BACK]:
        try:
            version = cycle.version(number)
        except NacreError:  # it was removed meanwhile
            return None
        if version.step == GENERATE and "known" in version.counters:
            return {"version": number, "clock": version.clock, **version.counters}
    return None
