"""progress-statistics.log: rates now and on average, and events of the job. Source: Heritrix 3."""

from math import nan
from typing import NamedTuple, Protocol

from nacre.core.clock import Clock
from nacre.core.states import ExitStatus, JobState
from nacre.report.crawllog import LogTimes
from nacre.report.escape import flat
from nacre.report.formatting import decimal, end_words
from nacre.report.statistics import CrawlTotals, Tally

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


_EVENTS = {
    JobState.RUNNING: "RUNNING",
    JobState.PAUSING: "WAITING",
    JobState.PAUSED: "PAUSED",
    JobState.EMPTY: "EMPTY",
    JobState.STOPPING: "ENDING",
    JobState.FINISHED: "ENDED",
}
_OVER = (JobState.STOPPING, JobState.FINISHED)
_STATUS = {
    JobState.PREPARING: "Preparing",
    JobState.RUNNING: "Running",
    JobState.PAUSING: "Pausing",
    JobState.PAUSED: "Paused",
    JobState.EMPTY: "Running",
}


def _align(*values: object) -> str:
    """Format values below their names; a wide value moves later values, but never overlaps them."""
    first, *later = zip(values, _COLUMNS, strict=True)
    return f"{first[0]!s:>{first[1][1]}}" + "".join(
        f" {value!s:>{width - 1}}" for value, (_, width) in later
    )


HEADER = _align(*(name for name, _ in _COLUMNS))
"""The first line of the log."""


class ProgressCounts(NamedTuple):
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


class FetchRates(NamedTuple):
    """Rates of one moment.

    Attributes:
        urls: Documents per second, over the last interval.
        kilobytes: KiB per second, over the last interval.
        urls_average: Documents per second, since the start of the run; NaN until it has run.
        kilobytes_average: KiB per second, since the start of the run.
    """

    urls: float
    kilobytes: float
    urls_average: float
    kilobytes_average: float


class ProgressRates:
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

    def rates(self, totals: Tally, elapsed: float) -> FetchRates:
        """Rates since the last call.

        Args:
            totals: What was fetched.
            elapsed: Seconds that the run has run; it stops in a pause.
        """
        urls = _rate(totals.urls - self._urls, elapsed - self._at)
        size = _rate(totals.size - self._size, elapsed - self._at)
        self._at, self._urls, self._size = elapsed, totals.urls, totals.size
        average = _average(totals.urls, elapsed), _rate(totals.size, elapsed) / 1024
        return FetchRates(urls, size / 1024, *average)

    def row(self, now: float, totals: Tally, rates: FetchRates, counts: ProgressCounts) -> str:
        """One row of progress-statistics.log, in Heritrix's columns."""
        return _align(
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
        """Return a line for a change of the crawl's state: `... CRAWL PAUSED - Paused`."""
        return f"{self._times.seconds(now)} CRAWL {event} - {flat(status)}"


class ProgressSource(Protocol):
    """The source of the numbers of a running job."""

    @property
    def totals(self) -> CrawlTotals:
        """The totals of the run so far."""
        ...

    def counts(self) -> ProgressCounts:
        """Return the numbers of this moment."""
        ...


class ProgressLines(Protocol):
    """The logs that are written to."""

    def progress(self, text: str) -> None:
        """Add a line to progress-statistics.log."""
        ...

    def job(self, message: str) -> None:
        """Add a line to job.log."""
        ...


class RunTime(Protocol):
    """The time that a run has been running."""

    @property
    def elapsed(self) -> float:
        """Seconds; pauses are left out."""
        ...


class ProgressLog:
    """Writes progress-statistics.log: a row at each interval, and the events of the job between.

    Args:
        source: Has the numbers of the running job.
        logs: The logs of the job.
        run: Name of the run.
        watch: How long the run has been running.
        clock: The time.
    """

    def __init__(
        self, source: ProgressSource, logs: ProgressLines, run: str, watch: RunTime, clock: Clock
    ) -> None:
        self._source = source
        self._logs = logs
        self._watch = watch
        self._clock = clock
        self._progress = ProgressRates(source.totals, watch.elapsed)
        self._last = clock.monotonic()
        self._run = run

    def begin(self) -> None:
        """The line of names and a first row, at the start of a new run."""
        self.head()
        self.row()

    def head(self) -> None:
        """The line of names: a new file begins."""
        self._logs.progress(HEADER)

    def look(self) -> None:
        """Write a row when its time has come; to be called often."""
        now = self._clock.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            self.row()

    def row(self) -> None:
        """Write a row now."""
        totals = self._source.totals
        rates = self._progress.rates(totals, self._watch.elapsed)
        text = self._progress.row(self._clock.now(), totals, rates, self._source.counts())
        self._logs.progress(text)

    def event(self, old: JobState, state: JobState, reason: str) -> None:
        """Log a new state of the job, in Heritrix's words; job.log has the state itself."""
        event = _EVENTS.get(state)
        if event is None:
            return
        status = (
            end_words(reason) if state in _OVER else _STATUS[old if event == "RUNNING" else state]
        )
        detail = reason if reason and state not in _OVER else ""
        self._event(event, f"{status} ({detail})" if detail else status)
        self._logs.job(f"{state} {self._run}")
        if state is JobState.STOPPING and reason == ExitStatus.FINISHED:
            self._event("EMPTY", "Running")
            self._logs.job(f"{JobState.EMPTY} {self._run}")

    def _event(self, event: str, status: str) -> None:
        self._logs.progress(self._progress.event(self._clock.now(), event, status))


def _average(number: int, seconds: float) -> float:
    """How many a second; NaN for no time at all, as in Heritrix's first row."""
    return number / seconds if seconds > 0 else nan


def _rate(number: int, seconds: float) -> float:
    """How many a second; 0 for no time at all."""
    return number / seconds if seconds > 0 else 0.0
