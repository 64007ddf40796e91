"""Replay beside pywb: sites are crawled, and their pages opened live and in both replays.

`python -m bench.replay [--browser always] [SITE ...]` prints a line for each site: the pages; the
requests of the live pages; how many of their replies are in the archive; how many of these each
replay answers; on how many pages the visible text is that of the live page; requests of the replay
to the live site, which must be 0. With `--browser` sites are crawled from their home page, and
their pages are run in a browser.

`python -m bench.replay --browser always URL ...` does it with pages of a site that runs already on
this machine, and prints a line for each page; `--pages FILE` has more URLs. `--server ORIGIN` names
another server of the site, such as `http://127.0.0.1:8091`.

Needs Chromium and the judges (`make judges`); Trac, MediaWiki and packages of npm are downloaded.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser

from bench.replay_sites import live_site, names
from bench.replay_visits import WINDOW, Show, Visit, nacre_viewer, pywb_viewer, show_live, visit
from nacre.catalogue.captures import IndexedCapture, read_capture
from tests.console.stories.chromium import open_browser
from tests.crawl.replay import replaying

_PAGES, _DOCUMENTS = 5, 900


class ComparedSite(NamedTuple):
    """A site that is compared.

    Attributes:
        name: Its name in the table.
        origins: Scheme, host and port of its servers, the main one first.
        seeds: URLs from which it is crawled.
        pages: URLs of the pages; empty: the first pages of the crawl.
        log: Paths of the requests that its server got; empty if that is not known.
    """

    name: str
    origins: tuple[str, ...]
    seeds: tuple[str, ...]
    pages: tuple[str, ...]
    log: Sequence[str] = ()


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

    def add(self, other: "Row") -> None:
        """Add the numbers of another line."""
        for name, value in vars(other).items():
            if isinstance(value, int):
                setattr(self, name, getattr(self, name) + value)

    def line(self) -> str:
        """Return the line."""
        return (
            f"{self.name:<32}{self.pages:>6}{self.live:>7}{self.expected:>10}{self.nacre:>7}{self.pywb:>7}"
            f"{self.same_text:>8}{self.same_text_pywb:>8}{self.leaks:>7}"
        )


HEAD = (
    f"{'site':<32}{'pages':>6}{'live':>7}{'captured':>10}{'nacre':>7}{'pywb':>7}"
    f"{'text':>8}{'pywb':>8}{'leaks':>7}"
)


def crawl(site: ComparedSite, job: Path, use: str) -> list[IndexedCapture]:
    """Crawl a site; return the lines of its index. `use` is that of `browser.use`."""
    seeds = job.with_suffix(".txt")
    chosen = site.seeds if use == "never" else site.pages or site.seeds[:1]
    seeds.write_text("\n".join(chosen), "utf-8")
    command = [
        sys.executable, "-m", "nacre", "crawl", "--seeds", str(seeds), "--out", str(job),
        "--scope", "host", "--delay", "0", "--depth", "1", "--max-pages", str(_DOCUMENTS),
        "--quiet", "--allow-net", "127.0.0.0/8", "--browser", use,
        "--set", "frontier.retry_delay=1", "--set", "frontier.max_retries=1",
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


def pages_of(site: ComparedSite, captures: list[IndexedCapture]) -> list[str]:
    """Return the pages that are compared: those of the site, or some of the crawl."""
    if site.pages:
        return list(site.pages)
    urls = [c.url for c in captures if c.mime == "text/html" and c.status == 200]
    urls = sorted({url for url in urls if url.startswith(site.origins[0])})
    step = max(1, len(urls) // _PAGES)
    return list(dict.fromkeys([*site.seeds[:1], *urls[::step]]))[: _PAGES + 1]


class ComparedPage(NamedTuple):
    """A page, as it is live and in both replays.

    Attributes:
        url: Its URL.
        expected: URLs of its requests whose replies were captured.
        live: The live page.
        ours: In `nacre replay`.
        theirs: In pywb.
    """

    url: str
    expected: set[str]
    live: Visit
    ours: Visit
    theirs: Visit


def compare(site: ComparedSite, browser: Browser, folder: Path, use: str) -> list[ComparedPage]:
    """Crawl a site, and open its pages live and in both replays."""
    captures = crawl(site, folder / "job", use)
    stored = {c.url for c in captures if c.status < 400}
    pages = pages_of(site, captures)
    times = {c.url: c.timestamp for c in reversed(captures)}

    def open_all(show: Show) -> dict[str, Visit]:
        tab = browser.new_page(viewport=WINDOW)
        visits = {url: visit(tab, site.origins, show, url, times[url]) for url in pages}
        tab.close()
        return visits

    live = open_all(show_live)
    warcs = sorted((folder / "job").glob("runs/*/archive/*.warc.gz"))
    (folder / "pywb").mkdir()
    with replaying(warcs, folder / "pywb") as judge:
        theirs = open_all(pywb_viewer(judge.port))
    requests = len(site.log)
    with nacre_viewer(folder / "job") as show:
        ours = open_all(show)
    ours[pages[0]].leaks += len(site.log) - requests
    return [
        ComparedPage(url, live[url].requests & stored, live[url], ours[url], theirs[url])
        for url in pages
    ]


def add_page(row: Row, page: ComparedPage) -> None:
    """Add the result of a page to a line."""
    url, expected, live, ours, theirs = page
    row.pages += 1
    row.live += len(live.requests)
    row.expected += len(expected)
    row.nacre += len(expected & ours.requests)
    row.pywb += len(expected & theirs.requests)
    row.same_text += live.text == ours.text
    row.same_text_pywb += live.text == theirs.text
    row.leaks += ours.leaks
    for name, visited in (("nacre", ours), ("pywb", theirs)):
        where = f"{url}, {name}: "
        if visited.error:
            row.failures.append(where + visited.error)
        elif live.text != visited.text:
            row.failures.append(where + _difference(live.text, visited.text))
        absent = sorted(expected - visited.requests)
        row.failures += [f"{where}no reply for {request}" for request in absent]


def _difference(live: str, replayed: str) -> str:
    """Return where two texts begin to differ."""
    pairs = zip(live, replayed, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(live), len(replayed)))
    part = slice(max(0, same - 10), same + 50)
    return f"live {live[part]!r}, replayed {replayed[part]!r}"


def _compared_rows(site: ComparedSite, browser: Browser, use: str) -> Iterator[Row]:
    """Yield the line of a site; of one that runs already, a line for each page."""
    with tempfile.TemporaryDirectory() as folder:
        pages = compare(site, browser, Path(folder), use)
    if site.name:
        pages_of_rows = {site.name: pages}
    else:
        pages_of_rows = {page.url.removeprefix(site.origins[0]): [page] for page in pages}
    for name, members in pages_of_rows.items():
        row = Row(name)
        for page in members:
            add_page(row, page)
        yield row


def _rows(wishes: argparse.Namespace, browser: Browser) -> Iterator[Row]:
    urls = [url for url in wishes.sites if "://" in url]
    if wishes.pages:
        urls += wishes.pages.read_text("utf-8").split()
    if urls:
        origin = "/".join(urls[0].split("/")[:3])
        site = ComparedSite("", (origin, *wishes.server), tuple(urls), tuple(urls))
        yield from _compared_rows(site, browser, wishes.browser)
        return
    for name in wishes.sites or names():
        with tempfile.TemporaryDirectory() as folder, live_site(name, Path(folder)) as served:
            origins = (served.served.origin,)
            site = ComparedSite(name, origins, served.seeds, served.pages, served.served.log)
            yield from _compared_rows(site, browser, wishes.browser)


def main() -> int:
    """Entry point; 1 if a site cannot be compared, a request left, or pywb answers more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", help="names of sites (default: all), or URLs of pages")
    parser.add_argument("--browser", choices=("never", "auto", "always"), default="never")
    parser.add_argument("--pages", type=Path, help="file with URLs of pages of a site that runs")
    parser.add_argument("--server", action="append", default=[], help="another origin of the site")
    wishes = parser.parse_args()
    print(HEAD, flush=True)
    failed = False
    total = Row("total")
    with open_browser() as browser:
        for row in _rows(wishes, browser):
            print(row.line(), *row.failures, sep="\n  ", flush=True)
            total.add(row)
            failed |= row.leaks > 0 or row.nacre < row.pywb
    print(total.line())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
