"""Requests of pages in a crawl: the rules that they obey, and the visits that they become."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly import parts
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import PageTask, RenderedLink, RequestHandler
from nacre.engine.disposition import Disposition
from tests.crawl.jobs import Crawled, crawl
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.pages.renderer import CollectedReply, Script, ScriptedRenderer, ask

ROBOTS = reply("User-agent: *\nDisallow: /closed/\n", "text/plain")


class Page:
    """A crawl of one page, run by a script.

    Attributes:
        visits: The visits of all final URIs that the frontier handed out, by path.
        renderer: What opened it.
        crawled: The crawl, at its end.
    """

    def __init__(self, site: RawSite, renderer: ScriptedRenderer) -> None:
        self.site = site
        self.renderer = renderer
        self.visits: dict[str, Visit] = {}
        self.crawled: Crawled | None = None

    @property
    def unit(self) -> PageUnit:
        unit = self.visits["/"].page
        assert unit is not None
        return unit

    @property
    def requests(self) -> dict[str, Visit]:
        """The visits of its requests, by the path of their URLs."""
        return {visit.uri.url.removeprefix(self.site.origin): visit for visit in self.unit.visits}

    @property
    def refused(self) -> dict[str, str]:
        return {
            request.url.removeprefix(self.site.origin): request.rule
            for request in self.unit.refused
        }


Open = Callable[..., Page]


@pytest.fixture
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        served.serve({"/": reply("<script src=/app.js></script>"), "/robots.txt": ROBOTS})
        yield served


@pytest.fixture
def open_page(site: RawSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Crawl the home page of the site; the script sends the requests of the browser."""

    def run(script: Script, settings: dict[str, Any] | None = None, **rendered: Any) -> Page:
        page = Page(site, ScriptedRenderer(script, **rendered))
        dispose = Disposition.dispose

        def noting(self: Disposition, visit: Visit, *rest: Any) -> bool:
            if visit.status != -50:
                page.visits[visit.uri.url.removeprefix(site.origin)] = visit
            return dispose(self, visit, *rest)

        monkeypatch.setattr(Disposition, "dispose", noting)
        monkeypatch.setattr(parts, "open_renderer", lambda *_: page.renderer)
        browser: dict[str, Any] = {"use": "always", "pictures": ()}
        page.crawled = crawl(
            tmp_path / "job", [f"{site.origin}/"], browser=browser | (settings or {})
        )
        return page

    return run


def test_document_is_answered_from_its_capture(open_page: Open, site: RawSite):
    async def nothing(_handler: RequestHandler, _task: PageTask) -> None:
        """The page asks for nothing."""

    page = open_page(nothing)
    (document,) = page.renderer.documents
    assert document.ended == "end"
    assert document.body == b"<script src=/app.js></script>"
    assert document.head + document.body == site.replies["/"]
    assert site.asked.count("/") == 1


def test_request_becomes_a_visit_of_the_page(open_page: Open, site: RawSite):
    site.serve({"/app.js": reply("fetch('/data.json')", "text/javascript")})
    replies: list[CollectedReply] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        replies.append(await ask(handler, f"{task.url}app.js", "script"))

    page = open_page(script)
    visit = page.requests["/app.js"]
    assert replies[0].body == b"fetch('/data.json')"
    assert (visit.status, visit.uri.path, visit.uri.via) == (200, "E", f"{site.origin}/")
    assert visit.uri.context == "browser/script"
    assert visit.annotations == ["subresource"]
    assert visit.page_id == page.unit.id
    assert visit.outlinks, "the script was read"


def test_request_outside_the_scope_is_refused_without_a_byte(open_page: Open, site: RawSite):
    async def script(handler: RequestHandler, task: PageTask) -> None:
        assert (await ask(handler, f"{task.url}closed/data")).ended == "refused"
        assert (await ask(handler, "http://")).ended == "refused"

    page = open_page(script)
    assert page.refused == {"/closed/data": "robots", "http://": "scope"}
    assert "/closed/data" not in site.asked


def test_links_of_the_final_dom_are_followed(open_page: Open, site: RawSite):
    site.serve({"/made.html": reply("made by a script"), "/next.html": reply("next")})

    async def nothing(_handler: RequestHandler, _task: PageTask) -> None:
        """The page asks for nothing."""

    links = [RenderedLink("/next.html", "navigation"), RenderedLink("javascript:1", "more")]
    page = open_page(nothing, dom=b"<base href=/x/><a href=../made.html>x</a>", links=links)
    paths = {uri.url.removeprefix(site.origin): uri.path for uri in _uris(page)}
    assert paths["/made.html"] == "L"
    assert paths["/next.html"] == "R"


def _uris(page: Page) -> list[CrawlURI]:
    return [visit.uri for visit in page.visits.values()]
