"""What is known of a job's pages, for people: totals, one page, the pages that change most."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.history.crawldb import History
from nacre.history.pagestore import FAMILY, FETCHES, TIMINGS, PageStore, fetch_rows
from nacre.history.verdict.deletion import Life
from nacre.history.worth.classes import Classes
from nacre.history.worth.rates import mean_rate
from nacre.job.incremental.knowledge import WHOLE
from nacre.job.runrow import RunRow
from nacre.job.runs.newrun import runs
from nacre.job.states import CRASHED, ExitStatus
from nacre.job.studies.known import MISSING
from nacre.job.studies.stored_as import NOISE
from nacre.store.store import Store

_CHUNK = 5_000
_MARGIN = 60.0
"""A run may have begun a little before the clock that planned it, seconds."""
_ORDER = (
    *("new", "major", "minor", "template", "noise", "markup", "none"),
    *("missing", "gone", "soft-404", "moved"),
    *("still missing", "never there", "silent"),
)
_COUNTERS = ("pages.file", "pages.offset", "pages.run", "pages.waves")


def statistics(store: Store) -> dict[str, Any]:
    """Totals: pages by kind, life and number of visits; visits by run and verdict.

    As Nutch's `readdb -stats`, in the words of Nacre.
    """
    kinds: Counter[str] = Counter()
    lives: Counter[str] = Counter()
    visited = indexes = changes = 0
    last = 0.0
    for row in PageStore(store).scan():
        kinds[row.kind] += 1
        lives[row.life if row.visits else "unvisited"] += 1
        visited += row.visits > 0
        indexes += row.index >= 0.5
        changes += row.changes
        last = max(last, row.last_visit)
    runs: dict[int, Counter[str]] = {}
    for visit in fetch_rows(store):
        runs.setdefault(visit.run, Counter())[visit.verdict] += 1
    return {
        "pages": kinds.total(),
        "visited": visited,
        "index_pages": indexes,
        "changes": changes,
        "last_visit": last,
        "kinds": dict(sorted(kinds.items())),
        "lives": dict(sorted(lives.items())),
        "visits": {str(run): dict(sorted(counts.items())) for run, counts in sorted(runs.items())},
    }


def found_by(store: Store, run: RunRow) -> dict[str, int]:
    """What a run found: pages by verdict, those without an answer as `silent`.

    Of pages that it did not find, those are told apart that had been missing before, and those that
    were never there: dead links.
    """
    outcomes = (outcome for _, outcome in outcome_of(store, run, visits_of(store, run)))
    counts = Counter(outcomes)
    return {name: counts[name] for name in _ORDER if counts[name]}


def visits_of(store: Store, run: RunRow) -> Iterator[FetchRow]:
    """The visits of a run, in order of time; second fetches for comparison left out."""
    for visit in fetch_rows(store, run.started - _MARGIN):
        if run.ended and visit.time > run.ended + _MARGIN:
            return
        if visit.run == run.number and visit.reason != "pair":
            yield visit


def outcome_of(
    store: Store, run: RunRow, visits: Iterable[FetchRow]
) -> Iterator[tuple[FetchRow, str]]:
    """Each visit with what it found; see `found_by`."""
    pages = PageStore(store)
    for visit in visits:
        yield visit, _outcome(visit, run, pages)


def stored_noise(store: Store, run: RunRow) -> float:
    """Of the bytes that a run stored in full, the share that differs in noise alone."""
    noise = stored = 0
    for visit in visits_of(store, run):
        if visit.stored == "novel":
            stored += visit.bytes
            noise += visit.bytes if visit.kind in NOISE else 0
    return noise / stored if stored else 0.0


def _outcome(visit: FetchRow, run: RunRow, pages: PageStore) -> str:
    if visit.answer not in MISSING:
        return visit.verdict
    if pages.version(visit.url) is None:
        return "never there"
    row = pages.get(visit.url)
    missed = row is not None and row.life != Life.LIVE and row.life_since < run.started
    return "still missing" if missed else visit.answer


def run_list(store: Store, *, is_running: bool) -> list[dict[str, Any]]:
    """All runs in their order, each with what it found.

    Args:
        store: The job's.
        is_running: A process has the job. Without one a run that has no end is `CRASHED`.
    """
    found = [{**msgspec.to_builtins(run), "found": found_by(store, run)} for run in runs(store)]
    if not is_running:
        for run in found:
            if run["exit"] == ExitStatus.NONE:
                run["exit"] = CRASHED
    return found


def page(store: Store, url: str) -> dict[str, Any] | None:
    """All that is known of one URL, its visits last; None when it was never heard of."""
    pages = PageStore(store)
    row, record = pages.get(url), History(store).get(url)
    if row is None and record is None:
        return None
    found: dict[str, Any] = {"url": url}
    parts = (row, pages.way(url), pages.version(url), record)
    for name, part in zip(("page", "way", "version", "capture"), parts, strict=True):
        if part is not None:
            found[name] = fields(part)
    found["visits"] = [fields(visit) for visit in fetch_rows(store) if visit.url == url]
    return found


def fields(row: msgspec.Struct) -> dict[str, Any]:
    """Fields as JSON knows them, without likelihoods, which tell a reader nothing."""
    return {
        name: _plain(value)
        for name, value in msgspec.structs.asdict(row).items()
        if name not in {"evidence", "arrivals", "recent"}
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return fields(value) if isinstance(value, msgspec.Struct) else msgspec.to_builtins(value)


def rates(store: Store) -> Iterator[tuple[float, PageRow]]:
    """Expected changes a day of every page that was visited, with what pages of its kind taught."""
    pages = PageStore(store)
    classes = Classes(lambda row: row.evidence)
    classes.fit(pages.scan())
    for row in pages.scan():
        if row.visits:
            yield mean_rate(classes.posterior(row)), row


def forget(store: Store) -> None:
    """Drop what the planner knows; the next incremental run reads the WARCs of all runs.

    The fetch log stays: the WARCs do not know why a visit was made. So do the times of schedules:
    they know of visits without an answer.
    """
    start = b""
    while found := [key for key, _ in store.scan(FAMILY, start, None, _CHUNK)]:
        for key in found:
            if not key.startswith((FETCHES, TIMINGS)):
                store.delete(FAMILY, key)
        store.commit()
        start = found[-1] + b"\0"
    for name in _COUNTERS:
        store.set_counter(name, 0)
    store.set_counter(WHOLE, 1)
    store.commit()
