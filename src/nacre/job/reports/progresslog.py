"""progress-statistics.log of a run: a row at each interval, and the events of the job between."""

from nacre.core.clock import Clock
from nacre.job.assemble import Parts
from nacre.job.reports.snapshot import counts_of
from nacre.job.running.limits import Stopwatch
from nacre.job.states import JobState
from nacre.report.progress import HEADER, INTERVAL, Progress


class ProgressLog:
    """Writes the log.

    Args:
        parts: Have the numbers, and the log.
        watch: How long the run has been running.
        clock: The time.
    """

    def __init__(self, parts: Parts, watch: Stopwatch, clock: Clock) -> None:
        self._parts = parts
        self._watch = watch
        self._clock = clock
        self._progress = Progress(parts.statistics.totals, watch.elapsed)
        self._last = clock.monotonic()

    def begin(self) -> None:
        """The line of names, at the start of a new run."""
        self._parts.logs.progress(HEADER)

    def look(self) -> None:
        """Write a row when its time has come; to be called often."""
        now = self._clock.monotonic()
        if now - self._last >= INTERVAL:
            self._last = now
            self.row()

    def row(self) -> None:
        """Write a row now."""
        totals = self._parts.statistics.totals
        rates = self._progress.rates(totals, self._watch.elapsed)
        text = self._progress.row(self._clock.now(), totals, rates, counts_of(self._parts))
        self._parts.logs.progress(text)

    def event(self, state: JobState, why: str) -> None:
        """The job came to a state."""
        self._parts.logs.progress(self._progress.event(self._clock.now(), state, why))
