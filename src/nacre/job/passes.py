"""When the next pass of a continuous crawl begins: at an interval, or by a calendar."""

from typing import NamedTuple

from nacre.config.component import parse_duration
from nacre.errors import ConfigError
from nacre.history.schedules import Calendar


class Rhythm(NamedTuple):
    """How often passes begin.

    Attributes:
        every: Seconds from the beginning of one to that of the next; 0 where a calendar says.
        calendar: Times of the beginnings; None where `every` says.
    """

    every: float = 0.0
    calendar: Calendar | None = None

    def following(self, began: float, now: float) -> float | None:
        """When the next pass begins, seconds since the epoch; None when the calendar has no more.

        A pass that took longer than the interval is followed at once, and none is made up for.

        Args:
            began: When the last one began.
            now: When it was over.
        """
        if self.calendar is not None:
            return self.calendar.after(now)
        return max(now, began + self.every)


def parse_rhythm(every: str, calendar: str, zone: str = "UTC") -> Rhythm | None:
    """A rhythm as it is typed; None when there is none: one pass.

    Args:
        every: A duration, such as `6h`; "" for none.
        calendar: Five fields of cron, or `@daily` and the like; "" for none.
        zone: Time zone of the calendar.

    Raises:
        ConfigError: Both are given, or one is wrong.
    """
    if every and calendar:
        raise ConfigError("--every and --at cannot both say when the next pass begins")
    if not every and not calendar:
        return None
    try:
        if calendar:
            return Rhythm(calendar=Calendar(calendar, zone))
        seconds = float(str(parse_duration(every)))
    except ValueError as error:
        raise ConfigError(f"{'--at' if calendar else '--every'} {error}") from None
    if seconds <= 0.0:
        raise ConfigError(f"--every {every!r}: passes need some time; for example 6h")
    return Rhythm(every=seconds)
