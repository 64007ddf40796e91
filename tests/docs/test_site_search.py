"""The built site of docs/ in Chromium: its search, in English and in Chinese, without a network.

`NACRE_PICTURES=1` makes the pictures of the search again.
"""

import functools
import http.server
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.console.stories.chromium import open_browser
from tests.console.stories.test_pictures import FOLDER, LARGEST, keep
from tools.docs_site import build

SEARCHES = {
    "english": ("politeness of a host", "readme.html"),
    "chinese": ("国家图书馆", "zh/index.html"),
}
"""A query, and a page that its results contain."""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serve_site() -> Iterator[str]:
    """The address of the built site, on the loopback."""
    handler = functools.partial(QuietHandler, directory=str(build.HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def search(page: Page, home: str, query: str) -> list[str]:
    """Type a query into the search field; return the addresses of the results."""
    page.goto(home)
    page.locator("input[name=q]").first.fill(query)
    page.keyboard.press("Enter")
    expect(page.locator(".search-summary")).to_contain_text(
        re.compile("found|did not match"), timeout=20_000
    )
    links = page.locator("ul.search li a")
    return [str(link.evaluate("link => link.href")) for link in links.all()]


@pytest.mark.console
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_search_finds_english_and_chinese_pages():
    assert build.build() == 0
    with serve_site() as home, open_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        for name, (query, target) in SEARCHES.items():
            found = search(page, home, query)
            assert any(url.startswith(f"{home}{target}") for url in found), found
            if "NACRE_PICTURES" in os.environ:
                keep(page.screenshot(), f"site-search-{name}")
        assert search(page, home, "故宫博物院") == []
        assert [url for url in requested if not url.startswith((home, "data:"))] == []


def test_the_pictures_of_the_search_are_small_and_there():
    assert {path.name for path in FOLDER.glob("site-*")} == {
        f"site-search-{name}.webp" for name in SEARCHES
    }
    assert all(path.stat().st_size <= LARGEST for path in FOLDER.glob("site-*"))
