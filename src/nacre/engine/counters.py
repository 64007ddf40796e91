"""Counters of a run that others read in the store: their names, apart from the parts that count.

What must never be given twice: serial numbers of files, and record ids.
"""

from collections.abc import Callable

from nacre.archive.warc_writer import RandomIds
from nacre.store.store import Store

TIMEOUTS = "scope.timeouts"
"""Matches of operators' expressions that took too long."""
UNTRIED = "speculation.untried"
"""Guesses that were dropped without a fetch."""
SEEDS_SKIPPED = "seeds-skipped"
"""Counter of the lines of the seed list that are not seeds."""


def alerts_counter(run: str) -> str:
    """Name of the counter of a run's alerts."""
    return f"alerts.{run}"


def untried_guesses(store: Store) -> int:
    """Guesses of this run that were dropped without a fetch, as last committed."""
    return store.counter(UNTRIED)


class Numbers:
    """Serials survive restarts in the store; ids are random.

    Args:
        store: Keeps the serial numbers.
        record_id: Gives 16 fresh bytes; None for random ones.

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
