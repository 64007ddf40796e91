"""What one look at all rows shows at the beginning of a step (pure)."""

from collections import Counter

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.recrawl_choice import Choice, lot

MOST_ERRORS = 5
"""A page that never answered is tried in so many steps."""
_SAMPLE = 200
"""Pages that are visited again, all classes together, before others are judged by them."""
_LEAST_SAMPLE = 4
_INDEX = 0.5


class Survey:
    """Collects, row by row, what the waves of a step need to know beforehand.

    Args:
        time: Of the step, seconds since the epoch.

    Attributes:
        size: Rows.
        tellers: Sitemaps and feeds.
        lists: Index pages.
        told: Pages of which somebody told since their last visit.
        unvisited: Pages that were heard of and never visited: URL to depth.
    """

    def __init__(self, time: float) -> None:
        self._time = time
        self.size = 0
        self.tellers: list[tuple[str, str]] = []
        self.lists: list[str] = []
        self.told: dict[str, None] = {}
        self.unvisited: dict[str, int] = {}
        self._known: Counter[str] = Counter()
        self._unknown: dict[str, list[tuple[float, str]]] = {}
        self._counts: Counter[str] = Counter()

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        self.size += 1
        if not row.visits:
            if row.errors < MOST_ERRORS:
                self.unvisited[row.url] = row.depth
            return
        if row.kind in {PageKind.SITEMAP, PageKind.FEED}:
            self.tellers.append((row.url, str(row.kind)))
        elif row.index >= _INDEX:
            self.lists.append(row.url)
        if row.told:
            self.told[row.url] = None
        if row.evidence:
            self._known[row.template] += 1
        elif row.kind is PageKind.PAGE:
            self._draw(row)

    def _draw(self, row: PageRow) -> None:
        """Keep the smallest lots of each template: as many as could be wanted."""
        self._counts[row.template] += 1
        lots = self._unknown.setdefault(row.template, [])
        lots.append((lot(row.url, self._time), row.url))
        if len(lots) >= 4 * _SAMPLE:
            lots.sort()
            del lots[2 * _SAMPLE :]

    def samples(self, done: set[str], visited: Counter[str]) -> list[Choice]:
        """A few pages of each class of which too little is known: what they show holds for all.

        Args:
            done: Pages that were chosen in this step.
            visited: Pages that were visited again in this step, by template.
        """
        chosen: list[Choice] = []
        wanted = max(_LEAST_SAMPLE, _SAMPLE // max(1, len(self._unknown)))
        for template, lots in self._unknown.items():
            size = wanted - self._known[template] - visited[template]
            if size > 0:
                share = min(1.0, size / self._counts[template])
                left = [url for _, url in sorted(lots) if url not in done]
                chosen += [Choice(url, 0.0, "sample", share) for url in left[:size]]
        return chosen
