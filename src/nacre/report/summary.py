"""The crawl-summary report. Source: Heritrix 3."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import inf

from nacre.report.escape import flat
from nacre.report.material import Data, Material
from nacre.report.report import Page
from nacre.report.stats import hosts_visited, totals

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

_ENDS = {
    "RUNNING": "Running - Active",
    "FINISHED": "Finished",
    "ABORTED": "Finished - Ended by operator",
    "INTERRUPTED": "Finished - Interrupted",
    "FINISHED_TIME_LIMIT": "Finished - Timelimit hit",
    "FINISHED_DATA_LIMIT": "Finished - Maximum amount of data limit hit",
    "FINISHED_DOCUMENT_LIMIT": "Finished - Maximum number of documents limit hit",
    "FINISHED_WRITE_LIMIT": "Finished - Maximum bytes (written) limit hit",
    "FINISHED_QUEUE_BUDGET": "Finished - Queues over budget or retired are left",
    "FINISHED_DISK_WAIT": "Finished - No free space for too long",
    "FINISHED_ABNORMAL": "Abnormal exit from crawling",
    "CRASHED": "Cut off without an end",
}


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
        "failed_pages": tally.failed_pages,
        "uri_disregards": facts.disregarded,
        "guesses_not_tried": facts.untried,
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
    return "\n".join(_lines(data)) + "\n"


def _lines(data: Data) -> Iterator[str]:
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
    yield from _known(data, "{} URIs: {}", "uris", str)
    yield ""
    yield f"total crawled bytes: {_bytes(data['total_crawled_bytes'])} "
    yield f"novel crawled bytes: {_bytes(data['novel_crawled_bytes'])}"
    yield from _known(data, "{} crawled bytes: {}", "bytes", _bytes)
    yield ""
    seconds = max(data["seconds"], 1e-3)
    yield f"URIs/sec: {decimal(data['uris_processed'] / seconds)}"
    yield f"KB/sec: {data['total_crawled_bytes'] / seconds / 1024:.0f}"
    yield from _own(data)


def _known(data: Data, line: str, unit: str, form: Callable[[int], str]) -> Iterator[str]:
    """What was known already, where something was."""
    for name in ("duplicate-by-hash", "not-modified"):
        number = data[f"{name.replace('-', '_')}_{unit}"]
        if number:
            yield line.format(name, form(number))


def _own(data: Data) -> Iterator[str]:
    """What Heritrix does not count, where there is any."""
    own = {
        "delta URIs": data["delta_uris"],
        "guesses not tried": data["guesses_not_tried"],
        "regex time-outs": data["regex_timeouts"],
    }
    if any(own.values()):
        yield ""
        yield from (f"{name}: {number}" for name, number in own.items() if number)


def _bytes(number: int) -> str:
    return f"{number} ({binary_size(number)})"


def end_words(status: str) -> str:
    """A status in Heritrix's words, where it has them: `Finished - Timelimit hit`."""
    return _ENDS.get(status, status)


def binary_size(number: int) -> str:
    """Heritrix's form of a size: `1504 B`, `1.5 KiB`, `69 MiB`."""
    amount, unit = float(number), 0
    while amount >= 1024 and unit < len(_BINARY) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{decimal(amount, 1 if unit and amount < 10 else 0)} {_BINARY[unit]}"


def decimal(number: float, digits: int = 2) -> str:
    """Heritrix's form of a number: no zeros at the end of its digits; `NaN` and `∞` as in Java."""
    if number != number:  # noqa: PLR0124 - only NaN is not itself
        return "NaN"
    if number in {inf, -inf}:
        return "∞" if number > 0 else "-∞"
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def minute(seconds: float) -> str:
    """Heritrix's stamp of a report, 12 digits: `202611221147`, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M")


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
