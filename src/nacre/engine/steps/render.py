"""Runs pages in a browser: the step of the fetch chain behind the extraction."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import structs

from nacre.annotations import (
    BROWSER_FAILED,
    page_ended,
    refused_requests,
    rendered_by,
    reused_replies,
)
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.capture import LONGEST_TYPE, Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import PageUnit, Result, Visit
from nacre.core.rendered import PageRenderer, PageTask, RenderedPage
from nacre.engine.chain.entry import Entry
from nacre.engine.pages.cookies import PageCookies
from nacre.engine.pages.handler import PageRequests, RequestParts
from nacre.engine.pages.room import PageRoom
from nacre.engine.pages.stopping import finish_or_cancel
from nacre.engine.steps.extract import DocumentExtractor
from nacre.errors import BrowserError
from nacre.extract.document import Document, stored_document
from nacre.extract.settings import ExtractSettings
from nacre.uri.domain import registered_domain
from nacre.uri.parse import Resolver, host

if TYPE_CHECKING:  # its parsers are slow to load, and a reader of a configuration needs none
    from nacre.engine.pages.learned_signs import PageChoice
    from nacre.engine.pages.repetition import PageRepetition

HTML = frozenset(("text/html", "application/xhtml+xml"))
"""Media types of pages that a browser can run."""

_NAVIGATION = "navigation"
_THIN = 300
"""Characters of text below which a page has no content, as for the signs of a page."""

_LONGEST = 1 << 20
"""Bytes of a document in which signs are searched."""

_LONGEST_COMPARED = 500_000
"""Bytes of a final document that are compared with the page without a browser."""

_LAST_REQUESTS = 5.0
"""Seconds for requests that are running when their page ends: the received part is stored."""


class Render(Entry):
    """Runs pages in a browser. Settings: `browser`."""

    behind = "extract"
    processor: Literal["render"] = "render"


class RenderParts(NamedTuple):
    """The parts of a run that open pages.

    Attributes:
        renderer: Opens them; the browser starts with the first page.
        choice: Chooses the pages that are run, unless all are.
        requests: Answers their requests.
        repetition: Repeats the requests of pages that need not be run.
        extractor: Finds the links of their final state.
        cookies: The cookies that they get, and leave.
        room: Lets few visits open pages at once.
        stopped: Returns the event that is set when the crawl stops.
        new_id: Makes the id of a page, a UUID.
        alert: Sends a message to the operator.
        scripts: Names and sources of site scripts, under each combination of sheets.
        languages: Accept-Language of pages, under each combination of sheets; "" for the
            browser's own.
        drop: Releases a page that is not stored.
        operator: Name and version of the crawler, and the contact, for user agents.
    """

    renderer: PageRenderer
    choice: "PageChoice"
    requests: RequestParts
    repetition: "PageRepetition"
    extractor: DocumentExtractor
    cookies: PageCookies
    room: PageRoom
    stopped: Callable[[], asyncio.Event]
    new_id: Callable[[], str]
    alert: Callable[[str], None]
    scripts: Effective[tuple[tuple[str, str], ...]]
    languages: Effective[str]
    drop: Callable[[PageUnit], None]
    operator: str


class RenderStep:
    """The worker of `Render`.

    Args:
        settings: Which pages are run, under each combination of sheets.
        extract: What is wanted of documents, under each combination of sheets.
        parts: What opens pages, and answers their requests.
    """

    def __init__(
        self,
        settings: Effective[BrowserSettings],
        extract: Effective[ExtractSettings],
        parts: RenderParts,
    ) -> None:
        self._settings = settings
        self._runs = settings.then(lambda browser: browser.use != "never")
        self._extract = extract
        self._parts = parts
        self._has_failed = False

    def accepts(self, visit: Visit) -> bool:
        """Return whether it was queued, and may be a whole HTML page that is run.

        A page that its server says is unchanged is read back from the archive, and run too: what
        its scripts request may have changed.
        """
        if not self._runs[visit.overlay] or not visit.queued or visit.uri.method != "GET":
            return False
        if visit.status == 304:
            return visit.history is not None and visit.history.revisitable
        capture = visit.capture
        return visit.status == 200 and capture is not None and is_page(capture)

    async def process(self, visit: Visit) -> Result:
        """Open the page, and add the links of its final state.

        A page that is not open when the crawl pauses or ends goes back to its queue, and one that
        is open a moment after its end.
        """
        document = visit.capture
        if visit.status == 304:
            document = await self._parts.requests.stored.of_url(visit.uri.url)
        if document is None or not is_page(document):
            return Result.PROCEED
        sign = self._sign(visit, document)
        repetition = self._parts.repetition
        if sign and not await repetition.repeat(visit, document):
            async with self._parts.room.enter(visit.uri.queue) as may_open:
                if not may_open:
                    visit.defer()
                    return Result.FINISH
                # Earlier pages of the queue may have taught its requests.
                if not await repetition.repeat(visit, document):
                    return await self._render(visit, document, sign)
        return Result.PROCEED

    def _sign(self, visit: Visit, document: Capture) -> str:
        """Return why a page is to be run; "" if it is not."""
        if self._settings[visit.overlay].use == "always":
            return "always"
        if document is visit.capture:
            return self._parts.choice.choose(visit)
        return self._parts.choice.choose(visit, stored_document(document, _LONGEST))

    async def _render(self, visit: Visit, document: Capture, sign: str) -> Result:
        page = PageUnit(self._parts.new_id(), sign)
        try:
            rendered = await self._open(visit, document, page)
        except BrowserError as error:
            visit.annotate(BROWSER_FAILED)
            self._report_failure(visit, error)
            return Result.PROCEED
        finally:
            if page.rendered is None:
                self._parts.drop(page)
        if rendered is None:
            visit.defer()
            return Result.FINISH
        visit.become(page)
        for word in _annotations(page, rendered):
            visit.annotate(word)
        self._parts.cookies.learn(visit, rendered.cookies)
        visit.add_outlinks(await self._links(visit, rendered))
        if self._settings[visit.overlay].whole_media:
            visit.add_outlinks(whole_media(page, self._settings[visit.overlay].whole_media))
        # To compare a larger document would take as long as a hundred visits.
        short = structs.replace(rendered, dom=rendered.dom[:_LONGEST_COMPARED])
        self._parts.choice.learn(visit, short)
        await self._parts.repetition.learn(visit, document, page)
        return Result.PROCEED

    async def _open(self, visit: Visit, document: Capture, page: PageUnit) -> RenderedPage | None:
        """Open the page and return its final state; None if the crawl stopped meanwhile."""
        settings, parts = self._settings[visit.overlay], self._parts
        requests = PageRequests(visit, document, page, settings, parts.requests)
        rendered = None
        try:
            rendering = parts.renderer.render(self._task(visit, document, settings), requests)
            rendered = await finish_or_cancel(rendering, parts.stopped())
        finally:
            await requests.finish(_LAST_REQUESTS if rendered is not None else 0.0)
        if requests.failure is not None:
            raise requests.failure
        if rendered is None:
            return None
        rendered = _with_limit(rendered, requests.budget.exceeded)
        page.close(rendered)
        return rendered

    def _report_failure(self, visit: Visit, error: BrowserError) -> None:
        """Tell the operator, once: it is the same for all pages."""
        if not self._has_failed:
            self._has_failed = True
            self._parts.alert(f"{visit.uri.url} was not run in a browser: {error}")

    def _task(self, visit: Visit, document: Capture, settings: BrowserSettings) -> PageTask:
        return PageTask(
            visit.uri.url,
            user_agent=settings.user_agent,
            operator=self._parts.operator,
            language=self._parts.languages[visit.overlay],
            seed=document.began // 1_000_000,
            cookies=self._parts.cookies.of_page(visit),
            viewport=settings.viewport,
            device=settings.device,
            behaviours=settings.behaviours,
            consent=settings.consent,
            scripts=self._parts.scripts[visit.overlay],
            pictures=settings.pictures,
            load_time=settings.load_time,
            behaviour_time=settings.behaviour_time,
            time=settings.time,
        )

    async def _links(self, visit: Visit, rendered: RenderedPage) -> list[Outlink]:
        """Return the links of the final state and of hash routes, and those that were followed.

        Their base is the URL that scripts gave the document.
        """
        settings = self._extract[visit.overlay]
        links: list[Outlink] = []
        states = [
            (rendered.url, rendered.dom),
            *((route.url, route.dom) for route in rendered.routes),
        ]
        for url, dom in states:
            if not dom:
                continue
            document = Document(
                url=url.partition("#")[0] or visit.uri.url,
                mime="text/html",
                charset_header="utf-8",
                body=dom[: settings.max_document],
                path=visit.uri.path,
                via=visit.uri.via,
            )
            extraction = await self._parts.extractor.extract(document, settings)
            links += extraction.outlinks
        links += _followed(visit.uri.url, rendered)
        present = {(link.url, link.hop) for link in visit.outlinks}
        unique = {(link.url, link.hop): link for link in reversed(links)}
        return [link for key, link in reversed(unique.items()) if key not in present]

    def finish(self) -> None:
        """End what runs for pages that have ended; see `ChainBuilder.finish`."""
        self._parts.requests.close()


def is_page(capture: Capture) -> bool:
    """Return whether a reply is a whole HTML page."""
    kind = (capture.header(b"content-type") or b"")[:LONGEST_TYPE]
    mime = kind.partition(b";")[0].strip().lower().decode("latin-1")
    return mime in HTML and not capture.truncated


def _states(rendered: RenderedPage) -> Iterator[tuple[str, bytes]]:
    """Yield URL and DOM of the final state, and of the state of each hash route."""
    yield rendered.url, rendered.dom
    for route in rendered.routes:
        yield route.url, route.dom


def _followed(page: str, rendered: RenderedPage) -> Sequence[Outlink]:
    """Return the URLs that the page wanted to go to, or that a behaviour met.

    A redirect of a seed makes another seed. So a page that has content redirects within
    its domain alone: elsewhere it only opens advertisements.
    """
    resolver, links = Resolver(page), []
    domain, is_thin = registered_domain(host(page)), len(rendered.text.strip()) < _THIN
    for link in rendered.links:
        url = resolver.resolve(link.url)
        if url is None or not url.startswith(("http:", "https:")):
            continue
        is_redirect = link.origin == _NAVIGATION and (
            is_thin or registered_domain(host(url)) == domain
        )
        hop = Hop.REDIRECT if is_redirect else Hop.LINK
        links.append(Outlink(url, hop, f"browser/{link.origin}"))
    return links


_RANGE = re.compile(rb"bytes\s+\d+-\d+/(\d{1,18})")


def whole_media(page: PageUnit, largest: int) -> list[Outlink]:
    """Return links to videos and sounds of which a page asked for a part: the whole is fetched.

    Args:
        page: The page.
        largest: Bytes of one at most.
    """
    links = {}
    for visit in page.visits:
        request, capture = visit.request, visit.capture
        if visit.status != 206 or request is None or request.resource != "media" or capture is None:
            continue
        match = _RANGE.match(capture.header(b"content-range") or b"")
        if match is not None and int(match[1]) <= largest:
            links[visit.uri.url] = Outlink(visit.uri.url, Hop.EMBED, "browser/media")
    return list(links.values())


def _with_limit(rendered: RenderedPage, limit: str) -> RenderedPage:
    """Note that a page ended because it asked for too much."""
    ended = _LIMITS.get(limit, "")
    return (
        structs.replace(rendered, ended=ended) if ended and rendered.ended in _WHOLE else rendered
    )


_WHOLE = frozenset(("settled", "loadTime", "pageTime"))
_LIMITS = {
    "max_requests": "requestLimit",
    "max_bytes": "byteLimit",
    "server_time": "serverTime",
}


def _annotations(page: PageUnit, rendered: RenderedPage) -> Iterator[str]:
    """Yield the words for crawl.log about a page: why and how it was run, and the refusals."""
    yield rendered_by(page.sign)
    if rendered.ended != "settled":
        yield page_ended(rendered.ended)
    if page.refused:
        yield refused_requests(len(page.refused))
    if page.reused:
        yield reused_replies(len(page.reused))
