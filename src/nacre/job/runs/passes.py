"""When the next pass of a continuous crawl begins: at an interval, or by a calendar."""

from typing import NamedTuple, Protocol

from nacre.config.component import parse_duration
from nacre.errors import ConfigError
from nacre.history.schedule.schedules import Calendar
from nacre.job.runs.following import Following


class Passes(Protocol):
    """Says when passes begin."""

    def following(self, began: float, now: float) -> Following | None:
        """When the next pass begins; None when none does any more.

        Args:
            began: When the last one began.
            now: When it was over.
        """
        ...


class Rhythm(NamedTuple):
    """How often passes begin.

    Attributes:
        every: Seconds from the beginning of one to that of the next; 0 where a calendar says.
        calendar: Times of the beginnings; None where `every` says.
    """

    every: float = 0.0
    calendar: Calendar | None = None

    def following(self, began: float, now: float) -> Following | None:
        """See `Passes`.

        A pass that took longer than the interval is followed at once, and none is made up for.
        One that seems to have begun later than now began before the clock was set back.
        """
        if self.calendar is not None:
            time = self.calendar.after(now)
            return None if time is None else Following(time)
        return Following(max(now, min(began, now) + self.every))


def parse_rhythm(
    every: str, calendar: str, zone: str = "UTC", *, continuous: bool = False
) -> Rhythm | None:
    """A rhythm as it is typed; None when there is none: one pass, or passes as pages are due.

    Args:
        every: A duration, such as `6h`; "" for none.
        calendar: Five fields of cron, or `@daily` and the like; "" for none.
        zone: Time zone of the calendar.
        continuous: Passes begin as pages are due.

    Raises:
        ConfigError: Both are given, or one is wrong.
    """
    if (bool(every), bool(calendar), continuous).count(True) > 1:
        raise ConfigError(
            "--every, --at and --continuous: only one can say when the next pass begins"
        )
    if not every and not calendar:
        return None
    try:
        if calendar:
            return Rhythm(calendar=Calendar(calendar, zone))
        seconds = float(str(parse_duration(every)))
    except ValueError as error:
        wrong = "--at, --time-zone" if calendar else f"--every {every!r}"
        raise ConfigError(f"{wrong}: {error}") from None
    if seconds <= 0.0:
        raise ConfigError(f"--every {every!r}: passes need some time; for example 6h")
    return Rhythm(every=seconds)
