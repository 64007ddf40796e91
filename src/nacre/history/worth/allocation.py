"""How a budget is best spread over pages, and what it buys (pure): for plans and reports.

Source: Cho and Garcia-Molina, "Effective page refresh policies for web crawlers", 2003. The crawl
itself needs no such plan: it follows one price (`history.worth.value`).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nacre.history.worth.value import captured

_STEPS = 60
_PRICES = 100


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


def frequency(page: Share, price: float, theta: float, bounds: Bounds = _UNBOUND) -> float:
    """Visits a day that a page is worth at a price; 0 when it is worth none."""
    worth = page.weight * page.rate**theta
    if page.rate <= 0.0 or worth <= 0.0:
        return bounds.floor
    spaced = inverse_captured(price * page.cost * page.rate / worth)
    often = 0.0 if math.isinf(spaced) else page.rate / spaced
    return min(max(often, bounds.floor), bounds.ceiling)


def plan(
    pages: Sequence[Share], budget: float, theta: float, bounds: Bounds = _UNBOUND
) -> tuple[list[float], float]:
    """Visits a day of each page under a budget, and the price at which it is spent.

    Args:
        pages: Pages, or groups of like ones.
        budget: Cost a day, all pages together.
        theta: 0: freshness; 1: versions captured.
        bounds: Of each page's visits.
    """
    low, high = 1e-12, 1e12
    for _ in range(_PRICES):
        price = math.sqrt(low * high)
        spent = sum(
            page.pages * page.cost * frequency(page, price, theta, bounds) for page in pages
        )
        low, high = (price, high) if spent > budget else (low, price)
    return [frequency(page, high, theta, bounds) for page in pages], high


def freshness(rate: float, often: float) -> float:
    """Share of the time in which the copy of a page is current; even visits, `often` a day."""
    if often <= 0.0:
        return 0.0 if rate > 0.0 else 1.0
    x = rate / often
    return 1.0 - x / 2.0 if x < 1e-6 else -math.expm1(-x) / x
