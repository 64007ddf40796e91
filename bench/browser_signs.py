"""How many pages that need a browser are found, and how many others are run in vain.

    python -m bench.browser_signs [--held-out] [--one-site] [--check] [--crawl DIR [--no-guesses]]

Takes 100 pages of applications and 900 of documentation through `PageChoice`, as a crawl does, in
an order that is drawn. A page that is chosen is run in Chromium (`chromium-headless-shell`); its
final DOM and requests are learned, and kept in the cache, so that a second run starts no browser.
Whether a page needs a browser is known by its package alone; `--check` runs each application once,
and prints by how much its text grows. Prints JSON; what was held out while the signs were written
is counted apart, too. `--one-site` has all pages on one site, each package in a folder.
`--crawl` serves that site, crawls it with `--browser auto` into DIR, and counts by crawl.log.
"""

import argparse
import hashlib
import html
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from random import Random
from threading import Thread
from time import process_time
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec

from bench.browser_corpora import (
    APPLICATIONS,
    DOCUMENTATION,
    Application,
    application_file,
    documentation_pages,
    ensure,
)
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import fixed
from nacre.core.capture import BytesBody, Capture
from nacre.core.crawluri import CrawlURI, Outlink
from nacre.core.processor import Visit
from nacre.core.rendered import NetworkEvent, RenderedPage
from nacre.engine.pages.learned_signs import PageChoice
from nacre.engine.pages.sign_rows import sign_counts
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.gain import page_texts
from nacre.extract.settings import ExtractSettings
from nacre.machine.clock import SystemClock
from nacre.store.store import Store
from tests.store.memory import MemoryEngine
from tools import cache

PAGES, PLAIN = 100, 900
FOUND, IN_VAIN = 95, 20
"""Goals: pages of applications that are found, at least; others that are run, at most."""
_COMMAND = "chromium-headless-shell"
_SECONDS = 60
_KINDS = {"empty": "fetch", "iframe": "frame", "image": "image", "video": "media"}

Read = Callable[[str], bytes | None]


class CorpusPage(NamedTuple):
    """A page of a package.

    Attributes:
        package: Its package.
        path: Its path, with a query.
        needs_browser: Whether it is of an application.
        is_held_out: Whether the package was held out.
        read: Returns what its server sends for a path.
    """

    package: str
    path: str
    needs_browser: bool
    is_held_out: bool
    read: Read


class RunPage(msgspec.Struct):
    """A page as the browser left it.

    Attributes:
        dom: Its final DOM.
        requests: URLs and kinds of its requests.
    """

    dom: str
    requests: list[tuple[str, str]]


def corpus(*, held_out: bool | None = None) -> list[CorpusPage]:
    """Return the pages of all packages, in an order that is drawn.

    Args:
        held_out: Only packages that were held out, or only the others; None: all of them.
    """
    applications = [page for each in APPLICATIONS for page in _application_pages(each)]
    parts = [each for each in DOCUMENTATION if held_out in {None, each.is_held_out}]
    plain: list[CorpusPage] = []
    lists = []
    for each in parts:
        root, paths = documentation_pages(each, PLAIN)
        read = _file_reader(root)
        lists.append(
            [CorpusPage(each.package, path, False, each.is_held_out, read) for path in paths]
        )
    while len(plain) < PLAIN and any(lists):
        for pages in lists:
            if pages and len(plain) < PLAIN:
                plain.append(pages.pop())
    pages = [page for page in applications if held_out in {None, page.is_held_out}] + plain
    Random(27).shuffle(pages)
    return pages


def _application_pages(application: Application) -> Iterator[CorpusPage]:
    root = ensure(application.package) / application.folder

    def read(path: str) -> bytes | None:
        return application_file(application, root, path)

    for path in application.routes:
        name = f"{application.package}/{application.folder}"
        yield CorpusPage(name, path, True, application.is_held_out, read)


def _file_reader(root: Path) -> Read:
    def read(path: str) -> bytes | None:
        file = root / unquote(path.partition("?")[0].lstrip("/"))
        return file.read_bytes() if file.is_file() else None

    return read


@contextmanager
def serve(read: Read, log: list[tuple[str, str]]) -> Iterator[str]:
    """Serve files on the loopback; requests go to the log with their kind. Yields the origin."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = read(self.path)
            log.append((self.path, self.headers.get("Sec-Fetch-Dest", "")))
            self.send_response(404 if body is None else 200)
            last = self.path.partition("?")[0].rpartition("/")[2]
            kind = guess_type(last)[0] if "." in last else "text/html"
            self.send_header("Content-Type", kind or "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run_page(page: CorpusPage) -> RunPage:
    """Run a page in a browser; its result is kept in the cache."""
    body = page.read(page.path) or b""
    name = hashlib.sha256(f"{page.package}{page.path}".encode() + body).hexdigest()[:32]
    file = cache.folder("applications") / "run" / f"{name}.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(_run_in_chromium(page)))
    return msgspec.json.decode(file.read_bytes(), type=RunPage)


def _run_in_chromium(page: CorpusPage) -> RunPage:
    log: list[tuple[str, str]] = []
    with serve(page.read, log) as origin, tempfile.TemporaryDirectory() as home:
        command = [
            *(_COMMAND, "--headless", "--disable-gpu", "--virtual-time-budget=10000"),
            *(f"--user-data-dir={home}/profile", "--disable-dev-shm-usage", "--dump-dom"),
            origin + page.path,
        ]
        nobody = {"user": "nobody"} if os.geteuid() == 0 else {}
        Path(home).chmod(0o777)
        ran = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=False,
            env={"HOME": home, "PATH": os.environ["PATH"]}, **nobody,  # type: ignore[call-overload]
        )  # fmt: skip
        dom = ran.stdout.decode("utf-8", "replace").replace(origin, "")
    return RunPage(dom, [(path, _KINDS.get(kind, "other")) for path, kind in log])


def _links(url: str, body: bytes) -> list[Outlink]:
    return extract(Document(url, mime="text/html", body=body), ExtractSettings()).outlinks


class SeenLinks:
    """The links that a crawl has when it comes to a page.

    They are those of all pages before, and of the index pages of the folders on the way to it.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._indexes: set[str] = set()

    def see(self, visit: Visit, page: CorpusPage, origin: str) -> None:
        """Take the links of a page without a browser, and of the pages on the way to it."""
        self._seen |= {link.url.partition("#")[0] for link in visit.outlinks}
        parts = page.path.partition("?")[0].split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth]) + "/index.html"
            if origin + path not in self._indexes:
                self._indexes.add(origin + path)
                body = page.read(path) or b""
                self._seen |= {link.url.partition("#")[0] for link in _links(origin + path, body)}

    def new(self, urls: Collection[str]) -> frozenset[str]:
        """See `nacre.engine.pages.learned_signs.NewLinks`."""
        return frozenset(urls) - self._seen


def measure(pages: list[CorpusPage], *, one_site: bool) -> dict[str, Any]:
    """Take pages through the choice; return what was chosen."""
    store, links = Store(MemoryEngine()), SeenLinks()
    settings = fixed(BrowserSettings(use="auto"))
    choice = PageChoice(store, settings, SystemClock(), links.new)
    chosen: Counter[tuple[bool, bool]] = Counter()
    signs: Counter[str] = Counter()
    in_vain: Counter[str] = Counter()
    missed: list[str] = []
    sites = {page.package: f"http://site{at}.test" for at, page in enumerate(pages)}
    seconds = 0.0
    for page in pages:
        origin, body = sites[page.package], page.read(page.path) or b""
        if one_site:  # as an application that was built for a folder of its site
            folder = origin.rpartition("/")[2]
            origin = f"http://mixed.test/{folder}"
            body = body.replace(b'="/', f'="/{folder}/'.encode())
        url = origin + page.path
        capture = Capture(url, b"", b"", BytesBody(body), 200, payload_length=len(body))
        visit = Visit(CrawlURI(url, url.encode(), "q"), 200, capture, mime="text/html")
        visit.add_outlinks(_links(url, body))
        links.see(visit, page, origin)
        began = process_time()
        sign = choice.choose(visit)
        seconds += process_time() - began
        if sign:
            learn_run(choice, visit, run_page(page))
            signs[sign] += 1
            chosen[page.needs_browser, page.is_held_out] += 1
            if not page.needs_browser:
                in_vain[f"{page.package} {sign}"] += 1
        elif page.needs_browser:
            missed.append(page.package + page.path)
    choice.seal()
    total = Counter((page.needs_browser, page.is_held_out) for page in pages)
    return {
        "found": chosen[True, False] + chosen[True, True],
        "of": total[True, False] + total[True, True],
        "found, held out": f"{chosen[True, True]} of {total[True, True]}",
        "in vain": chosen[False, False] + chosen[False, True],
        "of plain": total[False, False] + total[False, True],
        "in vain, held out": f"{chosen[False, True]} of {total[False, True]}",
        "packages": len(sites),
        "missed": missed,
        "in vain by package and sign": dict(in_vain),
        "run by sign": dict(signs),
        "counts": [msgspec.to_builtins(row) for row in sign_counts(store)],
        "ms of CPU a page": round(seconds / len(pages) * 1000, 3),
    }


def learn_run(choice: PageChoice, visit: Visit, ran: RunPage) -> None:
    """Let the choice learn from a page that was run."""
    origin = "/".join(visit.uri.url.split("/")[:3])
    visit.add_outlinks(_links(visit.uri.url, ran.dom.encode()))
    events = [NetworkEvent(origin + path, kind, 200) for path, kind in ran.requests]
    choice.learn(visit, RenderedPage("settled", visit.uri.url, dom=ran.dom.encode(), events=events))


def crawl(pages: list[CorpusPage], directory: Path, *, guesses: bool) -> dict[str, Any]:
    """Crawl all pages as one site with `nacre crawl`; return what was run, by crawl.log."""
    folders = {page.package: f"/site{at}" for at, page in enumerate(pages)}
    reads = {folders[page.package]: page.read for page in pages}
    urls = {folders[page.package] + page.path: page for page in pages}
    index = "".join(f'<p><a href="{html.escape(path)}">{path}</a></p>' for path in urls)

    def read(path: str) -> bytes | None:
        if path == "/":
            return f"<title>Index</title>{index}".encode()
        folder = "/" + path.split("/")[1]
        if folder not in reads:
            return None
        body = reads[folder](path[len(folder) :])
        return None if body is None else body.replace(b'="/', f'="{folder}/'.encode())

    with serve(read, []) as origin:
        command = [
            *(sys.executable, "-m", "nacre", "crawl", origin + "/", "--browser", "auto"),
            *("--out", str(directory), "--depth", "1", "--delay", "0", "--quiet"),
            *("--allow-net", "127.0.0.0/8", "--contact", "bench@example.net"),
            *(() if guesses else ("--set", "extract.extract_javascript=false")),
        ]
        ended = subprocess.run(command, check=False).returncode
    return {"exit code": ended, **_count_log(directory, origin, urls)}


def _count_log(directory: Path, origin: str, urls: dict[str, CorpusPage]) -> dict[str, Any]:
    (log,) = directory.rglob("crawl.log")
    fetched: set[str] = set()
    run: dict[str, str] = {}
    for line in log.read_text().splitlines():
        fields = line.split()
        path = fields[3].removeprefix(origin)
        if path in urls and fields[1] == "200":
            fetched.add(path)
            sign = next((word for word in fields[11].split(",") if word.startswith("browser:")), "")
            run |= {path: sign} if sign else {}
    return {
        "pages fetched": len(fetched),
        "found": sum(urls[path].needs_browser for path in run),
        "of": sum(page.needs_browser for page in urls.values()),
        "in vain": sum(not urls[path].needs_browser for path in run),
        "of plain": sum(not page.needs_browser for page in urls.values()),
        "run by sign": dict(Counter(run.values())),
        "in vain by package": dict(
            Counter(urls[path].package for path in run if not urls[path].needs_browser)
        ),
    }


def check() -> list[dict[str, Any]]:
    """Run one page of each application; return how much text it has before and behind."""
    rows = []
    for application in APPLICATIONS:
        page = next(_application_pages(application))
        before = page_texts((page.read(page.path) or b"").decode("utf-8", "replace"))
        after = page_texts(run_page(page).dom)
        rows.append(
            {
                "package": page.package,
                "letters before": sum(before.values()),
                "in a browser": sum(after.values()),
                "requests": len(run_page(page).requests),
            }
        )
    return rows


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one-site", action="store_true", help="all pages are of one site")
    parser.add_argument("--held-out", action="store_true", help="only packages that were held out")
    parser.add_argument("--check", action="store_true", help="run one page of each application")
    parser.add_argument("--crawl", metavar="DIR", help="crawl the pages as one site")
    parser.add_argument("--no-guesses", action="store_true", help="guess no links in scripts")
    options = parser.parse_args(argv)
    if options.crawl:
        pages = corpus(held_out=True if options.held_out else None)
        result: Any = crawl(pages, Path(options.crawl), guesses=not options.no_guesses)
        is_good = result["found"] >= FOUND and result["in vain"] <= IN_VAIN
    elif options.check:
        result = check()
        is_good = True
    else:
        pages = corpus(held_out=True if options.held_out else None)
        result = measure(pages, one_site=options.one_site)
        is_good = (
            result["found"] >= FOUND / PAGES * result["of"]
            and result["in vain"] <= IN_VAIN / PLAIN * result["of plain"]
        )
    json.dump(result, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
