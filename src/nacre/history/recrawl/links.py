"""Learns from the links of a page that was visited: new pages, and news of known ones (pure)."""

from collections.abc import Sequence

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.hints import Source
from nacre.history.finding.sitemaps import map_name
from nacre.history.finding.traps import kind_of_trap, print_of
from nacre.history.recrawl.lists import Lists
from nacre.history.recrawl.rows import unknown_page
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.visited import SeenLink, Visited
from nacre.wire.date import parse_w3c_date

_TELLERS = frozenset((PageKind.SITEMAP, PageKind.FEED))
_FINE = 3 * 3600.0
"""New links tell the hours of a site only where its lists are visited at least this often, s."""


class Links:
    """Reads start pages, lists, sitemaps and feeds.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._rows, self._sites, self._judge, self._settings = known
        self._step = step
        self._lists = Lists(known, step)

    def settle(self) -> None:
        """See `lists`."""
        self._lists.settle()

    def follow(self, row: PageRow, visit: Visited) -> None:
        """Learn of others from the page's links."""
        if row.kind is PageKind.EMBED:
            return
        told = [link for link in visit.links if link.lastmod]
        if row.kind is PageKind.PAGE and _is_sitemap(visit):
            row.kind = (
                PageKind.FEED if "rss" in visit.mime or "atom" in visit.mime else (PageKind.SITEMAP)
            )
            self._rows.put(row)
        if row.kind in _TELLERS and _was_read(visit):
            self._read_hints(row, visit, told)
        unknown = self._meet(row, visit)
        if row.kind is PageKind.PAGE and visit.status == 200:
            self._lists.read(row, visit, unknown)

    def _meet(self, row: PageRow, visit: Visited) -> set[str]:
        """Links never heard of: they are the new pages."""
        met: set[str] = set()
        watermark = self._sites.shown_at(row.url)
        kind, breeds = kind_of_trap(row.template), False
        for link in visit.links:
            if link.hop not in "LRM" or self._rows.get(link.url) is not None:
                continue
            one = unknown_page(link.url, visit.time, row.depth + (link.hop == "L"))
            one.lastmod = link.lastmod
            if row.kind is PageKind.SITEMAP:
                one.listed, one.map = visit.time, map_name(row.url)
            one.born = self._born(row, visit.time)
            if link.hop == "M" and not link.lastmod:
                one.kind = PageKind.SITEMAP
            self._rows.put(one)
            self._step.new[link.url] = one.depth
            if self._sites.links.meet(link.url, visit.time, watermark) is False:
                self._step.late.add(link.url)
            self._sites.traps.meet(one.template, link.url, visit.time)
            breeds = breeds or kind_of_trap(one.template) == kind
            met.add(link.url)
        self._read_trap(row, visit, breeds=breeds)
        if row.kind in _TELLERS:
            self._step.told_new |= met
        if 0.0 < self._sites.since_shown(row.url, visit.time) <= _FINE:
            self._sites.learn_births(row.url, visit.time, len(met))
        return met

    def _read_trap(self, row: PageRow, visit: Visited, *, breeds: bool) -> None:
        """A page that leads on to others of its kind, or one of a crowd: does it say anything?"""
        traps = self._sites.traps
        if row.kind is not PageKind.PAGE:
            return
        if breeds:
            traps.read(row.template, self._judge.says(visit), leads=True)
        elif row.visits == 1 and visit.digest and traps.is_crowded(row.template):
            traps.read(row.template, print_of(visit.digest), leads=False)

    def _born(self, row: PageRow, now: float) -> float:
        """When a link appeared: between two visits of the page; 0 when it had none before."""
        return now - self._sites.since_shown(row.url, now) / 2.0 if row.visits > 1 else 0.0

    def _read_hints(self, teller: PageRow, visit: Visited, told: Sequence[SeenLink]) -> None:
        """What a sitemap or feed says of pages that are known."""
        source = Source.FEED if teller.kind is PageKind.FEED else Source.SITEMAP
        known = [(link, row) for link in visit.links if (row := self._rows.get(link.url))]
        moved = [(link, row) for link, row in known if self._is_moved(link.lastmod, row, source)]
        dates = [link.lastmod for link in told]
        again = sum(_was_dated(row, source) for _, row in moved)
        believed = self._sites.read_dates(teller.url, dates, again, visit.time)
        for link, row in moved:
            is_news = _was_dated(row, source) or self._sites.is_later(link.lastmod, row.last_visit)
            row.lastmod = row.lastmod if _is_mapped(row, source) else link.lastmod
            if is_news and believed:
                self._step.tell(row, source)
        if source is Source.SITEMAP:
            self._read_map(teller, visit, known, news=bool(moved) or len(known) < len(visit.links))
        for _, row in known:
            self._rows.put(row)

    def _is_moved(self, lastmod: str, row: PageRow, source: Source) -> bool:
        """A teller dates a page otherwise than before, whatever the form of the date.

        Feeds often date a page otherwise than its sitemap, without any change: of a page that a
        sitemap dates, they tell what is later than its last visit.
        """
        if not lastmod or lastmod == row.lastmod:
            return False
        if _is_mapped(row, source):
            return row.visits > 0 and self._sites.is_later(lastmod, row.last_visit)
        date = parse_w3c_date(lastmod)
        return date is None or not row.lastmod or date != parse_w3c_date(row.lastmod)

    def _read_map(
        self,
        teller: PageRow,
        visit: Visited,
        known: Sequence[tuple[SeenLink, PageRow]],
        *,
        news: bool,
    ) -> None:
        """Note which sitemap names what, and how an index dates its sitemaps."""
        maps, now = self._sites.maps, visit.time
        if visit.status == 304:
            maps.stands(teller.url, now)
        if visit.status != 200:
            return
        name, children = map_name(teller.url), 0
        for link, row in known:
            row.listed, row.map = now, name
            if row.kind is PageKind.SITEMAP and link.lastmod:
                maps.note(teller.url, link.url, link.lastmod, now)
                children += 1
        maps.was_read(teller.url, now, links=len(visit.links), children=children, news=news)


def _is_mapped(row: PageRow, source: Source) -> bool:
    """The page has its date from a sitemap, and this is none."""
    return source is Source.FEED and row.listed > 0.0 and row.lastmod != ""


def _was_dated(row: PageRow, source: Source) -> bool:
    """Tellers of the same kind had dated the page before."""
    return row.lastmod != "" and (source is Source.FEED or row.listed > 0.0)


def _was_read(visit: Visited) -> bool:
    """It is a sitemap or feed that came, or stands; no error page, and not an empty one."""
    if visit.status != 200:
        return visit.status == 304
    listed = any(link.hop == "M" for link in visit.links)
    return listed or (bool(visit.links) and "html" not in visit.mime)


def _is_sitemap(visit: Visited) -> bool:
    return "xml" in visit.mime and "html" not in visit.mime and visit.status == 200
