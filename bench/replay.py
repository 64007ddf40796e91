"""Replay beside pywb: sites are crawled, and their pages opened live and in both replays.

`python -m bench.replay [--browser always] [SITE ...]` prints a line for each site: the pages; the
requests of the live pages; how many of their replies are in the archive; how many of these each
replay answers; on how many pages the visible text is that of the live page; requests of the replay
to the live site, which must be 0. With `--browser` sites are crawled from their home page, and
their pages are run in a browser.
Needs Chromium and the judges (`make judges`); Trac, MediaWiki and packages of npm are downloaded.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Error, Frame, Page, Response, ViewportSize

from bench.replay_sites import LiveSite, live_site, names
from nacre.catalogue.captures import IndexedCapture, read_capture
from tests.console.stories.chromium import open_browser
from tests.crawl.replay import replaying
from tools.nginx import free_port

_ARCHIVED = re.compile(r"/\d{1,14}[a-z]*_?/(https?:/.*)")
_PAGES, _DOCUMENTS = 5, 900
_TEXT = """() => {
    const style = document.createElement("style");
    style.textContent = "* { content-visibility: visible !important }";
    document.documentElement.append(style);
    return document.body ? document.body.innerText : "";
}"""
"""Its text depends on no window: else a browser leaves out what is far outside of it."""
_WINDOW: ViewportSize = {"width": 1280, "height": 4000}
_QUIET = 1500
"""Milliseconds after which scripts of a page have done their requests."""


@dataclass
class Visit:
    """A page as a browser has it.

    Attributes:
        text: The visible text, with single spaces.
        requests: URLs of the live site that were answered with a status below 400.
        error: The reason why the page was not opened; "" if it was.
    """

    text: str = ""
    requests: set[str] = field(default_factory=set)
    error: str = ""


@dataclass
class Row:
    """A line of the table: a site with the results of its pages."""

    name: str
    pages: int = 0
    live: int = 0
    expected: int = 0
    nacre: int = 0
    pywb: int = 0
    same_text: int = 0
    same_text_pywb: int = 0
    leaks: int = 0
    failures: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return the line."""
        return (
            f"{self.name:<12}{self.pages:>6}{self.live:>7}{self.expected:>10}{self.nacre:>7}{self.pywb:>7}"
            f"{self.same_text:>8}{self.same_text_pywb:>8}{self.leaks:>7}"
        )


HEAD = (
    f"{'site':<12}{'pages':>6}{'live':>7}{'captured':>10}{'nacre':>7}{'pywb':>7}"
    f"{'text':>8}{'pywb':>8}{'leaks':>7}"
)


def crawl(site: LiveSite, job: Path, use: str) -> list[IndexedCapture]:
    """Crawl a site; return the lines of its index. `use` is that of `browser.use`."""
    seeds = site.seeds if use == "never" else site.pages or site.seeds[:1]
    command = [
        sys.executable, "-m", "nacre", "crawl", *seeds, "--out", str(job), "--scope", "host",
        "--delay", "0", "--depth", "1", "--max-pages", str(_DOCUMENTS), "--quiet",
        "--allow-net", "127.0.0.0/8", "--browser", use,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    captures = []
    for index in job.glob("runs/*/archive/*.cdxj"):
        for line in index.read_bytes().splitlines():
            capture = read_capture(line)
            captures += [capture] if capture is not None else []
    if not captures:
        raise RuntimeError(f"{site.name}: nothing was captured: {done.stdout} {done.stderr}")
    return captures


def pages_of(site: LiveSite, captures: list[IndexedCapture]) -> list[str]:
    """Return the pages that are compared: those of the site, or some of the crawl."""
    if site.pages:
        return list(site.pages)
    urls = [c.url for c in captures if c.mime == "text/html" and c.status == 200]
    urls = sorted({url for url in urls if url.startswith(site.served.origin)})
    step = max(1, len(urls) // _PAGES)
    return list(dict.fromkeys([*site.seeds[:1], *urls[::step]]))[: _PAGES + 1]


def visit(page: Page, origin: str, show: Callable[[Page], Frame]) -> Visit:
    """Open a page and wait until its scripts are done.

    Args:
        page: A tab.
        origin: Scheme, host and port of the live site.
        show: Opens the page in the tab; returns the frame that has it. A frame loads no icon
            (the resource type `other`) and no lazy image far below, so neither is compared.
    """
    result = Visit()

    def answered(response: Response) -> None:
        url = archived_url(response.url, origin)
        if response.status < 400 and url and response.request.resource_type != "other":
            result.requests.add(url)

    page.on("response", answered)
    try:
        frame = show(page)
        frame.wait_for_load_state("load", timeout=30_000)
        page.wait_for_timeout(_QUIET)
        text = frame.evaluate(_TEXT)
        result.text = " ".join(str(text).split())
    except Error as error:
        result.error = str(error).splitlines()[0]
    page.remove_listener("response", answered)
    return result


def archived_url(url: str, origin: str) -> str:
    """Return the URL of the live site that a request of a page stands for; "" for none."""
    url = url.partition("#")[0]
    match = _ARCHIVED.search(url)
    if match is not None:
        return match[1] if match[1].startswith(origin) else ""
    if url.startswith(origin):
        return url
    host = re.match(r"https?://j\w+\.replay\.localhost:\d+(/(?!-/).*)", url)
    return origin + host[1] if host is not None else ""


@contextmanager
def nacre_replay(job: Path, browser: Browser) -> Iterator[Callable[..., Frame]]:
    """Run `nacre replay` while the context lasts; give the function that opens a page."""
    port = free_port()
    command = [sys.executable, "-m", "nacre", "replay", str(job), "--port", str(port)]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            yield _viewer_of(process, browser)
        finally:
            process.terminate()


def _viewer_of(process: "subprocess.Popen[str]", browser: Browser) -> Callable[..., Frame]:
    """Return the function that opens a page in the viewer of a running replay."""
    link = ""
    for line in process.stdout or ():
        match = re.search(r"http://\S+", line)
        if match is not None:
            link = match[0]
            break
    base, _, label = link.partition("/view/")
    label = label.partition("/")[0]
    opened: set[int] = set()

    def show(page: Page, url: str, timestamp: str) -> Frame:
        if id(page) not in opened:
            page.goto(link)
            page.wait_for_timeout(_QUIET)
            opened.add(id(page))
        page.goto(f"{base}/view/{label}/{timestamp}/{url}")
        page.wait_for_timeout(_QUIET)
        return next(frame for frame in page.frames if f"_/{url}" in frame.url)

    return show


def compare(name: str, browser: Browser, folder: Path, use: str = "never") -> Row:
    """Crawl a site, and compare its pages in both replays with the live ones."""
    row = Row(name)
    with live_site(name, folder) as site:
        origin = site.served.origin
        captures = crawl(site, folder / "job", use)
        stored = {c.url for c in captures if c.status < 400}
        pages = pages_of(site, captures)
        times = {c.url: c.timestamp for c in captures}
        tab = browser.new_page(viewport=_WINDOW)
        live = {}
        for url in pages:
            live[url] = visit(tab, origin, partial(_goto, url=url))
        warcs = sorted((folder / "job").glob("runs/*/archive/*.warc.gz"))
        (folder / "pywb").mkdir()
        requests = len(site.served.log)
        theirs, ours = {}, {}
        with replaying(warcs, folder / "pywb") as judge:
            for url in pages:
                address = f"http://127.0.0.1:{judge.port}/t/{times[url]}/{url}"
                theirs[url] = visit(tab, origin, partial(_framed, url=address))
        by_pywb = len(site.served.log) - requests
        with nacre_replay(folder / "job", browser) as show:
            tab = browser.new_page(viewport=_WINDOW)
            for url in pages:
                ours[url] = visit(tab, origin, partial(show, url=url, timestamp=times[url]))
        row.leaks = len(site.served.log) - requests - by_pywb
    for url in pages:
        row.live += len(live[url].requests)
        _count(row, url, live[url].requests & stored, (live[url], ours[url], theirs[url]))
    return row


def _goto(page: Page, url: str) -> Frame:
    page.goto(url, wait_until="load", timeout=60_000)
    return page.main_frame


def _framed(page: Page, url: str) -> Frame:
    """Open a page of pywb; return the frame with the archived page."""
    _goto(page, url)
    page.wait_for_timeout(_QUIET)
    return next(frame for frame in page.frames if "mp_/" in frame.url)


def _count(row: Row, url: str, expected: set[str], visits: tuple[Visit, Visit, Visit]) -> None:
    """Add the result of a page to the line of its site."""
    live, ours, theirs = visits
    row.pages += 1
    row.expected += len(expected)
    row.nacre += len(expected & ours.requests)
    row.pywb += len(expected & theirs.requests)
    row.same_text += live.text == ours.text
    row.same_text_pywb += live.text == theirs.text
    if ours.error:
        row.failures.append(f"{url}: {ours.error}")
    elif live.text != ours.text:
        row.failures.append(f"{url}: {_difference(live.text, ours.text)}")
    row.failures += [f"{url}: no reply for {sub}" for sub in sorted(expected - ours.requests)]


def _difference(live: str, replayed: str) -> str:
    """Return where two texts begin to differ."""
    pairs = zip(live, replayed, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(live), len(replayed)))
    part = slice(max(0, same - 10), same + 50)
    return f"live {live[part]!r}, replayed {replayed[part]!r}"


def main() -> int:
    """Entry point; 1 if a site cannot be compared, a request left, or pywb answers more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", help="names of sites; default: all")
    parser.add_argument("--browser", choices=("never", "auto", "always"), default="never")
    wishes = parser.parse_args()
    chosen = wishes.sites or names()
    print(HEAD, flush=True)
    failed = False
    with open_browser() as browser:
        for name in chosen:
            with tempfile.TemporaryDirectory() as folder:
                row = compare(name, browser, Path(folder), wishes.browser)
            print(row.line(), *row.failures, sep="\n  ", flush=True)
            failed |= row.leaks > 0 or row.nacre < row.pywb
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
