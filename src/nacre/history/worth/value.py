"""What a visit is worth (pure).

Its value grows with the time since the last one; a page is visited once that reaches the price of a
request. Source: Olston and Pandey, "Recrawl scheduling based on information longevity", 2008.
"""

import math
from collections.abc import Sequence

from nacre.history.worth.rates import RATES, Distribution

_HORIZON = 30.0
"""Days for which a rate that was learned is of use."""
_DOUBLES = 9


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
