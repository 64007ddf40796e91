"""Requests of pages in a crawl: the rules that they obey, and the visits that they become."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.assembly import parts
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import (
    BrowserCookie,
    PageTask,
    RenderedLink,
    RenderedPage,
    RenderedRoute,
    RequestHandler,
)
from nacre.engine.disposition import BackToFrontier, Disposition
from nacre.engine.engine import Engine
from nacre.engine.pages import picture_groups
from nacre.engine.pages.handler import path_to_page
from nacre.engine.pages.pace import PagePace
from nacre.errors import BrowserError
from tests.crawl.again import again
from tests.crawl.jobs import Crawled, crawl
from tests.crawl.raw_site import RawSite, raw_site, reply
from tests.engine.pages.renderer import CollectedReply, Script, ScriptedRenderer, ask

ROBOTS = reply("User-agent: *\nDisallow: /closed/\n", "text/plain")


async def no_requests(_handler: RequestHandler, _task: PageTask) -> None:
    """The page asks for nothing."""


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

    def run(
        script: Script,
        settings: dict[str, Any] | None = None,
        renderer: ScriptedRenderer | None = None,
        job: dict[str, Any] | None = None,
        **rendered: Any,
    ) -> Page:
        page = Page(site, renderer or ScriptedRenderer(script, **rendered))
        dispose = Disposition.dispose

        def noting(self: Disposition, visit: Visit, *rest: Any) -> bool:
            if visit.status != -50:
                page.visits[visit.uri.url.removeprefix(site.origin)] = visit
            return dispose(self, visit, *rest)

        monkeypatch.setattr(Disposition, "dispose", noting)
        monkeypatch.setattr(parts, "open_renderer", lambda *_: page.renderer)
        browser: dict[str, Any] = {"use": "always", "pictures": ()}
        page.crawled = crawl(
            tmp_path / "job",
            [f"{site.origin}/"],
            browser=browser | (settings or {}),
            **(job or {}),
        )
        return page

    return run


def test_document_is_answered_from_its_capture(open_page: Open, site: RawSite):
    page = open_page(no_requests)
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

    links = [RenderedLink("/next.html", "navigation"), RenderedLink("javascript:1", "more")]
    page = open_page(no_requests, dom=b"<base href=/x/><a href=../made.html>x</a>", links=links)
    paths = {uri.url.removeprefix(site.origin): uri.path for uri in _uris(page)}
    assert paths["/made.html"] == "L"
    assert paths["/next.html"] == "R"


def test_links_of_hash_routes_are_followed(open_page: Open, site: RawSite):
    site.serve({"/a/route.html": reply("route"), "/a/both.html": reply("both")})
    origin = site.origin
    dom = b"<a href=both.html>x</a><a href=#/one>x</a>"
    routes = [RenderedRoute(f"{origin}/a/#/one", dom + b"<a href=route.html>x</a>")]
    page = open_page(no_requests, dom=dom, routes=routes, url=f"{origin}/a/view")
    paths = [uri.url.removeprefix(origin) for uri in _uris(page)]
    assert paths.count("/a/both.html") == 1
    assert paths.count("/a/route.html") == 1


@pytest.mark.parametrize(("text", "hop"), [("", "R"), ("words " * 100, "L")])
def test_page_with_content_redirects_to_no_other_site(open_page: Open, text: str, hop: str):
    # A redirect of a seed would make the advertiser a seed.
    links = [RenderedLink("http://127.0.0.9:1/ad", "navigation")]
    page = open_page(no_requests, text=text, links=links)
    assert [(link.url, link.hop) for link in page.visits["/"].outlinks[-1:]] == [
        ("http://127.0.0.9:1/ad", hop)
    ]


def test_requests_go_out_as_the_browser_sent_them(open_page: Open, site: RawSite):
    site.serve({"/api": reply("{}", "application/json")})
    headers = ((b"accept", b"a/b"), (b"X-Own", b"1"), (b"Cookie", b"own=1"), (b"accept", b"c/d"))

    async def script(handler: RequestHandler, task: PageTask) -> None:
        for method in ("HEAD", "OPTIONS", "POST"):
            body = b"x=1" if method == "POST" else None
            await ask(handler, f"{task.url}api", method=method, headers=headers, body=body)

    page = open_page(script)
    heads = [head for head in site.heads if b" /api " in head]
    assert [head.split(b" ")[0] for head in heads] == [b"HEAD", b"OPTIONS", b"POST"]
    for head in heads:
        lines = [line for line in head.split(b"\r\n")[1:] if line]
        assert lines[0].lower().startswith(b"host: ")
        own = [line for line in lines[1:] if not line.startswith((b"Connection", b"Content-Len"))]
        assert own == [b"accept: a/b", b"X-Own: 1", b"Cookie: own=1", b"accept: c/d"]
    assert [visit.uri.method for visit in page.unit.visits] == ["HEAD", "OPTIONS", "POST"]


def test_prerequisites_of_another_host_are_fetched_within_the_page(open_page: Open):
    with raw_site("127.0.0.2") as other:
        other.serve({"/robots.txt": ROBOTS, "/lib.js": reply("1", "text/javascript")})

        async def script(handler: RequestHandler, _task: PageTask) -> None:
            async with asyncio.TaskGroup() as group:
                for path in ("/lib.js", "/lib.js?2", "/closed/x"):
                    group.create_task(ask(handler, other.origin + path, "script"))

        page = open_page(script)
        assert other.asked[0] == "/robots.txt"
        assert other.asked.count("/robots.txt") == 1
        assert "/lib.js" in other.asked
        assert "/closed/x" not in other.asked
        assert list(page.refused.values()) == ["robots"]
        assert page.crawled is not None
        paths = {line.url: line.path for line in page.crawled.log}
        assert paths[f"{other.origin}/robots.txt"] == "EP"


def test_robots_txt_can_be_asked_for_pages_alone(open_page: Open, site: RawSite):
    site.serve({"/closed/data": reply("{}", "application/json")})

    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}closed/data")

    page = open_page(script, {"robots": "page"})
    assert page.refused == {}
    assert page.requests["/closed/data"].status == 200


def test_blocked_requests_are_not_sent(open_page: Open, site: RawSite):
    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}track?x")
        await ask(handler, "http://ads.test/x")
        await ask(handler, "wss://live.test/", "websocket")

    page = open_page(script, {"block": ["ads.test", "/track\\?/"], "websockets": "refuse"})
    assert [(item.rule, item.detail) for item in page.unit.refused] == [
        ("block", "/REGEX/"), ("block", "ads.test"), ("method", "browser.websockets"),
    ]  # fmt: skip
    assert "/track?x" not in site.asked
    assert "refused:3" in page.visits["/"].annotations


def test_page_gets_no_more_than_its_budget(open_page: Open, site: RawSite):
    site.serve({f"/{number}": reply("x" * 1000, "text/plain") for number in range(4)})

    async def script(handler: RequestHandler, task: PageTask) -> None:
        for number in range(4):
            await ask(handler, f"{task.url}{number}")

    page = open_page(script, {"max_requests": 2})
    assert list(page.requests) == ["/0", "/1"]
    assert page.refused == {"/2": "budget", "/3": "budget"}
    assert page.unit.rendered is not None
    assert page.unit.rendered.ended == "requestLimit"
    assert "pageEnd:requestLimit" in page.visits["/"].annotations


def test_reply_beyond_the_budget_is_cut(open_page: Open, site: RawSite):
    site.serve({"/big": reply("x" * 30_000_000, "text/plain")})
    replies: list[CollectedReply] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        replies.append(await ask(handler, f"{task.url}big"))

    page = open_page(script, {"max_bytes": 100_000})
    assert replies[0].ended == "refused"
    assert len(replies[0].body) < 30_000_000
    capture = page.requests["/big"].capture
    assert capture is not None
    assert capture.truncated == "length"
    assert page.unit.rendered is not None
    assert page.unit.rendered.ended == "byteLimit"


def test_host_that_is_tired_gets_no_more_requests_of_the_page(open_page: Open, site: RawSite):
    busy = b"HTTP/1.1 429 Slow Down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
    site.serve({"/api": busy})

    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}api")
        await ask(handler, f"{task.url}more")

    page = open_page(script)
    assert page.requests["/api"].status == 429
    assert page.refused == {"/more": "wait"}


def test_private_addresses_stay_closed_to_a_page(open_page: Open):
    urls = (
        "http://10.1.2.3/",
        "http://169.254.169.254/latest",
        "http://[fd00::1]/",
        "http://[::ffff:10.1.2.3]/",
        "http://0x0a010203/",
        "http://inside.test/",
        "ws://inside.test/live",
    )

    async def script(handler: RequestHandler, _task: PageTask) -> None:
        for url in urls:
            reply = await ask(handler, url, "websocket" if url.startswith("ws") else "fetch")
            assert (reply.ended, reply.has_begun) == ("refused", False)

    page = open_page(script, job={"dns": {"hosts": {"inside.test": ["10.1.2.3"]}}})
    assert page.refused.keys() == set(urls)
    assert page.refused == dict.fromkeys(urls, "guard")


def test_cookies_go_both_ways(open_page: Open, site: RawSite):
    site.replies["/"] = reply("<p>x", "text/html", b"Set-Cookie: server=1")
    site.serve({"/next.html": reply("next")})

    cookies = [BrowserCookie("script", "广告".encode().decode("latin-1"), "127.0.0.1")]
    page = open_page(no_requests, dom=b"<a href=/next.html>x</a>", cookies=cookies)
    (first, *_) = page.renderer.tasks
    assert [(cookie.name, cookie.value) for cookie in first.cookies] == [("server", "1")]
    head = next(head for head in site.heads if b" /next.html " in head)
    assert b"server=1" in head
    assert b"script=" in head


def test_requests_that_run_when_the_page_ends_are_kept(open_page: Open, site: RawSite):
    site.serve({"/slow": b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\npart"})
    tasks: list[asyncio.Task[CollectedReply]] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        tasks.append(asyncio.ensure_future(ask(handler, f"{task.url}slow")))
        await asyncio.sleep(0)

    page = open_page(script)
    visit = page.requests["/slow"]
    assert visit.capture is not None
    assert visit.capture.truncated == "disconnect"


def test_page_that_is_tried_again_gets_what_it_got_before(open_page: Open, site: RawSite):
    class Trying(ScriptedRenderer):
        async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
            await super().render(task, handler)
            return await super().render(task, handler)

    site.serve({"/api": reply("{}", "application/json"), "/big": reply("x" * 99_000, "text/plain")})
    counted = iter(range(9))
    site.answers["/count"] = lambda _: reply(str(next(counted)), "text/plain")
    bodies: list[bytes] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        url = task.url
        asked = [await ask(handler, f"{url}{path}") for path in ("api", "big", "count", "count")]
        asked.append(await ask(handler, f"{url}api", method="POST", body=b"\xb9\xe3"))
        bodies.extend(reply.body[:9] for reply in asked)
        await ask(handler, f"{url}closed/x")

    page = open_page(script, renderer=Trying(script))
    first = [b"{}", b"x" * 9, b"0", b"1", b"{}"]
    assert bodies == [*first, *first]
    assert [site.asked.count(path) for path in ("/api", "/big", "/count")] == [2, 1, 2]
    assert len(page.unit.visits) == 5
    assert [item.rule for item in page.unit.refused] == ["robots"]


def test_page_that_is_tried_again_asks_for_more(open_page: Open, site: RawSite):
    class Trying(ScriptedRenderer):
        async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
            await super().render(task, handler)
            await ask(handler, task.url, "document")
            bodies.append((await ask(handler, f"{task.url}count")).body)
            bodies.append((await ask(handler, f"{task.url}count")).body)
            return RenderedPage("settled", task.url)

    counted = iter(range(9))
    site.answers["/count"] = lambda _: reply(str(next(counted)), "text/plain")
    bodies: list[bytes] = []

    async def script(handler: RequestHandler, task: PageTask) -> None:
        bodies.append((await ask(handler, f"{task.url}count")).body)

    page = open_page(script, renderer=Trying(script))
    assert bodies == [b"0", b"0", b"1"]
    assert len(page.unit.visits) == 2


def test_what_a_page_requested_is_not_fetched_again(open_page: Open, site: RawSite):
    # The script names what the page requests behind it.
    site.serve({
        "/app.js": reply("fetch('/data.json');fetch('/other.json')", "text/javascript"),
        "/data.json": reply("{}", "application/json"),
    })  # fmt: skip

    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}app.js", "script")
        await ask(handler, f"{task.url}data.json")

    open_page(script)
    assert site.asked.count("/app.js") == 1
    assert site.asked.count("/data.json") == 1
    assert site.asked.count("/other.json") == 1


@pytest.mark.parametrize(
    ("mime", "status", "times"),
    [
        ("application/json", b"200 OK", 1),
        ("application/json", b"404 Not Found", 1),
        ("application/json", b"206 Partial Content", 2),
        ("text/html", b"200 OK", 2),
    ],
)
def test_what_waits_in_a_queue_when_a_page_requests_it(
    open_page: Open, site: RawSite, mime: str, status: bytes, times: int
):
    # The link to it comes from a page before; a HTML page may be run in a browser itself.
    site.serve({
        "/": reply("<a href=/app.html>app</a><a href=/data>data</a>"),
        "/app.html": reply("<p>app"),
        "/data": reply("x", mime).replace(b"200 OK", status),
    })  # fmt: skip

    async def script(handler: RequestHandler, task: PageTask) -> None:
        if task.url.endswith("app.html"):
            await ask(handler, f"{site.origin}/data")

    one_by_one = {"engine": {"parallel": 1}, "politeness": {"delay": 0, "in_flight": 1}}
    page = open_page(script, job=one_by_one)
    assert site.asked.count("/data") == times
    assert page.crawled is not None
    assert page.crawled.ending == "FINISHED"


TWO_PAGES = b"<a href=/second.html>x</a>"


def test_second_page_gets_scripts_of_the_first_without_a_request(open_page: Open, site: RawSite):
    code = "\u5e7f\u544a".encode("gbk")
    site.serve({
        "/second.html": reply("second"),
        "/app.js": reply(code.decode("latin-1"), "text/javascript"),
        "/private.js": reply("1", "text/javascript", b"Cache-Control: private"),
    })  # fmt: skip
    bodies: dict[str, list[bytes]] = {"app.js": [], "private.js": []}

    async def script(handler: RequestHandler, task: PageTask) -> None:
        for name, replies in bodies.items():
            url = f"{site.origin}/{name}"
            replies.append((await ask(handler, url, "script")).body)
        assert task.url.startswith(site.origin)

    page = open_page(script, dom=TWO_PAGES)
    assert bodies["app.js"] == [bodies["app.js"][0]] * 2
    assert site.asked.count("/app.js") == 1
    assert site.asked.count("/private.js") == 2
    second = page.visits["/second.html"]
    assert second.page is not None
    assert second.page.reused == [f"{site.origin}/app.js"]
    assert [visit.uri.url for visit in second.page.visits] == [f"{site.origin}/private.js"]
    assert "reused:1" in second.annotations


def test_reply_that_did_not_change_is_read_back_for_the_page(open_page: Open, site: RawSite):
    def answer(head: bytes) -> bytes:
        if b'If-None-Match: "v1"' in head:
            return b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
        return reply('{"a": 1}', "application/json", b'ETag: "v1"')

    site.serve({"/second.html": reply("second")})
    site.answers["/api"] = answer
    replies: list[CollectedReply] = []

    async def script(handler: RequestHandler, _task: PageTask) -> None:
        replies.append(await ask(handler, f"{site.origin}/api"))

    page = open_page(script, dom=TWO_PAGES)
    first, second = replies
    assert (first.status, first.body) == (second.status, second.body) == (200, b'{"a": 1}')
    assert first.head == second.head
    unit = page.visits["/second.html"].page
    assert unit is not None
    (visit,) = unit.visits
    assert visit.status == 304
    assert "fromArchive" in visit.annotations
    assert visit.revisit is not None
    assert visit.revisit.kind == "server-not-modified"


def test_shell_that_did_not_change_is_read_back_and_run(
    open_page: Open, site: RawSite, tmp_path: Path
):
    def shell(head: bytes) -> bytes:
        if b'If-None-Match: "v1"' in head:
            return b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
        return reply("<div id=app></div>", "text/html", b'ETag: "v1"')

    site.answers["/"] = shell

    async def script(handler: RequestHandler, task: PageTask) -> None:
        await ask(handler, f"{task.url}news.json")

    page = open_page(script)
    first = page.visits["/"]
    again(tmp_path / "job", f"{site.origin}/", 1, browser={"use": "always"})
    second = page.visits["/"]
    assert (first.status, second.status) == (200, 304)
    replies = page.renderer.documents
    assert [document.status for document in replies] == [200, 200]
    assert replies[0].head == replies[1].head
    assert replies[0].body == replies[1].body == b"<div id=app></div>"
    assert second.page is not None
    assert site.asked.count("/news.json") == 2


@pytest.mark.parametrize(
    ("body", "mime", "sign"),
    [
        ("<div id=app></div><script src=app.js></script>", "text/html", True),
        (f"<p>{'plain text ' * 50}</p><script src=app.js></script>", "text/html", False),
        ("<div id=app></div><script src=app.js></script>", "text/plain", False),
    ],
)
def test_pages_with_a_sign_are_run(
    open_page: Open, site: RawSite, body: str, mime: str, sign: bool
):
    site.replies["/"] = reply(body, mime)
    page = open_page(no_requests, {"use": "auto"}, dom=b"<p>made by a script")
    assert len(page.renderer.tasks) == sign
    words = page.visits["/"].annotations
    assert any(word.startswith("browser:") for word in words) is sign


def test_page_is_stored_plain_without_a_browser(open_page: Open, site: RawSite):
    class Missing(ScriptedRenderer):
        async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
            await ask(handler, f"{task.url}app.js", "script")
            raise BrowserError("no Chromium is installed; install one")

    page = open_page(no_requests, renderer=Missing(no_requests))
    visit = page.visits["/"]
    assert visit.page is None
    assert (visit.status, "browserFailed" in visit.annotations) == (200, True)
    assert page.crawled is not None
    assert f"{site.origin}/app.js" in page.crawled.statuses, "its links are followed"
    alerts = (page.crawled.run / "logs" / "alerts.log").read_text()
    assert "install one" in alerts


@pytest.mark.parametrize(("size", "is_whole"), [(1000, True), (200_000_000, False)])
def test_video_of_which_a_part_was_requested_is_fetched_whole(
    open_page: Open, site: RawSite, size: int, is_whole: bool
):
    def video(head: bytes) -> bytes:
        if b"Range" not in head:
            return reply("x" * 1000, "video/mp4")
        part = b"HTTP/1.1 206 Partial Content\r\nContent-Type: video/mp4\r\nContent-Length: 10\r\n"
        return part + b"Content-Range: bytes 0-9/%d\r\n\r\n" % size + b"x" * 10

    site.answers["/film.mp4"] = video

    async def script(handler: RequestHandler, task: PageTask) -> None:
        headers = ((b"Range", b"bytes=0-9"),)
        await ask(handler, f"{task.url}film.mp4", "media", headers=headers)

    page = open_page(script)
    assert page.requests["/film.mp4"].status == 206
    whole = [head for head in site.heads if b" /film.mp4 " in head and b"Range" not in head]
    assert len(whole) == is_whole


def test_page_gets_the_language_of_the_job(open_page: Open):
    page = open_page(no_requests, job={"fetch": {"accept": ["Accept: */*", "Accept-Language: de"]}})
    assert page.renderer.tasks[0].language == "de"


def test_bug_in_a_request_costs_its_page_alone(
    open_page: Open, site: RawSite, monkeypatch: pytest.MonkeyPatch
):
    async def fail(_self: PagePace, _host: str) -> str:
        raise RuntimeError("a bug")

    monkeypatch.setattr(PagePace, "start", fail)

    async def script(handler: RequestHandler, task: PageTask) -> None:
        assert (await ask(handler, f"{task.url}data.json")).ended == "refused"

    page = open_page(script)
    assert page.visits["/"].status == -5
    assert page.crawled is not None
    assert "a bug" in (page.crawled.run / "logs" / "runtime-errors.log").read_text()


def test_requests_count_for_the_quota_of_their_host(open_page: Open, site: RawSite):
    site.serve({f"/{number}": reply("x", "text/plain") for number in range(9)})

    async def script(handler: RequestHandler, task: PageTask) -> None:
        for number in range(9):
            await ask(handler, f"{task.url}{number}")

    page = open_page(script, job={"quotas": {"host": {"successes": 4}}})
    assert list(page.requests) == ["/0", "/1", "/2"], "the page is the first"
    assert set(page.refused.values()) == {"budget"}


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("", ""),
        ("LL", "LL"),
        ("EX", ""),
        ("LLEXR", "LL"),
        ("LI", "L"),
        ("3+LE", "3+L"),
        ("3+EE", "3+EE"),
    ],
)
def test_requests_are_judged_as_embeds_of_a_page(path: str, near: str):
    assert path_to_page(path) == near


def test_page_behind_a_guess_gets_what_it_requests(open_page: Open, site: RawSite):
    site.serve({
        "/": reply("<script src=/app.js></script>"),
        "/app.js": reply("var a = '/guessed/page.html'", "text/javascript"),
        "/guessed/page.html": reply("<p>x"),
    })  # fmt: skip
    with raw_site("127.0.0.2") as other:
        other.serve({"/lib.js": reply("1", "text/javascript"), "/robots.txt": ROBOTS})

        async def script(handler: RequestHandler, task: PageTask) -> None:
            if task.url.endswith("page.html"):
                await ask(handler, f"{other.origin}/lib.js", "script")

        page = open_page(script)
        unit = page.visits["/guessed/page.html"].page
        assert unit is not None
        assert unit.refused == []
        assert [visit.uri.path for visit in unit.visits] == ["EXE"]


def test_pictures_come_to_the_page_together_and_requests_keep_their_pace(
    open_page: Open, site: RawSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(picture_groups, "LONGEST_HOLD", 3600.0)
    monkeypatch.setattr(picture_groups, "_CONNECTIONS", 10**9)
    site.serve({path: reply(path, "image/png") for path in ("/1.png", "/2.png")})
    site.serve({"/a.js": reply("/a.js", "text/javascript")})
    may_start, has_come = asyncio.Event(), asyncio.Event()
    start, finish = PagePace.start, PagePace.finish
    starts: list[str] = []

    async def start_in_turn(self: PagePace, host: str) -> str:
        starts.append(host)
        if len(starts) == 2:
            await may_start.wait()
        return await start(self, host)

    def note_end(self: PagePace, host: str, visit: Visit) -> None:
        finish(self, host, visit)
        has_come.set()

    monkeypatch.setattr(PagePace, "start", start_in_turn)
    monkeypatch.setattr(PagePace, "finish", note_end)

    async def script(handler: RequestHandler, task: PageTask) -> None:
        first = asyncio.ensure_future(ask(handler, f"{task.url}1.png", "image"))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(ask(handler, f"{task.url}2.png", "image"))
        await has_come.wait()
        assert (await ask(handler, f"{task.url}a.js", "script")).body == b"/a.js", "scripts pass"
        assert not first.done()
        assert "/2.png" not in site.asked
        may_start.set()
        assert [(await each).body for each in (first, second)] == [b"/1.png", b"/2.png"]

    page = open_page(script, settings={"gap": 0.001})
    assert {path: visit.status for path, visit in page.requests.items()} == {
        "/1.png": 200,
        "/2.png": 200,
        "/a.js": 200,
    }


def test_page_that_waits_when_the_crawl_ends_goes_back_to_its_queue(
    open_page: Open, site: RawSite, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Engine, "is_halting", True)
    deferred: list[str] = []
    defer = BackToFrontier.defer

    def end_then(self: BackToFrontier, visit: Visit) -> None:
        if visit.capture is not None:
            deferred.append(visit.uri.url)
            monkeypatch.setattr(Engine, "is_halting", False)
        defer(self, visit)

    monkeypatch.setattr(BackToFrontier, "defer", end_then)
    page = open_page(no_requests)
    assert deferred == [f"{site.origin}/"]
    assert page.visits["/"].page is not None, "it is run later"
    assert site.asked.count("/") == 2


def _uris(page: Page) -> list[CrawlURI]:
    return [visit.uri for visit in page.visits.values()]
