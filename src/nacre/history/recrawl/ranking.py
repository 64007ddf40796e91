"""What a visit of each known page is worth in this step (pure)."""

import math
from collections.abc import Iterable, Sequence
from heapq import merge
from typing import NamedTuple
from zlib import crc32

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.hints import Signal, Source
from nacre.history.slices import Slices, at_once
from nacre.history.verdict.deletion import Existence, Life, next_look
from nacre.history.worth.classes import Classes
from nacre.history.worth.rates import Distribution, chance_of_change, mean_rate
from nacre.history.worth.season import Hazard, Season
from nacre.history.worth.value import importance, news, value

DAY = 86_400.0
_SURE = 2.0
_LIKELY_DEAD = 0.5
_BACK = 0.05
"""Share of the pages that were gone and come back."""
_TELLS = frozenset((str(Source.SITEMAP), str(Source.FEED)))
"""Who names a page that was gone tells that it is back."""
_INDEX = 0.5
_RUN = 4096
"""Bids that are sorted in one slice."""
_LISTS = 3.0
"""A list with news is worth that many changed pages."""


class Bid(NamedTuple):
    """One page's claim to a visit.

    Attributes:
        worth: What it is worth; higher first.
        chance: Probability that a visit finds something to keep.
        url: The page.
        due: It must be visited whatever it is worth (a floor, a second look at one that is gone).
        reason: Why, for the fetch log: `index`, `told`, `gone?`, `floor`, `rate`, `sitemap`.
    """

    worth: float
    chance: float
    url: str
    due: bool
    reason: str


class Time(NamedTuple):
    """How a site changes.

    Attributes:
        season: The hours of its week.
        hazard: What youth adds.
        lists: What a change of a list is worth beside its new links, against one of a page.
        untold: Greatest chance that a list shows new links of which nobody told before.
    """

    season: Season
    hazard: Hazard
    lists: float = 1.0
    untold: float = 1.0

    def days(self, start: float, end: float) -> float:
        """Operational days between two visits."""
        return self.season.days(start, end)

    def young(self, row: PageRow, start: float, end: float) -> float:
        """Changes expected between two visits because a page is young; 0 where its age is open."""
        if not row.born:
            return 0.0
        return self.hazard.changes((start - row.born) / DAY, (end - row.born) / DAY)


class Wait(NamedTuple):
    """Time since the last visit of a page.

    Attributes:
        days: Operational days.
        young: Changes to be expected in it because the page is young.
        plain: Plain days.
    """

    days: float
    young: float
    plain: float


class Terms(NamedTuple):
    """What the operator wants of the choice.

    Attributes:
        theta: 0 fresh, 1 every version.
        floor: Longest time without a visit, s; 0 for none.
        versions: Rank by versions captured (under a budget); else by the chance of a change.
        price: What the last visit that the budget allowed was worth; 0 for no tight budget.
        every: Days between steps.
    """

    theta: float
    floor: float
    versions: bool
    price: float = 0.0
    every: float = 1.0


class Ranking:
    """Makes bids.

    Args:
        classes: Priors of the rates of change.
        arrivals: Priors of the rates of new links.
        terms: What is wanted.
    """

    def __init__(self, classes: Classes, arrivals: Classes, terms: Terms) -> None:
        self._classes = classes
        self._arrivals = arrivals
        self._terms = terms
        self._news: dict[tuple[Distribution, float], float] = {}

    def arrivals_a_day(self, row: PageRow) -> float:
        """New links that an index page is expected to show first, a day."""
        return mean_rate(self._arrivals.posterior(row))

    def bid(
        self,
        row: PageRow,
        now: float,
        time: Time,
        signals: Sequence[tuple[str, Signal]],
        *,
        repeats: bool = False,
    ) -> Bid | None:
        """A page's bid; None when nothing speaks for a visit now.

        Args:
            row: The page.
            now: Seconds since the epoch.
            time: How time passes on its site.
            signals: Sources of hints that would have told of a change of it, with their trust.
            repeats: It is a list that only repeats what others show first.
        """
        if row.kind is PageKind.SITEMAP or row.kind is PageKind.FEED:
            return Bid(_SURE, 1.0, row.url, due=False, reason=str(row.kind))
        if row.life != Life.LIVE:
            return self._second_look(row, now)
        # Later than now where the clock was set back, or by history of another machine.
        last = min(row.last_visit, now)
        wait = Wait(time.days(last, now), time.young(row, last, now), (now - last) / DAY)
        told = any(source in row.told for source, _ in signals)
        chance = self.chance(row, wait, signals)
        worth = chance if told else self._worth(row, wait, chance)
        reason = "told" if told else "rate"
        if row.index >= _INDEX:
            new, found = (0.0, 0.0) if repeats else self._arriving(row, wait)
            new, found = min(new, time.untold), min(found, time.untold)
            worth = _LISTS * new + time.lists * worth
            chance = 1.0 - (1.0 - time.lists * chance) * (1.0 - found)
            reason = "told" if told else "index"
        due = 0.0 < self._terms.floor <= now - row.last_visit
        return Bid(worth * row.weight, chance, row.url, due, "floor" if due else reason)

    def chance(self, row: PageRow, wait: Wait, signals: Sequence[tuple[str, Signal]]) -> float:
        """Probability that a page has changed since its last visit, hints and silence counted."""
        days = wait.days
        same = 1.0 - chance_of_change(self._classes.posterior(row), days)
        prior = 1.0 - same * math.exp(-wait.young)
        changed, same = max(prior, 1e-12), max(1.0 - prior, 1e-12)
        for source, signal in signals:
            silent = math.exp(-signal.false_rate * days)
            if source in row.told:
                changed *= 1.0 - (1.0 - signal.recall) * silent
                same *= max(1.0 - silent, 1e-9)
            else:
                changed *= (1.0 - signal.recall) * silent
                same *= silent
        return changed / (changed + same)

    def _worth(self, row: PageRow, wait: Wait, chance: float) -> float:
        if not self._terms.versions:
            return chance
        posterior = self._classes.posterior(row)
        plain = 1.0 - (1.0 - chance_of_change(posterior, wait.days)) * math.exp(-wait.young)
        # The value of a visit by its rate, scaled down by what the silence of hints says.
        told = min(1.0, chance / plain) if plain > 0.0 else 0.0
        weights = importance(posterior, self._terms.theta)
        scale = (
            mean_rate(posterior) ** (1.0 - self._terms.theta) if self._terms.theta < 1.0 else 1.0
        )
        worth = value(weights, wait.days, wait.young) * scale * told
        return (
            worth
            if row.evidence or not self._terms.price
            else worth + self._news_of(posterior, wait)
        )

    def _news_of(self, prior: Distribution, wait: Wait) -> float:
        """What is learned by the first visit again of a page; the same for all of its class."""
        key = prior, round(wait.days, 1)
        found = self._news.get(key)
        if found is None:
            terms = self._terms
            found = self._news[key] = news(prior, wait.days, terms.price, terms.every)
        return found

    def _arriving(self, row: PageRow, wait: Wait) -> tuple[float, float]:
        """What the new links that an index page may show are worth, and the chance of any."""
        arrivals = self._arrivals.posterior(row)
        return value(arrivals, wait.plain), chance_of_change(arrivals, wait.plain)

    def _second_look(self, row: PageRow, now: float) -> Bid | None:
        due = 0.0 < self._terms.floor <= now - row.last_visit
        if row.life == Life.MOVED and not row.digest:
            # It never was a page.
            return Bid(0.0, 0.0, row.url, due, "floor") if due else None
        if row.life != Life.SUSPECT and _TELLS & set(row.told):
            return Bid(1.0, _LIKELY_DEAD, row.url, due, "told")
        state = Existence(Life(row.life), row.life_since, row.looks)
        look = next_look(state, row.last_visit)
        if look is None or look > now:
            return None
        if row.life == Life.SUSPECT:
            return Bid(1.0, _LIKELY_DEAD, row.url, due=True, reason="gone?")
        back = _BACK / (row.looks + 1)
        reason = "gone?" if row.life == Life.GONE else "moved?"
        return Bid(back, back, row.url, due=due, reason=reason)


class Wanted(NamedTuple):
    """When a choice is good enough.

    Attributes:
        recall: Share of all expected changes that should be found; 1 takes every bid.
        least: Chance of a change below which a visit is not worth its request.
        already: Changes found in this step before.
        sure: Chance of a change from which on a page is visited though the recall is reached.
    """

    recall: float
    least: float = 0.0
    already: float = 0.0
    sure: float = 1.0


def choose(bids: Iterable[Bid], room: int, wanted: Wanted) -> list[Bid]:
    """The best bids, found without a stop; see `choosing`."""
    return at_once(choosing(list(bids), room, wanted))


def choosing(bids: Sequence[Bid], room: int, wanted: Wanted) -> Slices[list[Bid]]:
    """The best bids within the room that promise the recall.

    Args:
        bids: Of all pages.
        room: Most visits.
        wanted: When they are enough.
    """
    runs: list[list[Bid]] = []
    expected = found = wanted.already
    for at in range(0, len(bids), _RUN):
        yield
        runs.append(sorted(bids[at : at + _RUN], key=_order))
        expected += sum(bid.chance for bid in runs[-1])
    chosen: list[Bid] = []
    for number, bid in enumerate(merge(*runs, key=_order)):
        if not number % _RUN:
            yield
        if len(chosen) >= room:
            break
        enough = found >= wanted.recall * expected and wanted.recall < 1.0
        least = wanted.sure if enough else wanted.least
        if not bid.due and bid.chance < least:
            continue
        chosen.append(bid)
        found += bid.chance
    return chosen


def _order(bid: Bid) -> tuple[bool, float, int]:
    return not bid.due, -bid.worth, _lot(bid.url)


def _lot(url: str) -> int:
    """Order among equals: not by name, or one part of a site would always come first."""
    return crc32(url.encode("utf-8", "replace"))
