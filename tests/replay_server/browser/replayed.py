"""A small server that replays captures from memory, and a browser whose every way out is watched.

It has the contract that `static/sw.js` describes, and nothing else of the server of replay.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Error, Frame, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.replay.headers import replay_headers, script_cookies
from nacre.replay.page_urls import PageAddress, locate_stray
from nacre.replay.rewrite_css import rewrite_css
from nacre.replay.rewrite_html import rewrite_page
from nacre.replay_server.worker_scripts import WORKERS, begin_worker
from tests.console.stories.chromium import chromium, driver
from tests.replay_server.browser.static_files import static_file

TIME = "20260102030405"
BOOT = """<!doctype html><script>
navigator.serviceWorker.register("/-/sw.js", {scope: "/"})
  .then(() => navigator.serviceWorker.ready).then(() => location.replace(location.href));
</script>"""
EMPTY = "about:blank"
VIEWER = """<!doctype html><title>viewer</title><script>
window.messages = [];
addEventListener("message", (event) => window.messages.push(event.data));
</script><iframe name="replayed" width=900 height=600
 sandbox="allow-scripts allow-same-origin allow-forms allow-modals" src="%s"></iframe>"""


class Capture(NamedTuple):
    """What the archive has of a URL."""

    body: bytes | str | Callable[[Request, bytes], str]
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    fields: tuple[tuple[str, str], ...] = ()


class Asked(NamedTuple):
    """A request that the server got."""

    method: str
    url: str
    timestamp: str
    worker: str
    fields: Mapping[str, str]
    body: bytes


class Replay:
    """The server, with its log.

    Attributes:
        captures: By URL; those by `METHOD URL` only for that method.
        log: Requests for captures, in order.
        strays: Paths of requests that the worker did not lead to a capture.
    """

    def __init__(self) -> None:
        self.captures: dict[str, Capture] = {}
        self.log: list[Asked] = []
        self.strays: list[str] = []
        self.port = 0

    def fill(self, captures: Mapping[str, Capture | str]) -> None:
        """Begin anew, with other captures."""
        self.captures = {
            url: Capture(capture) if isinstance(capture, str) else capture
            for url, capture in captures.items()
        }
        self.log, self.strays = [], []

    @property
    def origin(self) -> str:
        """Origin of the captures."""
        return f"http://j1.replay.localhost:{self.port}"

    @property
    def viewer(self) -> str:
        """Origin of the viewer."""
        return f"http://replay.localhost:{self.port}"

    def urls(self) -> list[str]:
        """URLs of the captures that were asked for."""
        return [asked.url for asked in self.log]

    async def answer(self, request: Request) -> Response:
        """Answer any request."""
        path = request.scope["raw_path"].decode("ascii")
        query = request.scope["query_string"].decode("ascii")
        if path.startswith("/-/"):
            return Response(static_file(path[3:]), media_type="text/javascript",
                            headers={"Service-Worker-Allowed": "/"})  # fmt: skip
        if request.headers.get("service-worker") == "script":
            return Response("archived pages cannot install workers", 403)
        if request.url.hostname == "replay.localhost":
            return Response(VIEWER % f"{self.origin}{path}", media_type="text/html")
        stamp, mark, url = path[1:].partition("mp_/")
        if not mark:
            self.strays.append(path)
            target = locate_stray(
                f"{path}?{query}" if query else path, request.headers.get("referer", "")
            )
            status, fields = (404, {}) if target is None else (307, {"Location": target})
            return Response(status_code=status, headers=fields)
        url += f"?{query}" if query else ""
        worker = request.headers.get("x-nacre-worker", "")
        if not worker and request.headers.get("sec-fetch-dest") in {"iframe", "document", "frame"}:
            return Response(BOOT, media_type="text/html")
        body = await request.body()
        self.log.append(Asked(request.method, url, stamp, worker, request.headers, body))
        return self._capture(request, PageAddress("", stamp, url), body)

    def _capture(self, request: Request, page: PageAddress, body: bytes) -> Response:
        capture = self.captures.get(f"{request.method} {page.url}", self.captures.get(page.url))
        if capture is None:
            return Response("not archived", status_code=404)
        content = capture.body(request, body) if callable(capture.body) else capture.body
        data = content.encode() if isinstance(content, str) else content
        if capture.kind.startswith(("text/html", "application/xhtml")):
            data = rewrite_page(data, "utf-8", page, script_cookies(capture.fields))
        elif capture.kind.startswith("text/css"):
            data = rewrite_css(data, "utf-8", page)
        elif request.headers.get("x-nacre-worker") in WORKERS:
            data = begin_worker(data, page)
        status, fields = capture.status, list(capture.fields)
        ranges = request.headers.get("range", "")
        if ranges.startswith("bytes="):
            first, _, last = ranges[6:].partition("-")
            end = int(last) + 1 if last else len(data)
            fields.append(("Content-Range", f"bytes {first}-{end - 1}/{len(data)}"))
            status, data = 206, data[int(first) : end]
        answer = Response(data, status_code=status)
        del answer.headers["content-length"]
        captured = [("Content-Type", capture.kind), *fields]
        for name, value in replay_headers(captured, page, viewer=self.viewer):
            answer.headers.append(name, value)
        answer.headers["Memento-Datetime"] = "Fri, 02 Jan 2026 03:04:05 GMT"
        answer.headers["Content-Length"] = str(len(data))
        answer.headers["Cache-Control"] = "no-store"
        return answer


@contextmanager
def replay() -> Iterator[Replay]:
    """A server of captures."""
    place = Replay()
    methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
    app = Starlette(routes=[Route("/{path:path}", place.answer, methods=methods)])
    listener = socket.create_server(("127.0.0.1", 0))
    place.port = listener.getsockname()[1]
    config = uvicorn.Config(app, log_level="warning", lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield place
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


class LiveWeb:
    """What stands for every other server of the world: it only counts connections."""

    def __init__(self) -> None:
        self.connections: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.2)
        self.port = self._listener.getsockname()[1]
        self._is_open = True
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while self._is_open:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(1)
                try:
                    self.connections.append(connection.recv(400))
                except OSError:
                    self.connections.append(b"")

    def close(self) -> None:
        """End it."""
        self._is_open = False
        self._thread.join()
        self._listener.close()


@contextmanager
def watched_browser() -> Iterator[tuple[Browser, LiveWeb]]:
    """A browser for which every host of `test` is `LiveWeb`, on any port.

    It reaches the loopback, and nothing else.
    """
    web = LiveWeb()
    try:
        browser = driver().chromium.launch(
            executable_path=chromium(),
            chromium_sandbox=os.geteuid() != 0,
            args=[
                f"--host-resolver-rules=MAP *.test 127.0.0.1:{web.port}, MAP * ~NOTFOUND, "
                "EXCLUDE replay.localhost, EXCLUDE *.replay.localhost, EXCLUDE localhost, "
                "EXCLUDE 127.0.0.1",
                "--disable-dev-shm-usage",
                "--autoplay-policy=no-user-gesture-required",
            ],
        )
        try:
            yield browser, web
        finally:
            browser.close()
    finally:
        web.close()


@contextmanager
def replayed(context: BrowserContext, place: Replay, url: str) -> Iterator[Page]:
    """The viewer with a capture in its frame, once the capture is loaded.

    The page is empty afterwards, and the next capture is shown there: to open one takes longer than
    most tests.
    """
    page = next((each for each in context.pages if each.url == EMPTY), None) or context.new_page()
    try:
        page.goto(f"{place.viewer}/{TIME}mp_/{url}")
        page.wait_for_function("messages.some((each) => each.nacre === 'page')")
        yield page
    finally:
        try:
            page.goto(EMPTY)
        except Error:  # Chromium ended it
            page.close()


def frame_of(page: Page, name: str = "replayed") -> Frame:
    """A frame of a page by its name; that of the capture is in the viewer."""
    while (frame := page.frame(name)) is None:
        page.wait_for_timeout(25)
    return frame


def within(page: Page, script: str) -> Any:
    """The value of a script in the frame of the capture."""
    return frame_of(page).evaluate(script)
