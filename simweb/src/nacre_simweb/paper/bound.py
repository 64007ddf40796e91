"""The bound of savings: for one who knows every rate and no event (2.9), and one who knows all.

Pages are visited in the order of their true chance to need it; lists and new pages must be fetched
in any case.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nacre_simweb.calendar import DAY
from nacre_simweb.site import Article
from nacre_simweb.truth import GONE, Track
from nacre_simweb.world import World

_SLICES = 26
_YEAR = 365.0
_POINTS = 60


class RecallBound(NamedTuple):
    """The best recall that is possible for each number of requests, without hints.

    Attributes:
        must: Requests of HTML pages that all must make: lists and new pages.
        new: New pages.
        chances: Of each page known, that it needs a visit; highest first.
    """

    must: float
    new: float
    chances: tuple[float, ...]

    def requests(self, recall: float) -> float:
        """Requests of HTML pages for an expected recall."""
        needed = recall * (self.new + math.fsum(self.chances)) - self.new
        changes = 0.0
        for number, chance in enumerate(self.chances):
            if changes >= needed:
                return self.must + number
            changes += chance
        return self.must + len(self.chances)

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Requests and the recall that they allow."""
        total = self.new + math.fsum(self.chances)
        changes, points = self.new, []
        every = max(1, len(self.chances) // _POINTS)
        for number, chance in enumerate((*self.chances, 0.0)):
            if number % every == 0 or number == len(self.chances):
                points.append((self.must + number, min(1.0, changes / total) if total else 1.0))
            changes += chance
        return tuple(points)


def find_bound(world: World, tracks: Sequence[Track], lists: int, after: float) -> RecallBound:
    """Return the bound for one return to a world.

    Args:
        world: The world.
        tracks: Its truth.
        lists: List pages that there are at the later time.
        after: The later time, seconds.
    """
    new = sum(
        track.kind == "article" and track.at(0.0) == GONE != track.at(after) for track in tracks
    )
    chances = [
        _chance(world, article, after)
        for articles in world.site.articles
        for article in articles
        if world.lives.of(article).lives(0.0)
    ]
    return RecallBound(float(lists + new), float(new), tuple(sorted(chances, reverse=True)))


def _chance(world: World, article: Article, after: float) -> float:
    """That a page is edited, moved or gone by then, from its rates alone."""
    edits, deaths, moves = (
        world.parameters.edits, world.parameters.deaths, world.parameters.moves,
    )  # fmt: skip
    step = after / _SLICES
    expected = math.fsum(
        world.lives.rate(article, (number + 0.5) * step) * step for number in range(_SLICES)
    )
    # Some edits replace an image or a document and leave the page as it is.
    expected *= 1.0 - edits.images - edits.documents
    yearly = deaths.per_year + moves.redirected_per_year + moves.silent_per_year
    return -math.expm1(-expected - yearly * after / (_YEAR * DAY))
