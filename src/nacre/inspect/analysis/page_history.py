"""The known history of pages, for people: totals, one page, the pages that change most.

Selected pages, like Nutch's `readdb -dump` and `-topN` with their filters.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from nacre.core.history import FetchRow
from nacre.core.message_data import to_plain
from nacre.core.pagerow import PageRow
from nacre.core.states import CRASHED, ExitStatus
from nacre.history.dedup import History
from nacre.inspect.analysis.recrawl_data import MISSING
from nacre.inspect.analysis.savings import NOISE
from nacre.inspect.rights import MOST_ROWS, url_versions
from nacre.messages import message
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.rates import Classes, mean_rate
from nacre.planner.step import random_sample
from nacre.recrawl.knowledge import WHOLE
from nacre.recrawl.pagestore import CHANGES, FAMILY, FETCHES, TIMINGS, PageStore, fetch_rows
from nacre.runs.runs import RunRow, all_runs
from nacre.scope.patterns.matching import matcher
from nacre.store.store import Store
from nacre.uri.parse import host

_CHUNK = 5_000
_MARGIN = 60.0
"""A run may have begun a little before the clock that planned it, seconds."""
_ORDER = (
    *("new", "major", "minor", "template", "noise", "markup", "none"),
    *("missing", "gone", "soft-404", "moved"),
    *(message("study.still-missing", "still missing"), "never there", "silent"),
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
    """The results of a run: pages by verdict, those without an answer as `silent`.

    Of pages that it did not find, those that had been missing before are counted apart, and so are
    those that were never there: dead links.
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
    """Yield each visit with its result; see `found_by`."""
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
    return message("study.still-missing", "still missing") if missed else visit.answer


def run_list(store: Store, *, is_running: bool) -> list[dict[str, Any]]:
    """Return all runs in their order, each with its results.

    Args:
        store: The job's.
        is_running: A process has the job. Without one a run that has no end is `CRASHED`.
    """
    results = [{**to_plain(run), "found": found_by(store, run)} for run in all_runs(store)]
    if not is_running:
        for run in results:
            if run["exit"] == ExitStatus.NONE:
                run["exit"] = CRASHED
    return results


def page(store: Store, url: str) -> dict[str, Any] | None:
    """All that is known of one URL, its visits last; None when it was never heard of."""
    pages = PageStore(store)
    row, record = pages.get(url), History(store).get(url)
    if row is None and record is None:
        return None
    results: dict[str, Any] = {"url": url}
    parts = (row, pages.way(url), pages.version(url), record)
    for name, part in zip(("page", "way", "version", "capture"), parts, strict=True):
        if part is not None:
            results[name] = fields(part)
    visits = (visit for visit in fetch_rows(store) if visit.url == url)
    results["visits"] = [{**fields(visit), "verdict": visit.verdict} for visit in visits]
    results["rights"] = [to_plain(row) for row in islice(url_versions(store, url), MOST_ROWS)]
    return results


def closed_studies(history: Mapping[str, Any], *, is_captured: bool) -> dict[str, str]:
    """The studies that have no data of a page, with the reasons (pure).

    Args:
        history: The history of the page, as `page` has it; {} for none.
        is_captured: The last run captured it.
    """
    visits, reasons = history.get("visits", ()), dict[str, str]()
    if not (visits or is_captured or "page" in history or "capture" in history):
        reasons["timeline"] = message("study.no-visit", "no visit of it is known")
    stored = sum(visit["stored"] in {"novel", "delta"} for visit in visits)
    # Visits of full runs are not in the log until the next incremental run; the log has visits
    # without a reply, too.
    logged = sum(visit["status"] > 0 for visit in visits)
    unlogged = history["capture"]["visits"] - logged if "capture" in history else 2
    if stored + max(unlogged, 0) < 2 or not (is_captured or history):
        reasons["diff"] = message("study.one-version", "the archive has no two versions of it")
    if "page" not in history:
        reasons["decisions"] = message("study.no-recrawl", "no recrawl has looked at it yet")
    return reasons


def fields(row: msgspec.Struct) -> dict[str, Any]:
    """Fields for JSON, without likelihoods, which mean nothing to a reader."""
    return {
        name: _plain(value)
        for name, value in msgspec.structs.asdict(row).items()
        if name not in {"evidence", "arrivals", "recent"}
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return fields(value) if isinstance(value, msgspec.Struct) else to_plain(value)


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

    The fetch log stays: the WARCs do not know why a visit was made. So do the changes that were
    reported, and the times of schedules: they know of visits without an answer.
    """
    start = b""
    while result := [key for key, _ in store.scan(FAMILY, start, None, _CHUNK)]:
        for key in result:
            if not key.startswith((FETCHES, CHANGES, TIMINGS)):
                store.delete(FAMILY, key)
        store.commit()
        start = result[-1] + b"\0"
    for name in _COUNTERS:
        store.set_counter(name, 0)
    store.set_counter(WHOLE, 1)
    store.commit()


COLUMNS = (
    *("url", "kind", "life", "status", "last_visit", "last_change"),
    *("visits", "changes", "noise", "errors", "bytes", "rate"),
)
"""Of a table; JSON has all that is known."""


class PageFilter(NamedTuple):
    """A filter of pages; all conditions must hold.

    Attributes:
        regex: Found in the URL; "" for any.
        life: `live`, `suspect`, `gone` …; "" for any.
        status: Of the last visit; None for any.
        sample: Share of the pages, drawn at random, the same each time; 1: all.
    """

    regex: str = ""
    life: str = ""
    status: int | None = None
    sample: float = 1.0


ALL = PageFilter()


def pages(store: Store, page_filter: PageFilter = ALL) -> Iterator[dict[str, Any]]:
    """The pages that were visited, with the status of the last visit and the expected rate.

    Raises:
        ConfigError: The regular expression is none.
    """
    history = History(store)
    accepts = _accepts(page_filter)
    for rate, row in rates(store):
        if not accepts(row):
            continue
        record = history.get(row.url)
        status = 0 if record is None else record.status
        if page_filter.status in {None, status}:
            yield {**fields(row), "status": status, "rate": rate}


def top(store: Store, number: int, least: float = 0.0) -> list[tuple[float, str]]:
    """The pages that change most: expected changes a day, and URL; those that are there.

    Args:
        store: The store.
        number: How many at most.
        least: Changes a day that a page must have.
    """
    result = ((rate, row.url) for rate, row in rates(store) if rate >= least and _is_there(row))
    return heapq.nlargest(number, result)


def by_host(store: Store) -> dict[str, dict[str, int]]:
    """Pages of each host by their state: Nutch's `readdb -stats -sort`."""
    results: dict[str, Counter[str]] = {}
    for row in PageStore(store).scan():
        life = row.life if row.visits else "unvisited"
        results.setdefault(host(row.url), Counter())[life] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(results.items())}


def _is_there(row: PageRow) -> bool:
    return row.life == Life.LIVE


def _accepts(page_filter: PageFilter) -> Callable[[PageRow], bool]:
    matches = matcher(page_filter.regex)

    def accepts(row: PageRow) -> bool:
        return (
            (not page_filter.life or row.life == page_filter.life)
            and (page_filter.sample >= 1.0 or random_sample(row.url, 0.0) < page_filter.sample)
            and matches(row.url)
        )

    return accepts
