"""Limits of a crawl: documents, bytes, time. Soft: URIs in process are finished.

Bandwidth, fetches and delays as the hour of the week demands.
"""

from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.states import ExitStatus
from nacre.engine.settings import LimitSettings
from nacre.fetch.exchange import Throttle
from nacre.frontier.bandwidth import BandwidthLimits, BandwidthSettings, pace_at, slower
from nacre.report.statistics import Tally


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


def limit_reached(
    limits: LimitSettings,
    totals: Tally,
    elapsed: float,
    warc_bytes: int,
    prerequisites: int = 0,
) -> ExitStatus | None:
    """Return the limit that a crawl has reached; None while it has reached none.

    Args:
        limits: 0 means no limit.
        totals: What was fetched.
        elapsed: Seconds run.
        warc_bytes: Bytes of WARC written.
        prerequisites: How many of the URIs fetched were needed by others, which is not a document.
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


class PaceChange(NamedTuple):
    """A change of the pace since the moment before.

    Attributes:
        text: The new pace, for the operator; "" when it is the same.
        parallel: Another number of fetches at a time is wanted (`BandwidthLimits.parallel`).
    """

    text: str
    parallel: bool


class Pacer:
    """Computes the current pace, and passes it to the components that keep it.

    Args:
        settings: Of bandwidth.
        throttle: Slows the reading down.

    Attributes:
        pace: The current pace.
        throttle: As given.
    """

    def __init__(self, settings: Effective[BandwidthSettings], throttle: Throttle) -> None:
        self._settings = settings
        self.throttle = throttle
        self.pace = BandwidthLimits()

    def host_rate(self, overlay: int) -> int:
        """Bytes a second of a host under the sheets of a visit; 0 for no limit."""
        return slower(self.pace.per_host, self._settings[overlay].per_host)

    def delay(self, size: int, duration: float, overlay: int) -> float:
        """Least politeness delay after a fetch; see `BandwidthLimits.delay`."""
        return self.pace.delay(size, duration, self._settings[overlay].per_host)

    def apply(self, now: float) -> PaceChange:
        """Apply the pace of this moment.

        Args:
            now: Seconds since the epoch.
        """
        settings = self._settings[0]
        pace = BandwidthLimits(settings.total, settings.per_host)
        if settings.windows:
            local = datetime.fromtimestamp(now, ZoneInfo(settings.time_zone))
            pace = pace_at(pace, settings.windows, local)
        before, self.pace = self.pace, pace
        self.throttle.limit(pace.total)
        text = describe(pace) if pace != before else ""
        return PaceChange(text, parallel=pace.parallel != before.parallel)


def describe(pace: BandwidthLimits) -> str:
    """Return a pace for the operator."""
    where = f"window {', '.join(pace.windows)}" if pace.windows else "outside of all windows"
    parts = [
        f"total {pace.total:,} B/s" if pace.total else "total not limited",
        f"per host {pace.per_host:,} B/s" if pace.per_host else "hosts not limited",
    ]
    if pace.parallel is not None:
        parts.append(f"{pace.parallel} fetches at a time")
    if pace.min_delay:
        parts.append(f"{pace.min_delay:g} s between fetches at least")
    return f"{where}: {', '.join(parts)}"
