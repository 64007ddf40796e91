"""progress-statistics.log of a run: a row at each interval, and the events of the job between."""

from nacre.core.clock import Clock
from nacre.job.assemble import Parts
from nacre.job.reports.snapshot import counts_of
from nacre.job.running.limits import Stopwatch
from nacre.job.states import ExitStatus, JobState
from nacre.report.progress import HEADER, INTERVAL, Progress
from nacre.report.summary import end_words

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
        self._run = parts.run.name

    def begin(self) -> None:
        """The line of names and a first row, at the start of a new run."""
        self.head()
        self.row()

    def head(self) -> None:
        """The line of names: a new file begins."""
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

    def event(self, old: JobState, state: JobState, why: str) -> None:
        """The job came to a state, in Heritrix's words; job.log has the state itself."""
        event = _EVENTS.get(state)
        if event is None:
            return
        status = end_words(why) if state in _OVER else _STATUS[old if event == "RUNNING" else state]
        told = why if why and state not in _OVER else ""
        self._event(event, f"{status} ({told})" if told else status)
        self._parts.logs.job(f"{state} {self._run}")
        if state is JobState.STOPPING and why == ExitStatus.FINISHED:
            self._event("EMPTY", "Running")
            self._parts.logs.job(f"{JobState.EMPTY} {self._run}")

    def _event(self, event: str, status: str) -> None:
        self._parts.logs.progress(self._progress.event(self._clock.now(), event, status))
