"""What one look at all rows shows at the beginning of a step (pure)."""

import math
from collections import Counter
from collections.abc import Container
from typing import NamedTuple

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.traps import Traps
from nacre.history.recrawl.choice import Choice, lot
from nacre.history.recrawl.sites import Sites
from nacre.uri.parse import authority

MOST_ERRORS = 5
"""Steps in which a page of a list that never answered is tried."""
_WAIT = 7 * 86_400.0
"""Age at which a page is tried again that did not answer twice, s; then at each double of it."""
_SAMPLE = 200
"""Pages that are visited again, all classes together, before others are judged by them."""
_LEAST_SAMPLE = 4
_FILES = "files "
_FILE_SAMPLE = 20
"""The same of the attached files of a site."""
_WATCHED = 40
"""The same of a site whose sitemap is believed, all its templates together: of pages that it does
not tell of."""
_AT_ONCE = 20
_FILES_AT_ONCE = 10
"""As many of these, and of attached files, in a step, unless one of them proves changed."""
_SHARE = 0.1
"""And no more than that share of the pages: a small site would be visited as a whole."""
_INDEX = 0.5


class _Lot(NamedTuple):
    drawn: float
    url: str


class Survey:
    """Collects, row by row, what the waves of a step need to know beforehand.

    Args:
        time: Of the step, seconds since the epoch.
        traps: Told of each page that was never visited; None for nobody.

    Attributes:
        size: Rows.
        tellers: Sitemaps and feeds.
        lists: Index pages.
        told: Pages of which somebody told since their last visit.
        unvisited: Pages that were heard of and never visited: URL to depth.
    """

    def __init__(self, time: float, traps: Traps | None = None) -> None:
        self._time = time
        self._traps = Traps() if traps is None else traps
        self.size = 0
        self.tellers: list[tuple[str, str]] = []
        self.lists: list[str] = []
        self.told: dict[str, None] = {}
        self.unvisited: dict[str, int] = {}
        self._known: Counter[str] = Counter()
        self._unknown: dict[str, list[_Lot]] = {}
        self._counts: Counter[str] = Counter()

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        self.size += 1
        if not row.visits:
            if tried_again(row) <= self._time:
                self.unvisited[row.url] = row.depth
                self._traps.meet(row.template, row.url, row.first_seen)
            return
        if row.kind in {PageKind.SITEMAP, PageKind.FEED}:
            self.tellers.append((row.url, str(row.kind)))
        elif row.index >= _INDEX:
            self.lists.append(row.url)
        if row.told:
            self.told[row.url] = None
        name = row.template
        if row.kind is PageKind.FILE:
            name = of(row)
        if row.evidence:
            self._known[name] += 1
        elif row.kind is PageKind.FILE or (row.kind is PageKind.PAGE and row.index < _INDEX):
            self._draw(row, name)

    def _draw(self, row: PageRow, name: str) -> None:
        """Keep the smallest lots of each class: as many as could be wanted."""
        self._counts[name] += 1
        lots = self._unknown.setdefault(name, [])
        lots.append(_Lot(lot(row.url, self._time), row.url))
        if len(lots) >= 4 * _SAMPLE:
            lots.sort()
            del lots[2 * _SAMPLE :]

    def samples(
        self, done: set[str], visited: Counter[str], sites: Sites, again: Container[str] = ()
    ) -> list[Choice]:
        """A few pages of each class of which too little is known: what they show holds for all.

        Args:
            done: Pages that were chosen in this step.
            visited: Pages that were visited again in this step, by template.
            sites: Tells where a sitemap is believed: there all templates are one class.
            again: Classes (`of`) of which one that was drawn before proved changed.
        """
        chosen: list[Choice] = []
        mapped: dict[str, list[_Lot]] = {}
        counts: Counter[str] = Counter()
        wanted = max(_LEAST_SAMPLE, _SAMPLE // max(1, len(self._unknown)))
        for name, lots in self._unknown.items():
            if name.startswith(_FILES):
                size, count = _FILE_SAMPLE - self._known[name], self._counts[name]
                size = size if name in again else min(size, _bounded(_FILES_AT_ONCE, count))
                drawn = _drawn(lots, size, count, done)
                self._known[name] += len(drawn)
                chosen += drawn
            elif sites.is_mapped(lots[0].url, self._time):
                site = authority(lots[0].url)
                mapped.setdefault(site, []).extend(lots)
                counts[site] += self._counts[name]
            else:
                size = wanted - self._known[name] - visited[name]
                chosen += _drawn(lots, size, self._counts[name], done)
        for site, lots in mapped.items():
            size, count = _WATCHED - sites.watched(lots[0].url), counts[site]
            size = size if site in again else min(size, _bounded(_AT_ONCE, count))
            chosen += _drawn(lots, size, count, done)
        return chosen


def tried_again(row: PageRow) -> float:
    """When a page that never answered is tried again, seconds since the epoch; 0: at once."""
    return row.first_seen + _WAIT * 2.0 ** min(row.errors - 2, 20) if row.errors > 1 else 0.0


def of(row: PageRow) -> str:
    """Class of a page that was drawn, where a few at a time are."""
    site = authority(row.url)
    return f"{_FILES}{site}" if row.kind is PageKind.FILE else site


def _bounded(most: int, count: int) -> int:
    return max(_LEAST_SAMPLE, min(most, math.ceil(_SHARE * count)))


def _drawn(lots: list[_Lot], size: int, count: int, done: set[str]) -> list[Choice]:
    """So many of a class of `count` pages, by lot."""
    if size <= 0:
        return []
    share = min(1.0, size / count)
    left = [one.url for one in sorted(lots) if one.url not in done]
    return [Choice(url, 0.0, "sample", share) for url in left[:size]]
