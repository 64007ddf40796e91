"""The value of a visit of each known page in a step, and the choice of the best (pure)."""

import math
from collections.abc import Iterable, Sequence
from heapq import merge
from typing import NamedTuple
from zlib import crc32

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Existence, Life, next_look
from nacre.planner.change_rate.rates import (
    Classes,
    Distribution,
    chance_of_change,
    mean_rate,
    silence,
)
from nacre.planner.change_rate.value import (
    DAY,
    SiteTime,
    captured,
    exploration,
    importance,
    value,
)
from nacre.planner.discovery.hints import HintSource, Signal
from nacre.planner.discovery.index_pages import INDEX
from nacre.planner.slices import Slices, at_once
from nacre.planner.step import Choice
from nacre.planner.tuning import guess

_SURE = 2.0
"""Value of a visit of a sitemap or feed: above any page, whose chance is 1 at most."""
_LIKELY_DEAD = guess(
    "ranking.likely_dead",
    0.5,
    "Chance that another visit shows the final state of a page that seemed gone.",
    most=1.0,
)
_DEAD = 7 * DAY
"""Age at which a link that leads nowhere is looked at again, then at each doubling, s. A guess that
no goal depends on."""
_REDIRECT = 2000 * DAY
"""Mean time in which a URL that always redirected begins to lead elsewhere, s. A guess that no goal
depends on."""
_TELLS = frozenset((str(HintSource.SITEMAP), str(HintSource.FEED)))
"""Sources of hints that show, by naming a page that was gone, that it is back."""
_RUN = 4096
"""Values that are sorted in one slice: a bound of work."""
_LISTS = guess("ranking.lists", 3.0, "Number of changed pages that a list with new links is worth.")


_LATE = guess(
    "ranking.late",
    0.3,
    "Value of a version that an event of an earlier step made, against one of this step: it is "
    "late anyway, and not lost until the next event.",
    most=1.0,
)


class VisitValue(NamedTuple):
    """The value of a visit of one page now.

    Attributes:
        value: How much it is worth, in versions captured (see `ValueTerms`); higher first.
        chance: Probability that a visit finds something to keep.
        url: The page.
        due: Whether it must be visited, whatever its value (a floor, a second check of a deletion).
        reason: Why, for the fetch log: `index`, `told`, `gone?`, `floor`, `rate`, `sitemap`.
    """

    value: float
    chance: float
    url: str
    due: bool
    reason: str


class Wait(NamedTuple):
    """Time since the last visit of a page.

    Attributes:
        days: Its days.
        young: Changes to be expected in it because the page is young.
        event: Probability that an event of its section has changed it.
        fresh: Probability that an event of this step has.
        own: Probability that its own rate has.
    """

    days: float
    young: float
    event: float = 0.0
    fresh: float = 0.0
    own: float = 0.0

    @property
    def change(self) -> float:
        """Probability of a change, hints left out."""
        return 1.0 - (1.0 - self.own) * (1.0 - self.event) * math.exp(-self.young)


class ValueTerms(NamedTuple):
    """The terms of a choice, from the operator's settings.

    Attributes:
        theta: 0 fresh, 1 every version.
        floor: Longest time without a visit, s; 0 for none.
        versions: Rank by versions captured (under a budget); else by the chance of a change.
        marginal: Value of the last visit that the budget of the step before allowed; 0 if it
            was not tight.
        every: Days between steps.
    """

    theta: float
    floor: float
    versions: bool
    marginal: float = 0.0
    every: float = 1.0


class Ranking:
    """Values visits of single pages.

    Args:
        classes: Priors of the rates of change.
        arrivals: Priors of the rates of new links.
        terms: What is wanted.
    """

    def __init__(self, classes: Classes, arrivals: Classes, terms: ValueTerms) -> None:
        self._classes = classes
        self._arrivals = arrivals
        self._terms = terms
        self._explored: dict[tuple[Distribution, float], float] = {}

    def arrivals_a_day(self, row: PageRow) -> float:
        """New links that an index page is expected to show first, a day."""
        return mean_rate(self._arrivals.posterior(row))

    def visit(
        self,
        row: PageRow,
        now: float,
        time: SiteTime,
        signals: Sequence[tuple[str, Signal]],
        *,
        repeats: bool = False,
    ) -> VisitValue | None:
        """The value of a visit of a page; None when there is no reason for one now.

        Args:
            row: The page.
            now: Seconds since the epoch.
            time: How time passes on its site.
            signals: Sources of hints that would have announced a change of it, with their trust.
            repeats: It is a list that only repeats what others show first.
        """
        if row.kind is PageKind.SITEMAP or row.kind is PageKind.FEED:
            return VisitValue(_SURE, 1.0, row.url, due=False, reason=str(row.kind))
        if row.life != Life.LIVE:
            return self._second_look(row, now, time)
        # Later than now where the clock was set back, or by history of another machine.
        last = min(row.last_visit, now)
        days = (now - last) / DAY
        own = time.own(row, self._classes.posterior(row), days)
        young = time.young(row, last, now)
        wait = Wait(days, young, time.event, time.fresh, own)
        is_hinted = any(source in row.told for source, _ in signals)
        chance = self.chance(row, wait, signals)
        amount = chance if is_hinted else self._value(row, wait, chance)
        reason = "told" if is_hinted else "rate"
        if row.index >= INDEX:
            new, arrival = (0.0, 0.0) if repeats else self._arriving(row, wait)
            new, arrival = min(new, time.untold), min(arrival, time.untold)
            amount = _LISTS * new + time.lists * amount
            own = time.lists * chance if time.is_mapped else chance
            chance = max(own, arrival)  # A new link is a change, and counted among them.
            reason = "told" if is_hinted else "index"
        elif row.arrivals:
            amount += _LISTS * self._arriving(row, wait)[0]
        due = 0.0 < self._terms.floor <= now - row.last_visit
        return VisitValue(amount * row.weight, chance, row.url, due, "floor" if due else reason)

    def chance(self, row: PageRow, wait: Wait, signals: Sequence[tuple[str, Signal]]) -> float:
        """Probability that a page has changed since its last visit, hints and silence counted."""
        days = wait.days
        prior = wait.change
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

    def _value(self, row: PageRow, wait: Wait, chance: float) -> float:
        if not self._terms.versions:
            return chance
        posterior = self._classes.posterior(row)
        plain = wait.change
        # The value of a visit by its rate, scaled down by what the silence of hints says.
        silence = min(1.0, chance / plain) if plain > 0.0 else 0.0
        weights = importance(posterior, self._terms.theta)
        scale = (
            mean_rate(posterior) ** (1.0 - self._terms.theta) if self._terms.theta < 1.0 else 1.0
        )
        worth = value(weights, wait.days, wait.young) * scale * silence
        # An event that is certain made a version; one that is merely possible may wait, as all do.
        fresh = _by_chance(wait.fresh)
        worth += (fresh + _LATE * (_by_chance(wait.event) - fresh)) * silence
        if row.evidence or not self._terms.marginal:
            return worth
        return worth + self._exploration(posterior, wait)

    def _exploration(self, prior: Distribution, wait: Wait) -> float:
        """What is learned by the first visit again of a page; the same for all of its class."""
        key = prior, round(wait.days, 1)
        worth = self._explored.get(key)
        if worth is None:
            terms = self._terms
            worth = self._explored[key] = exploration(prior, wait.days, terms.marginal, terms.every)
        return worth

    def _arriving(self, row: PageRow, wait: Wait) -> tuple[float, float]:
        """What the new links that an index page may show are worth, and the chance of any."""
        arrivals = self._arrivals.posterior(row)
        return value(arrivals, wait.days), chance_of_change(arrivals, wait.days)

    def _second_look(self, row: PageRow, now: float, time: SiteTime) -> VisitValue | None:
        due = 0.0 < self._terms.floor <= now - row.last_visit
        if row.life == Life.MOVED and not row.digest:
            # It never was a page, but its redirect may lead elsewhere one day.
            chance = -math.expm1(-max(0.0, now - row.last_visit) / _REDIRECT)
            return VisitValue(
                _by_chance(chance), chance, row.url, due, "floor" if due else "moved?"
            )
        if row.life != Life.SUSPECT and _TELLS & set(row.told):
            return VisitValue(1.0, _LIKELY_DEAD, row.url, due, "told")
        if not row.digest:
            return _dead_link(row, now, time.back)
        state = Existence(Life(row.life), row.life_since, row.looks)
        look = next_look(state, row.last_visit)
        if look is None or look > now:
            return None
        if row.life == Life.SUSPECT:
            return VisitValue(1.0, _LIKELY_DEAD, row.url, due=True, reason="gone?")
        back = time.back / (row.looks + 1)
        reason = "gone?" if row.life == Life.GONE else "moved?"
        return VisitValue(_by_chance(back), back, row.url, due=due, reason=reason)


def _dead_link(row: PageRow, now: float, back: float) -> VisitValue | None:
    """The value of another look at a link that never led to a page, or None before its time.

    Looks are made at an age of 7, 14, 28 days and so on.
    """
    age = _DEAD * 2.0 ** min(row.visits - 1, 10)
    if now < max(row.first_seen + age, row.last_visit + _DEAD):
        return None
    back /= row.visits
    return VisitValue(_by_chance(back), back, row.url, due=False, reason="gone?")


def _by_chance(event: float) -> float:
    """The value of a visit for an event that has this probability."""
    return captured(-math.log1p(-min(event, 0.999)))


class Wanted(NamedTuple):
    """The threshold from which a choice is good enough.

    Attributes:
        recall: Share of all expected changes that should be found; 1 takes every visit.
        least: Chance of a change below which a visit is not worth its request.
        already: Changes found in this step before.
        sure: Chance of a change from which on a page is visited though the recall is reached.
    """

    recall: float
    least: float = 0.0
    already: float = 0.0
    sure: float = 1.0


def choose(values: Iterable[VisitValue], room: int, target: Wanted) -> list[VisitValue]:
    """The best visits, found without a stop; see `choosing`."""
    return at_once(choosing(list(values), room, target))


def choosing(values: Sequence[VisitValue], room: int, target: Wanted) -> Slices[list[VisitValue]]:
    """The best visits within the room that promise the recall.

    Args:
        values: Of visits of all pages.
        room: Most visits.
        target: When they are enough.
    """
    runs: list[list[VisitValue]] = []
    expected = reached = target.already
    for at in range(0, len(values), _RUN):
        yield
        runs.append(sorted(values[at : at + _RUN], key=_order))
        expected += sum(visit.chance for visit in runs[-1])
    chosen: list[VisitValue] = []
    # What a tight budget allows is used: then no visit is too dear.
    is_free = target.recall >= 1.0 or room < len(values)
    for number, visit in enumerate(merge(*runs, key=_order)):
        if not number % _RUN:
            yield
        if len(chosen) >= room:
            break
        least = 0.0 if is_free else target.least
        if reached >= target.recall * expected and not is_free:
            least = target.sure
        if not visit.due and visit.chance < least:
            continue
        chosen.append(visit)
        reached += visit.chance
    return chosen


def choices(values: Sequence[VisitValue]) -> list[Choice]:
    """Choices of visits that were valued."""
    return [Choice(value.url, value.chance, value.reason) for value in values]


def quiet(row: PageRow, signals: Sequence[tuple[str, Signal]], now: float) -> bytes:
    """The evidence of silence: sources that would have announced a change have not.

    Args:
        row: A page that was visited, and that no source announced since.
        signals: Sources that would have announced a change of it, with their trust.
        now: Seconds since the epoch.
    """
    shares = [signal.recall for _, signal in signals]
    days = int((now - row.last_visit) / DAY)
    return silence(days, round(max(shares), 1)) if shares and days > 0 else b""


def _order(value: VisitValue) -> tuple[bool, float, int]:
    return not value.due, -value.value, _shuffled(value.url)


def _shuffled(url: str) -> int:
    """Order among equals: not by name, or one part of a site would always come first."""
    return crc32(url.encode("utf-8", "replace"))
