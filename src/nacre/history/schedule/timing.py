"""When a page under a schedule is due: what a visit makes of its timing (pure).

Nutch's schedules are in `history.schedule.nutch_timing`.
"""

import math
from typing import NamedTuple, Protocol

from nacre.core.timingrow import TimingRow
from nacre.history.schedule.schedules import Calendar, Factors
from nacre.history.schedule.settings import FactorTimes
from nacre.history.verdict.deletion import Answer

NEVER = math.inf
_EARLY = 0.01
"""Share of its interval by which a page may be visited sooner: runs never begin to the second."""
_MINUTES = 10_000
"""Minutes for which a calendar's answer is remembered."""


class Met(NamedTuple):
    """A visit as schedules see it.

    Attributes:
        time: When the page was fetched, seconds since the epoch.
        status: Fetch status.
        answer: What it said of the page's existence.
        changed: The page is another than at the visit before, or is gone since.
        first: The first visit that gave an answer.
        mime: Media type; "" where there is none.
        run: When its run began; 0: at `time`. Intervals count from there, so that a run of every
            week finds what the last one visited at its end.
    """

    time: float
    status: int
    answer: Answer
    changed: bool = False
    first: bool = False
    mime: str = ""
    run: float = 0.0

    @property
    def counted(self) -> float:
        """From when on intervals count."""
        return self.run or self.time


class Timing(Protocol):
    """One schedule with its settings."""

    @property
    def kind(self) -> str:
        """Its name in the settings."""
        ...

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """The timing of a page after a visit; `row` is as before, None when there is none."""
        ...

    def due(self, row: TimingRow, now: float) -> float:
        """When a page is due, seconds since the epoch, as seen from `now`."""
        ...

    def early(self, row: TimingRow) -> float:
        """How much sooner a run may visit it, s."""
        ...


class FixedTiming:
    """Every so often, whatever comes of it.

    Args:
        interval: Time between visits, s.
    """

    kind = "fixed"

    def __init__(self, interval: float) -> None:
        self._interval = interval

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`."""
        due = met.counted + self._interval
        return TimingRow(url, self.kind, met.time, self._interval, due, mime=met.mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; another interval holds at once."""
        return row.due - row.interval + self._interval

    def early(self, row: TimingRow) -> float:
        """See `Timing`."""
        return _EARLY * self._interval


class CalendarTiming:
    """At the times of a calendar.

    Args:
        calendar: The calendar.
    """

    kind = "calendar"

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._known: dict[float, float] = {}

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`."""
        due = self._following(met.time)
        return TimingRow(url, self.kind, met.time, due - met.time, due, mime=met.mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; another calendar holds at once."""
        return self._following(row.visited)

    def early(self, row: TimingRow) -> float:
        """See `Timing`: never."""
        return 0.0

    def _following(self, time: float) -> float:
        # Calendars name minutes, and the pages of a pass were visited within few of them.
        minute = time // 60.0
        found = self._known.get(minute)
        if found is None:
            if len(self._known) >= _MINUTES:
                self._known.clear()
            after = self._calendar.after(time)
            found = self._known[minute] = NEVER if after is None else after
        return found


class FactorTiming:
    """An interval that shrinks when a page changed and grows when it did not.

    Args:
        kind: Its name in the settings.
        factors: The rule.
        times: The first intervals.
    """

    def __init__(self, kind: str, factors: Factors, times: FactorTimes) -> None:
        self.kind = kind
        self._factors = factors
        self._times = times

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`; a visit that said nothing leaves the interval as it is."""
        mime = met.mime or (row.mime if row else "")
        interval = row.interval if row and not met.first else self._first(mime)
        if met.answer is Answer.SILENT:
            due = met.counted + self._times.unknown
            retries = (row.retries if row else 0) + 1
            return TimingRow(url, self.kind, met.time, interval, due, retries=retries, mime=mime)
        if row is not None and not met.first:
            interval = self._factors.next_interval(interval, changed=met.changed)
        return TimingRow(url, self.kind, met.time, interval, met.counted + interval, mime=mime)

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; a shorter longest interval holds at once."""
        return min(row.due, row.visited + max(self._factors.longest, self._times.unknown))

    def early(self, row: TimingRow) -> float:
        """See `Timing`."""
        return _EARLY * row.interval

    def _first(self, mime: str) -> float:
        if not mime or mime == "unknown":
            return self._times.unknown
        if mime.startswith("text/"):
            return self._times.first_text
        return self._times.first_image if mime.startswith("image/") else self._times.first


def adopted(timing: Timing, url: str, time: float, mime: str) -> TimingRow:
    """The timing of a page that was visited before it came under a schedule."""
    return timing.after(url, None, Met(time, 200, Answer.THERE, first=True, mime=mime))
