"""How a crawl goes: rates now and on average, for the terminal and progress-statistics.log."""

from typing import NamedTuple

from nacre.report.crawllog import LogTimes
from nacre.report.stats import Tally

INTERVAL = 20.0
"""Seconds between rows of progress-statistics.log."""

HEADER = (
    "           timestamp  discovered      queued   downloaded       doc/s(avg)  KB/s(avg)"
    "   dl-failures   busy-thread   mem-use-KB  heap-size-KB   congestion   max-depth   avg-depth"
)


class Counts(NamedTuple):
    """The numbers of one moment.

    Attributes:
        discovered: Different URIs seen.
        queued: URIs waiting.
        failed: Final failures.
        busy: Visits in process.
        congestion: Queues that could work to queues that do; over 1: more toes would help.
        deepest: URIs in the longest queue.
        average: URIs in an average queue.
        memory: Resident memory, KB.
    """

    discovered: int
    queued: int
    failed: int
    busy: int
    congestion: float
    deepest: int
    average: int
    memory: int


class Rates(NamedTuple):
    """Rates of one moment.

    Attributes:
        urls: Documents per second, over the last interval.
        kilobytes: KB per second, over the last interval.
        urls_average: Documents per second, since the start.
        kilobytes_average: KB per second, since the start.
    """

    urls: float
    kilobytes: float
    urls_average: float
    kilobytes_average: float


class Progress:
    """Turns totals into rates."""

    def __init__(self) -> None:
        self._times = LogTimes()
        self._at = 0.0
        self._urls = 0
        self._size = 0

    def rates(self, totals: Tally, elapsed: float) -> Rates:
        """Rates since the last call.

        Args:
            totals: What was fetched.
            elapsed: Seconds that the run has run.
        """
        spent = max(elapsed - self._at, 1e-6)
        now = Rates(
            (totals.urls - self._urls) / spent,
            (totals.size - self._size) / spent / 1000,
            totals.urls / max(elapsed, 1e-6),
            totals.size / max(elapsed, 1e-6) / 1000,
        )
        self._at, self._urls, self._size = elapsed, totals.urls, totals.size
        return now

    def row(self, now: float, totals: Tally, rates: Rates, counts: Counts) -> str:
        """One row of progress-statistics.log, in Heritrix's columns."""
        docs = f"{rates.urls:.2f}({rates.urls_average:.2f})"
        speed = f"{rates.kilobytes:.0f}({rates.kilobytes_average:.0f})"
        return (
            f"{self._times.dashed(now):>20} {counts.discovered:11} {counts.queued:11} "
            f"{totals.urls:12} {docs:>16} {speed:>10} {counts.failed:13} {counts.busy:13} "
            f"{counts.memory:12} {counts.memory:13} {counts.congestion:12.2f} "
            f"{counts.deepest:11} {counts.average:11}"
        )
