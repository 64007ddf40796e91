"""Why a queue rests, for the operator."""

from nacre.frontier.queues import ENDLESS_LEFT, QueueRow, State
from nacre.frontier.rotation import OVER_BUDGET
from nacre.frontier.settings import FrontierSettings
from nacre.frontier.steering import BY_OPERATOR


def why_it_rests(row: QueueRow, settings: FrontierSettings, wait: float | None = None) -> str:
    """One clause; "" for a queue that is being fetched from, or could be.

    Args:
        row: What is kept of it.
        settings: Those that hold for it.
        wait: Seconds until it may hand out again; None when that is not known.
    """
    match State(row.state):
        case State.RETIRED:
            return _retired(row, settings)
        case State.INELIGIBLE:
            return (
                f"its precedence {row.precedence} is not below the floor of "
                f"{settings.precedence_floor} (frontier.precedence_floor)"
            )
        case State.INACTIVE:
            return f"it waits for its turn among the queues of precedence {row.precedence}"
        case State.SNOOZED:
            return _snoozed(row, wait)
        case State.EXHAUSTED:
            return f"{row.waiting} of its URIs wait for a retry" if row.waiting else "it is empty"
        case State.READY | State.IN_PROCESS:
            return ""


def _retired(row: QueueRow, settings: FrontierSettings) -> str:
    if row.why == BY_OPERATOR:
        return "the operator retired it (`nacre frontier JOB unretire` brings it back)"
    if row.why == ENDLESS_LEFT:
        return (
            f"{row.endless} URLs of endless places are left in it, and {row.trapped} were visited "
            "(traps.budget; `nacre run JOB --traps` goes on)"
        )
    if row.why != OVER_BUDGET:
        return f"a quota is reached ({row.why})"
    if settings.force_retire:
        return "frontier.force_retire is said of it"
    budget = settings.queue_total_budget
    return f"it has spent {row.spent} of its budget of {budget} (frontier.queue_total_budget)"


def _snoozed(row: QueueRow, wait: float | None) -> str:
    if row.held:
        return "a robots.txt or dns: that it needs failed, and is tried again"
    soon = f" for {wait:.1f} s more" if wait else ""
    if row.backoff > 1.0:
        return f"it waits{soon}: its server asked for more time, or answers slowly"
    return f"it waits its politeness delay{soon}"
