"""Which lists to watch: each new link counts for the cheapest that shows it (pure).

A list that only repeats what others show first earns nothing, and is visited less and less. Source:
Dasgupta et al., "The discoverability of the web", 2007 (greedy weighted cover).
"""

import heapq
import math
from collections.abc import Mapping
from typing import NamedTuple

MOST_LOST = 1e-3
"""Largest share of new links that may slip through the window of a list."""
_SMALL = 700.0


class Hub(NamedTuple):
    """What a list showed in a step.

    Attributes:
        links: New links on it that were not known before the step.
        cost: Of its visit; 0 for what is visited in any case.
    """

    links: frozenset[str]
    cost: float


def credited(hubs: Mapping[str, Hub]) -> dict[str, int]:
    """How many new links each list is credited with: a greedy weighted cover.

    The list with the most new links for its cost is credited with them all; the others with what
    it does not show, and so on.
    """
    found = dict.fromkeys(hubs, 0)
    covered: set[str] = set()
    queue = [(-_worth(len(hub.links), hub.cost), name) for name, hub in hubs.items()]
    heapq.heapify(queue)
    while queue:
        claimed, name = heapq.heappop(queue)
        fresh = len(hubs[name].links - covered)
        worth = _worth(fresh, hubs[name].cost)
        if worth < -claimed and fresh:
            # Others have shown some of it meanwhile: it waits for its turn.
            heapq.heappush(queue, (-worth, name))
            continue
        found[name] = fresh
        covered |= hubs[name].links
    return found


def _worth(links: int, cost: float) -> float:
    return links / max(cost, 1e-6)


def expected_loss(window: int, arriving: float) -> float:
    """`E[(N - K)+]`: links that come and go unseen between two visits; N is Poisson.

    Args:
        window: Links that the list shows at a time, K.
        arriving: New links expected between the visits.
    """
    if arriving <= 0.0:
        return 0.0
    if arriving > _SMALL:
        return _by_normal(window, arriving)
    term = math.exp(-arriving)
    below = most = 0.0  # P(N < K), P(N <= K)
    for count in range(window + 1):
        below = most
        most += term
        term *= arriving / (count + 1)
    return max(0.0, arriving * (1.0 - below) - window * (1.0 - most))


def _by_normal(window: int, arriving: float) -> float:
    spread = math.sqrt(arriving)
    over = (arriving - window) / spread
    density = math.exp(-0.5 * over * over) / math.sqrt(2.0 * math.pi)
    return spread * (density + over * 0.5 * math.erfc(-over / math.sqrt(2.0)))


def overflows(window: int, per_day: float, days: float) -> bool:
    """Whether too many new links would slip through a list that is visited this seldom.

    Args:
        window: Links that it shows at a time; 0 where that is not known.
        per_day: New links a day.
        days: Days between its visits.
    """
    arriving = per_day * days
    return window > 0 and arriving > 0.0 and expected_loss(window, arriving) > MOST_LOST * arriving
