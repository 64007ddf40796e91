"""Pages in a browser: the crawler's CPU and the browser's for each, beside direct loading.

`python -m bench.browser [SITE ...] [--pages N] [--rounds N]` prints a line for each site and way:

- `nacre`: `nacre crawl --browser always`, with all records written. The crawler's part is the CPU
  time of its process for each page but the first, whose crawl loads the modules and starts the
  browser. `--set` changes its settings.
- `direct`: the same browser, driver and behaviours without a proxy: nothing is recorded. Its first
  page is not counted either.
- `playwright`: Playwright with the bodies of all replies read and written to files.

The ways are interleaved, and medians of the rounds are printed. Needs chromium-headless-shell or
Chromium; packages of npm are downloaded.
"""

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Error, Response, sync_playwright

from bench.replay_sites import FolderWorld, live_site
from bench.worlds import ordinary
from bench.worlds.world import Served, served
from nacre.browser.authority import CertificateAuthority
from nacre.browser.driver import open_page
from nacre.browser.finding import find_browser
from nacre.browser.process import (
    BrowserLaunch,
    BrowserProcess,
    PageContext,
    PageStop,
    close_context,
)
from nacre.browser.process_tree import measure
from nacre.browser.settings import BrowserSettings
from nacre.core.rendered import PageTask

SITES = ("docsify", "swagger-ui", "feed", "static", "http", "https")
"""`http` and `https` are an ordinary page with 16 requests over either."""
WAYS = ("nacre", "direct", "playwright")
_PARAGRAPHS = 300
_PICTURES = 80
_PIXEL = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,"
    b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
_AUTHORITY = CertificateAuthority()
"""Of the certificate of `https`; the browser trusts it when it loads directly."""
_COUNT_OWN_CPU = (
    "import atexit, resource, runpy, sys\n"
    "def note():\n"
    "    usage = resource.getrusage(resource.RUSAGE_SELF)\n"
    "    print(f'OWN-CPU {usage.ru_utime + usage.ru_stime:.3f}', file=sys.stderr)\n"
    "atexit.register(note)\n"
    "runpy.run_module('nacre', run_name='__main__')\n"
)
"""Runs the command line, and prints the CPU time of its process alone, seconds."""


class Plan(NamedTuple):
    """How pages are opened.

    Attributes:
        parallel: Pages at once.
        settings: `PATH=VALUE` of a crawl, beside those of the benchmark.
    """

    parallel: int = 1
    settings: Sequence[str] = ()


class PageCost(NamedTuple):
    """The cost of one page.

    Attributes:
        crawler: CPU time of the crawler, seconds; of Playwright that of its driver and client.
        browser: CPU time of the browser, seconds.
        wall: Seconds.
        requests: Requests that the server got.
        memory: Memory of the browser at the end, bytes; 0 if it is not measured.
    """

    crawler: float
    browser: float
    wall: float
    requests: float
    memory: int = 0


@contextmanager
def serve_site(name: str, folder: Path) -> Iterator[Served]:
    """Serve a site while the context lasts; its pages differ in their query."""
    folder.mkdir()
    if name in ("http", "https"):
        ordinary.write_page(folder)
        tls = _AUTHORITY.context_for("127.0.0.1") if name == "https" else None
        with served(FolderWorld(name, folder, "/index.html"), tls=tls) as state:
            yield state
        return
    if name in ("docsify", "swagger-ui"):
        with live_site(name, folder) as site:
            yield site.served
        return
    if name == "static":
        text = "<p>A page that needs no script. 一页静态文字。</p>" * _PARAGRAPHS
        (folder / "index.html").write_text(
            f"<!DOCTYPE html><meta charset=utf-8><title>Static</title>{text}", "utf-8"
        )
    else:
        for number in range(_PICTURES):
            (folder / f"{number}.gif").write_bytes(_PIXEL)
        pictures = "".join(
            f'<p>entry {number}<br><img width=300 height=300 loading=lazy src="{number}.gif">'
            for number in range(_PICTURES)
        )
        (folder / "index.html").write_text(
            f"<!DOCTYPE html><meta charset=utf-8><title>Feed</title>{pictures}", "utf-8"
        )
    with served(FolderWorld(name, folder, "/index.html")) as state:
        yield state


def crawl(urls: list[str], job: Path, plan: "Plan") -> tuple[float, float, float]:
    """Crawl the pages; return the CPU time of the crawler and the browser's, and the wall time."""
    seeds = job.with_suffix(".txt")
    seeds.write_text("\n".join(urls), "utf-8")
    command = [
        sys.executable, "-c", _COUNT_OWN_CPU, "crawl", "--seeds", str(seeds), "--out", str(job),
        "--scope", "page", "--delay", "0", "--quiet", "--browser", "always", "--set",
        f"browser.pages={plan.parallel}", "--set", "browser.reuse=0", "--set",
        "browser.pictures=[]", "--allow-net", "127.0.0.0/8",
        *(word for setting in plan.settings for word in ("--set", setting)),
    ]  # fmt: skip
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.monotonic() - began
    own = re.search(r"OWN-CPU ([\d.]+)", done.stderr)
    if done.returncode or own is None:
        raise RuntimeError(f"the crawl ended with {done.returncode}: {done.stdout}{done.stderr}")
    report = [sys.executable, "-m", "nacre", "report", str(job), "browser", "--json"]
    data = subprocess.run(report, capture_output=True, text=True, check=True).stdout
    spent = re.search(r'"cpu":\s*([\d.]+)', data)
    return float(own[1]), float(spent[1]) if spent else 0.0, wall


def measure_nacre(site: Served, urls: list[str], folder: Path, plan: Plan) -> PageCost:
    """Return the cost of a page that Nacre crawls: of all pages, less that of the first alone."""
    first, alone, start = crawl(urls[:1], folder / "first", plan)
    before = len(site.log)
    own, browser, wall = crawl(urls, folder / "all", plan)
    count = len(urls) - 1
    return PageCost(
        (own - first) / count,
        (browser - alone) / count,
        (wall - start) / count,
        (len(site.log) - before) / len(urls),
    )


def measure_direct(site: Served, urls: list[str], folder: Path, plan: Plan) -> PageCost:
    """Return the cost of a page that the same driver opens without a proxy."""
    before = len(site.log)
    browser, wall, memory = asyncio.run(_open_directly(urls, folder, plan.parallel))
    requests = (len(site.log) - before) / len(urls)
    count = len(urls) - 1
    return PageCost(0.0, browser / count, wall / count, requests, memory)


async def _open_directly(urls: list[str], folder: Path, pages: int) -> tuple[float, float, int]:
    launch = BrowserLaunch(
        find_browser(""), folder, slots=pages, isolated=False, authority=_AUTHORITY.spki_hash
    )
    process = BrowserProcess(launch)
    await process.start()
    settings, queue = BrowserSettings(), list(urls)
    try:
        await _open_one(process, queue.pop(), settings)
        start, began = process.usage().cpu, time.monotonic()

        async def work() -> None:
            while queue:
                await _open_one(process, queue.pop(), settings)

        await asyncio.gather(*(work() for _ in range(pages)))
        usage = process.usage()
        return usage.cpu - start, time.monotonic() - began, usage.memory
    finally:
        await process.stop()


async def _open_one(process: BrowserProcess, url: str, settings: BrowserSettings) -> None:
    context = await _direct_context(process)
    try:
        page = await open_page(context, _task(url, settings))
    finally:
        await close_context(context)
    if page.ended != "settled":
        raise RuntimeError(f"{url} ended with {page.ended}: {page.console_errors}")


def _task(url: str, settings: BrowserSettings) -> PageTask:
    return PageTask(url, seed=1, behaviours=settings.behaviours, viewport=settings.viewport)


async def _direct_context(process: BrowserProcess) -> PageContext:
    """Open an empty page in a context without a proxy."""
    cdp = process.cdp
    context = await cdp.call(
        "Target.createBrowserContext", {"disposeOnDetach": True, "proxyServer": "direct://"}
    )
    identity = str(context["browserContextId"])
    created = await cdp.call(
        "Target.createTarget", {"url": "about:blank", "browserContextId": identity}
    )
    target = str(created["targetId"])
    attached = await cdp.call("Target.attachToTarget", {"targetId": target, "flatten": True})
    return PageContext(cdp, str(attached["sessionId"]), identity, target, process, PageStop())


def measure_playwright(site: Served, urls: list[str], folder: Path, plan: Plan) -> PageCost:
    """Return the cost of a page that Playwright opens, with the bodies of all replies written."""
    del plan  # its synchronous interface opens pages in turn
    before, own = len(site.log), time.process_time()
    bodies = folder / "bodies"
    bodies.mkdir()
    with sync_playwright() as driver:
        program = find_browser("").program
        browser = driver.chromium.launch(
            executable_path=str(program), chromium_sandbox=os.geteuid() != 0
        )
        start, began = _children(), time.monotonic()
        for number, url in enumerate(urls):
            context = browser.new_context(
                viewport={"width": 1440, "height": 900}, ignore_https_errors=True
            )
            page = context.new_page()
            replies: list[Response] = []
            page.on("response", partial(_collect, replies))
            page.goto(url, wait_until="networkidle")
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            page.wait_for_load_state("networkidle")
            for index, reply in enumerate(replies):
                try:
                    (bodies / f"{number}-{index}").write_bytes(reply.body())
                except Error:
                    continue  # a redirect has none
            context.close()
        wall, spent = time.monotonic() - began, _children()
        browser.close()
    count = len(urls)
    client = time.process_time() - own
    browser_cpu, driver_cpu = spent[0] - start[0], spent[1] - start[1]
    return PageCost(
        (client + driver_cpu) / count,
        browser_cpu / count,
        wall / count,
        (len(site.log) - before) / count,
    )


def _collect(replies: list[Response], reply: Response) -> None:
    replies.append(reply)


def _children() -> tuple[float, float]:
    """Return the CPU time of the browsers below this process, and of Playwright's driver."""
    whole, own = measure(os.getpid()).cpu, time.process_time()
    driver = 0.0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            driver += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return whole - own - driver, driver


_MEASURES = {"nacre": measure_nacre, "direct": measure_direct, "playwright": measure_playwright}


def compare(
    name: str, pages: int, rounds: int, plan: Plan, chosen: Sequence[str]
) -> dict[str, list[PageCost]]:
    """Measure a site in all ways, interleaved."""
    costs: dict[str, list[PageCost]] = {way: [] for way in chosen}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = stack.enter_context(serve_site(name, folder / "site"))
        for number in range(rounds):
            for way in chosen:
                if way == "playwright" and plan.parallel > 1:
                    continue
                place = folder / f"{way}-{number}"
                place.mkdir()
                urls = [f"{site.url}?r={number}&n={index}" for index in range(pages)]
                costs[way].append(_MEASURES[way](site, urls, place, plan))
    return costs


HEAD = (
    f"{'site':<12}{'at once':>8}  {'way':<11}{'crawler':>9}{'browser':>9}{'wall':>7}{'requests':>9}"
)


def line(name: str, parallel: int, way: str, costs: list[PageCost]) -> str:
    """Return the medians of a site and a way, seconds a page."""
    crawler, browser, wall, requests = (
        statistics.median(cost[index] for cost in costs) for index in range(4)
    )
    figures = f"{crawler:>8.3f}s{browser:>8.2f}s{wall:>6.2f}s{requests:>9.1f}"
    return f"{name:<12}{parallel:>8}  {way:<11}{figures}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", default=list(SITES))
    parser.add_argument("--pages", type=int, default=8, help="pages of a site in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parallel", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    wishes = parser.parse_args()
    print(HEAD)
    for name in wishes.sites:
        for parallel in wishes.parallel:
            plan = Plan(parallel, wishes.settings)
            for way, costs in compare(name, wishes.pages, wishes.rounds, plan, wishes.ways).items():
                if costs:
                    print(line(name, parallel, way, costs), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
