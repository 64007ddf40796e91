"""Pages picked out of what is known: Nutch's `readdb -dump` and `-topN` with their filters."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from nacre.core.pagerow import PageRow
from nacre.history.crawldb import History
from nacre.history.pagestore import PageStore
from nacre.history.recrawl.choice import lot
from nacre.history.verdict.deletion import Life
from nacre.job.intake.edits import matcher
from nacre.job.studies.lookback import fields, rates
from nacre.store.store import Store
from nacre.uri.parse import host

COLUMNS = (
    *("url", "kind", "life", "status", "last_visit", "last_change"),
    *("visits", "changes", "noise", "errors", "bytes", "rate"),
)
"""Of a table; JSON has all that is known."""


class Wanted(NamedTuple):
    """Which pages; all that is asked for must hold.

    Attributes:
        regex: Found in the URL; "" for any.
        life: `live`, `suspect`, `gone` …; "" for any.
        status: Of the last visit; None for any.
        sample: Share of the pages, drawn by lot, the same each time; 1: all.
    """

    regex: str = ""
    life: str = ""
    status: int | None = None
    sample: float = 1.0


ALL = Wanted()


def pages(store: Store, wanted: Wanted = ALL) -> Iterator[dict[str, Any]]:
    """The pages that were visited, with the status of the last visit and the expected rate.

    Raises:
        ConfigError: The regular expression is none.
    """
    history = History(store)
    accepts = _accepts(wanted)
    for rate, row in rates(store):
        if not accepts(row):
            continue
        record = history.get(row.url)
        status = 0 if record is None else record.status
        if wanted.status in {None, status}:
            yield {**fields(row), "status": status, "rate": rate}


def top(store: Store, number: int, least: float = 0.0) -> list[tuple[float, str]]:
    """The pages that change most: expected changes a day, and URL; those that are there.

    Args:
        store: The store.
        number: How many at most.
        least: Changes a day that a page must have.
    """
    found = ((rate, row.url) for rate, row in rates(store) if rate >= least and _is_there(row))
    return heapq.nlargest(number, found)


def by_host(store: Store) -> dict[str, dict[str, int]]:
    """Pages of each host by what became of them: Nutch's `readdb -stats -sort`."""
    found: dict[str, Counter[str]] = {}
    for row in PageStore(store).scan():
        life = row.life if row.visits else "unvisited"
        found.setdefault(host(row.url), Counter())[life] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(found.items())}


def _is_there(row: PageRow) -> bool:
    return row.life == Life.LIVE


def _accepts(wanted: Wanted) -> Callable[[PageRow], bool]:
    matches = matcher(wanted.regex)

    def accepts(row: PageRow) -> bool:
        return (
            (not wanted.life or row.life == wanted.life)
            and (wanted.sample >= 1.0 or lot(row.url, 0.0) < wanted.sample)
            and matches(row.url)
        )

    return accepts
