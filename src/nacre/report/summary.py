"""The crawl-summary report. Source: Heritrix 3."""

from nacre.report.escape import flat
from nacre.report.material import Data, Material
from nacre.report.report import Page
from nacre.report.stats import hosts_visited, totals

_LINES = (
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


def _build(material: Material) -> Data:
    facts, tally = material.facts(), totals(material.store)
    seconds = max(facts.elapsed, 1e-3)
    return {
        "crawl": facts.job,
        "run": facts.run,
        "status": facts.status,
        "seconds": round(facts.elapsed, 3),
        "seeds_crawled": facts.seeds_crawled,
        "seeds_uncrawled": facts.seeds_uncrawled,
        "hosts_visited": hosts_visited(material.store),
        "uris_discovered": facts.discovered,
        "uris_queued": facts.queued,
        "uris_processed": facts.finished,
        "uri_successes": facts.succeeded,
        "uri_failures": facts.failed,
        "uri_disregards": facts.disregarded,
        "documents": tally.documents,
        "html_documents": tally.html,
        "redirects": tally.redirects,
        "error_replies": tally.errors,
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
        "regex_timeouts": material.store.counter("scope.timeouts"),
        "kb_per_second": round(tally.size / seconds / 1000, 1),
    }


def _text(data: Data) -> str:
    values = {**data, "crawl": flat(data["crawl"]), "duration": duration(data["seconds"])}
    lines = "".join(line.format(values[key]) + "\n" for key, line in _LINES)
    timeouts = data["regex_timeouts"]
    return lines + (f"Regex Time-outs: {timeouts}\n" if timeouts else "")


def duration(seconds: float) -> str:
    """Heritrix's form of a duration: `1h2m3s45ms`, parts that are zero left out."""
    whole = round(seconds * 1000)
    parts = (
        (whole // 86_400_000, "d"),
        (whole // 3_600_000 % 24, "h"),
        (whole // 60_000 % 60, "m"),
        (whole // 1000 % 60, "s"),
        (whole % 1000, "ms"),
    )
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0ms"


CRAWL_SUMMARY = Page("crawl-summary", "crawl-report.txt", _build, _text)
