"""List pages: which articles each shows at a time, and when that changes."""

from bisect import bisect_left, bisect_right, insort
from functools import cached_property
from typing import NamedTuple

from nacre_simweb.life import NEVER, Lives
from nacre_simweb.site import Article


class Event(NamedTuple):
    """Something that a list shows.

    Attributes:
        time: When, seconds.
        kind: `in`, `out`, or `touch` for another date of change or another URL.
        article: Of which article, by its place in the listing.
    """

    time: float
    kind: str
    article: int


class Listing:
    """The newest articles first, in pages.

    Args:
        articles: All that will ever be in it, by birth.
        lives: What happens to them.
        size: Articles a page.
        pages: Pages at most; 0 for as many as it takes.
        teasers: Pages show when an article was last changed.
    """

    def __init__(
        self, articles: tuple[Article, ...], lives: Lives, size: int, pages: int, *, teasers: bool
    ) -> None:
        self._articles = articles
        self._lives = lives
        self._size = size
        self._pages = pages
        self._teasers = teasers
        self._last: tuple[int, list[int]] = (-1, [])

    @cached_property
    def events(self) -> list[Event]:
        """All that happens to it from time 0 on, sorted."""
        all_events: list[Event] = []
        for place, article in enumerate(self._articles):
            life = self._lives.of(article)
            if article.born >= 0:
                all_events.append(Event(article.born, "in", place))
            all_events.append(Event(life.died, "out", place))
            all_events.append(Event(life.back, "in", place))
            all_events.append(Event(life.moved, "touch", place))
            if self._teasers:
                all_events += (
                    Event(version.start, "touch", place) for version in life.versions[1:]
                )
        return sorted(event for event in all_events if event.time < NEVER)

    @cached_property
    def _times(self) -> list[float]:
        return [event.time for event in self.events]

    def shown(self, time: float) -> list[int]:
        """Places of the articles in it, oldest first."""
        count = bisect_right(self._times, time)
        events_done, places = self._last
        if events_done < 0 or count < events_done:
            events_done, places = 0, [n for n, a in enumerate(self._articles) if a.born < 0]
        for event in self.events[events_done:count]:
            _apply(places, event)
        self._last = (count, places)
        return places

    def page(self, part: int, time: float) -> list[Article]:
        """Articles on one page, newest first."""
        places = self.shown(time)
        end = len(places) - part * self._size
        return [self._articles[n] for n in reversed(places[max(end - self._size, 0) : max(end, 0)])]

    def count(self, time: float) -> int:
        """Number of pages at a time; an empty list has one."""
        return self._count(len(self.shown(time)))

    def _count(self, articles: int) -> int:
        count = max(-(-articles // self._size), 1)
        return min(count, self._pages) if self._pages else count

    @cached_property
    def changes(self) -> list[list[float]]:
        """Times at which each page changes, sorted; also those at which it comes or goes."""
        places = [n for n, a in enumerate(self._articles) if a.born < 0]
        longest = self._pages or self._count(len(self._articles))
        times: list[list[float]] = [[] for _ in range(longest)]
        for event in self.events:
            before = self._count(len(places))
            place = _apply(places, event)
            if place < 0:
                continue
            first = (
                (len(places) - 1 - place) // self._size
                if event.kind != "out"
                else max(len(places) - place, 0) // self._size
            )
            count = max(before, self._count(len(places)))
            if count != min(before, self._count(len(places))):
                first = 0  # the pages name how many there are
            last = first + 1 if event.kind == "touch" else count
            for part in range(first, min(last, longest)):
                times[part].append(event.time)
        return times

    def version(self, part: int, time: float) -> int:
        """Number of the version of a page: how often it changed before."""
        return bisect_right(self.changes[part], time) if part < len(self.changes) else 0


def _apply(places: list[int], event: Event) -> int:
    """Do what the event says; the place where, -1 if nothing changed."""
    place = bisect_left(places, event.article)
    there = place < len(places) and places[place] == event.article
    if event.kind == "in" and not there:
        insort(places, event.article)
        return place
    if event.kind == "out" and there:
        del places[place]
        return place
    return place if event.kind == "touch" and there else -1
