"""What the planner wants to visit, and why (pure)."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from nacre.history.recrawl.ranking import Bid

THETA = {"fresh": 0.0, "balanced": 0.5, "versions": 1.0}
"""What each aim means to `history.worth.value`."""
TRUSTED = 0.2
"""From this chance of a change on, pages that were told of are visited first."""

SENTINEL = "sentinel"
"""Reason of a visit: one of a few pages that speak for those that change with them."""
PAGING = "paging"
"""Reason of a visit: a further page of a list that showed nothing that was known."""


class Choice(NamedTuple):
    """A visit that the planner wants.

    Attributes:
        url: Of what.
        chance: Its forecast that there is something to keep.
        reason: Why: `start`, `due` (by its schedule), `new`, `late` (new, though its link does not
            look so: `history.finding.linkwatch`), `index`, `window` (a list would overflow before
            the next step), `paging` (a further page of a list that did), `sitemap`, `feed`,
            `told`, `rate`, `gone?`, `moved?`, `floor`, `sentinel` (it speaks for pages that change
            with it), `sample` (of a class of which too little is known), `sign` (what needs an
            embed or file changed), `lot` (of the pages that are left out: only these measure the
            recall), `pair`.
        propensity: Probability with which it was chosen: 1 but for lots.
    """

    url: str
    chance: float
    reason: str
    propensity: float = 1.0


def choices(bids: Sequence[Bid]) -> list[Choice]:
    """Visits for bids."""
    return [Choice(bid.url, bid.chance, bid.reason) for bid in bids]


def lot(url: str, step: float) -> float:
    """A number from 0 to 1 for a page and a step: the same in every process."""
    key = f"{url}\x00{step:.3f}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(key, digest_size=6).digest(), "big") / (1 << 48)
