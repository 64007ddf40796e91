"""The crawl-summary report: the whole run in numbers. Source: Heritrix 3."""

from collections.abc import Callable, Iterator

from nacre.core.clock import duration as spent
from nacre.inspect.reports.base import ReportRequest, SummaryReport
from nacre.inspect.reports.source import Data, ReportSource
from nacre.messages import message
from nacre.report.document import Format, ReportDocument, Section
from nacre.report.escape import flat
from nacre.report.formatting import binary_size, decimal, duration, end_words, size, written
from nacre.report.statistics import hosts_visited, totals


class CrawlSummaryReport(SummaryReport):
    """The run in numbers: seeds, URIs, bytes and speed."""

    name = "crawl-summary"
    summary = "the whole run in numbers"
    file = "crawl-report.txt"

    def build(self, source: ReportSource) -> Data:
        """See `RunReport.build`."""
        facts, tally = source.facts(), totals(source.store)
        seconds = max(facts.elapsed, 1e-3)
        return {
            "crawl": facts.job,
            "run": facts.run,
            "status": facts.status,
            "seconds": round(facts.elapsed, 3),
            "seeds_crawled": facts.seeds_crawled,
            "seeds_uncrawled": facts.seeds_uncrawled,
            "hosts_visited": hosts_visited(source.store),
            "uris_discovered": facts.discovered,
            "uris_queued": facts.queued,
            "uris_processed": facts.finished,
            "uri_successes": facts.succeeded,
            "uri_failures": facts.failed,
            "failed_pages": tally.failed_pages,
            "faults": tally.faults,
            "unparsed_replies": tally.unparsed,
            "withheld_replies": tally.withheld,
            "uri_disregards": facts.disregarded,
            "uris_deleted": tally.left_deleted,
            "uris_readmitted": tally.readmitted,
            "guesses_not_tried": facts.untried,
            "documents": tally.documents,
            "html_documents": tally.html,
            "trap_documents": tally.trapped,
            "redirects": tally.redirects,
            "error_replies": tally.errors,
            "replies": tally.urls,
            "prerequisite_replies": tally.prerequisites,
            "missing_guesses": tally.missing_guesses,
            "novel_uris": tally.novel_urls,
            "duplicate_by_hash_uris": tally.duplicate_urls,
            "not_modified_uris": tally.not_modified_urls,
            "delta_uris": tally.delta_urls,
            "total_crawled_bytes": tally.size,
            "novel_crawled_bytes": tally.novel_bytes,
            "duplicate_by_hash_bytes": tally.duplicate_bytes,
            "not_modified_bytes": tally.not_modified_bytes,
            "delta_bytes": tally.delta_bytes,
            "uris_per_second": round(facts.finished / seconds, 2),
            "regex_timeouts": source.store.counter("scope.timeouts"),
            "kb_per_second": round(tally.size / seconds / 1000, 1),
        }

    def lines(self, data: Data) -> Iterator[str]:
        """See `SummaryReport.lines`."""
        yield f"crawl name: {flat(data['crawl'])}"
        yield f"crawl status: {end_words(data['status'])}"
        yield f"duration: {duration(data['seconds'])}"
        yield ""
        yield f"seeds crawled: {data['seeds_crawled']}"
        yield f"seeds uncrawled: {data['seeds_uncrawled']}"
        yield ""
        yield f"hosts visited: {data['hosts_visited']}"
        yield ""
        yield f"URIs processed: {data['uris_processed']}"
        yield f"URI successes: {data['uri_successes']}"
        yield f"URI failures: {data['uri_failures']}"
        yield f"URI disregards: {data['uri_disregards']}"
        yield ""
        yield f"novel URIs: {data['novel_uris']}"
        yield from _duplicate_lines(data, "{} URIs: {}", "uris", str)
        yield ""
        yield f"total crawled bytes: {_bytes(data['total_crawled_bytes'])} "
        yield f"novel crawled bytes: {_bytes(data['novel_crawled_bytes'])}"
        yield from _duplicate_lines(data, "{} crawled bytes: {}", "bytes", _bytes)
        yield ""
        seconds = max(data["seconds"], 1e-3)
        yield f"URIs/sec: {decimal(data['uris_processed'] / seconds)}"
        yield f"KB/sec: {data['total_crawled_bytes'] / seconds / 1024:.0f}"
        yield from _own(data)

    def document(self, data: Data, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        seconds = max(float(data["seconds"]), 1e-3)
        about = (
            ("Job", data["crawl"]),
            ("Run", data["run"]),
            ("State", data["status"]),
            ("Time, without preparation and pauses", spent(seconds)),
        )
        seeds = (
            ("Seeds with a reply", _count(data["seeds_crawled"])),
            ("Seeds without", _count(data["seeds_uncrawled"])),
        )
        byte_facts = (
            ("Received", size(data["total_crawled_bytes"])),
            ("New", _pair(data, "novel_uris", "novel_crawled_bytes")),
            (
                "Same content as before",
                _pair(data, "duplicate_by_hash_uris", "duplicate_by_hash_bytes"),
            ),
            ("Not modified", _pair(data, "not_modified_uris", "not_modified_bytes")),
            ("Stored as differences", _pair(data, "delta_uris", "delta_bytes")),
        )
        speed = (
            (
                "URIs",
                message("report.rate-uris", "{rate:,} a second", rate=data["uris_per_second"]),
            ),
            (
                "Bytes",
                message("report.rate-kb", "{rate:,} KB a second", rate=data["kb_per_second"]),
            ),
        )
        sections = [
            Section("Seeds", facts=seeds),
            Section("URIs", facts=_uri_facts(data)),
            Section("Bytes", facts=byte_facts),
            Section("Speed", facts=speed),
        ]
        if request.verbose or data["regex_timeouts"]:
            facts = (
                ("URIs found", _count(data["uris_discovered"])),
                ("URIs with a result", _count(data["uris_processed"])),
                ("Matches of expressions that took too long", _count(data["regex_timeouts"])),
            )
            sections.append(Section("Inside", facts=facts))
        return ReportDocument("Crawl summary", tuple(sections), about)


def _uri_facts(data: Data) -> tuple[tuple[str, str], ...]:
    """Return the facts about URIs; counts that are 0 in most runs are left out."""
    withheld = data.get("withheld_replies", 0)
    return (
        ("Hosts with a reply", _count(data["hosts_visited"])),
        (
            "Documents",
            message(
                "report.documents-html",
                "{documents:,} ({html:,} HTML)",
                documents=data["documents"],
                html=data["html_documents"],
            ),
        ),
        *(
            (("Of these, of what looks like traps", _count(data["trap_documents"])),)
            * bool(data.get("trap_documents"))
        ),
        ("Redirects", _count(data["redirects"])),
        (
            "Error replies, without robots.txt and guesses such as the icon",
            _count(data["error_replies"]),
        ),
        ("Failed", _failed(data)),
        *((("Of these, by errors of Nacre's own", _count(data["faults"])),) * bool(data["faults"])),
        *(
            (("Too much for the parser, without links", _count(data["unparsed_replies"])),)
            * bool(data["unparsed_replies"])
        ),
        *((("Withheld, not in the archive (rights.enforce)", _count(withheld)),) * bool(withheld)),
        ("Replies for robots.txt", _count(data["prerequisite_replies"])),
        ("Guesses that were not there, such as the icon", _count(data["missing_guesses"])),
        ("Disregarded (robots.txt and the like)", _count(_disregarded(data))),
        ("Deleted by the operator", _count(data["uris_deleted"])),
        ("Waiting", _count(data["uris_queued"])),
    )


def _duplicate_lines(data: Data, line: str, unit: str, form: Callable[[int], str]) -> Iterator[str]:
    """What was known already, where something was."""
    for name in ("duplicate-by-hash", "not-modified"):
        number = data[f"{name.replace('-', '_')}_{unit}"]
        if number:
            yield line.format(name, form(number))


def _own(data: Data) -> Iterator[str]:
    """What Heritrix does not count, where there is any."""
    own = {
        "URI disregards deleted by the operator": data["uris_deleted"],
        "delta URIs": data["delta_uris"],
        "guesses not tried": data["guesses_not_tried"],
        "URIs lost by errors of Nacre's own": data["faults"],
        "replies that were too much for the parser": data["unparsed_replies"],
        "replies withheld for a preference (rights.enforce)": data["withheld_replies"],
        "regex time-outs": data["regex_timeouts"],
    }
    if any(own.values()):
        yield ""
        yield from (f"{name}: {number}" for name, number in own.items() if number)


def _bytes(number: int) -> str:
    return f"{number} ({binary_size(number)})"


def _failed(data: Data) -> str:
    """As the last lines of a crawl count it: robots.txt and `dns:` are counted apart."""
    pages = data["failed_pages"]
    prerequisites = data["uri_failures"] - pages
    if prerequisites <= 0:
        return f"{pages:,}"
    return message(
        "report.failed-others", "{pages:,}, and {others:,} of robots.txt or dns",
        pages=pages, others=prerequisites,
    )  # fmt: skip


def _disregarded(data: Data) -> int:
    """What was not fetched by rules; what the operator deleted is counted apart."""
    return int(data["uri_disregards"] - data["uris_deleted"] - data["uris_readmitted"])


def _count(value: float) -> str:
    return written(value, Format.COUNT)


def _pair(data: Data, urls: str, length: str) -> str:
    return message(
        "report.uris-and-size", "{number:,} URIs, {size}",
        number=data[urls], size=size(data[length]),
    )  # fmt: skip
