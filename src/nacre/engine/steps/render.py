"""Runs pages in a browser: the step of the fetch chain behind the extraction."""

from collections.abc import Callable, Sequence
from typing import Literal

from nacre.annotations import BROWSER_FAILED, rendered_by
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import PageUnit, Result, Visit
from nacre.core.rendered import PageRenderer, PageTask, RenderedPage
from nacre.engine.chain.entry import Entry
from nacre.engine.pages.handler import PageRequests, RequestParts
from nacre.errors import BrowserError
from nacre.extract.document import Document, Extraction
from nacre.extract.settings import ExtractSettings
from nacre.uri.parse import Resolver

HTML = frozenset(("text/html", "application/xhtml+xml"))
"""Media types of pages that a browser can run."""

_NAVIGATION = "navigation"


class Render(Entry):
    """Runs pages in a browser. Settings: `browser`."""

    behind = "extract"
    processor: Literal["render"] = "render"


class RenderStep:
    """The worker of `Render`.

    Args:
        settings: Which pages are run, under each combination of sheets.
        renderer: Opens pages; it begins with the first page.
        parts: What answers the requests of pages.
        extract: What is wanted of documents, under each combination of sheets.
        alert: Sends a message to the operator.
        new_id: Makes the id of a page, a UUID.
    """

    def __init__(
        self,
        settings: Effective[BrowserSettings],
        renderer: PageRenderer,
        parts: RequestParts,
        extract: Effective[ExtractSettings],
        alert: Callable[[str], None],
        new_id: Callable[[], str],
    ) -> None:
        self._settings = settings
        self._runs = settings.then(lambda browser: browser.use != "never")
        self._renderer = renderer
        self._parts = parts
        self._extract = extract
        self._alert = alert
        self._new_id = new_id

    def accepts(self, visit: Visit) -> bool:
        """Return whether it is a whole HTML page that was queued, and pages are run at all."""
        if not self._runs[visit.overlay] or not visit.queued:
            return False
        uri, capture = visit.uri, visit.capture
        is_page = visit.status == 200 and visit.mime in HTML and uri.method == "GET"
        return is_page and capture is not None and not capture.truncated

    async def process(self, visit: Visit) -> Result:
        """Open the page, and add the links of its final state."""
        settings = self._settings[visit.overlay]
        sign = self._sign(visit, settings)
        if sign:
            visit.annotate(rendered_by(sign))
            await self._render(visit, sign, settings)
        return Result.PROCEED

    def _sign(self, _visit: Visit, settings: BrowserSettings) -> str:
        """Return why a page is to be run; "" if it is not."""
        return "always" if settings.use == "always" else ""

    async def _render(self, visit: Visit, sign: str, settings: BrowserSettings) -> None:
        page = PageUnit(self._new_id(), sign)
        requests = PageRequests(visit, page, settings, self._parts)
        try:
            rendered = await self._renderer.render(self._task(visit, settings), requests)
        except BrowserError as error:
            visit.annotate(BROWSER_FAILED)
            self._alert(f"{visit.uri.url} was not run in a browser: {error}")
            return
        if requests.failure is not None:
            raise requests.failure
        page.close(rendered)
        visit.become(page)
        visit.add_outlinks(self._links(visit, rendered))

    def _task(self, visit: Visit, settings: BrowserSettings) -> PageTask:
        began = visit.capture.began if visit.capture is not None else 0
        return PageTask(
            visit.uri.url,
            user_agent=settings.user_agent,
            seed=began // 1_000_000,
            viewport=settings.viewport,
            device=settings.device,
            behaviours=settings.behaviours,
            pictures=settings.pictures,
            load_time=settings.load_time,
            behaviour_time=settings.behaviour_time,
            time=settings.time,
        )

    def _links(self, visit: Visit, rendered: RenderedPage) -> list[Outlink]:
        """Return the links that the final state has, and those that behaviours met."""
        settings = self._extract[visit.overlay]
        links = list(self._extract_dom(visit, rendered, settings).outlinks)
        links += _followed(visit.uri.url, rendered)
        present = {(link.url, link.hop) for link in visit.outlinks}
        return [link for link in links if (link.url, link.hop) not in present]

    def _extract_dom(
        self, visit: Visit, rendered: RenderedPage, settings: ExtractSettings
    ) -> Extraction:
        # A reader of a configuration needs no parsers, which are slow to load.
        from nacre.extract.dispatch import extract  # noqa: PLC0415

        if not rendered.dom:
            return Extraction()
        document = Document(
            url=visit.uri.url,
            mime="text/html",
            charset_header="utf-8",
            body=rendered.dom[: settings.max_document],
            path=visit.uri.path,
            via=visit.uri.via,
        )
        return extract(document, settings)


def _followed(page: str, rendered: RenderedPage) -> Sequence[Outlink]:
    """Return the URLs that the page wanted to go to, or that a behaviour met."""
    resolver, links = Resolver(page), []
    for link in rendered.links:
        url = resolver.resolve(link.url)
        if url is not None and url.startswith(("http:", "https:")):
            hop = Hop.REDIRECT if link.origin == _NAVIGATION else Hop.LINK
            links.append(Outlink(url, hop, f"browser/{link.origin}"))
    return links
