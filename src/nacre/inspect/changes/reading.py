"""Reads the change feed of a job from the rows in its store, the newest run first."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from heapq import merge
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple

from msgspec import structs

from nacre.config.component import parse_duration
from nacre.core.changes import FEED_KINDS, ChangeRow
from nacre.core.clock import iso, parse_time
from nacre.errors import ConfigError, Problem
from nacre.inspect.changes.feed import (
    ChangeEntry,
    ChangeFeed,
    FeedRun,
    PostedChanges,
    feed_id,
    make_entry,
    order_counts,
)
from nacre.inspect.changes.rights import RightsChange, rights_changes, rights_entry
from nacre.inspect.view import stored_clock
from nacre.messages import message
from nacre.recrawl.change_log import change_rows, unread_runs
from nacre.runs.runs import RunRow, all_runs, is_over
from nacre.scope.patterns.matching import matcher
from nacre.store.store import Store

MOST_POSTED = 20
"""Changes in the message to a webhook; it has the number of all."""
LONGEST_POSTED = 100_000
"""Characters of the differences in a message to a webhook; the other differences are counted."""
_MARGIN = 60.0
"""Seconds that a visit may be before the start of its run by the clock that planned it."""


class ChangeFilter(NamedTuple):
    """A selection of changes; all conditions must hold.

    Attributes:
        since: Number or name of the first run, a time, or a time back from now, such as `7d`; ""
            for all runs.
        match: Regular expression found in the URL; "" for any.
        kinds: Kinds of changes; () for all.
        most: Number of entries; the newest are chosen.
    """

    since: str = ""
    match: str = ""
    kinds: tuple[str, ...] = ()
    most: int = 100


class _Start(NamedTuple):
    """Where a feed begins: the first run, and the time of the first change."""

    run: int = 0
    time: float = 0.0


class RunChanges(NamedTuple):
    """The changes of a run.

    Attributes:
        run: The run.
        rows: The newest of its changes that are selected, the newest first. `entry_of` makes
            entries of them.
        updated: When they changed last, seconds since the epoch.
    """

    run: FeedRun
    rows: list[ChangeRow | RightsChange]
    updated: float


def entry_of(row: ChangeRow | RightsChange) -> ChangeEntry:
    """Return the entry of a change."""
    return rights_entry(row) if isinstance(row, RightsChange) else make_entry(row)


def read_feed(
    store: Store, job: str, chosen: ChangeFilter, *, is_recording: bool = False
) -> ChangeFeed:
    """Return the changes of the runs that are over, the newest first.

    Args:
        store: The store of the job.
        job: Name of the job.
        chosen: The changes that are wanted.
        is_recording: The job is a recording.

    Raises:
        ConfigError: A part of the selection has no meaning.
    """
    runs = _known_runs(store)
    listed: list[FeedRun] = []
    rows: list[ChangeRow | RightsChange] = []
    left_out, updated = 0, 0.0
    for found in read_runs(store, chosen):
        if len(rows) >= chosen.most:
            break
        if found.rows or not listed:
            listed.append(found.run)
        room = chosen.most - len(rows)
        rows += found.rows[:room]
        left_out += max(0, sum(found.run.counts.values()) - room)
        updated = max(updated, found.updated)
    selection = [chosen.match, *chosen.kinds] if chosen.match or chosen.kinds else []
    is_open = len(runs) > 1 and not is_over(runs[-1]) and not is_recording
    return ChangeFeed(
        feed_id(job, runs[0].name if runs else "", selection),
        job,
        iso(updated),
        listed,
        [entry_of(row) for row in rows],
        left_out,
        [] if is_recording else [run.name for run in unread_runs(store, runs)],
        runs[-1].name if is_open else "",
        _last_compared(runs),
        is_recording,
    )


def posted_changes(store: Store, run: str) -> PostedChanges:
    """Return the changes of a run for a webhook; none if it is not over.

    Args:
        store: The store of the job.
        run: Name of the run.
    """
    if not any(row.name == run for row in _known_runs(store)):
        return PostedChanges({}, [])
    for found in read_runs(store, ChangeFilter(since=run, most=MOST_POSTED)):
        if found.run.name == run:
            entries = map(entry_of, found.rows)
            return PostedChanges(found.run.counts, list(_shortened(entries, LONGEST_POSTED)))
    return PostedChanges({}, [])


def _shortened(entries: Iterable[ChangeEntry], room: int) -> Iterator[ChangeEntry]:
    """Yield entries without the differences for which a message has no room; they are counted."""
    for entry in entries:
        size = sum(len(words.text) for text in entry.texts for words in text.words)
        if size <= room:
            room -= size
            yield entry
        else:
            yield structs.replace(entry, texts=[], more=entry.more + len(entry.texts))


def read_runs(store: Store, chosen: ChangeFilter) -> Iterator[RunChanges]:
    """Yield the runs that are over, the newest first, with their changes.

    The first run has none: it is what later ones are compared with. A run of a million changes
    needs no more memory than the newest `chosen.most`.

    Raises:
        ConfigError: A part of the selection has no meaning.
    """
    runs = _known_runs(store)
    now = stored_clock(store).now()
    start, accepts = _start(chosen.since, runs, now), _accepts(chosen)
    for run, following in [*pairwise(runs), (runs[-1], None)][:0:-1] if runs else ():
        if run.number < start.run or (run.ended and run.ended < start.time):
            return
        if run is runs[-1] and not is_over(run):
            continue
        until = following.started if following is not None else inf
        sources: list[Iterator[ChangeRow | RightsChange]]
        sources = [_rows_of(store, run), _rights_of(store, run, until)]
        rows = deque[ChangeRow | RightsChange](maxlen=chosen.most)
        counts, updated = Counter[str](), run.ended
        for row in merge(*sources, key=attrgetter("time")):
            if row.time >= start.time and accepts(row):
                rows.append(row)
                counts[row.kind] += 1
                updated = max(updated, row.noted if isinstance(row, ChangeRow) else 0.0)
        facts = FeedRun(run.number, run.name, iso(run.ended), order_counts(counts))
        yield RunChanges(facts, list(reversed(rows)), updated)


def _last_compared(runs: Sequence[RunRow]) -> str:
    """Return the name of the last run that is over and follows another; "" for none."""
    return next((run.name for run in runs[:0:-1] if is_over(run)), "")


def _known_runs(store: Store) -> list[RunRow]:
    return [run for run in all_runs(store) if not run.fresh]


def _rows_of(store: Store, run: RunRow) -> Iterator[ChangeRow]:
    """Yield the changes of a run in order of time."""
    for row in change_rows(store, max(0.0, run.started - _MARGIN)):
        if row.time > run.ended + _MARGIN:
            return
        if row.run == run.number:
            yield row


def _rights_of(store: Store, run: RunRow, until: float) -> Iterator[RightsChange]:
    """Yield the changed preferences from the start of a run to that of the next one."""
    return rights_changes(store, run.number, run.started, min(until, run.ended + _MARGIN))


def _start(since: str, runs: Sequence[RunRow], now: float) -> _Start:
    if not since:
        return _Start()
    for run in runs:
        if since in {run.name, str(run.number)}:
            return _Start(run=run.number)
    time = _time_of(since, now)
    if time is not None:
        return _Start(time=time)
    have = ", ".join(f"{run.number} ({run.name})" for run in runs[-10:]) or "none"
    words = message(
        "changes.no-run-or-time",
        "{since!r} is neither a run nor a time nor a duration; the runs are: {have}",
        since=since, have=have,
    )  # fmt: skip
    hint = message(
        "changes.time-form",
        "a run, an ISO 8601 time (UTC without a zone), or a duration back from now such as 7d",
    )
    raise ConfigError([Problem("since", words, hint, "2026-11-23T02:00:00Z")])


def _time_of(since: str, now: float) -> float | None:
    """Return a time, or that of a duration before now, seconds since the epoch; None for neither.

    A number without a unit is no duration: there is no run of that number.
    """
    with suppress(ValueError):
        return parse_time(since)
    if since[-1].isalpha():
        with suppress(ValueError):
            return now - float(str(parse_duration(since)))
    return None


def _accepts(chosen: ChangeFilter) -> Callable[[ChangeRow | RightsChange], bool]:
    unknown = [kind for kind in chosen.kinds if kind not in FEED_KINDS]
    if unknown:
        words = message(
            "changes.no-kind",
            "there is no kind {kind!r}; it is one of {kinds}",
            kind=unknown[0], kinds=", ".join(FEED_KINDS),
        )  # fmt: skip
        raise ConfigError([Problem("kind", words)])
    matches, kinds = matcher(chosen.match), frozenset(chosen.kinds or FEED_KINDS)
    return lambda row: row.kind in kinds and matches(row.url)
