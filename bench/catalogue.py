"""The catalogue of captures: captures a second and core, bytes of a capture, times of queries.

    python -m bench.catalogue [--captures 1000000] [--full] [--folder DIR] [--seed 1]

`--full` means ten million captures. The indexes are made up: 50,000 captures each, from 2,000 hosts
of which some are much larger, paths of one to five parts, a fifth of them with a query. Nothing is
crawled. A query is asked 200 times with other values; the first 20 are left out.
"""

import argparse
import hashlib
import random
import statistics
import tempfile
import time
from base64 import b32encode
from collections.abc import Callable, Iterator
from pathlib import Path

from nacre.archive.index import format_line
from nacre.catalogue.build import CatalogueState, update_catalogue
from nacre.catalogue.holdings import Holding, open_holding
from nacre.catalogue.query import CatalogueQuery, count_facets, search_captures
from nacre.catalogue.schema import DATABASE

PER_WARC = 50_000
QUERIES = 200
_WORDS = (
    "news", "article", "2026", "images", "static", "wiki", "Docs", "page", "blog", "archive",
    "topic", "products", "index", "%E4%B8%AD%E6%96%87", "download", "forum",
)  # fmt: skip
_MIMES = (
    "text/html", "image/jpeg", "image/png", "text/css", "application/javascript", "warc/revisit",
    "application/pdf", "text/html; charset=gbk", "image/webp", "font/woff2", "application/json",
)  # fmt: skip


def made_url(chance: random.Random) -> str:
    """A URL."""
    host = f"www.site{int(chance.paretovariate(0.5)) % 2000}.example.org"
    path = "/".join(chance.choice(_WORDS) for _ in range(chance.randint(1, 5)))
    query = f"?id={chance.randint(1, 10**6)}&view=full" if chance.random() < 0.2 else ""
    return f"https://{host}/{path}/{chance.randint(1, 10**7)}.html{query}"


def made_index(number: int, chance: random.Random) -> Iterator[bytes]:
    """The lines of an index."""
    first = time.mktime((2026, 1, 1, 0, 0, 0, 0, 0, 0)) + number * 30_000
    offset = 0
    for row in range(PER_WARC):
        url = made_url(chance)
        timestamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(first + row // 2))
        status = 200 if chance.random() < 0.92 else chance.choice((301, 302, 404, 404, 500))
        mime = _MIMES[min(int(chance.expovariate(0.5)), len(_MIMES) - 1)]
        digest = b32encode(hashlib.sha1(url.encode(), usedforsecurity=False).digest()).decode()
        length = chance.randint(400, 40_000)
        yield format_line(
            url, timestamp, (mime, str(status), f"sha1:{digest}"),
            (length, offset, f"{number:05d}.warc.gz"),
        )  # fmt: skip
        offset += length


def make_job(root: Path, captures: int, chance: random.Random) -> None:
    """A job with as many captures."""
    folder = root / "runs" / "20260101T000000Z" / "archive"
    folder.mkdir(parents=True)
    (root / "state").mkdir()
    (root / "crawl.yaml").write_text("seeds: [http://h.test/]\n")
    for number in range(captures // PER_WARC):
        (folder / f"{number:05d}.warc.gz").write_bytes(b"")
        lines = sorted(made_index(number, chance))
        (folder / f"{number:05d}.cdxj").write_bytes(b"".join(lines))


def percentile(values: list[float], share: float) -> float:
    """The value that a share of the values does not exceed."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def asked(holding: Holding, make: Callable[[], CatalogueQuery], *, facets: bool) -> str:
    """Times of a kind of query, and how many rows it reads."""
    times, looked = [], []
    for number in range(QUERIES):
        query = make()
        began = time.perf_counter()
        if facets:
            rows = count_facets(holding, query).total
        else:
            rows = search_captures(holding, query).looked
        if number >= QUERIES // 10:
            times.append((time.perf_counter() - began) * 1000)
            looked.append(rows)
    return (
        f"{statistics.median(times):8.2f} {percentile(times, 0.95):8.2f} {max(times):8.2f}"
        f" {statistics.median(looked):10,.0f}"
    )


def kinds(urls: list[str], chance: random.Random) -> dict[str, Callable[[], CatalogueQuery]]:
    """The kinds of queries."""

    def host() -> str:
        return chance.choice(urls).split("/")[2]

    return {
        "newest": CatalogueQuery,
        "URL": lambda: CatalogueQuery(url=chance.choice(urls)),
        "prefix": lambda: CatalogueQuery(prefix=chance.choice(urls).rpartition("/")[0]),
        "host": lambda: CatalogueQuery(host=host()),
        "domain, newest": lambda: CatalogueQuery(domain=host(), order="newest"),
        "prefix and 404": lambda: CatalogueQuery(
            prefix=chance.choice(urls).rpartition("/")[0], status="404"
        ),
        "404, newest": lambda: CatalogueQuery(status="404"),
        "media type, newest": lambda: CatalogueQuery(mime=chance.choice(_MIMES[1:4])),
        "family and status": lambda: CatalogueQuery(mime="image", status="5xx"),
        "day, oldest": lambda: CatalogueQuery(
            start=f"2026-01-{chance.randint(1, 6):02d}", order="oldest"
        ),
        "nothing": lambda: CatalogueQuery(method="PATCH", mime="page"),
    }


def build(root: Path) -> tuple[CatalogueState, float]:
    """Build the catalogue of a job; return its state and the seconds of CPU."""
    began = time.process_time()
    state = update_catalogue(open_holding([root]).members[0])
    return state, time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=int, default=1_000_000)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    captures = 10_000_000 if options.full else options.captures
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        root = Path(folder, "job")
        make_job(root, captures, chance)
        state, seconds = build(root)
        size = (root / "state" / DATABASE).stat().st_size
        holding = open_holding([root])
        urls = [
            item.capture.url
            for start in range(0, 360, 3)
            for item in search_captures(
                holding, CatalogueQuery(host=f"www.site{start}.example.org", limit=20)
            ).items
        ]
        mean = statistics.mean(map(len, urls))
        print(f"captures {state.captures:,}, URLs of {mean:.0f} characters on average")
        print(f"build: {state.captures / seconds:,.0f} captures/s and core")
        print(f"size: {size / state.captures:.0f} bytes a capture, all indexes included")
        print(f"\n{'ms':24}{'median':>8} {'p95':>8} {'most':>8} {'rows read':>10}")
        for name, make in kinds(urls, chance).items():
            print(f"{name:24}{asked(holding, make, facets=False)}")
        print(f"{'facets of all':24}{asked(holding, CatalogueQuery, facets=True)}")
        host = urls[0].split("/")[2]
        times = asked(holding, lambda: CatalogueQuery(host=host), facets=True)
        print(f"{'facets of a host':24}{times}")


if __name__ == "__main__":
    main()
