"""Counters of a run that others read in the store: their names, apart from the parts that count.

What must never be given twice: serial numbers of files, and record ids.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from nacre.store.store import Store

_STOCK = 4096
TIMEOUTS = "scope.timeouts"
"""Matches of operators' expressions that took too long."""
UNTRIED = "speculation.untried"
"""Guesses that were dropped without a fetch."""
SEEDS_SKIPPED = "seeds-skipped"
"""Counter of the lines of the seed list that are not seeds."""
SEEDS = "seeds"
"""Seeds of the run, counted at its end."""
SEEDS_GOT = "seeds.got"
"""Of these, the URIs that were captured, or unchanged."""
TOO_DEEP = "scope.too_deep"
"""URLs that were left out of the run as too deep, counted at its end."""
TOO_DEEP_POOR = "scope.too_deep_poor"
"""Of these, the URIs of a kind whose last pages had nothing new."""
PLANNED = "pages.run"
"""Number of the last run that was planned."""
UNVISITED = "pages.unvisited"
"""Due pages that the budget of that run left unvisited."""
HELD = "pages.held"
"""Known URLs that it did not visit, because they lead into traps."""
REPEATED = "pages.repeated"
"""New URLs that it did not visit, because they differ in idle query parameters alone."""


def alerts_counter(run: str) -> str:
    """Name of the counter of a run's alerts."""
    return f"alerts.{run}"


def untried_guesses(store: Store) -> int:
    """Guesses of this run that were dropped without a fetch, as last committed."""
    return store.counter(UNTRIED)


class NotVisited(NamedTuple):
    """The due pages that an incremental run did not visit, by reason.

    Attributes:
        unvisited: Its budget left them.
        held: URIs that lead into traps, after the share of traps was used up.
        repeated: They differ from known pages in idle query parameters alone.
    """

    unvisited: int = 0
    held: int = 0
    repeated: int = 0


def not_visited(store: Store, run: int) -> NotVisited:
    """The due pages that a run did not visit; none of a run that was not the last one planned.

    Args:
        store: The job's.
        run: Number of the run.
    """
    if store.counter(PLANNED) != run:
        return NotVisited()
    return NotVisited(*(store.counter(name) for name in (UNVISITED, HELD, REPEATED)))


def note_not_visited(store: Store, counts: NotVisited) -> None:
    """Keep the due pages that the run in process did not visit, so far."""
    for name, number in zip((UNVISITED, HELD, REPEATED), counts, strict=True):
        store.set_counter(name, number)


class RandomIds:
    """Gives 16 random bytes at a time, from one request to the system for many."""

    def __init__(self) -> None:
        self._stock = b""
        self._at = 0

    def __call__(self) -> bytes:
        """16 bytes that were not given before."""
        if self._at >= len(self._stock):
            self._stock, self._at = os.urandom(_STOCK), 0
        self._at += 16
        return self._stock[self._at - 16 : self._at]


class Numbers:
    """Serials survive restarts in the store; ids are random.

    Args:
        store: Keeps the serial numbers.
        record_id: Returns 16 fresh bytes; None for random bytes.

    Attributes:
        record_id: As given.
    """

    def __init__(self, store: Store, record_id: Callable[[], bytes] | None = None) -> None:
        self._store = store
        self.record_id = record_id or RandomIds()

    def serial(self) -> int:
        """Serial number of the next WARC of the job."""
        serial = self._store.counter("warc.serial")
        self._store.set_counter("warc.serial", serial + 1)
        return serial
