"""The timetable of pages under a schedule: which they are, and when each is due (pure).

The planner learns from visits of such pages and never chooses them: they are visited when their
schedule says so. `ScheduleSettings` is what an operator may set about it.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, Protocol, Self

from pydantic import model_validator

from nacre.config.component import Component, Seconds, section, setting
from nacre.core.pagerow import PageKind, PageRow, TimingRow
from nacre.planner.schedules.nutch import NutchRates, NutchTimes, NutchTiming
from nacre.planner.schedules.schedules import (
    DAY,
    Calendar,
    CalendarTiming,
    FactorTiming,
    FixedTiming,
    HeritrixTimes,
    Met,
    StormTimes,
    Timing,
    adopted,
)

Kind = Literal[
    "worth",
    "fixed",
    "calendar",
    "nutch-default",
    "nutch-adaptive",
    "nutch-mime-adaptive",
    "heritrix",
    "stormcrawler",
]


class ScheduleSettings(Component):
    """Settings of when a page is visited again; sheets can set it for sites and parts of them."""

    kind: Kind = setting(
        "worth",
        "`worth`: the planner chooses by the value of a visit. `fixed`: every `interval`; "
        "`calendar`: at `at`; `nutch-default`, `nutch-adaptive`, `nutch-mime-adaptive`: Nutch's "
        "schedules (`nutch`); `heritrix`: Heritrix 1's wait factors; `stormcrawler`: its "
        "adaptive scheduler. With all but `worth` a run visits the pages that are due, and new "
        "links.",
        live=False,
    )
    interval: Seconds = setting(
        7 * DAY, "For `fixed`: time between visits.", unit="s", gt=0, live=False
    )
    at: str = setting(
        "@daily",
        "For `calendar`: times in cron's five fields, or `@hourly`, `@daily`, `@weekly`, "
        "`@monthly`, `@yearly`.",
        live=False,
    )
    time_zone: str = setting(
        "UTC", "For `calendar`: its time zone, such as Asia/Shanghai.", live=False
    )
    nutch: NutchTimes = section(NutchTimes, "For `nutch-default` and the like.")
    heritrix: HeritrixTimes = section(HeritrixTimes, "For `heritrix`.")
    stormcrawler: StormTimes = section(StormTimes, "For `stormcrawler`.")

    @model_validator(mode="after")
    def _is_a_calendar(self) -> Self:
        Calendar(self.at, self.time_zone)
        return self


_MIMES = {PageKind.FILE: "application/octet-stream", PageKind.EMBED: "image/*"}


def timing_of(settings: ScheduleSettings, rates: Mapping[str, NutchRates]) -> Timing | None:
    """The schedule that settings choose; None for the planner.

    Args:
        settings: The settings.
        rates: Rates by media type of the file that they name.
    """
    kind = settings.kind
    if kind == "worth":
        return None
    if kind == "fixed":
        return FixedTiming(settings.interval)
    if kind == "calendar":
        return CalendarTiming(Calendar(settings.at, settings.time_zone))
    if kind == "heritrix":
        return FactorTiming(kind, settings.heritrix.factors, settings.heritrix)
    if kind == "stormcrawler":
        return FactorTiming(kind, settings.stormcrawler.factors, settings.stormcrawler)
    return NutchTiming(kind, settings.nutch, rates)


class TimingRows(Protocol):
    """The rows of timings."""

    def timing(self, url: str) -> TimingRow | None:
        """The timing of a page; None when there is none."""
        ...

    def put_timing(self, row: TimingRow) -> None:
        """Keep a timing."""
        ...


class Due(NamedTuple):
    """The due time of a page.

    Attributes:
        time: Seconds since the epoch; infinity for never.
        now: A run that begins now visits it.
    """

    time: float
    now: bool


class Timetable:
    """Determines for each page whether it is under a schedule, and when it is due.

    Args:
        rows: The rows of timings.
        of: The schedule of a URL; None for the planner.
    """

    def __init__(self, rows: TimingRows, of: Callable[[str], Timing | None]) -> None:
        self._rows = rows
        self._of = of

    def governs(self, url: str) -> bool:
        """Whether a page is under a schedule: the planner does not choose it."""
        return self._of(url) is not None

    def timing(self, page: PageRow) -> TimingRow | None:
        """The timing of a page; None when it has none: under no schedule, or never visited."""
        timing = self._of(page.url)
        return None if timing is None else self._row(timing, page)

    def due(self, page: PageRow, now: float) -> Due | None:
        """The due time of a page; None without a schedule, or if it was never tried: it is new."""
        timing = self._of(page.url)
        row = None if timing is None else self._row(timing, page)
        if timing is None or row is None:
            return None
        time = timing.due(row, now)
        return Due(time, time - timing.early(row) <= now)

    def learn(self, url: str, met: Met) -> None:
        """Take in a visit; one that was taken in before, as when a WARC is read again, is none."""
        timing = self._of(url)
        if timing is None:
            return
        row = self._rows.timing(url)
        if row is not None and met.time <= row.visited:
            return
        if row is None or row.kind != timing.kind:
            at = row.visited if row else met.time
            row = None if met.first else adopted(timing, url, at, met.mime)
        self._rows.put_timing(timing.after(url, row, met))

    def _row(self, timing: Timing, page: PageRow) -> TimingRow | None:
        row = self._rows.timing(page.url)
        if row is not None and row.kind == timing.kind:
            return row
        if not page.visits:
            return None
        if row is not None:
            return adopted(timing, page.url, row.visited, row.mime)
        return adopted(timing, page.url, page.last_visit, _MIMES.get(page.kind, "text/html"))
