"""What a fetch costs the budget of its queue. Source: Heritrix 3, cost policies."""

import re
from typing import Literal

CostPolicy = Literal["unit", "zero", "wag", "anti-calendar"]

_CALENDAR = re.compile(
    r"calend(?:ar|rier)|year|month|day|date|event|jour|viewcal|yr=|[^0-9](?:19|20)[0-9]{2}[^0-9]",
    re.IGNORECASE,
)


def cost_of(policy: CostPolicy, url: str, via: str = "") -> int:
    """Cost of one attempt.

    Args:
        policy: `unit`: 1. `zero`: 0. `wag`: 1, 1 more for a query, and 1 more again if what stands
            before the query begins the via too. `anti-calendar`: 1, and 1 more for a URL that
            looks like a page of a calendar (once, however often it does).
        url: The URL.
        via: URL of the page it was found on; "" for a seed.
    """
    if policy == "unit":
        return 1
    if policy == "zero":
        return 0
    if policy == "anti-calendar":
        return 2 if _CALENDAR.search(url) else 1
    path, question, _ = url.partition("?")
    if not question:
        return 1
    return 3 if via.startswith(path) else 2
