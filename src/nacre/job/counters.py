"""Counters of a run that others read in the store: their names, apart from the parts that count."""

from nacre.store.store import Store

TIMEOUTS = "scope.timeouts"
"""Matches of operators' expressions that took too long."""
UNTRIED = "speculation.untried"
"""Guesses that were let go untried."""


def alerts_counter(run: str) -> str:
    """Name of the counter of a run's alerts."""
    return f"alerts.{run}"


def untried_guesses(store: Store) -> int:
    """Guesses of this run that were let go untried, as last committed."""
    return store.counter(UNTRIED)
