"""Repeats the requests of pages without a browser, once a site has taught them (`browser.repeat`).

Pages that are run teach templates of requests (`extract.repeating`). Of pages that the templates
foresee nearly in full (`extract.repetition`) a random sample is run and compared; of the others
only the requests are sent, each as a visit of the page by the rules of any request of a page.
Later runs of the job begin with the templates, and verify them by two pages first.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from nacre.annotations import REPEATED_PAGE, repeated_by
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import REPEATED, PageUnit, Visit
from nacre.core.rendered import BrowserRequest, ServerEnd
from nacre.engine.pages.handler import PageRequests, RequestParts
from nacre.engine.pages.repetition_rows import HeaderLines, RepetitionRows
from nacre.extract.document import stored_document
from nacre.extract.page_values import Values
from nacre.extract.repeating import (
    LearnedPage,
    ObservedRequest,
    RunPage,
    page_values,
    prepare,
)
from nacre.extract.repetition import (
    LINK,
    RepeatPlan,
    RepeatSample,
    RepetitionMemory,
    SiteRepetition,
)
from nacre.extract.request_template import LONGEST_REPLY, RepeatedRequest, reply_values
from nacre.extract.secret_parameters import carries_credentials
from nacre.extract.text import read_text
from nacre.uri.parse import origin

SAMPLE: Final = 0.05
"""Share of the pages that need not be run and are run nevertheless, to be compared."""
CONTEXT: Final = "browser/repeated"
"""Context of links that templates foresee."""
_LONGEST_PAGE = 1 << 20
"""Bytes of a document whose values are read."""
_MOST_LINKS = 150
_MOST_SITES = 100
_LAST_REQUESTS = 5.0
_OWN_LINES = frozenset(
    (b"cookie", b"content-length", b"if-none-match", b"if-modified-since", b"range", b"host")
)
"""Header lines of a request that are not repeated for another page."""


class UnreadReply:
    """Takes a reply to a repeated request: only the archive reads it."""

    is_full = False

    def __init__(self) -> None:
        self.has_begun = False

    def begin(self, _status: int, _head: bytes, _framing: str) -> None:
        """See `ReplyWriter`."""
        self.has_begun = True

    def write(self, _data: bytes) -> None:
        """See `ReplyWriter`."""

    async def drain(self) -> None:
        """See `ReplyWriter`."""

    def end(self) -> None:
        """See `ReplyWriter`."""

    def refuse(self) -> None:
        """See `ReplyWriter`."""

    def when_closed(self, _listener: Callable[[], None]) -> None:
        """See `ReplyWriter`; it is never closed."""

    def switch(self, server: ServerEnd) -> None:
        """See `ReplyWriter`; there is no protocol to switch to."""
        server.close()


class _KnownSite(NamedTuple):
    """A site, and the header lines that its pages sent by kind of request."""

    repetition: SiteRepetition
    lines: dict[str, HeaderLines]
    lock: asyncio.Lock


class PageRepetition:
    """Learns the requests of pages, and repeats them.

    Args:
        settings: Whether requests are repeated, under each combination of sheets.
        parts: What answers requests of pages.
        new_id: Makes the id of a page, a UUID.
        drop: Releases a page that is not stored.
        draw: Draws a number from 0 to 1 for a URL: below `SAMPLE`, a page is run nevertheless.
        rows: Stores the templates, for later runs.
    """

    def __init__(
        self,
        settings: Effective[BrowserSettings],
        parts: RequestParts,
        new_id: Callable[[], str],
        drop: Callable[[PageUnit], None],
        draw: Callable[[str], float],
        rows: RepetitionRows,
    ) -> None:
        self._settings = settings
        self._parts = parts
        self._new_id = new_id
        self._drop = drop
        self._draw = draw
        self._rows = rows
        self._sites: OrderedDict[str, _KnownSite] = OrderedDict()
        self._sampled: set[str] = set()

    async def repeat(self, visit: Visit, document: Capture) -> bool:
        """Send the requests of a page in place of running it; False if it must be run.

        A page that an earlier run had in a browser is run: its final document is judged.
        """
        settings, url = self._settings[visit.overlay], visit.uri.url
        if not settings.repeat or (visit.history is not None and visit.history.rendered):
            return False
        site = self._site(origin(url))
        if not site.repetition.templates:
            return False
        values = page_values(url, _text(document, visit))
        plan = site.repetition.plan(url, values)
        if plan is None:
            return False
        if self._draw(url) < SAMPLE:
            self._sampled.add(url)
            return False
        await self._send(visit, document, site, plan)
        return True

    async def learn(self, visit: Visit, document: Capture, page: PageUnit) -> None:
        """Take in a page that was run."""
        if not self._settings[visit.overlay].repeat or page.rendered is None:
            return
        url = visit.uri.url
        site = self._site(origin(url))
        learned = _learned_page(visit, document, page)
        for request in page.visits:
            browser_request = request.request
            if browser_request is None or request.capture is None:
                continue
            if not carries_credentials(browser_request.headers):
                site.lines[browser_request.resource] = _lines(browser_request.headers, url)
        async with site.lock:
            sample, memory = await asyncio.to_thread(_learn, site.repetition, learned)
        self._rows.change(origin(url), memory, site.lines)
        if url in self._sampled:
            self._sampled.discard(url)
            page.compare(sample.hits, sample.total)

    def _site(self, name: str) -> _KnownSite:
        site = self._sites.get(name)
        if site is None:
            row = self._rows.read(name)
            repetition = SiteRepetition(row.memory) if row is not None else SiteRepetition()
            lines = dict(row.lines) if row is not None else {}
            site = self._sites[name] = _KnownSite(repetition, lines, asyncio.Lock())
            if len(self._sites) > _MOST_SITES:
                self._sites.popitem(last=False)
        self._sites.move_to_end(name)
        return site

    async def _send(
        self, visit: Visit, document: Capture, site: _KnownSite, plan: RepeatPlan
    ) -> None:
        page = PageUnit(self._new_id(), REPEATED)
        settings = self._settings[visit.overlay]
        requests = PageRequests(visit, document, page, settings, self._parts)
        try:
            links = await self._send_all(requests, page, site, (visit.uri.url, plan))
            await requests.finish(_LAST_REQUESTS)
        except BaseException:
            self._drop(page)
            raise
        visit.become(page)
        visit.annotate(REPEATED_PAGE)
        present = {link.url for link in visit.outlinks}
        visit.add_outlinks([Outlink(url, Hop.LINK, CONTEXT) for url in links if url not in present])

    async def _send_all(
        self, requests: PageRequests, page: PageUnit, site: _KnownSite, plan: tuple[str, RepeatPlan]
    ) -> dict[str, None]:
        """Send the requests of a plan, and those that their replies lead to; return the links."""
        url, first = plan
        links = dict.fromkeys(first.links)
        pending, sent = list(first.requests), set[str]()
        while pending:
            request = pending.pop(0)
            if request.url in sent:
                continue
            sent.add(request.url)
            await self._send_one(requests, request, site, url)
            values = _reply_of(page, request.url)
            if values:
                more = site.repetition.follow(url, request, values)
                pending += more.requests
                links |= dict.fromkeys(more.links)
        return links

    async def _send_one(
        self, requests: PageRequests, request: RepeatedRequest, site: _KnownSite, page: str
    ) -> None:
        lines = site.lines.get(request.resource, ())
        headers = tuple((name, value or page.encode()) for name, value in lines)
        browser_request = BrowserRequest(
            request.method, request.url, headers, None, request.resource
        )
        await requests.repeat(browser_request, UnreadReply(), repeated_by(request.template))


def _learn(site: SiteRepetition, page: LearnedPage) -> tuple[RepeatSample, RepetitionMemory]:
    return site.learn(page), site.remember()


def _lines(headers: Iterable[tuple[bytes, bytes]], page: str) -> HeaderLines:
    """Return the lines that another page sends too; an empty value is that page's URL."""
    address = page.partition("#")[0].encode()
    return tuple(
        (name, b"" if name.lower() == b"referer" and value == address else value)
        for name, value in headers
        if name.lower() not in _OWN_LINES
    )


def _text(document: Capture, visit: Visit) -> str:
    parsed = stored_document(document, _LONGEST_PAGE)
    parsed.use_charset(visit.charset)
    return read_text(parsed)


def _learned_page(visit: Visit, document: Capture, page: PageUnit) -> LearnedPage:
    """Return what a page teaches that was run; its outlinks are those of its final state."""
    requests = [_observed(request) for request in page.visits]
    site = origin(visit.uri.url)
    links = [link.url for link in visit.outlinks if link.hop is Hop.LINK]
    own = [url for url in links if url.startswith(f"{site}/")]
    requests += [ObservedRequest("GET", url, LINK) for url in own[:_MOST_LINKS]]
    cookies = (
        pair.partition("=")[2].strip()
        for request in page.visits
        if request.request is not None
        for pair in request.request.header(b"cookie").decode("latin-1").split(";")
    )
    text = _text(document, visit)
    return prepare(
        RunPage(visit.uri.url, text, tuple(requests), tuple(dict.fromkeys(filter(None, cookies))))
    )


def _observed(visit: Visit) -> ObservedRequest:
    request = visit.request or BrowserRequest("GET", visit.uri.url)
    capture = visit.stored or visit.capture
    return ObservedRequest(
        request.method,
        visit.uri.url,
        request.resource,
        capture.status if capture is not None else 0,
        visit.mime,
        _json_text(capture),
        carries_credentials(request.headers),
    )


def _reply_of(page: PageUnit, url: str) -> Values:
    """Return the values of the reply to a repeated request; {} if it is no JSON."""
    for visit in reversed(page.visits):
        if visit.uri.url == url:
            return reply_values(_json_text(visit.stored or visit.capture))
    return {}


def _json_text(capture: Capture | None) -> str:
    """Return a reply in JSON as text; "" for others."""
    kind = capture.header(b"content-type") if capture is not None else None
    if capture is None or kind is None or b"json" not in kind.lower():
        return ""
    return stored_document(capture, LONGEST_REPLY).body.decode("utf-8", "replace")
