"""The planner's estimates of the change rates of a job's pages (pure).

Whether a job has seen enough to say how often its pages change (pure).

Before that, what the planner believes comes from the web at large; it is good enough to choose
visits by, but no fact about a site.

When the next run is worth its while, and why (pure).
"""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageKind, PageRow
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.messages import message, plural
from nacre.planner.change_detection.deletion import Existence, Life, next_look
from nacre.planner.change_rate.rates import GRID, LISTS, PAGES, Classes, Distribution
from nacre.planner.discovery.hints import Signal
from nacre.planner.ranking import Ranking, ValueTerms, VisitValue, Wanted, choose, quiet
from nacre.planner.sites import Sites
from nacre.planner.step import THETA, TRUSTED
from nacre.report.formatting import span

_UNLIMITED = 1 << 60
_INDEX = 0.5


class RunPlan(NamedTuple):
    """The known pages that a run would choose without a budget.

    Attributes:
        chosen: Its bids, best first.
        price: The worth of the last one that was chosen for its worth; 0 when all are.
        expected: Changes among all pages, as forecast.
        changes: Of these, those among the chosen.
    """

    chosen: Sequence[VisitValue]
    price: float
    expected: float
    changes: float


class RateModel:
    """Posteriors and bids of all pages.

    Args:
        known: What is known of them.
    """

    def __init__(self, data: RecrawlData) -> None:
        settings = data.settings
        self._data = data
        self._asks_hints = settings.hints
        self._sites = Sites(dict(data.sites))
        self._classes = Classes(lambda row: row.evidence, PAGES)
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._classes.fit(data.rows(), self._quiet)
        self._arrivals.fit(data.rows())
        terms = ValueTerms(THETA[settings.aim], settings.floor, versions=settings.aim != "fresh")
        self._ranking = Ranking(self._classes, self._arrivals, terms)

    def posterior(self, row: PageRow) -> Distribution:
        """The distribution of the rate of a page's changes."""
        return self._classes.posterior(row)

    def arrivals(self, row: PageRow) -> Distribution:
        """The distribution of the rate of new links of an index page."""
        return self._arrivals.posterior(row)

    def signals(self, row: PageRow) -> Sequence[tuple[str, Signal]]:
        """Sources that would have announced a change of a page, with their trust."""
        return self._sites.signals(row) if self._asks_hints else []

    def chance(self, row: PageRow, until: float) -> float:
        """Probability that a visit finds something to keep."""
        bid = self.bid(row, until)
        return bid.chance if bid is not None else 0.0

    def bid(self, row: PageRow, now: float) -> VisitValue | None:
        """A page's bid for a visit."""
        time = self._sites.time(row.url)
        if row.kind is PageKind.PAGE:
            time = self._sites.forecasting(row, time)
        return self._ranking.visit(row, now, time, self.signals(row))

    def _quiet(self, row: PageRow) -> bytes:
        if not row.visits or row.told:
            return b""
        return quiet(row, self.signals(row), self._data.now)

    def plan(self, now: float) -> RunPlan:
        """The choice of a run that begins now among the known pages, phase by phase."""
        lists: list[VisitValue] = []
        values: list[VisitValue] = []
        untrusted: list[VisitValue] = []
        for row in self._data.rows():
            planned = is_visited(row) and self._data.due(row) is None
            bid = self.bid(row, now) if planned else None
            if bid is not None and row.index >= _INDEX:
                lists.append(bid)
            elif bid is not None:
                (values if row.told and bid.chance >= TRUSTED else untrusted).append(bid)
        settings = self._data.settings
        target = Wanted(settings.recall, settings.least, sure=TRUSTED)
        first = [*choose(lists, _UNLIMITED, target), *values]
        already = sum(bid.chance for bid in first)
        last = choose(untrusted, _UNLIMITED, target._replace(already=already))
        worths = [bid.value for bid in last if not bid.due]
        price = min(worths, default=0.0) if len(last) < len(untrusted) else 0.0
        result = already + sum(bid.chance for bid in last)
        expected = sum(bid.chance for bid in (*lists, *values, *untrusted))
        return RunPlan([*first, *last], price, expected, result)


def is_visited(row: PageRow) -> bool:
    """Whether the planner would visit a page again: an existing one that is not embedded."""
    return row.kind is not PageKind.EMBED and row.visits > 0


def is_living(row: PageRow) -> bool:
    """A page that was there at its last visit."""
    return is_visited(row) and row.life == Life.LIVE


class RateMixture:
    """The rates of many pages: how many of them there are at each rate of the grid.

    Attributes:
        pages: Expected number of pages at each of `change_rate.rates.RATES`.
        count: Pages in all.
    """

    def __init__(self) -> None:
        self.pages = [0.0] * GRID
        self.count = 0

    def add(self, posterior: Distribution) -> None:
        """Count a page."""
        self.pages = list(map(add, self.pages, posterior))
        self.count += 1

    @property
    def distribution(self) -> Distribution:
        """The distribution of the rate of a page drawn at random."""
        return tuple(weight / max(1, self.count) for weight in self.pages)


ENOUGH_RUNS = 2
"""Runs after the first: one to recognise noise, and one to see changes."""
_DAY = 86_400.0
_TOO_LITTLE = message("study.too-little-data", "too little data yet")
ONE_VISIT = message(
    "study.one-visit", "{too_little}: the page was visited once at most", too_little=_TOO_LITTLE
)
"""Why nothing is known of a page."""


class DataBasis(msgspec.Struct, frozen=True):
    """The data that estimates of a job are based on.

    Attributes:
        again: Runs after the first one.
        watched: Days from the beginning of the first run to that of the last.
    """

    again: int
    watched: float

    @property
    def doubt(self) -> str:
        """The reason why intervals cannot be estimated yet; "" when they can."""
        if self.again >= ENOUGH_RUNS:
            return ""
        runs = {0: message("study.no-run", "no run"), 1: message("study.one-run", "one run")}[
            self.again
        ]
        return message(
            "study.too-few-runs",
            "{too_little}: {runs} after the first one, and it takes {enough_runs}",
            too_little=_TOO_LITTLE,
            runs=runs,
            enough_runs=ENOUGH_RUNS,
        )

    def doubt_of(self, days: float) -> str:
        """The reason why an interval, in days, is only a guess; "" when it was observed."""
        if self.doubt or days <= self.watched:
            return self.doubt
        watched = span(self.watched)
        return message(
            "study.interval-too-long",
            "{too_little}: it is longer than {watched}, for which the job was watched",
            too_little=_TOO_LITTLE,
            watched=watched,
        )


def data_basis(data: RecrawlData) -> DataBasis:
    """The data that a job has collected."""
    runs = data.runs()
    days = (runs[-1].started - runs[0].started) / _DAY if runs else 0.0
    return DataBasis(max(0, len(runs) - 1), days)


class NextRun(msgspec.Struct, frozen=True):
    """The next run.

    Attributes:
        time: When it is due, seconds since the epoch; 0 when there is nothing to base it on.
        why: The reason.
        visits: Known pages that it would visit now.
        changes: Changes that it would find now, as expected.
        reasons: Those visits by reason.
    """

    time: float
    why: str
    visits: int
    changes: float
    reasons: dict[str, int]


class _Trigger(NamedTuple):
    time: float
    reason: str


def next_run(data: RecrawlData, model: RateModel, interval: float, doubt: str = "") -> NextRun:
    """The earliest of what calls for a run.

    Args:
        data: What is known.
        model: Its rates.
        interval: The recommended days between runs.
        doubt: Why that is no more than a guess, so that nothing is based on it; "" when it is sure.
    """
    plan = model.plan(data.now)
    reasons: dict[str, int] = {}
    for bid in plan.chosen:
        reasons[bid.reason] = reasons.get(bid.reason, 0) + 1
    by_interval = [] if doubt else _interval(data, interval)
    triggers = [*by_interval, *_hint_trigger(data), *_looks(data)]
    first = min(
        triggers,
        default=_Trigger(0.0, doubt or message("study.no-run-ended", "no run has ended yet")),
    )
    return NextRun(first.time, first.reason, len(plan.chosen), plan.changes, reasons)


def _interval(data: RecrawlData, interval: float) -> list[_Trigger]:
    runs = data.runs()
    if not runs:
        return []
    reason = message(
        "study.interval-over",
        "the recommended interval of {time} since the last run began is over then",
        time=span(interval),
    )
    return [_Trigger(runs[-1].started + interval * _DAY, reason)]


def _hint_trigger(data: RecrawlData) -> list[_Trigger]:
    hinted = sum(bool(row.told) for row in data.rows() if is_visited(row))
    return (
        [
            _Trigger(
                data.now,
                message(
                    "study.hints-due", "hints announce changes of {pages}", pages=_pages(hinted)
                ),
            )
        ]
        if hinted
        else []
    )


def _pages(number: int) -> str:
    return plural("study.pages", "{number:,} page", "{number:,} pages", number=number)


def _looks(data: RecrawlData) -> list[_Trigger]:
    """A second look at a page that may be gone proves its deletion, and when it was."""
    looks = [
        look
        for row in data.rows()
        if row.life == Life.SUSPECT
        and (look := next_look(Existence(Life.SUSPECT, row.life_since, row.looks), row.last_visit))
    ]
    reason = message(
        "study.second-check-due",
        "a second check of missing pages is due ({pages})",
        pages=_pages(len(looks)),
    )
    return [_Trigger(max(min(looks), data.now), reason)] if looks else []
