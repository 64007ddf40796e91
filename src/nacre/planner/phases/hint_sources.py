"""The phases of hints: sources such as sitemaps first, then the pages that they announce (pure).

Indexes of sitemaps are read before the sitemaps: a sitemap whose date in the index is not later
than its last reading is skipped. Start pages, sitemaps and feeds follow, then pages that are due by
their schedule, then index pages.

A source of hints that was not tested yet is tested with a few of the pages that it announced.
"""

import heapq
import math
from collections.abc import Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.value import DAY
from nacre.planner.discovery.hints import (
    SPARED_LOTS,
    Sitemaps,
)
from nacre.planner.discovery.index_pages import is_later
from nacre.planner.phases.phase import Pages, PhaseResult, ScheduledPages, Survey
from nacre.planner.phases.valuation import Valuation
from nacre.planner.ranking import VisitValue, Wanted, choices, choosing
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import TRIED, Sites
from nacre.planner.slices import ROWS, Slices
from nacre.planner.step import (
    TRUSTED,
    Choice,
    Step,
    random_sample,
)
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

_LIKELY_NEW = guess(
    "hint_sources.likely_new",
    0.1,
    "Chance of new links from which a list of a site with many new pages is read.",
    most=1.0,
)
_STARTS = guess(
    "hint_sources.starts",
    0.05,
    "Share of a tight budget for start pages that were visited before; the others are chosen by "
    "their value, as all pages are.",
    most=1.0,
)
_SOURCES = guess(
    "hint_sources.sources",
    0.1,
    "Share of a tight budget for sitemaps and feeds: the likeliest to have news.",
    most=1.0,
)
_LIST_SAMPLE = guess(
    "hint_sources.list_sample",
    0.1,
    "Share of the lists that are replaced by a sitemap and are read nevertheless.",
    most=1.0,
)


class SitemapIndexes:
    """Chooses the indexes of sitemaps: they say which of these need not be read.

    Args:
        sources: Sitemaps and feeds that are known.
        maps: What is known of sitemaps.
    """

    def __init__(self, sources: Sequence[Choice], maps: Sitemaps) -> None:
        self._sources = sources
        self._maps = maps

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        return PhaseResult(
            [source for source in self._sources if self._maps.is_index(source.url)][:room]
        )


class StartPages:
    """Chooses sitemaps and feeds, then start pages: they are few, and lead to all others.

    A sitemap is skipped if its index shows no news; a tenth of such sitemaps is read anyway.

    Args:
        starts: Start pages.
        sources: Sitemaps and feeds that are known.
        maps: The rows of sitemaps.
        pages: The rows.
        valuation: Forecasts the results of visits to start pages.
        step: The current step.
    """

    def __init__(
        self,
        starts: Sequence[str],
        sources: Sequence[Choice],
        maps: Sitemaps,
        pages: Pages,
        valuation: Valuation,
        step: Step,
    ) -> None:
        self._starts = starts
        self._sources = sources
        self._maps = maps
        self._pages = pages
        self._valuation = valuation
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        starts = yield from self._seeds(room)
        read: list[Choice] = []
        left_out: set[str] = set()
        for source in self._sources:
            choice = self._to_request(source)
            if choice is None:
                left_out.add(source.url)
            else:
                read.append(choice)
        if room < self._pages.size:
            best = self._best(read, room)
            left_out |= {source.url for source in read} - {source.url for source in best}
            read = best
        # Sources of hints first, which shows what lists add to them.
        return PhaseResult((read + starts)[:room], frozenset(left_out))

    def _best(self, sources: list[Choice], room: int) -> list[Choice]:
        """Sitemaps and feeds within their share of a tight budget: the likeliest to have news."""
        rows = {row.url: row for row in self._pages.rows_of(source.url for source in sources)}
        news = {url: self._valuation.news_of(row) for url, row in rows.items()}
        sources.sort(key=lambda source: -news.get(source.url, 1.0))
        return sources[: max(1, int(_SOURCES * room))]

    def _seeds(self, room: int) -> Slices[list[Choice]]:
        """Start pages: all that are new; of the others the best within a share of the room."""
        rests, rows = self._pages.rests, self._pages
        starts = [url for url in self._starts if not rests(url)]
        new = [url for url in starts if (row := rows.get(url)) is None or not row.visits]
        values = yield from self._valuation.of_all(rows.rows_of(starts))
        # A seed that redirects or is gone has its time as any other page.
        values.sort(key=lambda value: (-value.value, value.url))
        best = values[: max(1, int(_STARTS * room))]
        return [Choice(url, 1.0, "start") for url in new] + [
            Choice(value.url, value.chance, "start") for value in best
        ]

    def _to_request(self, source: Choice) -> Choice | None:
        """Return the choice of a sitemap or feed; None if its index shows that it has no news."""
        now = self._step.time
        if source.url in self._step.done or not self._maps.rests(source.url, now):
            return source
        if random_sample(source.url, now) < SPARED_LOTS:
            return source._replace(propensity=SPARED_LOTS)
        self._maps.spare(source.url, now)
        return None


class DoubtedSitemaps:
    """Chooses sitemaps that were skipped because of an index that has proved wrong since.

    Args:
        sources: Sitemaps and feeds that are known.
        maps: What is known of sitemaps.
        step: The current step.
    """

    def __init__(self, sources: Sequence[Choice], maps: Sitemaps, step: Step) -> None:
        self._sources = sources
        self._maps = maps
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        yield
        now = self._step.time
        doubted = [source for source in self._sources if self._maps.is_doubted(source.url, now)][
            :room
        ]
        return PhaseResult(doubted, again=frozenset(source.url for source in doubted))


class DuePages:
    """Chooses the pages that are due by their schedules, in order of their times.

    Args:
        scheduled: Pages under a schedule.
        pages: The rows.
        valuation: Forecasts whether a visit finds something.
    """

    def __init__(self, scheduled: ScheduledPages, pages: Pages, valuation: Valuation) -> None:
        self._scheduled = scheduled
        self._pages = pages
        self._valuation = valuation

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        due = sorted(self._scheduled.due)[:room]
        values = yield from self._valuation.of_all(self._pages.rows_of(url for _, url in due))
        chances = {value.url: value.chance for value in values}
        return PhaseResult([Choice(url, chances.get(url, 0.0), "due") for _, url in due])


class IndexPages:
    """Chooses index pages that may show something new, as far as they are worth it.

    Under a tight budget they compete with all other pages. Where a sitemap of the site is believed,
    a tenth of the lists that it makes needless is read, to check whether it has the same links.

    Args:
        survey: Has the index pages, and the pages that a source announced.
        pages: The rows.
        valuation: Values visits.
        sites: What is known of sites.
        settings: What the operator wants.
        step: The current step.
    """

    def __init__(
        self,
        survey: Survey,
        pages: Pages,
        valuation: Valuation,
        sites: Sites,
        settings: RecrawlSettings,
        step: Step,
    ) -> None:
        self._survey = survey
        self._pages = pages
        self._valuation = valuation
        self._sites = sites
        self._settings = settings
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        target = Wanted(self._settings.recall, self._settings.least)
        lists = dict.fromkeys(self._survey.lists)
        tight = room < self._survey.size
        if tight:
            values = yield from self._valuation.of_all(self._pages.scan())
        else:
            values = yield from self._valuation.of_all(self._pages.rows_of(lists))
            hinted = {**self._survey.told, **self._step.told}
            target = target._replace(already=self._step.found + len(hinted))
        own = best = [value for value in values if value.url in lists]
        if room < len(values):
            best = yield from choosing(values, room, target)
            best = [value for value in best if value.url in lists]
        chosen = yield from choosing(best, room, target)
        chosen = list(dict.fromkeys([*chosen, *self._flooded(own, tight=tight)]))
        return PhaseResult((choices(chosen) + self._sampled(own, chosen))[:room])

    def _flooded(self, lists: Sequence[VisitValue], *, tight: bool) -> list[VisitValue]:
        """Lists of sites where a list without further pages did not show all that was published.

        Under a tight budget not those that hardly ever show anything new.
        """
        sites = self._step.flooded
        return [
            value
            for value in lists
            if authority(value.url) in sites
            and not is_later(value.url)
            and (value.chance >= _LIKELY_NEW or not tight)
        ]

    def _sampled(self, lists: Sequence[VisitValue], chosen: Sequence[VisitValue]) -> list[Choice]:
        """A random sample of the lists that a sitemap makes needless."""
        now, chosen_urls = self._step.time, {value.url for value in chosen}
        return [
            Choice(value.url, value.chance, "index", _LIST_SAMPLE)
            for value in lists
            if value.url not in chosen_urls
            and self._sites.is_mapped(value.url, now)
            and random_sample(value.url, now) < _LIST_SAMPLE
        ]


class HintTrial:
    """Chooses a few of many pages that a source announced which was not tested yet.

    Args:
        survey: Has the pages that a source announced before the step.
        pages: The rows.
        valuation: Values visits.
        sites: Knows which sources were tried.
        step: The current step; has the pages that a source announced in it.
    """

    def __init__(
        self,
        survey: Survey,
        pages: Pages,
        valuation: Valuation,
        sites: Sites,
        step: Step,
    ) -> None:
        self._survey = survey
        self._pages = pages
        self._valuation = valuation
        self._sites = sites
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        hinted = {**self._survey.told, **self._step.told}
        values = yield from self._valuation.of_all(self._pages.planned(hinted))
        untried: dict[tuple[str, tuple[str, ...]], list[VisitValue]] = {}
        for value in values:
            row = self._pages.get(value.url)
            if row is not None and row.told and not self._sites.is_tried(row):
                untried.setdefault((authority(value.url), row.told), []).append(value)
        chosen: list[VisitValue] = []
        for group in untried.values():
            group.sort(key=lambda value: random_sample(value.url, self._step.time))
            chosen += group[:TRIED]
        return PhaseResult(choices(chosen[:room]))


class HintedPages:
    """Chooses pages that a trusted source announced; its accuracy counts for all others.

    Args:
        survey: Has the pages that a source announced before the step.
        pages: The rows.
        valuation: Values visits.
        step: The current step; has the pages that a source announced in it.
    """

    def __init__(self, survey: Survey, pages: Pages, valuation: Valuation, step: Step) -> None:
        self._survey = survey
        self._pages = pages
        self._valuation = valuation
        self._step = step

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        hinted = {**self._survey.told, **self._step.told}
        values = yield from self._valuation.of_all(self._pages.planned(hinted))
        values = [value for value in values if value.chance >= TRUSTED]
        values.sort(key=lambda value: (-value.value, value.url))
        return PhaseResult(choices(values[:room]))


_LINK_SOURCES = guess(
    "sources.share", 0.08, "Share of a tight budget for pages that may show new links.", most=1.0
)
_DEEPER = guess(
    "sources.deeper",
    0.5,
    "Factor of the value of a source for each link that it lies deeper.",
    most=1.0,
)
_PORTIONS = 4
"""Times that new links are followed before further sources are visited: a bound of work."""


class Sources:
    """Chooses pages that may show new links, within a share of a tight budget.

    A page has a value as a source by the new links that it showed at its visits, and by those of
    pages like it. Whether it has changed itself does not matter.

    It chooses a portion at a time, and stops if the new pages that earlier portions showed use up
    their share of the budget: further ones could not be visited in the step.

    Args:
        pages: The rows.
        valuation: Knows how many new links a page shows.
        step: The current step.
    """

    def __init__(self, pages: Pages, valuation: Valuation, step: Step) -> None:
        self._pages = pages
        self._valuation = valuation
        self._step = step
        self._left: list[str] | None = None
        self._portion = 0

    def choose(self, room: int) -> Slices[PhaseResult]:
        """See `Phase`."""
        if room >= self._pages.size or self._step.new:
            return PhaseResult([])
        if self._left is None:
            self._left = yield from self._best(int(_LINK_SOURCES * room))
            self._portion = math.ceil(len(self._left) / _PORTIONS)
        urls, self._left = self._left[: self._portion], self._left[self._portion :]
        values = yield from self._valuation.of_all(self._pages.planned(urls))
        visits = [choice._replace(reason="index") for choice in choices(values)]
        return PhaseResult(visits[:room], repeat=bool(self._left))

    def _best(self, most: int) -> Slices[list[str]]:
        """The pages that are expected to show the most new links, best first."""
        best: list[tuple[float, float, str]] = []
        for number, row in enumerate(self._pages.scan() if most else ()):
            if not number % ROWS:
                yield
            worth = self._worth(row)
            if worth > 0.0:
                item = worth, random_sample(row.url, self._step.time), row.url
                heapq.heappush(best, item) if len(best) < most else heapq.heappushpop(best, item)
        return [url for _, _, url in sorted(best, reverse=True)]

    def _worth(self, row: PageRow) -> float:
        """New links to be expected at a visit, fewer the deeper the page lies."""
        page = row.kind is PageKind.PAGE and row.life == Life.LIVE and row.visits > 0
        if not page or row.url in self._step.done or self._valuation.is_left_out(row):
            return 0.0
        days = (self._step.time - row.last_visit) / DAY
        links = self._valuation.links_of(row, days)
        return links * _DEEPER ** min(row.depth, 30)
