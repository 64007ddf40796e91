"""Requests that are repeated without a browser: an application whose pages teach them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly import browsing, parts
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.extract.repetition import MIN_AGAIN
from nacre.machine.layout import Layout
from nacre.report.browser_tally import BrowserTally, browser_tally
from nacre.store.store import Store
from tests.crawl.again import again
from tests.crawl.jobs import Crawled, crawl
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.pages.renderer import ask

SHELL = reply("<div id=app></div><script src=/app.js></script>")
ITEMS = 40
HEADERS = ((b"Accept", b"application/json"), (b"Referer", b""), (b"Cookie", b"a=1"))


class _Shop:
    """Shows an item as its script would: the item, its author, and links to the next items."""

    slots = 2

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.changed = ""
        self.leads_to: Sequence[int] = range(ITEMS)
        self.has_next = True

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        origin, path = "/".join(task.url.split("/")[:3]), task.url.split("/")[3:]
        self.opened.append("/".join(path))
        await ask(handler, f"{origin}/app.js", "script")
        if path == [""]:
            links = [f"/item/{number}" for number in self.leads_to]
        else:
            item = json.loads(
                (await self._get(handler, f"{origin}/api/items/{path[1]}", task)).body
            )
            await self._get(handler, f"{origin}/api/authors/{item['author']}", task)
            if self.changed:
                await self._get(handler, f"{origin}/api/{self.changed}/{item['author']}x", task)
            links = [f"/item/{item['next']}"] if self.has_next else []
        dom = "".join(f"<a href={link}>{link}</a>" for link in links)
        return RenderedPage("settled", task.url, dom=dom.encode(), browser="Scripted/1")

    async def _get(self, handler: RequestHandler, url: str, task: PageTask) -> Any:
        lines = tuple((name, value or task.url.encode()) for name, value in HEADERS)
        return await ask(handler, url, headers=lines)

    async def close(self) -> None:
        """There is no browser."""


@pytest.fixture
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        served.serve({"/": SHELL, "/app.js": reply("run()", "text/javascript")})
        served.serve(
            {"/robots.txt": reply("User-agent: *\nDisallow: /api/authors/9\n", "text/plain")}
        )
        for number in range(ITEMS + 1):
            data = {"author": number + 50, "next": number + 1}
            kind = "application/json"
            served.serve({
                f"/item/{number}": SHELL,
                f"/api/items/{number}": reply(json.dumps(data), kind),
                f"/api/authors/{number + 50}": reply('{"name": "\u4f5c\u8005"}', kind),
                f"/api/more/{number + 50}x": reply("{}", kind),
            })  # fmt: skip
        yield served


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> _Shop:
    renderer = _Shop()
    monkeypatch.setattr(parts, "open_renderer", lambda *_: renderer)
    # Every 16th URL is below the share of the sample.
    monkeypatch.setattr(browsing, "_draw", lambda _, url: float(not url.endswith("5")))
    return renderer


def _crawl(root: Path, site: RawSite, *, repeat: bool = True, **more: Any) -> Crawled:
    browser = {"use": "always", "pictures": (), "repeat": repeat, "gap": 0.0} | more
    return crawl(root / "job", [f"{site.origin}/"], browser=browser, engine={"parallel": 2})


def _tally(root: Path) -> BrowserTally:
    with Store.open(str(Layout(root / "job").store), read_only=True) as store:
        return browser_tally(store)


def test_few_pages_are_run_and_all_content_is_captured(
    site: RawSite, shop: _Shop, tmp_path: Path
) -> None:
    crawled = _crawl(tmp_path, site)
    captured = set(crawled.captures())
    for number in range(ITEMS + 1):
        assert f"{site.origin}/api/items/{number}" in captured
        if number + 50 < 90:
            assert f"{site.origin}/api/authors/{number + 50}" in captured
    assert f"{site.origin}/item/{ITEMS}" in captured, "a link that only a template gives"
    tally = _tally(tmp_path)
    assert tally.pages == len(shop.opened) < 14
    assert tally.repeated == ITEMS + 2 - tally.pages
    assert tally.samples in {3, 4}
    assert tally.foreseen == tally.expected > 0


def test_a_later_run_begins_with_the_templates(site: RawSite, shop: _Shop, tmp_path: Path) -> None:
    _crawl(tmp_path, site)
    known = {int(path.partition("/")[2]) for path in shop.opened if path}
    shop.leads_to = [number for number in range(ITEMS) if number not in known]
    shop.has_next = False
    shop.opened.clear()
    site.asked.clear()
    browser = {"use": "always", "pictures": (), "repeat": True, "gap": 0.0}
    again(tmp_path / "job", f"{site.origin}/", 1, mode="full", browser=browser)
    assert set(site.asked) >= {f"/api/items/{number}" for number in shop.leads_to}
    items = [path for path in shop.opened if path and not path.endswith("5")]
    assert len(items) == MIN_AGAIN


def test_repeated_requests_obey_robots_and_are_annotated(
    site: RawSite, shop: _Shop, tmp_path: Path
) -> None:
    crawled = _crawl(tmp_path, site)
    assert not [path for path in site.asked if path.startswith("/api/authors/9")]
    log = (crawled.run / "logs" / "crawl.log").read_text()
    line = next(line for line in log.splitlines() if "/api/items/38 " in line)
    assert f"repeated:{site.origin}/api/items/{{url.path[1]}}" in line
    assert "subresource" in line
    page = next(line for line in log.splitlines() if "/item/38 " in line and "api" not in line)
    assert "browserRepeated" in page
    assert "browser:" not in page


def test_repeated_requests_have_the_lines_of_the_browser_and_no_cookie(
    site: RawSite, shop: _Shop, tmp_path: Path
) -> None:
    _crawl(tmp_path, site)
    heads = [head for head in site.heads if head.startswith(b"GET /api/items/38 ")]
    assert len(heads) == 1
    assert b"Accept: application/json" in heads[0]
    assert f"Referer: {site.origin}/item/38".encode() in heads[0]
    assert b"Cookie" not in heads[0]


def test_nothing_is_repeated_by_default(site: RawSite, shop: _Shop, tmp_path: Path) -> None:
    _crawl(tmp_path, site, repeat=False)
    assert len(shop.opened) == ITEMS + 2
    assert _tally(tmp_path).repeated == 0
