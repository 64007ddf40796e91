"""What sheets cost: a job with a hundred of them over ten thousand SURT prefixes, and one without.

The sheets say things that change nothing about the work done, so that the two jobs do the same.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from bench.crawler import CrawlRun

SHEETS = 100
PREFIXES = 10_000
PAIRS = 5
"""Pairs of runs, one with sheets and one without, in turn."""

_BELOW = 10
"""One prefix in so many is below a crawled host, so that paths must be compared."""


def with_sheets(job: Mapping[str, Any], origins: Sequence[str]) -> dict[str, Any]:
    """Return the job with sheets.

    Args:
        job: The job.
        origins: Origins of the hosts that it crawls: each has a prefix, and many below it.
    """
    sheets = {
        f"s{number}": {
            "fetch": {"max_length": 10**12 + number},
            "extract.max_outlinks": 6000 + number,
            "frontier": {"queue_total_budget": 10**9 + number},
        }
        for number in range(SHEETS)
    }
    prefixes = [f"{origin}/" for origin in origins]
    while len(prefixes) < PREFIXES:
        number = len(prefixes)
        origin = origins[number // _BELOW % len(origins)]
        below = f"{origin}/f{number}/" if number % _BELOW == 0 else f"http://h{number}.test/"
        prefixes.append(below)
    associations = [
        {"surts": prefixes[number::SHEETS], "sheets": [name]} for number, name in enumerate(sheets)
    ]
    return {**job, "sheets": sheets, "sheet_associations": associations}


def compared(pairs: Sequence[tuple[CrawlRun, CrawlRun]]) -> dict[str, Any]:
    """Return the figures of pairs of runs, without sheets and with them."""
    more = [with_them.per_url / without.per_url - 1 for without, with_them in pairs]
    return {
        "sheets": SHEETS,
        "prefixes": PREFIXES,
        "cpu_ms_per_url_without": round(median(run.per_url for run, _ in pairs), 3),
        "cpu_ms_per_url": round(median(run.per_url for _, run in pairs), 3),
        "more_percent": round(100 * median(more), 2),
        "pairs_percent": [round(100 * run, 2) for run in more],
    }
