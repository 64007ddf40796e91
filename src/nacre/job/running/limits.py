"""Limits of a crawl: documents, bytes, time. Soft: what is in process is finished."""

from nacre.core.clock import Clock
from nacre.job.configuration.settings import LimitSettings
from nacre.job.states import ExitStatus
from nacre.report.stats import Tally


class Stopwatch:
    """Time that a run has run, pauses left out, earlier processes included."""

    def __init__(self, clock: Clock, earlier: float) -> None:
        self._clock = clock
        self._before = earlier
        self._since: float | None = None

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        running = self._clock.monotonic() - self._since if self._since is not None else 0.0
        return self._before + running

    def start(self) -> None:
        """The crawl runs."""
        if self._since is None:
            self._since = self._clock.monotonic()

    def stop(self) -> None:
        """The crawl pauses."""
        self._before = self.elapsed
        self._since = None


def reached(
    limits: LimitSettings,
    totals: Tally,
    elapsed: float,
    warc_bytes: int,
    prerequisites: int = 0,
) -> ExitStatus | None:
    """The limit that a crawl has reached; None while it has reached none.

    Args:
        limits: 0 means no limit.
        totals: What was fetched.
        elapsed: Seconds run.
        warc_bytes: Bytes of WARC written.
        prerequisites: How many of the URIs fetched were needed by others, which is no document.
    """
    checks = (
        (limits.documents, totals.urls - prerequisites, ExitStatus.DOCUMENT_LIMIT),
        (limits.bytes, totals.size, ExitStatus.DATA_LIMIT),
        (limits.novel_bytes, totals.novel_bytes, ExitStatus.DATA_LIMIT),
        (limits.novel_documents, totals.novel_urls, ExitStatus.DOCUMENT_LIMIT),
        (limits.time, elapsed, ExitStatus.TIME_LIMIT),
        (limits.warc_bytes, warc_bytes, ExitStatus.WRITE_LIMIT),
    )
    return next((status for limit, value, status in checks if 0 < limit <= value), None)
