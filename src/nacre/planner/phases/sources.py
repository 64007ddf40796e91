"""The phase of sources: pages that may show new links, under a tight budget (pure).

Every page has a value as a source of links, by the new links that it showed at its visits and by
those of pages like it; what lies deep leads to less. A share of the budget is for the best of them,
whatever the chance that they have changed themselves.
"""

import heapq

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.value import DAY
from nacre.planner.phases.phase import Pages, PhaseResult
from nacre.planner.phases.valuation import Valuation
from nacre.planner.ranking import choices
from nacre.planner.slices import ROWS, Slices
from nacre.planner.step import Step, random_sample
from nacre.planner.tuning import guess

_SOURCES = guess(
    "sources.share", 0.08, "Share of a tight budget for pages that may show new links.", most=1.0
)
_DEEPER = guess(
    "sources.deeper",
    0.5,
    "Factor of the value of a source for each link that it lies deeper.",
    most=1.0,
)


class Sources:
    """Chooses pages that may show new links.

    Args:
        pages: The rows.
        valuation: Knows how many new links a page shows.
        step: The current step.
    """

    def __init__(self, pages: Pages, valuation: Valuation, step: Step) -> None:
        self._pages = pages
        self._valuation = valuation
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        if room >= self._pages.size:
            return PhaseResult([])
        most = int(_SOURCES * room)
        if not most:
            return PhaseResult([])
        best: list[tuple[float, float, str]] = []
        for number, row in enumerate(self._pages.scan()):
            if not number % ROWS:
                yield
            worth = self._worth(row)
            if worth > 0.0:
                item = worth, random_sample(row.url, self._step.time), row.url
                heapq.heappush(best, item) if len(best) < most else heapq.heappushpop(best, item)
        urls = [url for _, _, url in sorted(best, reverse=True)]
        values = yield from self._valuation.of_all(self._pages.planned(urls))
        return PhaseResult([choice._replace(reason="index") for choice in choices(values)])

    def _worth(self, row: PageRow) -> float:
        """New links to be expected at a visit, fewer the deeper the page lies."""
        page = row.kind is PageKind.PAGE and row.life == Life.LIVE and row.visits > 0
        if not page or row.url in self._step.done or self._valuation.is_left_out(row):
            return 0.0
        days = (self._step.time - row.last_visit) / DAY
        links = self._valuation.links_of(row, days)
        return links * _DEEPER ** min(row.depth, 30)
