"""The frontier's reports. Source: reference/heritrix.md 1.13 (queue line)."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from heapq import nlargest
from typing import NamedTuple

from nacre.frontier.queues import QueueRow, State
from nacre.frontier.roster import scan_queues
from nacre.frontier.rows import Rows
from nacre.frontier.settings import FrontierSettings
from nacre.frontier.totals import Totals, read_totals

HEADER = (
    "queue precedence currentSize totalEnqueues sessionBalance lastCost(averageCost) "
    "lastDequeueTime wakeTime totalSpend/totalBudget errorCount lastPeekUri lastQueuedUri"
)


class Summary(NamedTuple):
    """The frontier at a glance.

    Attributes:
        totals: Its totals.
        states: Number of queues by state.
        largest: The queues with the most URIs, those first.
    """

    totals: Totals
    states: dict[State, int]
    largest: list[QueueRow]


def summary(rows: Rows, largest: int = 20) -> Summary:
    """Totals, states and the largest queues, as last saved. Reads every queue's row once.

    Args:
        rows: The store.
        largest: How many queues.
    """
    totals = read_totals(rows)
    return Summary(
        totals,
        {state: totals.states[state] for state in State},
        nlargest(largest, scan_queues(rows), key=_pending),
    )


def queue_lines(
    rows: Rows,
    settings: FrontierSettings,
    offset: float = 0.0,
    wanted: Callable[[QueueRow], bool] = lambda row: _pending(row) > 0,
) -> Iterator[str]:
    """One line a queue, in Heritrix's columns (`HEADER`), without line feed.

    Args:
        rows: The store, as last saved.
        settings: For the budget.
        offset: What the clock is ahead of frontier time, seconds (`Frontier.clock_offset`).
        wanted: Which queues; those that are not empty unless told otherwise.
    """
    for row in scan_queues(rows):
        if wanted(row):
            yield queue_line(row, settings, offset)


def queue_line(row: QueueRow, settings: FrontierSettings, offset: float = 0.0) -> str:
    """The line of one queue; `-` for what never was."""
    average = row.spent / row.costs if row.costs else 0.0
    return " ".join(
        (
            row.name,
            str(row.precedence),
            str(_pending(row)),
            str(row.enqueued),
            str(row.balance),
            f"{row.last_cost}({average:.1f})",
            _stamp(row.last_dequeue),
            _stamp(row.wake + offset) if row.state is State.SNOOZED else "-",
            f"{row.spent}/{settings.queue_total_budget}",
            str(row.errors),
            row.last_peek or "-",
            row.last_queued or "-",
        )
    )


def _pending(row: QueueRow) -> int:
    return row.size + row.waiting


def _stamp(seconds: float) -> str:
    """ISO 8601 to the millisecond, UTC; `-` for never or for what no calendar holds."""
    if not 0 < seconds < 253_402_300_800:
        return "-"
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
