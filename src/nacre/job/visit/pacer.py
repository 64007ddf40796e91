"""Bandwidth, fetches and delays as the hour of the week demands."""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from nacre.config.effective import Effective
from nacre.fetch.throttle import Throttle
from nacre.frontier.bandwidth import BandwidthSettings
from nacre.frontier.calendar import Pace, pace_at, slower


class Pacer:
    """Knows the pace of now, and tells those who keep it.

    Args:
        settings: Of bandwidth.
        throttle: Slows the reading down.

    Attributes:
        pace: What holds.
        throttle: As given.
        on_parallel: Called with the number of fetches that a window wants, or None after it.
    """

    def __init__(self, settings: Effective[BandwidthSettings], throttle: Throttle) -> None:
        self._settings = settings
        self.throttle = throttle
        self.pace = Pace()
        self.on_parallel: Callable[[int | None], None] = _nobody

    def host_rate(self, overlay: int) -> int:
        """Bytes a second of a host under the sheets of a visit; 0 for no limit."""
        return slower(self.pace.per_host, self._settings[overlay].per_host)

    def delay(self, size: int, duration: float, overlay: int) -> float:
        """Least politeness delay after a fetch; see `Pace.delay`."""
        return self.pace.delay(size, duration, self._settings[overlay].per_host)

    def mind(self, now: float) -> str:
        """Keep the pace of this moment; what is new about it, "" for nothing.

        Args:
            now: Seconds since the epoch.
        """
        settings = self._settings[0]
        pace = Pace(settings.total, settings.per_host)
        if settings.windows:
            local = datetime.fromtimestamp(now, ZoneInfo(settings.time_zone))
            pace = pace_at(pace, settings.windows, local)
        before, self.pace = self.pace, pace
        self.throttle.total = pace.total
        if pace.parallel != before.parallel:
            self.on_parallel(pace.parallel)
        return describe(pace) if pace != before else ""


def describe(pace: Pace) -> str:
    """A pace for the operator."""
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


def _nobody(_: int | None) -> None:
    """Nobody asked to be told."""
