"""What is known of queues, for `nacre frontier DIR queues` and `explain`."""

from collections.abc import Iterator
from typing import Any

from nacre.frontier.listing import Matcher
from nacre.frontier.queues import QueueRow, State
from nacre.frontier.repose import why_it_rests
from nacre.frontier.roster import read_queue, scan_queues
from nacre.frontier.rows import queue_id
from nacre.job.offline import View


def queue_facts(view: View, wanted: Matcher) -> Iterator[dict[str, Any]]:
    """The facts of each queue whose key matches, as last committed."""
    for row in scan_queues(view.store):
        if wanted(row.name):
            yield _facts(view, row)


def facts_of(view: View, name: str) -> dict[str, Any] | None:
    """The facts of one queue; None when there is none of that name."""
    row = read_queue(view.store, queue_id(name))
    return None if row is None else _facts(view, row)


def _facts(view: View, row: QueueRow) -> dict[str, Any]:
    settings = view.settings.frontier
    budget = settings.queue_total_budget
    return {
        "queue": row.name,
        "state": State(row.state).name.lower().replace("_", " "),
        "why": why_it_rests(row, settings),
        "pending": row.size + row.waiting,
        "retrying": row.retrying,
        "precedence": row.precedence,
        "spent": row.spent,
        "budget": budget if budget >= 0 else None,
        "balance": row.balance,
        "successes": row.successes,
        "failures": row.errors,
        "delay": row.delay,
        "backoff": row.backoff,
        "shares": row.group,
        "last": row.last_peek,
    }
