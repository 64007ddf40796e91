"""Schedules of batch rounds: every kind of `recrawl.schedule` for rows.

Nutch's schedules are used directly (`planner.schedules.nutch`), the others through
`Timing`; `worth` is the change rate of the page, from evidence in its row. A gone page is tried
again as in Nutch, with every schedule.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from nacre.core.javafloat import java_round, single
from nacre.core.pagerow import TimingRow
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.change_rate.rates import (
    NO_EVIDENCE,
    PAGES,
    log_mean_rate,
    observe,
    posterior,
)
from nacre.planner.schedules.nutch import (
    NutchDatum,
    NutchRates,
    NutchSchedule,
    NutchSettings,
    PageState,
)
from nacre.planner.schedules.schedules import DAY, Met, Timing
from nacre.planner.schedules.timetable import ScheduleSettings, timing_of

_DAY_MS = 86_400_000


class RowTiming(NamedTuple):
    """The timing of a row.

    Attributes:
        interval: Time between visits, s.
        fetch_time: Next visit, ms since the epoch.
        modified: Last modification, ms; 0 when unknown.
        retries: Failures in a row.
        fixed: Interval that no schedule changes, s; 0 for none.
        last_time: Last visit, ms; 0 for none.
        evidence: Evidence of the change rate; b"" for none.
    """

    interval: int
    fetch_time: int = 0
    modified: int = 0
    retries: int = 0
    fixed: float = 0.0
    last_time: int = 0
    evidence: bytes = b""


class RevisitSchedule(Protocol):
    """A schedule: computes when a row is visited again."""

    @property
    def interval(self) -> int:
        """Interval of a row that has none, s."""
        ...

    @property
    def pull(self) -> int:
        """A row that is due later than this from now is due now, s; 0 for none (Nutch's quirk)."""
        ...

    def fetched(self, timed: RowTiming, at: int, state: PageState, mime: str) -> RowTiming:
        """Return the timing after an answer; `at` is the time of the visit, ms."""
        ...

    def gone(self, timed: RowTiming, at: int) -> RowTiming:
        """Return the timing of a missing page."""
        ...

    def forced(self, timed: RowTiming) -> RowTiming | None:
        """Return the timing of a page whose interval exceeds the longest; None for others.

        Such a page counts as never fetched.
        """
        ...


class NutchRevisits:
    """One of Nutch's schedules.

    Args:
        schedule: The schedule.
    """

    def __init__(self, schedule: NutchSchedule) -> None:
        self._schedule = schedule
        self.interval = java_round(schedule.interval)
        self.pull = java_round(schedule.interval_max)

    def fetched(self, timed: RowTiming, at: int, state: PageState, mime: str) -> RowTiming:
        """See `RevisitSchedule`."""
        return _timed(timed, self._schedule.fetched(_datum(timed), at, state, mime))

    def gone(self, timed: RowTiming, at: int) -> RowTiming:
        """See `RevisitSchedule`."""
        return _timed(timed, self._schedule.gone(_datum(timed), at))

    def forced(self, timed: RowTiming) -> RowTiming | None:
        """See `RevisitSchedule`."""
        forced = self._schedule.forced(_datum(timed))
        return None if forced is None else _timed(timed, forced)


def _datum(timed: RowTiming) -> NutchDatum:
    return NutchDatum(
        single(timed.interval), timed.fetch_time, timed.modified, timed.retries, timed.fixed
    )


def _timed(before: RowTiming, datum: NutchDatum) -> RowTiming:
    return before._replace(
        interval=java_round(datum.interval),
        fetch_time=datum.fetch_time,
        modified=datum.modified,
        retries=datum.retries,
    )


class _Revisits:
    """The common part of the schedules that are not Nutch's."""

    pull = 0

    def __init__(self, nutch: NutchSchedule) -> None:
        self._nutch = NutchRevisits(nutch)
        self.interval = self._nutch.interval
        self._longest = java_round(nutch.interval_max)

    def gone(self, timed: RowTiming, at: int) -> RowTiming:
        """See `RevisitSchedule`."""
        return self._nutch.gone(timed, at)

    def forced(self, timed: RowTiming) -> RowTiming | None:
        """See `RevisitSchedule`: there is one maximum, which every interval obeys."""
        return None

    def _after(
        self, timed: RowTiming, at: int, state: PageState, interval: float, evidence: bytes
    ) -> RowTiming:
        seconds = java_round(timed.fixed) or min(max(java_round(interval), 1), self._longest)
        changed = state is PageState.MODIFIED or timed.modified <= 0
        return timed._replace(
            interval=seconds,
            fetch_time=at + seconds * 1000,
            modified=at if changed else timed.modified,
            retries=0,
            evidence=evidence,
        )


class TimingRevisits(_Revisits):
    """A fixed interval, a calendar, Heritrix's or StormCrawler's factors.

    Args:
        timing: The schedule.
        nutch: For the interval of a new row and for missing pages.
    """

    def __init__(self, timing: Timing, nutch: NutchSchedule) -> None:
        super().__init__(nutch)
        self._timing = timing

    def fetched(self, timed: RowTiming, at: int, state: PageState, mime: str) -> RowTiming:
        """See `RevisitSchedule`."""
        first = not timed.last_time
        changed = state is PageState.MODIFIED
        row = TimingRow(
            "",
            self._timing.kind,
            timed.last_time / 1000.0,
            float(timed.interval),
            timed.fetch_time / 1000.0,
            timed.modified / 1000.0,
            timed.retries,
            mime=mime,
        )
        met = Met(at / 1000.0, 200, Answer.THERE, changed=changed, first=first, mime=mime)
        due = self._timing.after("", None if first else row, met).due
        wait = due - at / 1000.0 if math.isfinite(due) else float(self._longest)
        return self._after(timed, at, state, wait, timed.evidence)


class ChangeRateRevisits(_Revisits):
    """The interval in which one change is expected, by the evidence of the page.

    A page that was visited once has the default interval. Source of the estimate:
    `planner.change_rate.rates`.

    Args:
        nutch: For the interval of a new row, its bounds, and for missing pages.
    """

    def __init__(self, nutch: NutchSchedule) -> None:
        super().__init__(nutch)
        self._shortest = max(java_round(nutch.min_interval), 1)

    def fetched(self, timed: RowTiming, at: int, state: PageState, mime: str) -> RowTiming:
        """See `RevisitSchedule`."""
        days = (at - timed.last_time) / _DAY_MS if timed.last_time else 0.0
        if state is PageState.UNKNOWN or days <= 0.0:
            return self._after(timed, at, state, timed.interval, timed.evidence)
        changed = state is PageState.MODIFIED
        evidence = observe(timed.evidence or NO_EVIDENCE, days, changed=changed)
        return self._after(timed, at, state, max(_expected(evidence), self._shortest), evidence)

    def learned(self, timed: RowTiming, evidence: bytes) -> RowTiming:
        """Return the timing of a page by evidence from another crawl.

        Args:
            timed: Its timing, with its last visit.
            evidence: Evidence of its change rate, after that visit.
        """
        interval = max(_expected(evidence), self._shortest)
        return self._after(timed, timed.last_time, PageState.UNKNOWN, interval, evidence)


def _expected(evidence: bytes) -> float:
    """Return the time in which one change is expected, s."""
    return float(DAY / log_mean_rate(posterior(evidence, PAGES)))


def revisits_of(settings: ScheduleSettings, rates: Mapping[str, NutchRates]) -> RevisitSchedule:
    """Return the schedule of `recrawl.schedule`.

    Args:
        settings: The settings.
        rates: Rates by media type, from the file of the settings.
    """
    kind = settings.kind
    values = {name: getattr(settings.nutch, name) for name in NutchSettings.model_fields}
    values["mime_rates"] = {**rates, **settings.nutch.mime_rates}
    own = kind.removeprefix("nutch-") if kind.startswith("nutch-") else "default"
    nutch = NutchSchedule(**values, kind=own)
    if kind.startswith("nutch-"):
        return NutchRevisits(nutch)
    timing = timing_of(settings, rates)
    return ChangeRateRevisits(nutch) if timing is None else TimingRevisits(timing, nutch)
