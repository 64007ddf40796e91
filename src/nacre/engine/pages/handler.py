"""The requests of one page: each becomes a visit that obeys the rules of any URI."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from msgspec import structs

from nacre.annotations import FROM_ARCHIVE, SUBRESOURCE
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Hop, Outlink, extend_path
from nacre.core.processor import PageUnit, RefusedRequest, Visit
from nacre.core.rendered import BrowserRequest, ReplyWriter
from nacre.core.status import FetchStatus
from nacre.engine.pages.attempts import EarlierReplies
from nacre.engine.pages.blocking import BlockList
from nacre.engine.pages.pace import LEFT, PageBudget, PagePace
from nacre.engine.pages.picture_groups import GroupedPicture, PictureGroups
from nacre.engine.pages.relay import MeteredReply
from nacre.engine.pages.stored_replies import StoredReplies
from nacre.errors import URIError
from nacre.fetch.tap import deliver
from nacre.uri.parse import authority, parse

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

_GUARDED = frozenset(("robots", "guard"))
"""Rules that may be those of the guard: robots.txt at a refused address cannot be fetched."""

_LONGEST_URL = 2000
"""Characters of the URL of a refused request that are kept."""

_NO_LINKS = f"{Hop.EMBED}{Hop.SPECULATIVE}{Hop.REDIRECT}{Hop.INFERRED}"

_WEB = {"ws": "http", "wss": "https"}
"""The schemes of WebSockets, and those of their handshakes."""


class RequestParts(NamedTuple):
    """The parts of a run that answer the requests of pages.

    Attributes:
        run: Passes a visit along the fetch chain, its prerequisites first.
        release: Takes back what a visit reserved of its quotas, if it is not stored.
        close: Ends what `run` still does for pages that have ended.
        judge: Returns the CrawlURI of a request of a page; or None and the rule that refuses it.
        overlay_of: Determines which combination of sheets applies to a URI.
        blocks: Requests that are not sent, under each combination of sheets.
        stored: Replies in the archive.
        pack: Compresses the reply of a visit of a page, by its id, before the page is stored.
        guard: Returns why the address of a URL, as it is known, may not be connected to, or "".
        clock: The time.
    """

    run: Callable[[Visit], Awaitable[None]]
    release: Callable[[Visit], None]
    close: Callable[[], None]
    judge: Callable[[CrawlURI, Outlink], tuple[CrawlURI | None, str]]
    overlay_of: Callable[[CrawlURI], int]
    blocks: Effective[BlockList]
    stored: StoredReplies
    pack: Callable[[str, Visit], Awaitable[None]]
    guard: Callable[[str], str]
    clock: Clock


class PageRequests:
    """Answers the requests of one page, and collects their visits.

    Args:
        visit: The visit of the page's document, fetched and extracted.
        document: The reply that the page is made from.
        page: Collects the visits, and the refused requests.
        settings: Limits of the page.
        parts: What answers.

    Attributes:
        budget: What the page may ask for.
        failure: A failure of the storage, or a bug, which the page's visit must raise; None while
            there is none.
    """

    def __init__(
        self,
        visit: Visit,
        document: Capture,
        page: PageUnit,
        settings: BrowserSettings,
        parts: RequestParts,
    ) -> None:
        self._visit = visit
        self._document = document
        self._page = page
        self._settings = settings
        self._parts = parts
        self._blocks = parts.blocks[visit.overlay]
        self._pace = PagePace(settings)
        self._pictures = PictureGroups(settings.gap)
        self._earlier = EarlierReplies()
        self._running: set[asyncio.Task[object]] = set()
        self._annotation = ""
        self.budget = PageBudget(settings)
        self.failure: Exception | None = None

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        """See `RequestHandler`."""
        task = asyncio.current_task()
        if task is not None:
            self._running.add(task)
        try:
            await self._answer(request, reply)
        except Exception as error:  # noqa: BLE001 - the page's visit raises it
            self.failure = self.failure or error
            reply.refuse()
        finally:
            if task is not None:
                self._running.discard(task)

    async def repeat(self, request: BrowserRequest, reply: ReplyWriter, annotation: str) -> None:
        """Send a request that no browser sends, by the same rules; its visit gets an annotation."""
        self._annotation = annotation
        await self._answer(request, reply)

    async def finish(self, seconds: float) -> None:
        """Wait until all requests have ended, after the page has; cancel them after a time.

        Args:
            seconds: Longest time.
        """
        self._pace.end()
        self._pictures.pass_on()
        running = {task for task in self._running if not task.done()}
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    async def _answer(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        try:
            url = web_url(request.url)
        except URIError as error:
            self._refuse(request, reply, "scope", str(error))
            return
        if self._is_document(request, url):
            if self._earlier.begin():
                self._page.begin_again()
            await deliver(self._document, reply)
            return
        rule, detail, uri = self._judge(request, url)
        if uri is None:
            self._refuse(request, reply, rule, detail)
            return
        parts, reuse = self._parts, self._settings.reuse
        if earlier := self._earlier.take(request, url):
            await deliver(earlier, reply)
            return
        stored = await parts.stored.recent(request, url, parts.clock.now(), reuse)
        if stored is not None:
            self._page.reuse(url)
            await deliver(stored, reply)
            return
        if request.resource != "image":
            await self._request(request, reply, uri)
            return
        picture = GroupedPicture(reply, self._pictures)
        await self._request(request, picture, uri)
        await picture.wait()

    def _is_document(self, request: BrowserRequest, url: str) -> bool:
        is_page = url == self._visit.uri.url and request.method == "GET"
        return is_page and request.resource == "document"

    def _judge(self, request: BrowserRequest, url: str) -> tuple[str, str, CrawlURI | None]:
        """Return rule and detail of a refusal, or the CrawlURI of a request that may be sent."""
        if blocked := self._blocks.find(url):
            return "block", blocked, None
        if request.resource == "websocket" and self._settings.websockets == "refuse":
            return "method", "browser.websockets", None
        link, page = Outlink(url, Hop.EMBED, f"browser/{request.resource}"), self._visit.uri
        near = structs.replace(page, path=path_to_page(page.path))
        uri, rule = self._parts.judge(near, link)
        if uri is None:
            return "scope", rule, None
        path = extend_path(page.path, Hop.EMBED)
        return "", "", structs.replace(uri, path=path, method=request.method, body=request.body)

    async def _request(self, request: BrowserRequest, reply: ReplyWriter, uri: CrawlURI) -> None:
        """Ask the server, at the pace of the page."""
        if limit := self.budget.charge_request():
            self._refuse(request, reply, "budget", f"browser.{limit}")
            return
        name = authority(uri.url)
        if refusal := await self._wait_for_turn(name, request):
            self._refuse(request, reply, "limit" if refusal == LEFT else "wait", refusal)
            return
        visit = self._new_visit(request, uri)
        is_collected = False
        try:
            is_collected = await self._fetch(visit, request, reply)
        finally:
            self._pace.finish(name, visit)
            if not is_collected:
                self._parts.release(visit)

    async def _wait_for_turn(self, name: str, request: BrowserRequest) -> str:
        """Wait until a request may start; return "", or why it may not be sent."""
        if request.resource != "image":
            return await self._pace.start(name)
        self._pictures.begin_wait()
        try:
            return await self._pace.start(name)
        finally:
            self._pictures.end_wait()

    def _new_visit(self, request: BrowserRequest, uri: CrawlURI) -> Visit:
        return Visit(
            uri,
            toe=self._visit.toe,
            started=self._parts.clock.monotonic(),
            annotations=[SUBRESOURCE, *filter(None, (self._annotation,))],
            overlay=self._parts.overlay_of(uri),
            request=request,
            page_id=self._page.id,
            queued=False,
            asks_robots=self._settings.robots == "all",
        )

    async def _fetch(self, visit: Visit, request: BrowserRequest, reply: ReplyWriter) -> bool:
        """Pass a visit along the chain; return whether it is one of the page's visits then."""
        visit.compare_with(await self._parts.stored.current(request, visit.uri.url))
        metered = MeteredReply(
            reply,
            self.budget.charge_bytes,
            self._pace.ended,
            withholds_304=visit.stored is not None,
        )
        if metered.is_closed:
            self._refuse(request, reply, "limit", LEFT)
            return False
        visit.send_to(metered)
        await self._parts.run(visit)
        if visit.capture is None and (rule := RULES.get(visit.status, "")):
            self._refuse_visit(visit, request, reply, rule)
            return False
        self._collect(visit, request)
        sent = visit.stored if metered.is_withheld else visit.capture
        if sent is not None:
            self._earlier.add(request, visit.uri.url, sent)
        if metered.is_withheld and visit.stored is not None:
            visit.annotate(FROM_ARCHIVE)
            self._parts.stored.keep(request, visit.stored)
            await deliver(visit.stored, reply)
        if not reply.has_begun:
            reply.refuse()
        await self._parts.pack(self._page.id, visit)
        return True

    def _collect(self, visit: Visit, request: BrowserRequest) -> None:
        """Add a visit to those of the page."""
        capture = visit.capture
        if capture is None:
            self._page.add(visit)
            return
        self.budget.charge_time(capture.duration / 1000.0)
        self._page.add(visit, len(capture.head) + capture.body.length)
        self._parts.stored.keep(request, capture)

    def _refuse_visit(
        self, visit: Visit, request: BrowserRequest, reply: ReplyWriter, rule: str
    ) -> None:
        """List a visit that the chain refused without a request."""
        if refusal := self._parts.guard(visit.uri.url) if rule in _GUARDED else "":
            rule = "guard"
        self._refuse(request, reply, rule, visit.robots or refusal or visit.error or "quotas")

    def _refuse(
        self, request: BrowserRequest, reply: ReplyWriter, rule: str, detail: str = ""
    ) -> None:
        url = request.url[:_LONGEST_URL]
        self._page.refuse(RefusedRequest(url, request.resource, rule, detail[:_LONGEST_URL]))
        reply.refuse()


def path_to_page(path: str) -> str:
    """Return the hop path by which the scope judges the requests of a page.

    A page may be reached by a guess in a script, an embed or a redirect. For the scope its requests
    are embeds of a page all the same, and not the third hop behind the last link.
    """
    near = path.rstrip(_NO_LINKS)
    return path if near.endswith("+") else near


def web_url(text: str) -> str:
    """Return a URL in normal form, that of the handshake for a WebSocket.

    Raises:
        URIError: It is none.
    """
    scheme, colon, after = text.partition(":")
    return parse(f"{_WEB.get(scheme.lower(), scheme)}{colon}{after}")
