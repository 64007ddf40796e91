"""Bandwidth: its settings, their hours of the week, and the limits at a moment."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import field_validator

from nacre.config.component import Bytes, Component, Seconds, setting
from nacre.core.clock import in_hours, parse_days, parse_hours
from nacre.messages import message


class HoursWindow(Protocol):
    """Some hours of the week, and their limits; None leaves a value unchanged."""

    @property
    def days(self) -> str:
        """See `parse_days`."""
        ...

    @property
    def hours(self) -> str:
        """See `parse_hours`."""
        ...

    @property
    def total(self) -> int | None:
        """Bytes a second of the whole crawl; 0 for no limit."""
        ...

    @property
    def per_host(self) -> int | None:
        """Bytes a second of one host; 0 for no limit."""
        ...

    @property
    def parallel(self) -> int | None:
        """Parallel fetches."""
        ...

    @property
    def min_delay(self) -> float | None:
        """Shortest politeness delay, seconds."""
        ...


class BandwidthLimits(NamedTuple):
    """The limits at a moment.

    Attributes:
        total: Bytes a second of the whole crawl; 0 for no limit.
        per_host: Bytes a second of one host; 0 for no limit.
        parallel: Parallel fetches; None: as set elsewhere.
        min_delay: Shortest politeness delay, seconds.
        windows: Windows in effect, as `mon-fri 9-17`.
    """

    total: int = 0
    per_host: int = 0
    parallel: int | None = None
    min_delay: float = 0.0
    windows: tuple[str, ...] = ()

    def delay(self, size: int, duration: float, per_host: int = 0) -> float:
        """Least politeness delay after a fetch, so that its host's rate is kept on average.

        Args:
            size: Bytes received.
            duration: Seconds that it took.
            per_host: Another limit of the host, bytes a second; 0 for none.
        """
        rate = slower(self.per_host, per_host)
        return max(self.min_delay, size / rate - duration) if rate else self.min_delay


def slower(limit: int, other_limit: int) -> int:
    """Return the lower of two rates, of which 0 is none."""
    return min(limit, other_limit) if limit and other_limit else limit or other_limit


def pace_at(
    usual: BandwidthLimits, windows: Sequence[HoursWindow], local: datetime
) -> BandwidthLimits:
    """Return the limits at a local time: those of the last window that contains it and sets any."""
    pace = usual
    for window in windows:
        if not in_hours(window.days, window.hours, local):
            continue
        pace = BandwidthLimits(
            pace.total if window.total is None else window.total,
            pace.per_host if window.per_host is None else window.per_host,
            pace.parallel if window.parallel is None else window.parallel,
            pace.min_delay if window.min_delay is None else window.min_delay,
            (*pace.windows, f"{window.days} {window.hours}"),
        )
    return pace


class WindowSettings(Component):
    """Some hours of the week. Values that it does not set stay as outside of these hours."""

    days: str = setting("mon-sun", "Days of the week: `mon-fri`, `sat,sun`.")
    hours: str = setting(
        "0-24", "Hours of the day: `9-17`, `22:30-6`; past midnight they belong to the day before."
    )
    total: Bytes | None = setting(None, "Bandwidth of the whole crawl; 0: no limit.", unit="B/s")
    per_host: Bytes | None = setting(None, "Bandwidth of one host; 0: no limit.", unit="B/s")
    parallel: int | None = setting(None, "Parallel fetches.", unit="fetches", ge=1, le=10_000)
    min_delay: Seconds | None = setting(
        None, "Shortest politeness delay, whatever else says.", unit="s"
    )

    @field_validator("days")
    @classmethod
    def _check_days(cls, value: str) -> str:
        parse_days(value)
        return value

    @field_validator("hours")
    @classmethod
    def _check_hours(cls, value: str) -> str:
        parse_hours(value)
        return value


class BandwidthSettings(Component):
    """Limits of bandwidth. Heads and bodies of replies count."""

    total: Bytes = setting(0, "Limit of the whole crawl; 0: none.", unit="B/s", sheets=False)
    per_host: Bytes = setting(
        0,
        "Limit of one host, by reading more slowly and waiting longer between fetches; 0: none.",
        unit="B/s",
    )
    time_zone: str = setting(
        "UTC", "Time zone of the windows, such as `Asia/Shanghai`.", sheets=False
    )
    windows: tuple[WindowSettings, ...] = setting(
        (),
        "Other values for some hours; if several windows apply, the last one wins.",
        sheets=False,
    )

    @field_validator("time_zone")
    @classmethod
    def _check_zone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                message(
                    "frontier.unknown-time-zone",
                    "unknown time zone; write it as Europe/Vienna (the package tzdata of the "
                    "system "
                    "has them)",
                )
            ) from error
        return value
