"""The reports of a run, each as data and as Heritrix's text. Source: reference/heritrix.md 1.13."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nacre.report.stats import rows, totals
from nacre.store.store import Store

Data = dict[str, Any]


class RunFacts(NamedTuple):
    """What reports need to know beside the statistics.

    Attributes:
        job: Name of the job.
        run: Name of the run.
        status: How it ended, or `RUNNING`.
        started: Seconds since the epoch.
        elapsed: Seconds that it ran, pauses left out.
        seeds_crawled: Seeds with a reply.
        seeds_uncrawled: The others.
        discovered: Different URIs seen.
        queued: URIs that wait.
        finished: URIs with a final result.
        succeeded: Of these, with a reply.
        failed: Of these, without.
        disregarded: Of these, denied by robots.txt and the like.
    """

    job: str
    run: str
    status: str
    started: float
    elapsed: float
    seeds_crawled: int
    seeds_uncrawled: int
    discovered: int
    queued: int
    finished: int
    succeeded: int
    failed: int
    disregarded: int


class Report(NamedTuple):
    """One report.

    Attributes:
        name: For `nacre report`.
        file: Name of its file, as in Heritrix.
        build: Its data; JSON types only.
        text: The lines of its file.
    """

    name: str
    file: str
    build: Callable[[Store, RunFacts], Data]
    text: Callable[[Data], str]


def crawl_summary(store: Store, facts: RunFacts) -> Data:
    """The totals of a run."""
    tally = totals(store)
    seconds = max(facts.elapsed, 1e-3)
    return {
        "crawl": facts.job,
        "run": facts.run,
        "status": facts.status,
        "seconds": round(facts.elapsed, 3),
        "seeds_crawled": facts.seeds_crawled,
        "seeds_uncrawled": facts.seeds_uncrawled,
        "hosts_visited": sum(
            1 for name, host in rows(store, "host") if name != "dns:" and host.urls
        ),
        "uris_discovered": facts.discovered,
        "uris_queued": facts.queued,
        "uris_processed": facts.finished,
        "uri_successes": facts.succeeded,
        "uri_failures": facts.failed,
        "uri_disregards": facts.disregarded,
        "novel_uris": tally.novel_urls,
        "duplicate_by_hash_uris": tally.duplicate_urls,
        "not_modified_uris": tally.not_modified_urls,
        "total_crawled_bytes": tally.size,
        "novel_crawled_bytes": tally.novel_bytes,
        "duplicate_by_hash_bytes": tally.duplicate_bytes,
        "not_modified_bytes": tally.not_modified_bytes,
        "uris_per_second": round(facts.finished / seconds, 2),
        "kb_per_second": round(tally.size / seconds / 1000, 1),
    }


_SUMMARY_LINES = (
    ("crawl", "Crawl Name: {}"),
    ("status", "Crawl Status: {}"),
    ("duration", "Duration Time: {}"),
    ("seeds_crawled", "Total Seeds Crawled: {}"),
    ("seeds_uncrawled", "Total Seeds not Crawled: {}"),
    ("hosts_visited", "Total Hosts Crawled: {}"),
    ("uris_processed", "Total URIs Processed: {}"),
    ("uri_successes", "URIs Crawled successfully: {}"),
    ("uri_failures", "URIs Failed to Crawl: {}"),
    ("uri_disregards", "URIs Disregarded: {}"),
    ("novel_uris", "Novel URIs: {}"),
    ("duplicate_by_hash_uris", "Duplicate-by-hash URIs: {}"),
    ("not_modified_uris", "Not-modified URIs: {}"),
    ("total_crawled_bytes", "Total Crawled Bytes: {}"),
    ("novel_crawled_bytes", "Novel Crawled Bytes: {}"),
    ("duplicate_by_hash_bytes", "Duplicate-by-hash Crawled Bytes: {}"),
    ("not_modified_bytes", "Not-modified Bytes: {}"),
    ("uris_per_second", "Processed docs/sec: {}"),
    ("kb_per_second", "Bandwidth in Kbytes/sec: {}"),
)


def crawl_summary_text(data: Mapping[str, Any]) -> str:
    """The lines of `crawl-report.txt`."""
    values = {**data, "duration": duration(data["seconds"])}
    return "".join(line.format(values[key]) + "\n" for key, line in _SUMMARY_LINES)


def duration(seconds: float) -> str:
    """Heritrix's form of a duration: `1h2m3s45ms`, the leading zero parts left out."""
    whole = round(seconds * 1000)
    parts = (
        (whole // 86_400_000, "d"),
        (whole // 3_600_000 % 24, "h"),
        (whole // 60_000 % 60, "m"),
        (whole // 1000 % 60, "s"),
        (whole % 1000, "ms"),
    )
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0ms"


REPORTS: dict[str, Report] = {
    report.name: report
    for report in (Report("crawl-summary", "crawl-report.txt", crawl_summary, crawl_summary_text),)
}
"""All reports by name."""
