"""The reports about the frontier. Source: Heritrix 3."""

from collections.abc import Iterator
from datetime import datetime
from heapq import heappush, heappushpop

from nacre.report.escape import flat, safe
from nacre.report.material import Data, Material, QueueFacts
from nacre.report.report import Page, Table
from nacre.report.spill import in_order
from nacre.report.summary import decimal, duration, minute

HEADER = (
    "queue precedence currentSize totalEnqueues sessionBalance lastCost(averageCost) "
    "lastDequeueTime wakeTime totalSpend/totalBudget errorCount lastPeekUri lastQueuedUri"
)
LARGEST = 20
"""Queues named as the largest."""
LISTED = 2000
"""Queues listed of one state at most."""

_LISTS = ("in_process", "ready", "snoozed", "inactive", "ineligible", "retired")
_COUNTS = ("discovered", "queued", "finished", "succeeded", "failed", "disregarded")


def queue_line(row: Data) -> str:
    """The line of a queue, in Heritrix's columns (`HEADER`); `-` for what never was."""
    return (
        f"{row['queue']} {row['precedence']} {row['current_size']} {row['total_enqueues']} "
        f"{row['session_balance']} {row['last_cost']}({row['average_cost']:.1f}) "
        f"{row['last_dequeue_time'] or '-'} {row['wake_time'] or '-'} "
        f"{row['total_spend']}/{row['total_budget']} {row['error_count']} "
        f"{row['last_peek_uri'] or '-'} {row['last_queued_uri'] or '-'}"
    )


# ---- frontier-nonempty


def _nonempty(material: Material) -> Iterator[Data]:
    found = (queue for queue in material.queues() if queue.current_size)
    for queue in in_order(found, QueueFacts, lambda q: q.queue, material.scratch):
        yield queue._asdict()


NONEMPTY = Table(
    "frontier-nonempty",
    "frontier-nonempty-report.txt",
    HEADER,
    _nonempty,
    queue_line,
    default=False,
)

# ---- frontier-summary


def _summary(material: Material) -> Data:
    facts = material.facts()
    largest: list[tuple[int, str, QueueFacts]] = []
    lists: dict[str, list[Data]] = {name: [] for name in _LISTS}
    for queue in material.queues():
        entry = (queue.current_size, queue.queue, queue)
        if len(largest) < LARGEST:
            heappush(largest, entry)
        else:
            heappushpop(largest, entry)
        listed = lists.get(queue.state)
        if listed is not None and len(listed) < LISTED:
            listed.append(queue._asdict())
    return {
        "report": "frontier-summary",
        "crawl": facts.job,
        "time": facts.now,
        "status": facts.status,
        **{name: getattr(facts, name) for name in _COUNTS},
        "queues": material.queue_states(),
        "largest": [queue._asdict() for _, _, queue in sorted(largest, reverse=True)],
        "lists": lists,
    }


def _summary_text(data: Data) -> str:
    return "\n".join(_summary_lines(data)) + "\n"


def _summary_lines(data: Data) -> Iterator[str]:
    yield f"Frontier report - {minute(data['time'])}"
    yield f" Job being crawled: {flat(data['crawl'])}"
    yield ""
    yield " -----===== STATS =====-----"
    yield f" Discovered:    {data['discovered']}"
    yield f" Queued:        {data['queued']}"
    yield f" Finished:      {data['finished']}"
    yield f"  Successfully: {data['succeeded']}"
    yield f"  Failed:       {data['failed']}"
    yield f"  Disregarded:  {data['disregarded']}"
    yield ""
    yield " -----===== QUEUES =====-----"
    yield f" Already included size:     {data['discovered']}"
    yield "               pending:     0"
    yield from _state_lines(data["queues"], data["status"])
    largest, now = data["largest"], data["time"]
    yield ""
    yield f" -----===== {len(largest)} LONGEST QUEUES =====-----"
    for number, queue in enumerate(largest):
        yield from _queue_block("LONGEST", number, queue, now)
    for name, listed in data["lists"].items():
        if name != "ineligible" or listed:
            yield from _section(name.upper().replace("_", "-"), listed, data["queues"][name], now)


def _state_lines(states: dict[str, int], status: str) -> Iterator[str]:
    active = states["in_process"] + states["ready"] + states["snoozed"]
    yield ""
    yield f" All class queues map size: {sum(states.values())}"
    yield f"             Active queues: {active}"
    yield f"                    In-process: {states['in_process']}"
    yield f"                         Ready: {states['ready']}"
    yield f"                       Snoozed: {states['snoozed']}"
    yield f"           Inactive queues: {states['inactive']}"
    yield f"         Ineligible queues: {states['ineligible']}"
    yield f"            Retired queues: {states['retired']}"
    yield f"          Exhausted queues: {states['exhausted']}"
    yield ""
    yield f"             Last state: {'EMPTY' if status == 'FINISHED' else status}"


def _section(name: str, listed: list[Data], number: int, now: float) -> Iterator[str]:
    yield ""
    yield f" -----===== {name} QUEUES =====-----"
    for at, queue in enumerate(listed):
        yield from _queue_block(name, at, queue, now)
    if number > len(listed):
        yield f"... and {number - len(listed)} more"


def _queue_block(name: str, number: int, queue: Data, now: float) -> Iterator[str]:
    yield f"{name}#{number}:"
    yield f"Queue {queue['queue']} (p{queue['precedence']})"
    yield f"  {queue['current_size']} items"
    if queue["wake_time"]:
        wait = datetime.fromisoformat(queue["wake_time"]).timestamp() - now
        yield f"   wakes in: {duration(max(wait, 0.0))}"
    yield f"    last enqueued: {safe(queue['last_queued_uri'])}"
    yield f"      last peeked: {safe(queue['last_peek_uri'])}"
    yield f"   total expended: {queue['total_spend']} (total budget: {queue['total_budget']})"
    yield f"   active balance: {queue['session_balance']}"
    yield f"   last(avg) cost: {queue['last_cost']}({decimal(queue['average_cost'], 1)})"
    yield f"   failures: {queue['error_count']}"
    yield ""


SUMMARY = Page("frontier-summary", "frontier-summary-report.txt", _summary, _summary_text)
