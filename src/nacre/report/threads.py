"""The threads report: what each worker ("toe") is at. Source: Heritrix 3."""

from collections.abc import Iterator

from nacre.report.escape import flat, safe
from nacre.report.material import Data, Material
from nacre.report.report import Page
from nacre.report.summary import duration, minute


def _build(material: Material) -> Data:
    toes, facts = material.toes(), material.facts()
    return {
        "report": "threads",
        "crawl": facts.job,
        "time": minute(facts.now),
        "threads": material.parallel(),
        "active": len(toes),
        "rows": [toe._asdict() for toe in toes],
    }


def _text(data: Data) -> str:
    return "\n".join(_lines(data)) + "\n"


def _lines(data: Data) -> Iterator[str]:
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


THREADS = Page("threads", "threads-report.txt", _build, _text)
