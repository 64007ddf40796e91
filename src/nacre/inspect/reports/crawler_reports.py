"""Reports on the crawler's own workings: queues, workers and processors. Source: Heritrix 3."""

from collections.abc import Iterator
from datetime import datetime
from heapq import heappush, heappushpop

import msgspec

from nacre.inspect.reports.base import (
    Audience,
    ReportColumn,
    ReportRequest,
    RowReport,
    SummaryReport,
    data_table,
)
from nacre.inspect.reports.disk_sort import sort_rows
from nacre.inspect.reports.source import Data, QueueFacts, ReportSource
from nacre.messages import message, static
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.report.escape import flat, safe
from nacre.report.formatting import binary_size, decimal, duration, minute
from nacre.report.statistics import read_step_counts, totals

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
_COUNT, _BYTES, _URL = Format.COUNT, Format.BYTES, Format.URL
_QUEUES: tuple[ReportColumn, ...] = (
    ReportColumn("queue", "queue", _URL),
    ReportColumn("state", "state"),
    ReportColumn("current_size", "waiting URIs", _COUNT),
    ReportColumn("total_enqueues", "URIs ever put in", _COUNT),
    ReportColumn("error_count", "failures", _COUNT),
    ReportColumn("wake_time", "snoozed until (UTC)", Format.TIME),
    ReportColumn("total_spend", "spent (cost)", _COUNT),
    ReportColumn("total_budget", "budget (cost; below 0: none)", Format.NUMBER),
    ReportColumn("precedence", "precedence", _COUNT, verbose=True),
    ReportColumn("session_balance", "balance of this turn (cost)", _COUNT, verbose=True),
    ReportColumn("last_cost", "last cost", _COUNT, verbose=True),
    ReportColumn("average_cost", "average cost", Format.NUMBER, verbose=True),
    ReportColumn("last_dequeue_time", "last handed out (UTC)", Format.TIME, verbose=True),
    ReportColumn("last_peek_uri", "URI handed out last", _URL, verbose=True),
    ReportColumn("last_queued_uri", "URI put in last", _URL, verbose=True),
)


def queue_line(row: Data) -> str:
    """The line of a queue, in Heritrix's columns (`HEADER`); `-` for what never was."""
    return (
        f"{row['queue']} {row['precedence']} {row['current_size']} {row['total_enqueues']} "
        f"{row['session_balance']} {row['last_cost']}({row['average_cost']:.1f}) "
        f"{row['last_dequeue_time'] or '-'} {row['wake_time'] or '-'} "
        f"{row['total_spend']}/{row['total_budget']} {row['error_count']} "
        f"{row['last_peek_uri'] or '-'} {row['last_queued_uri'] or '-'}"
    )


class NonemptyQueuesReport(RowReport):
    """All queues with URIs left, in order of their keys."""

    name = "frontier-nonempty"
    summary = "all queues with URIs left"
    audience = Audience.DEVELOPER
    file = "frontier-nonempty-report.txt"
    default = False
    header = HEADER
    title = "Queues with URIs left"
    columns = _QUEUES

    def rows(self, source: ReportSource) -> Iterator[Data]:
        """See `RowReport.rows`."""
        result = (queue for queue in source.queues() if queue.current_size)
        for queue in sort_rows(result, QueueFacts, lambda q: q.queue, source.scratch):
            yield queue._asdict()

    def line(self, row: Data) -> str:
        """See `RowReport.line`."""
        return queue_line(row)


class FrontierSummaryReport(SummaryReport):
    """The frontier in numbers, its largest queues, and queues by state."""

    name = "frontier-summary"
    summary = "queues by state, and the largest"
    audience = Audience.DEVELOPER
    file = "frontier-summary-report.txt"

    def build(self, source: ReportSource) -> Data:
        """See `RunReport.build`."""
        facts = source.facts()
        largest: list[tuple[int, str, QueueFacts]] = []
        lists: dict[str, list[Data]] = {name: [] for name in _LISTS}
        for queue in source.queues():
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
            "queues": source.queue_states(),
            "largest": [queue._asdict() for _, _, queue in sorted(largest, reverse=True)],
            "lists": lists,
        }

    def lines(self, data: Data) -> Iterator[str]:
        """See `SummaryReport.lines`."""
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
                yield from _section(
                    name.upper().replace("_", "-"), listed, data["queues"][name], now
                )

    def document(self, data: Data, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        facts = (
            ("Found", _uris(data["discovered"])),
            ("Waiting", _uris(data["queued"])),
            ("Done", _uris(data["finished"])),
            ("Of these with a reply", f"{data['succeeded']:,}"),
            ("Failed", f"{data['failed']:,}"),
            ("Disregarded", f"{data['disregarded']:,}"),
        )
        states = DataTable(
            "Queues by state",
            (Column("state"), Column("queues", _COUNT)),
            tuple((name.replace("_", "-"), number) for name, number in data["queues"].items()),
        )
        tables = [
            states,
            data_table("The largest queues", _QUEUES, data["largest"], verbose=request.verbose),
        ]
        if request.verbose:
            tables += (
                data_table(_queues_caption(name), _QUEUES, rows, verbose=True)
                for name, rows in data["lists"].items()
                if rows
            )
        section = Section("", facts=facts, tables=tuple(tables))
        return ReportDocument("Frontier", (section,), (("Job", data["crawl"]),))


def _queues_caption(state: str) -> str:
    state = static(state.replace("_", "-"))
    return message("report.queues-of-state", "Queues: {state}", state=state)


def _uris(number: int) -> str:
    return message("report.uris", "{number:,} URIs", number=number)


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


# ---- threads

_TOES: tuple[ReportColumn, ...] = (
    ReportColumn("toe", "worker", _COUNT),
    ReportColumn("uri", "URI", _URL),
    ReportColumn("seconds", "for", Format.SECONDS),
    ReportColumn("attempts", "tries before", _COUNT),
    ReportColumn("step", "step"),
    ReportColumn("path", "hop path", Format.TEXT, verbose=True),
    ReportColumn("via", "found on", _URL, verbose=True),
)


class ThreadsReport(SummaryReport):
    """The work of each busy worker ("toe thread")."""

    name = "threads"
    summary = "the fetches in process"
    audience = Audience.DEVELOPER
    file = "threads-report.txt"

    def build(self, source: ReportSource) -> Data:
        """See `RunReport.build`."""
        toes, facts = source.toes(), source.facts()
        return {
            "report": "threads",
            "crawl": facts.job,
            "time": minute(facts.now),
            "threads": source.parallel(),
            "active": len(toes),
            "rows": [toe._asdict() for toe in toes],
        }

    def lines(self, data: Data) -> Iterator[str]:
        """See `SummaryReport.lines`."""
        if not data["threads"]:
            yield "no ToeThreads"
            return
        yield f"Toe threads report - {data['time']}"
        yield f" Job being crawled: {flat(data['crawl'])}"
        yield f" Number of toe threads in pool: {data['threads']} ({data['active']} active)"
        for row in data["rows"]:
            yield ""
            yield f"[ToeThread #{row['toe']}: {safe(row['uri'])}"
            yield f" CrawlURI {safe(row['uri'])} {row['path'] or '-'} {safe(row['via'])}"
            yield f"    {row['attempts']} attempts"
            yield f"    in processor: {row['step'] or '-'}"
            yield f"    ACTIVE for {duration(row['seconds'])}"
            yield "]"

    def document(self, data: Data, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        facts = (
            (
                "Workers",
                message(
                    "report.busy-slots",
                    "{workers:,}, of which {busy:,} are busy",
                    workers=data["threads"],
                    busy=data["active"],
                ),
            ),
        )
        table = data_table("Fetches in process", _TOES, data["rows"], verbose=request.verbose)
        return ReportDocument(
            "Workers", (Section("", (), facts, tables=(table,)),), (("Job", data["crawl"]),)
        )


# ---- processors

_STEPS: tuple[ReportColumn, ...] = (
    ReportColumn("name", "processor"),
    ReportColumn("function", "what it does"),
    ReportColumn("handled", "visits", _COUNT),
    ReportColumn("seconds", "time in it", Format.SECONDS),
    ReportColumn("links", "links", _COUNT),
    ReportColumn("written", "written", _BYTES),
    ReportColumn("kind", "class", Format.TEXT, verbose=True),
)


class ProcessorsReport(SummaryReport):
    """The counts of each processor of the chains."""

    name = "processors"
    summary = "what each processor of the chains did"
    audience = Audience.DEVELOPER
    file = "processors-report.txt"

    def build(self, source: ReportSource) -> Data:
        """See `RunReport.build`."""
        chains: dict[str, list[Data]] = {}
        for step in read_step_counts(source.store):
            row = msgspec.structs.asdict(step)
            row["seconds"] = round(row["seconds"], 3)
            chains.setdefault(row.pop("chain"), []).append(row)
        facts, tally = source.facts(), totals(source.store)
        return {
            "report": "processors",
            "crawl": facts.job,
            "time": facts.now,
            "revisits": tally.duplicate_urls + tally.not_modified_urls,
            "crawled_bytes": tally.size,
            "chains": chains,
        }

    def lines(self, data: Data) -> Iterator[str]:
        """See `SummaryReport.lines`."""
        for chain, steps in data["chains"].items():
            yield f"{chain}Chain - Processors report - {minute(data['time'])}"
            yield f"  Number of Processors: {len(steps)}"
            yield ""
            for step in steps:
                yield from _step_lines(step)
                if step["written"]:
                    yield from _written_lines(step, data)
                yield ""
            yield ""

    def document(self, data: Data, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        sections = tuple(
            Section(
                message("report.chain", "{chain} chain", chain=chain),
                tables=(data_table("In order", _STEPS, steps, verbose=request.verbose),),
            )
            for chain, steps in data["chains"].items()
        )
        return ReportDocument("Processors", sections, (("Job", data["crawl"]),))


def _step_lines(step: Data) -> Iterator[str]:
    yield f"Processor: {step['kind']} ({step['name']})"
    yield f"  Function:          {step['function']}"
    yield f"  Total CrawlURIs:   {step['handled']}"
    if step["seconds"]:
        yield f"  Time:              {duration(step['seconds'])}"
    if step["links"]:
        yield f"  {step['links']} links from {step['handled']} CrawlURIs"


def _written_lines(step: Data, data: Data) -> Iterator[str]:
    size, plain, written = data["crawled_bytes"], step["plain"], step["written"]
    yield f"  Revisit records:   {data['revisits']}"
    yield f"  Crawled content bytes (including http headers): {size} ({binary_size(size)})"
    yield (
        f"  Total uncompressed bytes (including all warc records): {plain} ({binary_size(plain)})"
    )
    yield f"  Total size on disk (compressed): {written} ({binary_size(written)})"
