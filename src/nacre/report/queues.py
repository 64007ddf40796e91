"""The reports about the frontier. Source: Heritrix 3."""

from collections.abc import Iterator
from heapq import heappush, heappushpop

from nacre.report.escape import flat
from nacre.report.material import Data, Material, QueueFacts
from nacre.report.report import Page, Table
from nacre.report.spill import in_order

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
        **{name: getattr(facts, name) for name in _COUNTS},
        "queues": material.queue_states(),
        "largest": [queue._asdict() for size, _, queue in sorted(largest, reverse=True) if size],
        "lists": lists,
    }


def _summary_text(data: Data) -> str:
    return "\n".join(_summary_lines(data)) + "\n"


def _summary_lines(data: Data) -> Iterator[str]:
    states = data["queues"]
    active = states["in_process"] + states["ready"] + states["snoozed"]
    yield "Frontier report"
    yield f" Job being crawled: {flat(data['crawl'])}"
    yield " -----===== STATS =====-----"
    yield f" Discovered:    {data['discovered']}"
    yield f" Queued:        {data['queued']}"
    yield f" Finished:      {data['finished']}"
    yield f"  Successfully: {data['succeeded']}"
    yield f"  Failed:       {data['failed']}"
    yield f"  Disregarded:  {data['disregarded']}"
    yield " -----===== QUEUES =====-----"
    yield f" All queues:        {sum(states.values())}"
    yield f"  Active queues:    {active}"
    yield f"        In-process: {states['in_process']}"
    yield f"             Ready: {states['ready']}"
    yield f"           Snoozed: {states['snoozed']}"
    yield f"  Inactive queues:  {states['inactive']}"
    yield f"  Ineligible queues: {states['ineligible']}"
    yield f"  Retired queues:   {states['retired']}"
    yield f"  Exhausted queues: {states['exhausted']}"
    yield from _section("LARGEST QUEUES", data["largest"], len(data["largest"]))
    for name, listed in data["lists"].items():
        title = f"{name.upper().replace('_', '-')} QUEUES"
        yield from _section(title, listed, states[name])


def _section(title: str, listed: list[Data], number: int) -> Iterator[str]:
    yield f" -----===== {title} =====-----"
    if listed:
        yield HEADER
        yield from map(queue_line, listed)
    if number > len(listed):
        yield f"... and {number - len(listed)} more"


SUMMARY = Page("frontier-summary", "frontier-summary-report.txt", _summary, _summary_text)
