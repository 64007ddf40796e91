"""Learning from the links of a visited page: new pages, and news of known ones (pure).

If a list shows no known link, its further pages are read, one by one, until two known links are
adjacent. New links count for the cheapest lists that show them.
"""

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from msgspec import structs

from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.deletion import Life
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe_count, remaining_share
from nacre.planner.change_rate.value import DAY
from nacre.planner.discovery.hints import HintSource, map_name
from nacre.planner.discovery.index_pages import (
    INDEX,
    Hub,
    Known,
    News,
    at_top,
    compare_lists,
    credited,
    entries_of,
    is_later,
    known_entries,
    next_page,
    page_of,
    pinned,
    shown_entries,
)
from nacre.planner.discovery.traps import kind_of_trap, print_of
from nacre.planner.sites import ShownRow
from nacre.planner.step import PAGING, PlannerInputs, Showing, Step
from nacre.planner.tuning import guess
from nacre.planner.visited import SeenLink, Visited, unknown_page
from nacre.uri.parse import authority
from nacre.wire.date import parse_w3c_date

_MAYBE = guess(
    "links.maybe",
    0.3,
    "Probability of being an index page from which the links of a page are stored.",
    most=1.0,
)
_LATEST = guess(
    "links.latest",
    0.3,
    "Weight of the last visit in the estimated number of pages of a list to read.",
    most=1.0,
)
_BYTES = guess("links.bytes", 1e6, "Size at which a list costs as much as two requests, in bytes.")


_DROPPED = 500
"""A bound of work: removed links of a page whose targets are checked."""


class Lists:
    """Reads lists.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, inputs: PlannerInputs, step: Step) -> None:
        self._rows, self._sites, _, self._settings = inputs
        self._step = step

    def read(self, row: PageRow, visit: Visited, unknown: AbstractSet[str], before: float) -> None:
        """Read the links of a page: the rate of new ones, and news of the pages that it lists.

        Args:
            row: The page; it changes.
            visit: Its visit.
            unknown: Links that were not known before.
            before: Time of the previous visit, seconds since the epoch; 0 for none.
        """
        links = [link for link in visit.links if link.hop == "L"]
        now_shown = shown_entries(links)
        old = self._sites.list_row(row.url)
        if old is not None:
            news = compare_lists(old.shown, now_shown)
            row.fertile += any(url in unknown for url in news.new)
            self._note_new(row, old, news, visit.time)
            if row.index >= INDEX and self._settings.hints:
                self._tell_listed(row.url, news)
        elif before:
            self._show(row, unknown - self._step.told_new, (visit.time - before) / DAY)
        if row.index >= _MAYBE:
            fresh = [url for url in now_shown.urls if self._is_new(url, visit.time)]
            entries = entries_of(now_shown.urls, fresh)
            top = at_top(old.top, entries) if old is not None and entries else {}
            if not entries and old is not None:
                top = old.top
            flooded = self._read_on(row, links, fresh, pinned(top), unknown)
            previous = old or ShownRow(now_shown, visit.time)
            kept_row = structs.replace(
                previous,
                shown=now_shown,
                time=visit.time,
                top=top,
                window=len(entries) or previous.window,
                floods=previous.floods + flooded,
            )
            self._sites.keep_list(row.url, kept_row)
        self._rows.put(row)

    def settle(self) -> None:
        """Learn the rate of new links of each list, after the lists of the step were read."""
        step = self._step
        showing = step.take_showing()
        counts = credited({url: showing_page.hub for url, showing_page in showing.items()})
        for url, showing_page in showing.items():
            row = self._rows.get(url)
            if row is None or showing_page.days <= 0.0:
                continue
            keep = remaining_share(showing_page.days, self._settings.index_half_life / DAY)
            evidence = row.arrivals or NO_EVIDENCE
            row.showed_links(observe_count(evidence, counts[url], showing_page.days, keep=keep))
            self._rows.put(row)
            self._settle(url, counts[url])
        step.chains.clear()

    def _settle(self, url: str, credit: int) -> None:
        row, chains = self._sites.list_row(url), self._step.chains
        if row is None:
            return
        read = 0 if is_later(url) else chains.get(page_of(url).stem, 0)
        settled = structs.replace(
            row,
            depth=row.depth + _LATEST * (read - row.depth),
            settled=row.settled + 1,
            earned=row.earned + (credit - row.earned) * max(_LATEST, 1.0 / (row.settled + 1)),
        )
        self._sites.keep_list(url, settled)

    def _note_new(self, row: PageRow, old: ShownRow, news: News, now: float) -> None:
        """New links that a list showed first; those known from sitemaps and feeds do not count."""
        fresh = {url for url in news.new if self._is_new(url, now)}
        links = fresh - self._step.told_new
        if self._sites.is_mapped(row.url, now):
            self._sites.learn_news(row.url, len(fresh) - len(links), len(links))
        self._show(row, links, (now - old.time) / DAY)

    def _show(self, row: PageRow, links: AbstractSet[str], days: float) -> None:
        """Note the links that a page showed first; each counts for the cheapest page with it."""
        step = self._step
        choice = step.chosen.get(row.url)
        always = choice is not None and choice.reason == "start"
        cost = 0.0 if always else 1.0 + row.bytes / _BYTES
        step.showing[row.url] = Showing(Hub(frozenset(links), cost), days)

    def _read_on(
        self,
        row: PageRow,
        links: Sequence[SeenLink],
        fresh: Sequence[str],
        pins: frozenset[str],
        unknown: Collection[str],
    ) -> bool:
        """Request the next page of a list if this page does not reach back far enough."""
        step = self._step
        choice = step.chosen.get(row.url)
        if choice is None or not unknown or (row.visits < 2 and choice.reason != PAGING):
            return False
        urls, stem = [link.url for link in links], page_of(row.url).stem
        # Links that are pinned to the first page may be on the others too.
        pins = step.pins[stem] = pins | step.pins.get(stem, frozenset())
        entries = known_entries(urls, fresh, lambda url: not self._is_new(url, step.time), pins)
        if not _goes_on(entries, further=choice.reason == PAGING):
            return False
        following = next_page(row.url, links)
        if following and following not in step.done:
            step.paging[following] = None
            self._sites.read_on(following)
        if not following and not is_later(row.url):
            step.flooded.add(authority(row.url))
        return choice.reason != PAGING

    def _is_new(self, url: str, now: float) -> bool:
        """Whether a page was unknown before this step."""
        row = self._rows.get(url)
        return row is None or row.first_seen >= now

    def tell_dropped(self, urls: Sequence[str]) -> None:
        """Announce known pages that a page no longer links to: they may be gone."""
        for url in urls[:_DROPPED]:
            row = self._rows.get(url)
            if row is None or not row.visits or row.life != Life.LIVE:
                continue
            if url not in self._step.done:
                self._sites.look_for_withdrawal(row, self._step.time)
                self._step.tell(row, HintSource.DROPPED)
                self._rows.put(row)

    def _tell_listed(self, lister: str, news: News) -> None:
        count = 0
        for url in (*news.changed, *news.withdrawn):
            row = self._rows.get(url)
            if row is not None and url not in self._step.done:
                # If the sitemap no longer lists the page either, the list is not alone.
                self._sites.look_for_withdrawal(row, self._step.time)
                count += not row.told
                self._step.tell(row, HintSource.LISTING)
                self._rows.put(row)
        self._sites.learn_tells(lister, count)


def _goes_on(entries: Known, *, further: bool) -> bool:
    """A first page shows nothing known, or a further one not yet enough of it."""
    return entries.entries > 0 and not entries.anchored if further else entries.flooded


_TELLERS = frozenset((PageKind.SITEMAP, PageKind.FEED))
_UNSORTED = frozenset((PageKind.PAGE, PageKind.FILE))
"""Kinds that the media type alone gives."""

_ROBOTS = "/robots.txt"


class Links:
    """Reads start pages, lists, sitemaps and feeds.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, inputs: PlannerInputs, step: Step) -> None:
        self._rows, self._sites, self._judge, self._settings = inputs
        self._step = step
        self._lists = Lists(inputs, step)

    def settle(self) -> None:
        """See `lists`."""
        self._lists.settle()

    def follow(self, row: PageRow, visit: Visited, before: float = 0.0) -> None:
        """Learn about other pages from the page's links.

        Args:
            row: The row of the page after the visit.
            visit: The visit.
            before: Time of the previous visit, seconds since the epoch; 0 for none.
        """
        if row.kind is PageKind.EMBED:
            return
        dated = [link for link in visit.links if link.lastmod]
        self._sort(row, visit)
        if row.kind in _TELLERS and _was_read(visit):
            self._read_hints(row, visit, dated)
        unknown = self._meet(row, visit)
        if row.kind is PageKind.PAGE and visit.status == 200:
            if self._hears_of_drops(row, visit.time):
                self._lists.tell_dropped(self._judge.dropped(visit))
            self._lists.read(row, visit, unknown, before)

    def _sort(self, row: PageRow, visit: Visited) -> None:
        """Note the kind of a source of hints: sitemap or feed, as both may be plain XML."""
        if row.kind in _UNSORTED and _is_sitemap(visit):
            is_feed = "rss" in visit.mime or "atom" in visit.mime
            row.classify(PageKind.FEED if is_feed else PageKind.SITEMAP)
            self._rows.put(row)
        mapped = any(link.hop == "M" for link in visit.links)
        if row.kind is PageKind.SITEMAP and _was_read(visit) and visit.links and not mapped:
            row.classify(PageKind.FEED)
            self._rows.put(row)

    def _hears_of_drops(self, row: PageRow, now: float) -> bool:
        """Whether a removed link is a hint: lists have another one, and sitemaps report more."""
        has_hints = self._sites.list_row(row.url) is not None or self._sites.covers(row, now)
        return self._settings.hints and not has_hints

    def _meet(self, row: PageRow, visit: Visited) -> set[str]:
        """Return the unknown links, which are the new pages."""
        met: set[str] = set()
        sites, step = self._sites, self._step
        watermark = sites.shown_at(row.url)
        kind, breeds = kind_of_trap(row.template), False
        for link in visit.links:
            if link.hop not in "LRM" or self._rows.get(link.url) is not None:
                continue
            page = self._unknown(row, link, visit.time)
            self._rows.put(page)
            step.new[link.url] = page.depth
            if sites.links.meet(link.url, visit.time, watermark) is False:
                step.late.add(link.url)
            sites.traps.meet(page.template, link.url, visit.time)
            breeds = breeds or kind_of_trap(page.template) == kind
            met.add(link.url)
        self._read_trap(row, visit, breeds=breeds)
        if row.kind in _TELLERS:
            step.told_new |= met
        return met

    def _unknown(self, row: PageRow, link: SeenLink, now: float) -> PageRow:
        """The row of a page that becomes known by a link."""
        undated = link.hop == "M" and not link.lastmod
        page = unknown_page(
            link.url,
            now,
            row.depth + (link.hop == "L"),
            PageKind.SITEMAP if undated else PageKind.PAGE,
            lastmod=link.lastmod,
            born=self._born(row, now),
        )
        if row.kind is PageKind.SITEMAP:
            page.listed_in(map_name(row.url), now)
        return page

    def _read_trap(self, row: PageRow, visit: Visited, *, breeds: bool) -> None:
        """Learn if a page that leads to pages of its kind, or is one of many, has new content."""
        traps = self._sites.traps
        if row.kind is not PageKind.PAGE:
            return
        if breeds:
            traps.read(row.template, self._judge.says(visit), leads=True)
        elif row.visits == 1 and visit.digest and traps.is_crowded(row.template):
            traps.read(row.template, print_of(visit.digest), leads=False)

    def _born(self, row: PageRow, now: float) -> float:
        """Return the time at which a link appeared: between two visits; 0 after one visit."""
        return now - self._sites.since_shown(row.url, now) / 2.0 if row.visits > 1 else 0.0

    def _read_hints(self, source_page: PageRow, visit: Visited, dated: Sequence[SeenLink]) -> None:
        """Note the hints of a sitemap or feed about known pages."""
        source = HintSource.FEED if source_page.kind is PageKind.FEED else HintSource.SITEMAP
        links = [(link, row) for link in visit.links if (row := self._rows.get(link.url))]
        moved = [(link, row) for link, row in links if self._is_moved(link.lastmod, row, source)]
        dates = [link.lastmod for link in dated]
        again = sum(_was_dated(row, source) for _, row in moved)
        believed = self._sites.read_dates(source_page.url, dates, again, visit.time)
        if source is HintSource.SITEMAP:
            self._sites.read_map(source_page.url, visit.time)
        for link, row in moved:
            is_news = _was_dated(row, source) or self._sites.is_later(link.lastmod, row.last_visit)
            if not _is_mapped(row, source):
                row.redate(link.lastmod)
            if is_news and believed:
                self._step.tell(row, source)
        if source is HintSource.SITEMAP:
            self._read_map(
                source_page, visit, links, news=bool(moved) or len(links) < len(visit.links)
            )
        for _, row in links:
            self._rows.put(row)

    def _is_moved(self, lastmod: str, row: PageRow, source: HintSource) -> bool:
        """Whether a source gives a page another date than before, in whatever format.

        Feeds and sitemaps often give a page different dates without any change. If a sitemap dates
        the page, a feed announces only changes later than the last visit.
        """
        if not lastmod or lastmod == row.lastmod:
            return False
        if _is_mapped(row, source):
            return row.visits > 0 and self._sites.is_later(lastmod, row.last_visit)
        date = parse_w3c_date(lastmod)
        return date is None or not row.lastmod or date != parse_w3c_date(row.lastmod)

    def _read_map(
        self,
        source_page: PageRow,
        visit: Visited,
        links: Sequence[tuple[SeenLink, PageRow]],
        *,
        news: bool,
    ) -> None:
        """Note which URLs a sitemap lists, and the dates that an index gives its sitemaps."""
        maps, now = self._sites.maps, visit.time
        if visit.status == 304:
            maps.unchanged(source_page.url, now)
        if visit.status != 200:
            return
        name, children = map_name(source_page.url), 0
        for link, row in links:
            row.listed_in(name, now)
            if row.kind is PageKind.SITEMAP and link.lastmod:
                maps.note(source_page.url, link.url, link.lastmod, now)
                children += 1
        maps.was_read(source_page.url, now, links=len(visit.links), children=children, news=news)


def _is_mapped(row: PageRow, source: HintSource) -> bool:
    """Whether the page has its date from a sitemap, and the source is not a sitemap."""
    return source is HintSource.FEED and row.listed > 0.0 and row.lastmod != ""


def _was_dated(row: PageRow, source: HintSource) -> bool:
    """Whether sources of the same kind gave the page a date earlier."""
    return row.lastmod != "" and (source is HintSource.FEED or row.listed > 0.0)


def _was_read(visit: Visited) -> bool:
    """Whether a visit found a sitemap or feed, new or unchanged, and not an error page."""
    if visit.status != 200:
        return visit.status == 304
    listed = any(link.hop == "M" for link in visit.links)
    return listed or (bool(visit.links) and "html" not in visit.mime)


def _is_sitemap(visit: Visited) -> bool:
    """Whether a reply is a sitemap or feed: XML, or a file with links of a sitemap.

    A compressed sitemap may have any media type.
    """
    if visit.status != 200:
        return False
    if "xml" in visit.mime and "html" not in visit.mime:
        return True
    return not visit.url.endswith(_ROBOTS) and any(link.hop == "M" for link in visit.links)
