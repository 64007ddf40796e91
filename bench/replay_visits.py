"""Pages opened live, in `nacre replay` and in pywb, with their text and their requests."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Error, Frame, Page, Request, Response, ViewportSize

from tools.nginx import free_port

WINDOW: ViewportSize = {"width": 1280, "height": 4000}
_ARCHIVED = re.compile(r"/\d{1,14}[a-z]*_?/(https?:/.*)")
_CAPTURE = re.compile(r"/\d{1,14}mp_/")
_QUIET, _LONGEST = 1.5, 20.0
"""Seconds without a request after which the scripts of a page have done theirs; seconds at most."""
_TEXT = """() => {
    const style = document.createElement("style");
    style.textContent = "* { content-visibility: visible !important }";
    document.documentElement.append(style);
    return document.body ? document.body.innerText : "";
}"""
"""Its text depends on no window: else a browser leaves out what is far outside of it."""

Show = Callable[[Page, str, str], Frame]
"""Opens a page, by its URL and timestamp, in a tab; returns the frame that has it."""


@dataclass
class Visit:
    """A page as a browser has it.

    Attributes:
        text: The visible text, with single spaces.
        requests: URLs of the live site that were answered with a status below 400.
        leaks: Replies of the live site itself, not of an archive.
        error: The reason why the page was not opened; "" if it was.
    """

    text: str = ""
    requests: set[str] = field(default_factory=set)
    leaks: int = 0
    error: str = ""


class _Traffic:
    """The requests of a tab, and when the last one began or ended."""

    def __init__(self, page: Page, answered: Callable[[Response], None]) -> None:
        self._page = page
        self._open: set[Request] = set()
        self._last = time.monotonic()
        self._handlers = (
            ("response", answered), ("request", self._begin),
            ("requestfinished", self._end), ("requestfailed", self._end),
        )  # fmt: skip
        for name, handler in self._handlers:
            page.on(name, handler)  # type: ignore[call-overload]

    def _begin(self, request: Request) -> None:
        self._open.add(request)
        self._last = time.monotonic()

    def _end(self, request: Request) -> None:
        self._open.discard(request)
        self._last = time.monotonic()

    def wait(self) -> None:
        """Wait until the scripts of the page have done their requests."""
        end = time.monotonic() + _LONGEST
        while time.monotonic() < end:
            self._page.wait_for_timeout(100)
            if time.monotonic() - self._last > _QUIET:
                return

    def close(self) -> None:
        for name, handler in self._handlers:
            self._page.remove_listener(name, handler)


def visit(page: Page, origins: tuple[str, ...], show: Show, url: str, timestamp: str = "") -> Visit:
    """Open a page and wait until its scripts are done.

    Args:
        page: A tab.
        origins: Scheme, host and port of the live site, and of others that it asks.
        show: Opens the page in the tab; returns the frame that has it. A frame loads no icon
            (the resource type `other`) and no lazy image far below, so neither is compared.
        url: URL of the page.
        timestamp: Time of its capture; "" for the live page.
    """
    result = Visit()

    def answered(response: Response) -> None:
        archived = archived_url(response.url, origins)
        result.leaks += response.url.startswith(origins)
        if response.status < 400 and archived and response.request.resource_type != "other":
            result.requests.add(archived)

    traffic = _Traffic(page, answered)
    try:
        frame = show(page, url, timestamp)
        frame.wait_for_load_state("load", timeout=30_000)
        traffic.wait()
        result.text = " ".join(str(frame.evaluate(_TEXT)).split())
    except Error as error:
        result.error = str(error).splitlines()[0]
    traffic.close()
    return result


def archived_url(url: str, origins: tuple[str, ...]) -> str:
    """Return the URL of the live site that a request of a page stands for; "" for none."""
    url = url.partition("#")[0]
    match = _ARCHIVED.search(url)
    if match is not None:
        return match[1] if match[1].startswith(origins) else ""
    if url.startswith(origins):
        return url
    host = re.match(r"https?://j\w+\.replay\.localhost:\d+(/(?!-/).*)", url)
    return origins[0] + host[1] if host is not None else ""


def show_live(page: Page, url: str, timestamp: str) -> Frame:
    """Open a page of the live site."""
    del timestamp
    page.goto(url, wait_until="load", timeout=60_000)
    return page.main_frame


def pywb_viewer(port: int) -> Show:
    """Return the function that opens a page in a running pywb."""

    def show(page: Page, url: str, timestamp: str) -> Frame:
        page.goto(f"http://127.0.0.1:{port}/t/{timestamp}/{url}", wait_until="load", timeout=60_000)
        return _framed(page, "#replay_iframe")

    return show


@contextmanager
def nacre_viewer(job: Path) -> Iterator[Show]:
    """Run `nacre replay` while the context lasts; give the function that opens a page."""
    command = [sys.executable, "-m", "nacre", "replay", str(job), "--port", str(free_port())]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            yield _viewer_of(process)
        finally:
            process.terminate()


def _viewer_of(process: "subprocess.Popen[str]") -> Show:
    """Return the function that opens a page in the viewer of a running replay."""
    lines = (re.search(r"http://\S+", line) for line in process.stdout or ())
    link = next((match[0] for match in lines if match is not None), "")
    base, _, label = link.partition("/view/")
    label = label.partition("/")[0]
    opened: set[int] = set()

    def show(page: Page, url: str, timestamp: str) -> Frame:
        if id(page) not in opened:
            page.goto(link)  # trades the ticket
            page.wait_for_load_state("networkidle")
            opened.add(id(page))
        page.goto(f"{base}/view/{label}/{timestamp}/{url}")
        return _framed(page, "#page")

    return show


def _framed(page: Page, selector: str) -> Frame:
    """Return the frame of a viewer, once it has a capture."""
    element = page.wait_for_selector(selector, state="attached")
    frame = element.content_frame() if element is not None else None
    assert frame is not None
    frame.wait_for_url(_CAPTURE, timeout=30_000)
    return frame
