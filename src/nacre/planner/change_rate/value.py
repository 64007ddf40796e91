"""The value of a visit after a time, and what youth adds to the rate of a page (pure).

The value of a visit grows with the time since the last one; a page is visited once its value
reaches the marginal value of the budget. Source: Olston and Pandey, "Recrawl scheduling based on
information longevity", 2008.

`plan` spreads a budget over pages, for reports: Cho and Garcia-Molina, "Effective page refresh
policies for web crawlers", 2003. The crawl itself compares values with one marginal value.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nacre.core.pagerow import PageRow
from nacre.planner.change_rate.calibration import CalibrationRow, simple_chance
from nacre.planner.change_rate.rates import RATES, Distribution, chance_of_change
from nacre.planner.tuning import guess

DAY = 86_400.0
"""Seconds of a day."""

AGES = guess(
    "value.ages",
    (1.0, 3.0, 6.0, 12.0),
    "Limits of the age classes with separate hazards, in days: below 1, to 3, 6, 12, and older.",
)
_LEAN = guess(
    "value.lean", 5.0, "Days without a change that are added to the observations of each age class."
)
BACK = guess(
    "value.back", 0.05, "Share of the checks of gone pages that find them restored.", most=1.0
)


class Hazard(NamedTuple):
    """Changes a day that youth adds to a page's own rate, by age bucket; none when it is old."""

    rates: tuple[float, ...] = (0.0,) * (len(AGES) + 1)

    def changes(self, start: float, end: float) -> float:
        """Changes expected between two ages (in days) because the page is young."""
        spent = inside(start, end)
        return sum(rate * days for rate, days in zip(self.rates, spent, strict=True))


def inside(start: float, end: float) -> tuple[float, ...]:
    """Return the days in each age bucket between two ages (in days)."""
    bounds = (0.0, *AGES, float("inf"))
    return tuple(max(0.0, min(end, upper) - max(start, lower)) for lower, upper in pairwise(bounds))


class SiteTime(NamedTuple):
    """The changes of a site that its pages share.

    Attributes:
        hazard: What youth adds.
        lists: Value of a change of a list, beside its new links, against one of a page.
        untold: Greatest probability that a list shows new links that no source announced before.
        event: Probability that an event of its section has changed a page since its last visit.
        fresh: Probability that an event of this step has.
        forecasts: Corrects what the rates of pages promise; None: not at all.
        every: Days between steps.
        is_mapped: A sitemap shows what lists would; a change of a list itself hardly counts then.
        back: Share of the checks of gone pages and dead links that find a page.
    """

    hazard: Hazard
    lists: float = 1.0
    untold: float = 1.0
    event: float = 0.0
    fresh: float = 0.0
    forecasts: CalibrationRow | None = None
    every: float = 1.0
    is_mapped: bool = False
    back: float = BACK

    def own(self, row: PageRow, posterior: Distribution, days: float) -> float:
        """Chance that a page has changed by its own rate, as far as such forecasts held.

        Args:
            row: The page.
            posterior: Its rate.
            days: Days since its last visit.
        """
        chance = chance_of_change(posterior, days)
        if self.forecasts is None:
            return chance
        if self.forecasts.is_worse:
            return simple_chance(row, days, self.every)
        return self.forecasts.corrected(chance)

    def young(self, row: PageRow, start: float, end: float) -> float:
        """Changes expected between two visits because a page is young; 0 if its age is open."""
        if not row.born:
            return 0.0
        return self.hazard.changes((start - row.born) / DAY, (end - row.born) / DAY)


def fit_hazard(surplus: Sequence[float], exposure: Sequence[float]) -> Hazard:
    """Return the hazards of a class from the observations in each age bucket; old pages have none.

    Args:
        surplus: Changes seen in each bucket beyond those that the pages' own rates explain.
        exposure: Days observed in each; `_LEAN` more are added, without a change.
    """
    rates = [max(0.0, more) / (days + _LEAN) for more, days in zip(surplus, exposure, strict=True)]
    return Hazard((*rates[:-1], 0.0))


_HORIZON = guess("value.horizon", 30.0, "Days for which a learned rate is of use.")
_DOUBLES = 9
"""Intervals that are tried for the best, each twice the one before: up to 256 steps."""


def captured(x: float) -> float:
    """`1 - e^-x (1 + x)`: chance that a visit catches a version that the next one would miss."""
    if x < 1e-3:
        return x * x * (0.5 - x / 3.0)
    return 1.0 - math.exp(-x) * (1.0 + x)


def importance(distribution: Distribution, theta: float) -> list[float]:
    """Weight of each rate in the value: probability times `rate^(theta - 1)`.

    Args:
        distribution: Posterior of the page's rate.
        theta: 0: be fresh; 1: catch every version; 0.5: between the two.
    """
    exponent = theta - 1.0
    if exponent == 0.0:
        return list(distribution)
    return [weight * rate**exponent for weight, rate in zip(distribution, RATES, strict=True)]


def value(weights: Sequence[float], days: float, more: float = 0.0) -> float:
    """Value of a visit `days` after the last one.

    Args:
        weights: Of `importance`.
        days: Days since then.
        more: Changes to be expected on top of the page's own rate.
    """
    if days <= 0.0:
        return 0.0
    return sum(
        weight * captured(rate * days + more) for weight, rate in zip(weights, RATES, strict=True)
    )


def exploration(prior: Distribution, days: float, marginal: float, every: float) -> float:
    """The value of learning, by one visit, how often a page changes: of exploration.

    Whether it has changed or not, later visits can be planned better than without knowing.

    Args:
        prior: Of its rate.
        days: Days since the last visit.
        marginal: Marginal value of the budget: the value of the last visit that it allows.
        every: Shortest time between visits, days.
    """
    same = [weight * math.exp(-rate * days) for weight, rate in zip(prior, RATES, strict=True)]
    other = [weight - still for weight, still in zip(prior, same, strict=True)]
    informed = _profit(same, marginal, every) + _profit(other, marginal, every)
    return _HORIZON * max(0.0, informed - _profit(prior, marginal, every))


def _profit(weights: Sequence[float], marginal: float, every: float) -> float:
    """Versions a day less the value of the visits spent, at the best interval."""
    whole = sum(weights)
    best = 0.0
    for double in range(_DOUBLES):
        interval = every * 2**double
        caught = whole - sum(
            w * math.exp(-r * interval) for w, r in zip(weights, RATES, strict=True)
        )
        best = max(best, (caught - marginal * whole) / interval)
    return best


_STEPS = 60
"""Halvings of an interval: more than a float has digits."""
_PRICES = 100
"""Halvings of the logarithm of the marginal value: more than a float has digits."""


class Share(NamedTuple):
    """One group of like pages in a plan.

    Attributes:
        rate: Changes a day.
        weight: Importance.
        cost: Requests (or bytes) of a visit.
        pages: How many pages are like this.
    """

    rate: float
    weight: float = 1.0
    cost: float = 1.0
    pages: float = 1.0


class Bounds(NamedTuple):
    """Visits a day that a page has at least and at most."""

    floor: float = 0.0
    ceiling: float = math.inf


_UNBOUND = Bounds()


def inverse_captured(share: float) -> float:
    """The x with `captured(x) == share`; infinite from 1 on."""
    if share >= 1.0:
        return math.inf
    if share <= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    while captured(high) < share:
        high *= 2.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if captured(middle) < share else (low, middle)
    return high


def frequency(page: Share, marginal: float, theta: float, bounds: Bounds = _UNBOUND) -> float:
    """Visits a day that a page is worth at a marginal value; 0 for none."""
    weight = page.weight * page.rate**theta
    if page.rate <= 0.0 or weight <= 0.0:
        return bounds.floor
    spaced = inverse_captured(marginal * page.cost * page.rate / weight)
    often = 0.0 if math.isinf(spaced) else page.rate / spaced
    return min(max(often, bounds.floor), bounds.ceiling)


def plan(
    pages: Sequence[Share], budget: float, theta: float, bounds: Bounds = _UNBOUND
) -> tuple[list[float], float]:
    """Visits a day of each page under a budget, and the marginal value at which it is spent.

    Args:
        pages: Pages, or groups of like ones.
        budget: Cost a day, all pages together.
        theta: 0: freshness; 1: versions captured.
        bounds: Of each page's visits.
    """
    low, high = 1e-12, 1e12
    for _ in range(_PRICES):
        marginal = math.sqrt(low * high)
        spent = sum(
            page.pages * page.cost * frequency(page, marginal, theta, bounds) for page in pages
        )
        low, high = (marginal, high) if spent > budget else (low, marginal)
    return [frequency(page, high, theta, bounds) for page in pages], high


def freshness(rate: float, often: float) -> float:
    """Share of the time in which the copy of a page is current; even visits, `often` a day."""
    if often <= 0.0:
        return 0.0 if rate > 0.0 else 1.0
    x = rate / often
    return 1.0 - x / 2.0 if x < 1e-6 else -math.expm1(-x) / x
