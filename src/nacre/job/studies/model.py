"""What the rates of a job's pages are believed to be: the planner's formulas (pure)."""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.hints import Signal
from nacre.history.recrawl.choice import THETA, TRUSTED
from nacre.history.recrawl.ranking import Bid, Ranking, Terms, Wanted, choose
from nacre.history.recrawl.sites import Sites
from nacre.history.recrawl.waves import quiet
from nacre.history.verdict.deletion import Life
from nacre.history.worth.classes import Classes
from nacre.history.worth.rates import GRID, LISTS, PAGES, Distribution
from nacre.job.studies.known import Known

_UNLIMITED = 1 << 60
_INDEX = 0.5


class Plan(NamedTuple):
    """What a run would choose of the known pages, without a budget.

    Attributes:
        chosen: Its bids, best first.
        price: The worth of the last one that was chosen for its worth; 0 when all are.
        expected: Changes among all pages, as forecast.
        found: Of these, those among the chosen.
    """

    chosen: Sequence[Bid]
    price: float
    expected: float
    found: float


class Model:
    """Posteriors and bids of all pages.

    Args:
        known: What is known of them.
    """

    def __init__(self, known: Known) -> None:
        self._known = known
        self._sites = Sites(dict(known.sites))
        self._classes = Classes(lambda row: row.evidence, PAGES)
        self._arrivals = Classes(lambda row: row.arrivals, LISTS)
        self._classes.fit(known.rows(), self._quiet)
        self._arrivals.fit(known.rows())
        settings = known.settings
        terms = Terms(THETA[settings.aim], settings.floor, versions=settings.aim != "fresh")
        self._ranking = Ranking(self._classes, self._arrivals, terms)

    def posterior(self, row: PageRow) -> Distribution:
        """The distribution of the rate of a page's changes."""
        return self._classes.posterior(row)

    def arrivals(self, row: PageRow) -> Distribution:
        """The distribution of the rate of new links of an index page."""
        return self._arrivals.posterior(row)

    def signals(self, row: PageRow) -> Sequence[tuple[str, Signal]]:
        """Sources that would have told of a change of a page, with their trust."""
        return self._sites.signals(row) if self._known.settings.hints else []

    def chance(self, row: PageRow, until: float) -> float:
        """Probability that a visit finds something to keep."""
        bid = self.bid(row, until)
        return bid.chance if bid is not None else 0.0

    def bid(self, row: PageRow, now: float) -> Bid | None:
        """A page's bid for a visit."""
        return self._ranking.bid(row, now, self._sites.time(row.url), self.signals(row))

    def _quiet(self, row: PageRow) -> bytes:
        if not row.visits or row.told:
            return b""
        return quiet(row, self.signals(row), self._known.now)

    def plan(self, now: float) -> Plan:
        """What a run would choose now of the pages that are known, wave by wave."""
        lists: list[Bid] = []
        told: list[Bid] = []
        others: list[Bid] = []
        for row in self._known.rows():
            planned = is_visited(row) and self._known.due(row) is None
            bid = self.bid(row, now) if planned else None
            if bid is not None and row.index >= _INDEX:
                lists.append(bid)
            elif bid is not None:
                (told if row.told and bid.chance >= TRUSTED else others).append(bid)
        settings = self._known.settings
        wanted = Wanted(settings.recall, settings.least, sure=TRUSTED)
        first = [*choose(lists, _UNLIMITED, wanted), *told]
        already = sum(bid.chance for bid in first)
        last = choose(others, _UNLIMITED, wanted._replace(already=already))
        worths = [bid.worth for bid in last if not bid.due]
        price = min(worths, default=0.0) if len(last) < len(others) else 0.0
        found = already + sum(bid.chance for bid in last)
        expected = sum(bid.chance for bid in (*lists, *told, *others))
        return Plan([*first, *last], price, expected, found)


def is_visited(row: PageRow) -> bool:
    """A page that the planner would visit again: not what pages embed, not what was never there."""
    return row.kind is not PageKind.EMBED and row.visits > 0


def is_living(row: PageRow) -> bool:
    """A page that was there at its last visit."""
    return is_visited(row) and row.life == Life.LIVE


class Mixture:
    """The rates of many pages: how many of them there are at each rate of the grid.

    Attributes:
        pages: Expected number of pages at each of `history.worth.rates.RATES`.
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
