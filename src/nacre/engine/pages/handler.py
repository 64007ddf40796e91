"""The requests of one page: each becomes a visit that obeys the rules of any URI."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec import structs

from nacre.annotations import SUBRESOURCE
from nacre.browser.settings import BrowserSettings
from nacre.core.capture import Capture
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import PageUnit, RefusedRequest, Visit
from nacre.core.rendered import BrowserRequest, ReplyWriter
from nacre.core.status import FetchStatus
from nacre.errors import StorageError, URIError
from nacre.uri.parse import parse

_STEP = 65_536
"""Bytes of a stored body that are written to the browser at once."""

RULES: dict[int, str] = {
    FetchStatus.OUT_OF_SCOPE: "scope",
    FetchStatus.BLOCKED_BY_USER: "block",
    FetchStatus.BLOCKED_BY_PROCESSOR: "block",
    FetchStatus.BLOCKED_BY_QUOTA: "budget",
    FetchStatus.BLOCKED_BY_RUNTIME: "budget",
    FetchStatus.DEFERRED: "budget",
    FetchStatus.ROBOTS_PRECLUDED: "robots",
    FetchStatus.PREREQUISITE_ROBOTS_FAILED: "robots",
    FetchStatus.UNFETCHABLE: "guard",
}
"""The rule in a page's list of refused requests, by the status of the visit."""


class RequestParts(NamedTuple):
    """The parts of a run that answer the requests of pages.

    Attributes:
        run: Passes a visit along the fetch chain, its prerequisites first.
        judge: Returns the CrawlURI of a request of a page; or None and the rule that refuses it.
        overlay_of: Determines which combination of sheets applies to a URI.
        clock: The time.
    """

    run: Callable[[Visit], Awaitable[None]]
    judge: Callable[[CrawlURI, Outlink], tuple[CrawlURI | None, str]]
    overlay_of: Callable[[CrawlURI], int]
    clock: Clock


class PageRequests:
    """Answers the requests of one page, and collects their visits.

    Args:
        visit: The visit of the page's document, fetched and extracted.
        page: Collects the visits, and what was refused.
        settings: Limits of the page.
        parts: What answers.

    Attributes:
        failure: The failure of the storage, which must end the session; None while there is none.
    """

    def __init__(
        self, visit: Visit, page: PageUnit, settings: BrowserSettings, parts: RequestParts
    ) -> None:
        self._visit = visit
        self._page = page
        self._settings = settings
        self._parts = parts
        self.failure: StorageError | None = None

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        """See `RequestHandler`."""
        try:
            url = parse(request.url)
        except URIError as error:
            self._refuse(request, reply, "scope", str(error))
            return
        capture = self._visit.capture
        if capture is not None and self._is_document(request, url):
            await send_capture(capture, reply)
            return
        try:
            await self._fetch(request, reply, url)
        except StorageError as error:
            self.failure = error
            reply.refuse()

    def _is_document(self, request: BrowserRequest, url: str) -> bool:
        is_page = url == self._visit.uri.url and request.method == "GET"
        return is_page and request.resource == "document"

    async def _fetch(self, request: BrowserRequest, reply: ReplyWriter, url: str) -> None:
        link = Outlink(url, Hop.EMBED, f"browser/{request.resource}")
        uri, rule = self._parts.judge(self._visit.uri, link)
        if uri is None:
            self._refuse(request, reply, "scope", rule)
            return
        uri = structs.replace(uri, method=request.method, body=request.body)
        visit = Visit(
            uri,
            toe=self._visit.toe,
            started=self._parts.clock.monotonic(),
            annotations=[SUBRESOURCE],
            overlay=self._parts.overlay_of(uri),
            request=request,
            reply=reply,
            page_id=self._page.id,
            queued=False,
        )
        await self._parts.run(visit)
        await self._end(visit, request, reply)

    async def _end(self, visit: Visit, request: BrowserRequest, reply: ReplyWriter) -> None:
        """Collect a visit; one that the chain refused without a request is listed as refused."""
        capture = visit.capture
        if capture is not None:
            self._page.add(visit, len(capture.head) + capture.body.length)
        elif rule := RULES.get(visit.status, ""):
            self._refuse(request, reply, rule, visit.robots or visit.error)
        else:
            self._page.add(visit)
        if reply.has_begun:
            return
        if capture is not None:
            await send_capture(capture, reply)
        else:
            reply.refuse()

    def _refuse(
        self, request: BrowserRequest, reply: ReplyWriter, rule: str, detail: str = ""
    ) -> None:
        self._page.refused.append(RefusedRequest(request.url, request.resource, rule, detail))
        reply.refuse()


async def send_capture(capture: Capture, reply: ReplyWriter) -> None:
    """Write a stored reply to a browser, as the server sent it."""
    reply.begin(capture.status, capture.head, capture.framing)
    offset, body = 0, capture.body
    while offset < body.length:
        data = body.read(offset, _STEP)
        if not data:
            break
        reply.write(data)
        offset += len(data)
        if reply.is_full:
            await reply.drain()
    if capture.truncated:
        reply.refuse()
    else:
        reply.end()
