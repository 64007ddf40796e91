"""Reads lists: what is new, changed and gone on them, and when to read on (pure).

A list that shows nothing that was known is read on, page by page, until two known links stand
together. New links count for the cheapest lists that show them.
"""

from collections.abc import Collection, Sequence

from msgspec import structs

from nacre.core.pagerow import PageRow
from nacre.history.finding.hints import Source
from nacre.history.finding.hubs import Hub, credited
from nacre.history.finding.listing import News, compare_lists, shown
from nacre.history.finding.paging import (
    Known,
    at_top,
    entries_of,
    is_later,
    known_entries,
    next_page,
    page_of,
    pinned,
)
from nacre.history.recrawl.choice import PAGING
from nacre.history.recrawl.ranking import DAY
from nacre.history.recrawl.sites import ShownRow
from nacre.history.recrawl.step import Knowledge, Showing, Step
from nacre.history.visited import SeenLink, Visited
from nacre.history.worth.rates import NO_EVIDENCE, kept, observe_count
from nacre.uri.parse import authority

LIST = 0.5
"""From this probability on a page is taken for a list."""
_MAYBE = 0.3
_LATEST = 0.3
"""How much the last visit counts in what paging a list needs."""
_BYTES = 1e6
"""A list of so many bytes costs as much as two requests."""


class Lists:
    """Reads lists.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._rows, self._sites, _, self._settings = known
        self._step = step

    def read(self, row: PageRow, visit: Visited, unknown: Collection[str]) -> None:
        """What a page's links show: the pace of new ones, and news of the pages it lists.

        Args:
            row: The page; it changes.
            visit: Its visit.
            unknown: Links that were never heard of before.
        """
        links = [link for link in visit.links if link.hop == "L"]
        now_shown = shown(links)
        old = self._sites.list_row(row.url)
        if old is not None:
            news = compare_lists(old.shown, now_shown)
            row.fertile += any(url in unknown for url in news.new)
            self._note_new(row, old, news, visit.time)
            if row.index >= LIST and self._settings.hints:
                self._tell_listed(row.url, news)
        if row.index >= _MAYBE:
            fresh = [url for url in now_shown.urls if self._is_new(url, visit.time)]
            entries = entries_of(now_shown.urls, fresh)
            top = at_top(old.top, entries) if old is not None and entries else {}
            if not entries and old is not None:
                top = old.top
            flooded = self._read_on(row, links, fresh, pinned(top), unknown)
            before = old or ShownRow(now_shown, visit.time)
            kept_row = structs.replace(
                before,
                shown=now_shown,
                time=visit.time,
                top=top,
                window=len(entries) or before.window,
                floods=before.floods + flooded,
            )
            self._sites.keep_list(row.url, kept_row)
        self._rows.put(row)

    def settle(self) -> None:
        """After the lists of the step were read: each learns its own pace of new links."""
        showing, self._step.showing = self._step.showing, {}
        found = credited({url: one.hub for url, one in showing.items()})
        for url, one in showing.items():
            row = self._rows.get(url)
            if row is None or one.days <= 0.0:
                continue
            keep = kept(one.days, self._settings.index_half_life / DAY)
            evidence = row.arrivals or NO_EVIDENCE
            row.arrivals = observe_count(evidence, found[url], one.days, keep=keep)
            self._rows.put(row)
            self._settle(url, found[url])
        self._step.chains.clear()

    def _settle(self, url: str, found: int) -> None:
        row = self._sites.list_row(url)
        if row is None:
            return
        read = 0 if is_later(url) else self._step.chains.get(page_of(url).stem, 0)
        settled = structs.replace(
            row,
            depth=row.depth + _LATEST * (read - row.depth),
            settled=row.settled + 1,
            earned=row.earned + (found - row.earned) * max(_LATEST, 1.0 / (row.settled + 1)),
        )
        self._sites.keep_list(url, settled)

    def _note_new(self, row: PageRow, old: ShownRow, news: News, now: float) -> None:
        """What a list showed first; what sitemaps and feeds told before is not its own."""
        step = self._step
        fresh = {url for url in news.new if self._is_new(url, now)}
        links = fresh - step.told_new
        if self._sites.is_mapped(row.url, now):
            self._sites.learn_news(row.url, len(fresh) - len(links), len(links))
        choice = step.chosen.get(row.url)
        always = choice is not None and choice.reason == "start"
        cost = 0.0 if always else 1.0 + row.bytes / _BYTES
        step.showing[row.url] = Showing(Hub(frozenset(links), cost), (now - old.time) / DAY)

    def _read_on(
        self,
        row: PageRow,
        links: Sequence[SeenLink],
        fresh: Sequence[str],
        pins: frozenset[str],
        unknown: Collection[str],
    ) -> bool:
        """Have the next page of a list read where this one does not reach back far enough."""
        step = self._step
        choice = step.chosen.get(row.url)
        if choice is None or not unknown or (row.visits < 2 and choice.reason != PAGING):
            return False
        urls, stem = [link.url for link in links], page_of(row.url).stem
        # What is pinned to the first page may stand on the others too.
        pins = step.pins[stem] = pins | step.pins.get(stem, frozenset())
        known = known_entries(urls, fresh, lambda url: not self._is_new(url, step.time), pins)
        if not _goes_on(known, further=choice.reason == PAGING):
            return False
        following = next_page(row.url, links)
        if following and following not in step.done:
            step.paging[following] = None
            self._sites.read_on(following)
        if not following and not is_later(row.url):
            step.flooded.add(authority(row.url))
        return choice.reason != PAGING

    def _is_new(self, url: str, now: float) -> bool:
        """Whether nobody had heard of it before this step."""
        row = self._rows.get(url)
        return row is None or row.first_seen >= now

    def _tell_listed(self, lister: str, news: News) -> None:
        told = 0
        for url in (*news.changed, *news.withdrawn):
            known = self._rows.get(url)
            if known is not None and url not in self._step.done:
                # Where the sitemap names it no more either, the list is not alone.
                self._sites.look_for_withdrawal(known, self._step.time)
                told += not known.told
                self._step.tell(known, Source.LISTING)
                self._rows.put(known)
        self._sites.learn_tells(lister, told)


def _goes_on(known: Known, *, further: bool) -> bool:
    """A first page shows nothing known, or a further one not yet enough of it."""
    return known.entries > 0 and not known.anchored if further else known.flooded
