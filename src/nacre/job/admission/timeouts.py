"""Matches of operators' expressions that took too long: counted durably, and noted at pages."""

from nacre.core.processor import Visit
from nacre.job.counters import TIMEOUTS
from nacre.scope.state import ScopeState
from nacre.store.store import Store


class Timeouts:
    """Counts over all sessions of a run.

    Args:
        state: Knows those of this session.
        store: Keeps their number.
    """

    def __init__(self, state: ScopeState, store: Store) -> None:
        self._state = state
        self._store = store
        self._before = self._saved = store.counter(TIMEOUTS)
        self._noted = 0

    @property
    def total(self) -> int:
        """Their number."""
        return self._before + self._state.timeouts()

    def annotate(self, visit: Visit) -> None:
        """Links of a page were judged: `regexTimeout:n` says how often there was no answer."""
        number = self._state.timeouts()
        if number != self._noted:
            visit.annotate(f"regexTimeout:{number - self._noted}")
            self._noted = number

    def seal(self) -> None:
        """Write the number if it changed; called just before a group is sealed."""
        total = self.total
        if total != self._saved:
            self._store.set_counter(TIMEOUTS, total)
            self._saved = total
