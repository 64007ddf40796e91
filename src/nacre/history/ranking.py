"""What a visit of each known page is worth in this step (pure).

Source: reference/incremental.md 2.4 (value), 2.5 (hints), 2.9 (recall of a choice).
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.classes import Classes
from nacre.history.deletion import Existence, Life, next_look
from nacre.history.rates import FLAT, chance_of_change, mean_rate
from nacre.history.season import Hazard, Season
from nacre.history.value import Signal, importance, value

DAY = 86_400.0
_SURE = 2.0
_LIKELY_DEAD = 0.5


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
    """How time passes on a site."""

    season: Season
    hazard: Hazard

    def days(self, row: PageRow, start: float, end: float) -> float:
        """Operational days between two visits of a page, its age counted."""
        plain = (end - start) / DAY
        if plain <= 0.0:
            return 0.0
        born = row.born or row.first_seen
        aged = self.hazard.days((start - born) / DAY, (end - born) / DAY)
        return self.season.days(start, end) * aged / plain


class Terms(NamedTuple):
    """What the operator wants of the choice.

    Attributes:
        theta: 0 fresh, 1 every version.
        floor: Longest time without a visit, s; 0 for none.
        versions: Rank by versions captured (under a budget); else by the chance of a change.
    """

    theta: float
    floor: float
    versions: bool


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

    def bid(
        self, row: PageRow, now: float, time: Time, signals: Sequence[tuple[str, Signal]]
    ) -> Bid | None:
        """A page's bid; None when nothing speaks for a visit now.

        Args:
            row: The page.
            now: Seconds since the epoch.
            time: How time passes on its site.
            signals: Sources of hints that would have told of a change of it, with their trust.
        """
        if row.kind is PageKind.SITEMAP or row.kind is PageKind.FEED:
            return Bid(_SURE, 1.0, row.url, due=False, reason=str(row.kind))
        if row.life != Life.LIVE:
            return self._second_look(row, now)
        days = time.days(row, row.last_visit, now)
        chance = self.chance(row, days, signals)
        worth = self._worth(row, days, chance)
        reason = "told" if row.told else "rate"
        if row.index >= 0.5:
            found = self._new_links(row, now)
            worth, chance = max(worth, found), 1.0 - (1.0 - chance) * (1.0 - found)
            reason = "told" if row.told else "index"
        due = 0.0 < self._terms.floor <= now - row.last_visit
        return Bid(worth * row.weight, chance, row.url, due, "floor" if due else reason)

    def chance(self, row: PageRow, days: float, signals: Sequence[tuple[str, Signal]]) -> float:
        """Probability that a page has changed since its last visit, hints and silence counted."""
        prior = chance_of_change(self._classes.posterior(row), days)
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

    def _worth(self, row: PageRow, days: float, chance: float) -> float:
        if not self._terms.versions or row.told:
            return chance
        posterior = self._classes.posterior(row)
        plain = chance_of_change(posterior, days)
        # The value of a visit by its rate, scaled down by what the silence of hints says.
        told = min(1.0, chance / plain) if plain > 0.0 else 0.0
        weights = importance(posterior, self._terms.theta)
        scale = (
            mean_rate(posterior) ** (1.0 - self._terms.theta) if self._terms.theta < 1.0 else 1.0
        )
        return value(weights, days) * scale * told

    def _new_links(self, row: PageRow, now: float) -> float:
        """Chance that an index page shows something new."""
        posterior = self._arrivals.posterior(row)
        return chance_of_change(posterior, (now - row.last_visit) / DAY)

    def _second_look(self, row: PageRow, now: float) -> Bid | None:
        if row.life == Life.MOVED:
            due = 0.0 < self._terms.floor <= now - row.last_visit
            return Bid(0.0, 0.0, row.url, due, "floor") if due else None
        state = Existence(Life(row.life), row.life_since, row.looks)
        look = next_look(state, row.last_visit)
        if look is None or look > now:
            return None
        sure = row.life == Life.SUSPECT
        return Bid(1.0 if sure else 0.0, _LIKELY_DEAD, row.url, due=True, reason="gone?")


class Wanted(NamedTuple):
    """When a choice is good enough.

    Attributes:
        recall: Share of all expected changes that should be found; 1 takes every bid.
        least: Chance of a change below which a visit is not worth its request.
        already: Changes found in this step before.
    """

    recall: float
    least: float = 0.0
    already: float = 0.0


def choose(bids: Iterable[Bid], room: int, wanted: Wanted) -> list[Bid]:
    """The best bids within the room that promise the recall.

    Args:
        bids: Of all pages.
        room: Most visits.
        wanted: When they are enough.
    """
    ranked = sorted(bids, key=lambda bid: (not bid.due, -bid.worth, bid.url))
    expected = wanted.already + sum(bid.chance for bid in ranked)
    found = wanted.already
    chosen: list[Bid] = []
    for bid in ranked:
        if len(chosen) >= room:
            break
        enough = found >= wanted.recall * expected and wanted.recall < 1.0
        if not bid.due and (enough or bid.chance < wanted.least):
            continue
        chosen.append(bid)
        found += bid.chance
    return chosen


FIRST_GUESS = chance_of_change(FLAT, 7.0)
"""Chance of a change within a week of a page of which nothing is known."""
