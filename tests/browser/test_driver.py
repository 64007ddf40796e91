"""Pages in a real browser: their final state, what they asked for, and where they led to."""

from collections.abc import Iterator

import pytest

from nacre.browser.finding import InstalledBrowser
from nacre.core.rendered import BrowserCookie, NetworkEvent, RenderedLink, RenderedPage
from nacre.extract.pageview import visible_text
from tests.browser.site import HOST, Pages, Site, browsing

pytestmark = pytest.mark.browser

APPLICATION = """<!doctype html>
<html lang="zh"><head><title>应用</title><link rel="stylesheet" href="/style.css">
<script>
  const asked = [Math.random(), Math.random()];
  Math.sin = String.prototype.slice = Document.prototype.querySelectorAll = () => "page";
</script>
</head><body><img name="body"><form><input name="getHTML"></form><div id="root"></div>
<script src="/app.js"></script></body></html>"""

SCRIPT = """
(async () => {
  const reply = await fetch(`/api/items.json?seed=${Math.floor(1e6 * asked[1])}`);
  const { items } = await reply.json();
  document.cookie = "seen=yes";
  setTimeout(() => {
    root.innerHTML = items.map((item) => `<a href="/item/${item}">条目 ${item}</a>`).join("");
    const host = root.appendChild(document.createElement("x-card"));
    host.attachShadow({ mode: "open" }).innerHTML = "<p>in the shadow</p><a href='/shadow'>s</a>";
    const inner = host.shadowRoot.appendChild(document.createElement("x-inner"));
    inner.attachShadow({ mode: "open" }).innerHTML = "<a href='/deeper'>deeper</a>";
    history.replaceState({}, "", "/view?page=1");
    window.open("/window");
    fetch("http://other.test/refused").catch(() => {});
    setTimeout(() => { location.href = "/elsewhere"; }, 50);
    setTimeout(() => { location.href = "about:blank"; }, 150);
    setTimeout(() => { location = URL.createObjectURL(new Blob(["lost"])); }, 200);
    missing();
  }, 300);
})();
"""


def application(text: str = APPLICATION) -> Site:
    return Site(
        {
            "/": text,
            "/app.js": SCRIPT,
            "/style.css": "x-card { display: block }",
            "/api/items.json": '{"items": [1, 2, 3]}',
        }
    )


@pytest.fixture(scope="module")
def pages(
    installed_browser: InstalledBrowser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pages]:
    with browsing(installed_browser, tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def site() -> Site:
    return application()


@pytest.fixture(scope="module")
def page(pages: Pages, site: Site) -> RenderedPage:
    """The application, as it ended: one load for many tests."""
    return pages.open(
        site,
        seed=42,
        language="de-AT",
        operator="nacre/1 +https://operator.test/",
        pictures=("view", "fullPage", "thumbnail"),
        cookies=(
            BrowserCookie("host", "1", "site.test"),
            BrowserCookie("domain", "2", ".site.test", http_only=True, same_site="Lax"),
            BrowserCookie("bad\n", "x", "site.test"),
        ),
    )


def test_it_settles_after_what_it_draws_late(page):
    assert page.ended == "settled"
    assert page.title == "应用"
    assert "条目 3" in page.text
    assert "in the shadow" in page.text
    assert page.browser.startswith(("HeadlessChrome/", "Chrome/"))


def test_the_dom_has_the_shadow_roots(page):
    dom = page.dom.decode()
    assert dom.startswith("<!DOCTYPE html>")
    assert '<html lang="zh">' in dom
    assert dom.endswith("</html>")
    assert '<x-card><template shadowrootmode="open"><p>in the shadow</p>' in dom
    assert 'href="/deeper"' in dom
    assert "in the shadow" in visible_text(dom, 10_000)


def test_where_it_led_to(page):
    assert page.url == f"{HOST}/view?page=1"
    assert page.links == (
        RenderedLink(f"{HOST}/view?page=1", "navigation"),
        RenderedLink(f"{HOST}/window", "navigation"),
        RenderedLink(f"{HOST}/elsewhere", "navigation"),
    )


def test_what_it_asked_for(page, site):
    urls = dict.fromkeys(url for url in site.urls if url != "/favicon.ico")
    first, *parts = list(urls)
    assert first == "/"
    assert set(parts[:2]) == {"/style.css", "/app.js"}, "on two connections, in any order"
    assert parts[2:] == [
        f"/api/items.json?seed={int(1e6 * second_random(42))}",
        "http://other.test/refused",
    ]
    assert page.events[0] == NetworkEvent(f"{HOST}/", "document", 200, "text/html")
    resources = [event.resource for event in page.events if "favicon" not in event.url]
    assert resources[:5] == ["document", "style", "script", "fetch", "fetch"]
    (refused,) = (event for event in page.events if event.url == "http://other.test/refused")
    assert refused.error.startswith("net::ERR_")


def second_random(seed: int) -> float:
    """As replayers seed it."""
    first = (9301 * seed + 49297) % 233280
    return ((9301 * first + 49297) % 233280) / 233280


def test_its_headers(site):
    (request, *_) = site.requests
    agent = request.header(b"user-agent").decode()
    assert agent.endswith(" Safari/537.36 (compatible; nacre/1 +https://operator.test/)")
    assert "Headless" not in agent
    assert request.header(b"accept-language").startswith(b"de-AT")
    assert request.header(b"cookie") == b"host=1; domain=2"
    assert not any(b"Headless" in value for _, value in request.headers)


def test_its_cookies(page):
    cookies = {cookie.name: cookie for cookie in page.cookies}
    assert cookies["seen"] == BrowserCookie("seen", "yes", "site.test")
    assert cookies["domain"] == BrowserCookie(
        "domain", "2", ".site.test", http_only=True, same_site="Lax"
    )
    assert set(cookies) == {"host", "domain", "seen"}


def test_its_errors(page):
    assert any("missing is not defined" in error for error in page.console_errors)
    assert any("other.test/refused: net::ERR_" in error for error in page.console_errors)
    assert not any("elsewhere" in error for error in page.console_errors)


def test_its_pictures(page):
    view, full, thumbnail = (page.pictures[kind] for kind in ("view", "fullPage", "thumbnail"))
    assert png_size(view) == (1440, 900)
    assert png_size(full) == (1440, 900)
    assert jpeg_size(thumbnail) == (640, 360)


def png_size(data: bytes) -> tuple[int, int]:
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def jpeg_size(data: bytes) -> tuple[int, int]:
    place = data.index(b"\xff\xc0")
    return int.from_bytes(data[place + 7 : place + 9]), int.from_bytes(data[place + 5 : place + 7])
