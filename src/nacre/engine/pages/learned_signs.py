"""The choice of the pages that are run in a browser (`browser.use: auto`), and its knowledge.

A sign (`extract.shell`) runs a page, or allows a probe. What a browser added to the pages that were
run is learned for each template of a site, and holds for 30 days: its pages are then always run, or
never. The rows join the commit group of the visit that changed them.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import Final
from zlib import crc32

import msgspec

from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Hop
from nacre.core.processor import Visit
from nacre.core.rendered import RenderedPage
from nacre.engine.pages.sign_rows import ENOUGH, SignRows, SignTemplateRow
from nacre.extract.document import Document, stored_document
from nacre.extract.gain import ContentParts, find_gain, page_texts
from nacre.extract.pageview import has_text, stable_address
from nacre.extract.shell import (
    LISTED,
    THIN,
    BrowserDecision,
    find_signs,
    has_scripts,
    may_show_signs,
    needs_browser,
    page_text,
    template_of,
)
from nacre.store.store import Store
from nacre.uri.domain import registered_domain
from nacre.uri.parse import authority, host

LEARNED: Final = "learned"
"""Why a page without a sign is run: pages of its template gained by it."""
PROBE: Final = "probe"
"""Why a page without a sign is run: to find out about its template."""

_FIRST: Final = 5
_THEN: Final = 100
"""Pages of a site that may be run in vain: the first of them, and one more of each so many pages.
Pages that are blank without a browser are not counted."""
_QUIET: Final = 20
"""Pages in a row without a run from which on one of so many is searched for probes."""
_MOST_PARTS: Final = 4_000
_MOST_LINKS: Final = 500
_MOST_OPEN: Final = 500
_MOST_SITES: Final = 5_000
_FEW_PAGES: Final = 100
"""Pages below which the share of pages that were run in vain is as of so many."""
_MIB: Final = 1 << 20
_CERTAIN: Final = frozenset(("mount", "hashRoutes"))
_OF_CONTENT: Final = frozenset(("fetch", "frame", "image", "media"))
"""Requests that bring content, not code or looks."""


NewLinks = Callable[[Collection[str]], frozenset[str]]
"""Returns which URLs the crawl has not seen yet."""


def all_links(urls: Collection[str]) -> frozenset[str]:
    """Return all links, as `NewLinks` of a crawl that has seen nothing."""
    return frozenset(urls)


class _OpenPage(msgspec.Struct, frozen=True):
    """A page that is about to be run, and its content without a browser."""

    sign: str
    row: SignTemplateRow
    is_blank: bool
    is_guess: bool
    content: ContentParts


class _Reading(msgspec.Struct, frozen=True):
    """What a page shows without a browser."""

    decision: BrowserDecision
    template: str
    is_blank: bool
    text: str


class PageChoice:
    """Chooses the pages that are run in a browser, and learns from them.

    Args:
        store: Stores the knowledge.
        settings: Whether pages are run, under each combination of sheets.
        clock: The time.
        new_links: Returns which URLs are new to the crawl: no other links are a gain.
    """

    def __init__(
        self,
        store: Store,
        settings: Effective[BrowserSettings],
        clock: Clock,
        new_links: NewLinks = all_links,
    ) -> None:
        self._new_links = new_links
        self._settings = settings
        self._clock = clock
        self._rows = SignRows(store)
        self._quiet: OrderedDict[str, int] = OrderedDict()
        self._open: OrderedDict[str, _OpenPage] = OrderedDict()

    def choose(self, visit: Visit, document: Document | None = None) -> str:
        """Return the sign by which a page is to be run; "" if it is not.

        Args:
            visit: A whole HTML page with status 200, behind its extraction.
            document: The page, content decoded; None: it is read from the capture.
        """
        settings, capture = self._settings[visit.overlay], visit.capture
        if settings.use != "auto" or capture is None:
            return ""
        self._rows.count("").pages += 1
        site = authority(visit.uri.url)
        sign = ""
        reading = self._read(site, visit, document or _document_of(visit, capture))
        if reading is not None:
            of_site = self._rows.site(site)
            of_site.pages += 1
            self._rows.change(of_site)
            row = self._rows.template(site, reading.template)
            sign = self._decide(visit.uri, reading, row, settings)
            if sign:
                self._begin(visit, reading, row, sign)
        self._count_quiet(site, is_run=bool(sign))
        return sign

    def learn(self, visit: Visit, rendered: RenderedPage) -> None:
        """Take in a page that was run; its outlinks are those of its final state by now.

        A page that failed in the browser teaches nothing.
        """
        page = self._open.pop(visit.uri.url, None)
        if page is None or not rendered.dom:
            return
        gain = find_gain(page.content, _rendered_content(visit, rendered))
        gain = gain.with_links(self._new_links(sorted(gain.links)[:_MOST_LINKS]))
        row = page.row
        first = frozenset(row.parts)
        is_common = (lambda part: _number_of(part) in first) if row.runs else None
        has_gained = gain.is_worth(None if page.is_blank else is_common)
        if not page.is_guess:
            if not row.runs:
                row.learn_parts(_number_of(part) for part in gain.parts[:_MOST_PARTS])
            row.learn(has_gained=has_gained, is_blank=page.is_blank, now=self._clock.now())
            self._rows.change(row)
        for name in ("", page.sign):
            self._rows.count(name).learn(has_gained=has_gained)
        site = self._rows.site(row.site)
        site.has_gained |= has_gained
        site.vain += not has_gained and (page.is_guess or not page.is_blank)
        self._rows.change(site)

    def seal(self) -> None:
        """Write changed rows; called just before a group is sealed."""
        self._rows.seal()

    def _read(self, site: str, visit: Visit, document: Document) -> _Reading | None:
        """Return what a page shows; None if it shows no sign, often without reading all of it."""
        body = document.body
        if not has_scripts(body):
            return None
        probes = self._rows.site(site).has_gained
        is_list = _is_list(visit)
        quiet = self._quiet.get(site, 0)
        is_quick = quiet >= _QUIET and quiet % _QUIET != 0
        is_plain = not probes and not may_show_signs(body, quick=is_quick)
        if is_plain and is_list:
            return None
        text = page_text(document)
        if is_plain and has_text(text, THIN):
            return None
        signs = find_signs(text)
        decision = needs_browser(signs)
        if not decision.sign and not probes:
            return None
        return _Reading(decision, template_of(signs, decision), signs.is_blank, text)

    def _count_quiet(self, site: str, *, is_run: bool) -> None:
        quiet = self._quiet.pop(site, 0)
        if is_run:
            return
        self._quiet[site] = quiet + 1
        if len(self._quiet) > _MOST_SITES:
            self._quiet.popitem(last=False)

    def _decide(
        self, uri: CrawlURI, reading: _Reading, row: SignTemplateRow, settings: BrowserSettings
    ) -> str:
        decision = reading.decision
        if decision.sign:
            self._rows.count(decision.sign).see(uri.url)
        if _is_guess(uri) and self._is_over_budget(row.site):
            return ""
        verdict = row.verdict_at(self._clock.now())
        if verdict == "always":
            return decision.sign or LEARNED
        if verdict == "never" or self._is_over_share(settings):
            return ""
        if reading.is_blank or decision.sign in _CERTAIN:
            return decision.sign
        is_probe = not decision.runs
        if self._is_over_budget(row.site) or (is_probe and not self._may_probe(row, settings)):
            return ""
        return decision.sign or PROBE

    def _may_probe(self, row: SignTemplateRow, settings: BrowserSettings) -> bool:
        number = row.runs + self._number_open(row)
        return settings.probe and number < ENOUGH + bool(row.gained)

    def _is_over_budget(self, site: str) -> bool:
        """Return whether enough pages of a site were run in vain."""
        row = self._rows.site(site)
        number_open = sum(
            (page.is_guess or not page.is_blank) and page.row.site == site
            for page in self._open.values()
        )
        return row.vain + number_open >= _FIRST + row.pages // _THEN

    def _is_over_share(self, settings: BrowserSettings) -> bool:
        """Return whether too many pages were run in vain: the signs err on this web."""
        counts = self._rows.counts.get("")
        if counts is None:
            return False
        return counts.vain >= settings.share * max(counts.pages, _FEW_PAGES)

    def _number_open(self, row: SignTemplateRow) -> int:
        return sum(page.row is row for page in self._open.values())

    def _begin(self, visit: Visit, reading: _Reading, row: SignTemplateRow, sign: str) -> None:
        named = frozenset(link.url for link in visit.outlinks)
        content = ContentParts(page_texts(reading.text), _link_urls(visit), named)
        is_guess = _is_guess(visit.uri)
        self._open[visit.uri.url] = _OpenPage(sign, row, reading.is_blank, is_guess, content)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
        if not reading.decision.sign:
            self._rows.count(sign).see(visit.uri.url)
        for name in ("", sign):
            self._rows.count(name).run += 1


def _is_guess(uri: CrawlURI) -> bool:
    """Whether only a guess led to a page: many servers send their shell for any URL."""
    return Hop.SPECULATIVE in uri.path


def _document_of(visit: Visit, capture: Capture) -> Document:
    document = stored_document(capture, _MIB)
    document.use_charset(visit.charset)
    return document


def _is_list(visit: Visit) -> bool:
    links = (link for link in visit.outlinks if link.hop is Hop.LINK)
    return next(islice(links, LISTED - 1, None), None) is not None


def _link_urls(visit: Visit) -> frozenset[str]:
    return frozenset(link.url.partition("#")[0] for link in visit.outlinks if link.hop == Hop.LINK)


def _rendered_content(visit: Visit, rendered: RenderedPage) -> ContentParts:
    texts = page_texts(rendered.dom.decode("utf-8", "replace"))
    return ContentParts(texts, _link_urls(visit), frozenset(_content_urls(visit.uri.url, rendered)))


def _content_urls(page: str, rendered: RenderedPage) -> Iterable[str]:
    """Yield the URLs of content that a page loaded; of other sites without their queries."""
    domain = registered_domain(host(page))
    for event in rendered.events:
        if event.resource in _OF_CONTENT and event.url.startswith(("http:", "https:")):
            is_own = registered_domain(host(event.url)) == domain
            yield stable_address(event.url) if is_own else event.url.partition("?")[0]


def _number_of(part: str) -> int:
    return crc32(part.encode("utf-8", "replace"))
