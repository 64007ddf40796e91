"""The next visits of known pages: by their schedules, or by the value of a visit.

The planner knows no dates: a page is due when a visit is worth what the last one that was chosen in
the last run was worth.
"""

from collections.abc import Iterator
from functools import cached_property
from heapq import nsmallest
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.inspect.analysis.rate_model import RateModel, is_visited
from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
from nacre.inspect.view import View
from nacre.messages import message
from nacre.planner.change_detection.deletion import Life
from nacre.planner.phases.phase import tried_again
from nacre.planner.schedules.schedules import NEVER
from nacre.planner.step import TRUSTED
from nacre.recrawl.pagestore import PageStore
from nacre.recrawl.recrawl import PRICE, PRICES
from nacre.recrawl.scheduling import timetable_of
from nacre.report.formatting import share, span

HOUR, DAY = 3600.0, 86_400.0
_LONGEST = 1000 * DAY
_HALVINGS = 12
_TELLERS = frozenset((PageKind.SITEMAP, PageKind.FEED))


class NextVisit(NamedTuple):
    """A visit to come.

    Attributes:
        time: When it is due, seconds since the epoch; infinity for never.
        url: Of what.
        reason: Why then, for people.
    """

    time: float
    url: str
    reason: str


class NextVisits:
    """Tells when pages are due.

    Args:
        view: The job; its pages are read as last committed.
        now: Seconds since the epoch.
    """

    def __init__(self, view: View, now: float) -> None:
        self._now = now
        self._pages = PageStore(view.store)
        self._settings = view.settings.recrawl
        self._price = view.store.counter(PRICE) / PRICES
        self._known = StoredRecrawlData(view.layout.root, view.store, view.settings, now)
        if view.live is None:
            self._table = self._known.timetable
        else:
            self._table = timetable_of(
                view.settings, view.live.sheets, view.live.rule_files, self._pages
            )

    @cached_property
    def _model(self) -> RateModel:
        return RateModel(self._known)

    def of(self, url: str) -> NextVisit | None:
        """The due time of a page; None for an unknown one, or when no visits are planned."""
        row = self._pages.get(url)
        if row is None or row.kind is PageKind.EMBED:
            return None
        timed = self._by_schedule(row)
        if timed is not None:
            return timed
        if not row.visits:
            return self._new(row)
        if row.kind in _TELLERS:
            return NextVisit(
                self._now,
                url,
                message("explain.each-run-reads", "a {kind}: each run reads it", kind=row.kind),
            )
        return self._by_worth(row, row.last_visit + 1.0)

    def scheduled(self, url: str) -> NextVisit | None:
        """The same of pages under a schedule alone: that needs no look at other pages."""
        row = self._pages.get(url)
        return None if row is None or row.kind is PageKind.EMBED else self._by_schedule(row)

    def first(self, number: int) -> list[NextVisit]:
        """The pages that are due next, the first one first."""
        result = (self.of(row.url) for row in self._pages.scan())
        return nsmallest(
            number, (item for item in result if item is not None and item.time < NEVER)
        )

    def earliest(self, since: float, *, is_spent: bool) -> NextVisit | None:
        """The page that is due first, but not before a time; None when none ever is.

        Start pages, sitemaps and feeds are read in each run, but do not make one begin, unless
        nothing else does for a day.

        Args:
            since: Seconds since the epoch.
            is_spent: A budget may have left new pages over.
        """
        best: NextVisit | None = None
        planned = False
        for row in self._pages.scan():
            timed = None if row.kind is PageKind.EMBED else self._by_schedule(row)
            if timed is None and is_spent and not row.visits:
                timed = self._new(row)
            planned = planned or (timed is None and is_visited(row))
            if timed is not None and timed.time < NEVER and (best is None or timed < best):
                best = timed
        if not planned or (best is not None and best.time <= since):
            return best
        most = min(since + DAY, best.time if best else NEVER)
        result = self._first_worth(since, most)
        if result is None and most == since + DAY:
            return NextVisit(
                most,
                "",
                message(
                    "explain.daily-reading",
                    "start pages and sitemaps are read once a day",
                ),
            )
        return result or best

    def _first_worth(self, since: float, until: float) -> NextVisit | None:
        """The page whose visit will be worth its price first; None before a time."""
        best: NextVisit | None = None
        for row in self._planned():
            # Most are not ready by then, and need no closer look.
            if self._is_ready(row, until):
                best = self._by_worth(row, row.last_visit + 1.0)
                until = best.time
                if until <= since:
                    break
        return best

    def _planned(self) -> Iterator[PageRow]:
        """Pages that the planner visits when they are worth it."""
        for row in self._pages.scan():
            governed = self._table is not None and self._table.governs(row.url)
            if is_visited(row) and row.kind not in _TELLERS and not governed:
                yield row

    def _by_schedule(self, row: PageRow) -> NextVisit | None:
        table = self._table
        due = table.due(row, self._now) if table is not None else None
        timing = table.timing(row) if table is not None else None
        if due is None or timing is None:
            return None
        time = due.time
        reason: str = message(
            "explain.after-last-visit",
            "{kind}, {time} after the last visit",
            kind=timing.kind,
            time=span(timing.interval / DAY),
        )
        if timing.kind == "calendar":
            reason = "calendar"
        elif timing.retries:
            reason = message(
                "explain.after-failures",
                "{kind}, after {retries} failures",
                kind=timing.kind,
                retries=timing.retries,
            )
        elif time <= self._now < timing.due:
            reason = message(
                "explain.date-too-far-ahead-counts",
                "{kind}, a date too far ahead counts as now",
                kind=timing.kind,
            )
        return NextVisit(time, row.url, reason)

    def _new(self, row: PageRow) -> NextVisit:
        time = max(self._now, tried_again(row))
        return NextVisit(
            time, row.url, message("explain.never-visited-so-far", "never visited so far")
        )

    def _by_worth(self, row: PageRow, since: float) -> NextVisit:
        early, late = since, since + HOUR
        while not self._is_ready(row, late):
            if late - since > _LONGEST:
                return NextVisit(
                    NEVER,
                    row.url,
                    message("explain.never-worth-visit", "no visit of it will be worth its price"),
                )
            early, late = late, since + 2.0 * (late - since)
        for _ in range(_HALVINGS):
            middle = (early + late) / 2.0
            early, late = (early, middle) if self._is_ready(row, middle) else (middle, late)
        return NextVisit(late, row.url, self._reason(row, late))

    def _is_ready(self, row: PageRow, time: float) -> bool:
        bid = self._model.bid(row, time)
        if bid is None or bid.due:
            return bid is not None
        if row.told and bid.chance >= TRUSTED:
            return True
        settings = self._settings
        least = settings.least_file if row.kind is PageKind.FILE else settings.least
        return bid.value >= self._price and bid.chance >= least

    def _reason(self, row: PageRow, time: float) -> str:
        bid = self._model.bid(row, time)
        if row.life != Life.LIVE:
            return message(
                "explain.life-check", "it is {life}, and is checked again", life=row.life
            )
        if bid is not None and bid.due:
            return message(
                "explain.visit-floor",
                "every page is visited at least so often (recrawl.floor)",
            )
        if row.told:
            return message(
                "explain.change-is-announced",
                "a change is announced by {names}",
                names=", ".join(row.told),
            )
        chance = bid.chance if bid else 0.0
        return message(
            "explain.worth-visit",
            "it is worth a visit by then: the chance of a change is {share}",
            share=share(chance),
        )
