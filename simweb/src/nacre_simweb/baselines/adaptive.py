"""The deployed adaptive schedulers: an interval that shrinks and grows. Source: 2.2.

None knows of a budget. Where one binds, what has been due longest goes first.
"""

from heapq import heappop, heappush
from typing import Protocol

from nacre.planner.schedules.nutch import NutchDatum, NutchSchedule, PageState
from nacre.planner.schedules.schedules import (
    HERITRIX,
    STORMCRAWLER,
    Factors,
    heritrix_first,
)
from nacre_simweb.baselines.book import Book
from nacre_simweb.policy import VisitOutcome

_GONE = frozenset({404, 410})


class Interval(Protocol):
    """The rule by which one crawler finds the time of the next visit."""

    def next_visit(self, outcome: VisitOutcome, *, changed: bool, first: bool) -> float:
        """Seconds since the epoch."""
        ...


class Adaptive(Book):
    """A queue ordered by the time of the next visit.

    Args:
        name: Name of the baseline.
        interval: Finds that time.
    """

    conditional = True

    def __init__(self, name: str, interval: Interval) -> None:
        super().__init__()
        self.name = name
        self._interval = interval
        self._queue: list[tuple[float, str]] = []

    def due(self, now: float, room: int) -> list[str]:
        """Return the URLs whose time has come."""
        urls: list[str] = []
        queue = self._queue
        while queue and queue[0][0] <= now and len(urls) < room:
            urls.append(heappop(queue)[1])
        return urls

    def visited(self, outcome: VisitOutcome, elapsed: float, *, changed: bool, first: bool) -> None:
        """Set the time of the next visit; never within the same step."""
        after = self._interval.next_visit(outcome, changed=changed, first=first)
        heappush(self._queue, (max(after, outcome.time + 1e-3), outcome.url))


class NutchInterval:
    """Nutch's adaptive schedule.

    Args:
        schedule: Its settings: those of the code, or those of nutch-default.xml.
    """

    def __init__(self, schedule: NutchSchedule) -> None:
        self._schedule = schedule
        self._data: dict[str, NutchDatum] = {}

    def next_visit(self, outcome: VisitOutcome, *, changed: bool, first: bool) -> float:
        """See `Interval`."""
        url, now = outcome.url, round(outcome.time * 1000)
        datum = self._data.get(url) or NutchDatum(self._schedule.interval, now)
        if outcome.status in _GONE:
            datum = self._schedule.gone(datum, now)
        elif outcome.status in {0, 429, 503}:
            datum = self._schedule.retried(datum, now)
        elif first:
            datum = self._schedule.fetched(datum, now, PageState.UNKNOWN)
        else:
            state = PageState.MODIFIED if changed else PageState.NOT_MODIFIED
            datum = self._schedule.fetched(datum, now, state)
        self._data[url] = datum
        return datum.fetch_time / 1000


class FactorInterval:
    """Heritrix's and StormCrawler's: fixed factors within bounds.

    Args:
        factors: The factors and bounds.
        by_type: The first interval depends on the media type, as in Heritrix.
    """

    def __init__(self, factors: Factors, *, by_type: bool = False) -> None:
        self._factors = factors
        self._by_type = by_type
        self._intervals: dict[str, float] = {}

    def next_visit(self, outcome: VisitOutcome, *, changed: bool, first: bool) -> float:
        """See `Interval`."""
        if first:
            wait = heritrix_first(outcome.mime) if self._by_type else self._factors.first
        else:
            before = self._intervals[outcome.url]
            wait = self._factors.next_interval(before, changed=changed)
        self._intervals[outcome.url] = wait
        return outcome.time + wait


def nutch_code() -> Adaptive:
    """B3, with the defaults that Nutch's code has: both rates 0.2."""
    schedule = NutchSchedule(inc_rate=0.2, dec_rate=0.2)
    return Adaptive("nutch-code", NutchInterval(schedule))


def nutch_conf() -> Adaptive:
    """B3, with the rates of nutch-default.xml: 0.4 and 0.2."""
    return Adaptive("nutch-conf", NutchInterval(NutchSchedule()))


def heritrix() -> Adaptive:
    """B4: Heritrix 1.14's adaptive revisiting."""
    return Adaptive("heritrix", FactorInterval(HERITRIX, by_type=True))


def stormcrawler() -> Adaptive:
    """B5: StormCrawler's adaptive scheduler."""
    return Adaptive("stormcrawler", FactorInterval(STORMCRAWLER))
