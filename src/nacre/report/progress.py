"""How a crawl goes: rates now and on average, for progress-statistics.log.

Source: Heritrix 3.
"""

from math import nan
from typing import NamedTuple

from nacre.report.crawllog import LogTimes
from nacre.report.escape import flat
from nacre.report.stats import Tally
from nacre.report.summary import decimal

INTERVAL = 20.0
"""Seconds between rows of progress-statistics.log."""

_COLUMNS = (
    ("timestamp", 20),
    ("discovered", 12),
    ("queued", 12),
    ("downloaded", 13),
    ("doc/s(avg)", 17),
    ("KB/s(avg)", 11),
    ("dl-failures", 14),
    ("busy-thread", 14),
    ("mem-use-KB", 13),
    ("heap-size-KB", 14),
    ("congestion", 13),
    ("max-depth", 12),
    ("avg-depth", 12),
)


def _aligned(*values: object) -> str:
    """Values below their names; a wide one moves those behind it, and never runs into its own."""
    first, *rest = zip(values, _COLUMNS, strict=True)
    return f"{first[0]!s:>{first[1][1]}}" + "".join(
        f" {value!s:>{width - 1}}" for value, (_, width) in rest
    )


HEADER = _aligned(*(name for name, _ in _COLUMNS))
"""The first line of the log."""


class Counts(NamedTuple):
    """The numbers of one moment.

    Attributes:
        discovered: Different URIs seen.
        queued: URIs waiting.
        failed: Final failures.
        busy: Visits in process.
        congestion: Queues that could work to queues that do; over 1: more toes would help. NaN
            where there are neither, infinity where none does.
        deepest: URIs in the longest queue of those in memory.
        average: URIs in an average queue.
        memory: Memory in use, KB.
        peak: The most memory that was ever in use, KB.
    """

    discovered: int
    queued: int
    failed: int
    busy: int
    congestion: float
    deepest: int
    average: int
    memory: int
    peak: int


class Rates(NamedTuple):
    """Rates of one moment.

    Attributes:
        urls: Documents per second, over the last interval.
        kilobytes: KiB per second, over the last interval.
        urls_average: Documents per second, since the start of the run; NaN before it ran.
        kilobytes_average: KiB per second, since the start of the run.
    """

    urls: float
    kilobytes: float
    urls_average: float
    kilobytes_average: float


class Progress:
    """Turns totals into rates.

    Args:
        totals: What earlier processes fetched.
        elapsed: Seconds that they ran; both as of the last commit.
    """

    def __init__(self, totals: Tally, elapsed: float) -> None:
        self._times = LogTimes()
        self._at = elapsed
        self._urls = totals.urls
        self._size = totals.size

    def rates(self, totals: Tally, elapsed: float) -> Rates:
        """Rates since the last call.

        Args:
            totals: What was fetched.
            elapsed: Seconds that the run has run; it stands still in a pause.
        """
        urls = _rate(totals.urls - self._urls, elapsed - self._at)
        size = _rate(totals.size - self._size, elapsed - self._at)
        self._at, self._urls, self._size = elapsed, totals.urls, totals.size
        average = _average(totals.urls, elapsed), _rate(totals.size, elapsed) / 1024
        return Rates(urls, size / 1024, *average)

    def row(self, now: float, totals: Tally, rates: Rates, counts: Counts) -> str:
        """One row of progress-statistics.log, in Heritrix's columns."""
        return _aligned(
            self._times.seconds(now),
            counts.discovered,
            counts.queued,
            totals.urls,
            f"{decimal(rates.urls)}({decimal(rates.urls_average)})",
            f"{rates.kilobytes:.0f}({rates.kilobytes_average:.0f})",
            counts.failed,
            counts.busy,
            counts.memory,
            counts.peak,
            decimal(counts.congestion),
            counts.deepest,
            counts.average,
        )

    def event(self, now: float, event: str, status: str) -> str:
        """A line for a change of the crawl's state: `... CRAWL PAUSED - Paused`."""
        return f"{self._times.seconds(now)} CRAWL {event} - {flat(status)}"


def _average(number: int, seconds: float) -> float:
    """How many a second; NaN for no time at all, as in Heritrix's first row."""
    return number / seconds if seconds > 0 else nan


def _rate(number: int, seconds: float) -> float:
    """How many a second; 0 for no time at all."""
    return number / seconds if seconds > 0 else 0.0
