"""A site of pages that a browser runs, without a browser: each sends the requests of its scripts.

Of each page all is there, or nothing: `check_pages`.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nacre.archive.reader import WarcReader
from nacre.core.rendered import PageTask, RenderedPage, RequestHandler
from nacre.settings.settings import JobSettings
from tests.engine.page_making import PNG
from tests.engine.pages.renderer import ask
from tests.fault.jobs import settings

PAGES = 6
PATHS = tuple(f"/page{number}.html" for number in range(PAGES))
KINDS = ("pageinfo", "view", "text")
BUNDLE = random.Random(1).randbytes(30_000).hex().encode()


def parts_of(path: str) -> dict[str, bytes]:
    """What the scripts of a page ask for, by path: a bundle that all share, and data of its own."""
    data = random.Random(path).randbytes(12_000).hex().encode()
    return {"/bundle.js": BUNDLE, f"{path}.json": data, f"{path}.small": path.encode()}


def app_site() -> dict[str, bytes]:
    """Bodies by path, for `tests.fault.site.Site`."""
    links = "".join(f'<a href="{path}">{path}</a>' for path in PATHS).encode()
    site = {"/": b"<html><body>" + links, "/robots.txt": b"User-agent: *\nAllow: /\n"}
    for path in PATHS:
        urls = ", ".join(f"'{part}'" for part in parts_of(path))
        script = f"<script>for (const url of [{urls}]) fetch(url);</script>"
        site[path] = f"<html><body><div id=app></div>{path}{script}".encode()
        site |= parts_of(path)
    return site


class AppRenderer:
    """Opens pages by sending the requests of their scripts; the home page sends none."""

    slots = 2

    async def render(self, task: PageTask, handler: RequestHandler) -> RenderedPage:
        await ask(handler, task.url, "document")
        start, _, path = task.url.partition("/page")
        for part in parts_of(f"/page{path}") if path else ():
            await ask(handler, f"{start}{part}", "fetch")
        dom = f"<html><body><p>{task.url}</p></body></html>".encode()
        return RenderedPage(
            "settled", task.url, "App", dom=dom, pictures={"view": PNG}, browser="App/1"
        )

    async def close(self) -> None:
        """There is no browser."""


def page_settings(seed: str, **more: Any) -> JobSettings:
    """A crawl that runs all pages; each sends all of its requests."""
    browser = {"use": "always", "reuse": 0, "gap": 0, "pictures": ["view"]}
    return settings(seed, browser=browser, **more)


@dataclass
class StoredPage:
    """What a page left in the archive.

    Attributes:
        captures: Responses and revisits by path.
        urns: Its own records by kind.
        urls: The URLs that these are about.
    """

    captures: Counter[str] = field(default_factory=Counter)
    urns: Counter[str] = field(default_factory=Counter)
    urls: set[str] = field(default_factory=set)


def stored_pages(warcs: Iterable[Path]) -> dict[str, StoredPage]:
    """All pages of some WARCs, by WARC-Page-ID."""
    pages: dict[str, StoredPage] = defaultdict(StoredPage)
    for warc in warcs:
        with warc.open("rb") as file:
            for entry in WarcReader(file):
                page_id, url = entry.get("WARC-Page-ID"), entry.get("WARC-Target-URI") or ""
                if page_id and url.startswith("urn:"):
                    _, kind, about = url.split(":", 2)
                    pages[page_id].urns[kind] += 1
                    pages[page_id].urls.add(about)
                elif page_id and entry.get("WARC-Type") in {"response", "revisit"}:
                    pages[page_id].captures["/" + url.split("/", 3)[3]] += 1
    return pages


def check_pages(warcs: Iterable[Path], finished: Iterable[str]) -> None:
    """Of each page that is finished all is there, once; of all others nothing.

    Args:
        warcs: The WARCs of the job.
        finished: Paths of pages whose result is durable.
    """
    pages = stored_pages(warcs)
    paths: Counter[str] = Counter()
    for page in pages.values():
        (url,) = page.urls
        path = "/" + url.split("/", 3)[3]
        paths[path] += 1
        expected = {path, *parts_of(path)} if path in PATHS else {path}
        assert page.captures == dict.fromkeys(expected, 1), (path, page)
        assert page.urns == dict.fromkeys(KINDS, 1), (path, page)
    assert paths == dict.fromkeys(finished, 1)
