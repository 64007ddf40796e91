"""The reports with a row for each seed, host, source, media type and status.

Source: Heritrix 3. The rows with the most URIs come first.
"""

from collections.abc import Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from nacre.report.escape import safe
from nacre.report.material import Data, Material, SeedFacts
from nacre.report.report import Table
from nacre.report.spill import in_order
from nacre.report.stats import Tally, rows


def _most_first(material: Material, found: Iterator[Data], name: str) -> Iterator[Data]:
    return in_order(found, dict[str, Any], lambda r: (-r["urls"], r[name]), material.scratch)


# ---- seeds


def _seeds(material: Material) -> Iterator[Data]:
    """Those never tried first, then failures, then replies, the highest status first."""
    for seed in in_order(material.seeds(), SeedFacts, _seed_order, material.scratch):
        yield {
            "code": seed.status,
            "status": "CRAWLED" if seed.status > 0 else "NOTCRAWLED",
            "seed": seed.url,
            "redirect": seed.redirect or None,
            "cause": seed.cause or None,
            "next_try": seed.next_try or None,
        }


def _seed_order(seed: SeedFacts) -> tuple[int, int, str]:
    group = 0 if seed.status == 0 else 1 if seed.status < 0 else 2
    return group, -seed.status, seed.url


def _seed_line(row: Data) -> str:
    line = f"{row['code']} {row['status']} {safe(row['seed'])}"
    return f"{line} {safe(row['redirect'])}" if row["redirect"] else line


SEEDS = Table("seeds", "seeds-report.txt", "[code] [status] [seed] [redirect]", _seeds, _seed_line)

# ---- hosts


def _hosts(material: Material) -> Iterator[Data]:
    return _most_first(material, _hosts_by_name(material), "host")


def _hosts_by_name(material: Material) -> Iterator[Data]:
    """The counts of each host, and what waits for it; both in order of the names."""
    by_name = itemgetter(0)
    counts = ((name, tally, 0) for name, tally in rows(material.store, "host"))
    waiting = in_order(material.remaining(), tuple[str, int], by_name, material.scratch)
    queued = ((name, None, number) for name, number in waiting)
    for name, group in groupby(merge(counts, queued, key=by_name), key=by_name):
        tally, remaining = Tally(), 0
        for _, found, number in group:
            tally = found or tally
            remaining += number
        yield _host_row(name, tally, remaining)


def _host_row(name: str, tally: Tally, remaining: int) -> Data:
    return {
        "urls": tally.urls,
        "bytes": tally.size,
        "host": name,
        "robots": tally.robots,
        "remaining": remaining,
        "novel_urls": tally.novel_urls,
        "novel_bytes": tally.novel_bytes,
        "dup_by_hash_urls": tally.duplicate_urls,
        "dup_by_hash_bytes": tally.duplicate_bytes,
        "not_modified_urls": tally.not_modified_urls,
        "not_modified_bytes": tally.not_modified_bytes,
    }


def _host_line(row: Data) -> str:
    """Ends with a blank, as Heritrix's does: scripts count on it."""
    return f"{_values(row)} "


def _values(row: Data) -> str:
    """The row's values in its own order, each one word."""
    return " ".join(safe(str(value)) for value in row.values())


HOSTS = Table(
    "hosts",
    "hosts-report.txt",
    "[#urls] [#bytes] [host] [#robots] [#remaining] [#novel-urls] [#novel-bytes] "
    "[#dup-by-hash-urls] [#dup-by-hash-bytes] [#not-modified-urls] [#not-modified-bytes]",
    _hosts,
    _host_line,
)

# ---- the others


def _sources(material: Material) -> Iterator[Data]:
    """Tag by tag."""
    found = (
        {"source": source, "host": host, "urls": tally.urls}
        for (source, _, host), tally in (
            (name.partition("\0"), tally) for name, tally in rows(material.store, "source")
        )
    )
    for _, group in groupby(found, key=itemgetter("source")):
        yield from _most_first(material, group, "host")


def _mimes(material: Material) -> Iterator[Data]:
    found = (
        {"urls": tally.urls, "bytes": tally.size, "mime": name}
        for name, tally in rows(material.store, "mime")
    )
    return _most_first(material, found, "mime")


def _statuses(material: Material) -> Iterator[Data]:
    found = (
        {"urls": tally.urls, "rescode": int(name)} for name, tally in rows(material.store, "status")
    )
    return _most_first(material, found, "rescode")


SOURCE = Table(
    "source",
    "source-report.txt",
    "[source] [host] [#urls]",
    _sources,
    _values,
    empty="No source tag information. (Is 'sourceTagSeeds' enabled? Here: engine.source_tags)",
)
MIMETYPE = Table(
    "mimetype", "mimetype-report.txt", "[#urls] [#bytes] [mime-types]", _mimes, _values
)
RESPONSECODE = Table(
    "responsecode", "responsecode-report.txt", "[#urls] [rescode]", _statuses, _values
)
