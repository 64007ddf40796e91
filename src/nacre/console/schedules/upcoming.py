"""The pages of a job that become due next, and its hours with other limits of bandwidth."""

from collections import Counter
from typing import Final

import msgspec

from nacre.console.schedules.calendar_month import LimitedHours
from nacre.core.clock import iso
from nacre.inspect.explain.next_visits import NextVisits
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
from nacre.web.workers.task import reader_task
from nacre.web.workers.views import CLOCK, VIEWS

MOST_DUE: Final = 1_000
"""Pages that are counted by day, the first that become due."""
_SHOWN: Final = 20
_LIMITS: Final = ("total", "per_host", "parallel", "min_delay")


class UpcomingRequest(msgspec.Struct, frozen=True):
    """The upcoming visits of a job.

    Attributes:
        running: A process runs the job.
    """

    running: bool


class DuePage(msgspec.Struct, frozen=True):
    """A page that becomes due.

    Attributes:
        time: When, RFC 3339.
        url: Its URL.
        reason: Why then.
    """

    time: str
    url: str
    reason: str


class LimitedWindow(msgspec.Struct, frozen=True):
    """Hours with other limits.

    Attributes:
        days: Days of the week.
        hours: Hours of the day.
        limits: The limits by their names.
    """

    days: str
    hours: str
    limits: dict[str, int | float]


class UpcomingPages(msgspec.Struct, frozen=True):
    """The pages of a job that become due next, and its limits of bandwidth.

    Attributes:
        due: The first pages.
        days: Pages, of the first thousand, by the day of UTC on which they become due.
        cut: There may be more.
        windows: Hours with other limits.
        zone: Time zone of these hours.
        total: Limit of the job at other hours, B/s; 0 for none.
        per_host: Limit of a host at other hours, B/s; 0 for none.
    """

    due: tuple[DuePage, ...]
    days: dict[str, int]
    cut: bool
    windows: tuple[LimitedWindow, ...]
    zone: str
    total: int
    per_host: int

    @property
    def limited_hours(self) -> LimitedHours:
        """The hours with other limits, as the month shows them."""
        windows = tuple((window.days, window.hours) for window in self.windows)
        return LimitedHours(self.zone, windows)


@reader_task("upcoming")
def list_upcoming(layout: Layout, request: UpcomingRequest) -> UpcomingPages:
    """Read the pages of a job that become due next, and its limits of bandwidth.

    Raises:
        ConfigError: The settings of the job cannot be read.
    """
    band = load_job(layout).settings.bandwidth
    windows = tuple(
        LimitedWindow(
            window.days,
            window.hours,
            {name: limit for name in _LIMITS if (limit := getattr(window, name)) is not None},
        )
        for window in band.windows
    )
    visits = []
    if layout.has_store:
        with VIEWS.looking(layout) as view:
            job = view.view(running=request.running)
            # If the page waits for the result, it asks again.
            visits = view.once("upcoming", lambda: NextVisits(job, CLOCK.now()).first(MOST_DUE))
    return UpcomingPages(
        tuple(DuePage(iso(visit.time), visit.url, visit.reason) for visit in visits[:_SHOWN]),
        dict(Counter(iso(visit.time)[:10] for visit in visits)),
        len(visits) == MOST_DUE,
        windows, band.time_zone, band.total, band.per_host,
    )  # fmt: skip
