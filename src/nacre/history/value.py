"""What a visit is worth now, and when it will be worth its price (pure).

The value of a visit grows with the time since the last one; a page is due when the value reaches
the price of a request. Source: reference/incremental.md 2.3 to 2.5.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from nacre.history.rates import GRID, RATES, STEP, Distribution

_FINE = 4
_SHORTEST = 1.0 / 1440.0
_TIMES = 152
_TINY_STEP = STEP / _FINE
NEVER = math.inf
_HORIZON = 30.0
"""Days for which a rate that was learned is of use."""
_DOUBLES = 9


def captured(x: float) -> float:
    """`1 - e^-x (1 + x)`: chance that a visit catches a version that the next one would miss."""
    if x < 1e-3:
        return x * x * (0.5 - x / 3.0)
    return 1.0 - math.exp(-x) * (1.0 + x)


# Rates and times are evenly spaced in their logarithm, so their products need one table only.
_TABLE = tuple(
    captured(RATES[0] * _SHORTEST * math.exp(_TINY_STEP * index))
    for index in range(_TIMES + _FINE * GRID)
)
_ROWS = tuple(_TABLE[at : at + _FINE * GRID : _FINE] for at in range(_TIMES))
TIMES = tuple(_SHORTEST * math.exp(_TINY_STEP * index) for index in range(_TIMES))
"""Days at which values are tabled: from one minute to about 13 years."""


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
        days: Operational days.
        more: Changes to be expected on top of the page's own rate.
    """
    if days <= 0.0:
        return 0.0
    return sum(
        weight * captured(rate * days + more) for weight, rate in zip(weights, RATES, strict=True)
    )


def news(prior: Distribution, days: float, price: float, every: float) -> float:
    """Worth of learning, by one visit, how often a page changes: of exploring.

    Whether it has changed or not, later visits can be planned better than without knowing.

    Args:
        prior: Of its rate.
        days: Days since the last visit.
        price: Price of a visit, in versions.
        every: Shortest time between visits, days.
    """
    same = [weight * math.exp(-rate * days) for weight, rate in zip(prior, RATES, strict=True)]
    other = [weight - still for weight, still in zip(prior, same, strict=True)]
    known = _profit(same, price, every) + _profit(other, price, every)
    return _HORIZON * max(0.0, known - _profit(prior, price, every))


def _profit(weights: Sequence[float], price: float, every: float) -> float:
    """Versions a day, less the price of the visits, of the best interval; weights as they are."""
    whole = sum(weights)
    best = 0.0
    for double in range(_DOUBLES):
        interval = every * 2**double
        caught = whole - sum(
            w * math.exp(-r * interval) for w, r in zip(weights, RATES, strict=True)
        )
        best = max(best, (caught - price * whole) / interval)
    return best


def due_after(weights: Sequence[float], price: float) -> float:
    """Days after which the value reaches the price; `NEVER` when it never does.

    Args:
        weights: Of `importance`.
        price: Price of the request over the page's own weight; 0 is due at once.
    """
    if price <= 0.0:
        return 0.0
    if sum(weights) <= price:
        return NEVER
    at = bisect_left(_ROWS, price, key=lambda row: sum(map(mul, weights, row)))
    if at == _TIMES:
        return NEVER
    after = sum(map(mul, weights, _ROWS[at]))
    if at == 0:
        return TIMES[0] * math.sqrt(price / after) if after > 0.0 else TIMES[0]
    before = sum(map(mul, weights, _ROWS[at - 1]))
    share = (price - before) / (after - before) if after > before else 1.0
    return TIMES[at - 1] * math.exp(_TINY_STEP * share)


def arrival_value(arrivals: float, days: float) -> float:
    """Value of a visit of an index page on which `arrivals` links a day appear: their delays.

    Source: reference/incremental.md 2.4; visits follow the square root of the arrivals.
    """
    return arrivals * days * days / 2.0


class Signal(NamedTuple):
    """How far a source of hints can be trusted on a class of pages.

    Attributes:
        recall: Share of real changes that it tells.
        false_rate: False hints a day.
    """

    recall: float
    false_rate: float


def hinted_value(rate: float, days: float, hints: int, signal: Signal, theta: float = 1.0) -> float:
    """Value of a visit of a page with a known rate and `hints` since the last visit.

    Source: reference/incremental.md 2.5: each hint is worth some time of waiting.

    Args:
        rate: Changes a day.
        days: Operational days since the last visit.
        hints: Hints since then.
        signal: How far they can be trusted.
        theta: As in `importance`.
    """
    silent = max((1.0 - signal.recall) * rate, 1e-9)
    noise = max(signal.false_rate, 1e-9)
    told = signal.recall * rate + noise
    worth = -math.log(noise / told) / silent
    waited = days + worth * hints
    fresh, between = hinted_cycle(silent, noise, told, worth, waited)
    stale = math.exp(-min(silent * waited, 700.0))
    return math.pow(rate, theta) * max(0.0, fresh - stale * between)


_MOST_TERMS = 256


def hinted_cycle(
    silent: float, noise: float, told: float, worth: float, waited: float
) -> tuple[float, float]:
    """What a page that is visited once it has waited `waited` can expect of each cycle.

    Args:
        silent: Changes a day of which no hint tells.
        noise: False hints a day.
        told: All hints a day.
        worth: Days of waiting that one hint is worth.
        waited: Days of waiting, hints included, at which it is visited.

    Returns:
        Days fresh in a cycle, and days that a cycle lasts.
    """
    fresh = between = 0.0
    both = silent + told
    for index in range(_MOST_TERMS):
        left = waited - index * worth
        if left <= 0.0:
            break
        share = gamma_share(index, both * left)
        wait = gamma_share(index, told * left)
        fresh += (noise / both) ** index / both * share
        between += wait / told
        if share < 1e-9 and wait < 1e-9:
            break
    return fresh, between


def gamma_share(order: int, x: float) -> float:
    """Regularised lower incomplete gamma function `P(order + 1, x)`."""
    if x <= 0.0:
        return 0.0
    if x > 700.0:
        return 1.0
    term = total = math.exp(-x)
    for index in range(1, order + 1):
        term *= x / index
        total += term
    return max(0.0, 1.0 - total)
