"""A small site that changes from edition to edition, and the jobs that an earlier Nacre made of it.

The URLs of a stored job never change, its port neither; the address is any of 127.0.0.0/8 where
that port is free. `python -m tests.crawl.old_site NACRE FOLDER` makes the jobs; see
`stores/README.md`.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST = "old.test"
PORT = 18_473
HOME = f"http://{HOST}:{PORT}/"
ARTICLES = 12
"""Articles of edition 0. Each edition after it rewords three, adds one and deletes one."""


def reworded(edition: int) -> range:
    """The articles that an edition rewords."""
    return range(3 * (edition - 1), 3 * edition)


def deleted(edition: int) -> int:
    """The article that an edition deletes; the lists keep their link to it."""
    return ARTICLES - edition


def added(edition: int) -> int:
    """The article that an edition adds."""
    return ARTICLES + edition - 1


def path(number: int) -> str:
    """The path of an article."""
    return f"/a{number}.html"


def url(number: int) -> str:
    """The URL of an article."""
    return HOME.rstrip("/") + path(number)


def edition_of(number: int, edition: int) -> int:
    """The edition whose text an article has in a later edition."""
    own = max(0, number - ARTICLES + 1)
    return max([own, *(e for e in range(1, edition + 1) if number in reworded(e))])


def pages(edition: int) -> dict[str, str]:
    """All that the site serves in an edition, by path."""
    numbers = range(ARTICLES + edition)
    gone = {deleted(e) for e in range(1, edition + 1)}
    lists = [numbers[at : at + 8] for at in range(0, len(numbers), 8)]
    links = "".join(f'<li><a href="/list{at}.html">List {at}</a></li>' for at in range(len(lists)))
    found = {
        "/": _page("Home", f'<img src="/i.png"><ul>{links}</ul><a href="/secret/x.html">x</a>'),
        "/robots.txt": f"User-agent: *\nDisallow: /secret/\nSitemap: {HOME}sitemap.xml\n",
        "/style.css": "body { color: black }\n",
        "/i.png": "PNG",
    }
    for at, part in enumerate(lists):
        items = "".join(f'<li><a href="{path(n)}">Article {n}</a></li>' for n in part)
        found[f"/list{at}.html"] = _page(f"List {at}", f"<ul>{items}</ul>")
    for number in numbers:
        if number not in gone:
            found[path(number)] = _article(number, edition_of(number, edition))
    locations = "".join(f"<url><loc>{url(n)}</loc></url>" for n in numbers if n not in gone)
    found["/sitemap.xml"] = (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'
    )
    return found


def _article(number: int, edition: int) -> str:
    text = " ".join(f"Sentence {n} of article {number} has a word {n * number}." for n in range(8))
    news = f"<p>Edition {edition} says something else at length about number {number}.</p>"
    return _page(f"Article {number}", f"<p>{text}</p>{news * bool(edition)}")


def _page(title: str, body: str) -> str:
    style = '<link rel="stylesheet" href="/style.css">'
    head = f"<head><title>{title}</title>{style}</head>"
    return f"<!DOCTYPE html><html>{head}<body><h1>{title}</h1>{body}</body></html>"


class OldSite(ThreadingHTTPServer):
    """Serves an edition.

    Attributes:
        edition: The one that is served.
        slow: Seconds before each reply.
        asked: The paths that were asked for, in order.
    """

    daemon_threads = True

    def __init__(self, address: str) -> None:
        super().__init__((address, PORT), _Handler)
        self.edition = 0
        self.slow = 0.0
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return str(self.server_address[0])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site = self.server
        assert isinstance(site, OldSite)
        site.asked.append(self.path)
        time.sleep(site.slow)
        text = pages(site.edition).get(self.path)
        body = (text or "none").encode()
        tag = f'"{zlib.crc32(body):08x}"'
        same = text is not None and self.headers.get("If-None-Match") == tag
        self.send_response(304 if same else 404 if text is None else 200)
        kinds = {"png": "image/png", "txt": "text/plain", "css": "text/css", "xml": "text/xml"}
        self.send_header("Content-Type", kinds.get(self.path.rpartition(".")[2], "text/html"))
        if text is not None:
            self.send_header("ETag", tag)
        if not same:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not same:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def old_site() -> Iterator[OldSite]:
    """Serve it, on an address where the port is free."""
    site = _listening()
    thread = threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()


def _listening() -> OldSite:
    for number in range(50):
        try:
            return OldSite(f"127.0.{20 + number}.{1 + os.getpid() % 250}")
        except OSError:
            continue
    raise AssertionError(f"port {PORT} is taken everywhere")


# ---- how the stored jobs were made


def _run(site: OldSite, command: list[str], *, stop_after: int = 0) -> None:
    """Run a command, and end it by SIGTERM when the site was asked so often."""
    site.asked.clear()
    site.slow = 0.1 if stop_after else 0.0
    process = subprocess.Popen(command)
    while process.poll() is None and not (stop_after and len(site.asked) >= stop_after):
        time.sleep(0.02)
    if stop_after:
        process.send_signal(signal.SIGTERM)
    code = process.wait()
    assert code == (3 if stop_after else 0), (command, code)


def main(nacre: str, folder: Path) -> None:
    """Make two jobs: one interrupted in its first run, one in its third, an incremental one."""
    with old_site() as site:
        options = ["--scope", "host", "--delay", "0", "--parallel", "2", "--quiet"]
        options += ["--set", "network.allow=[127.0.0.0/8]"]
        options += ["--set", f"dns.hosts={{{HOST}: {site.address}}}"]
        crawl = [nacre, "crawl", HOME, *options, "--out"]
        _run(site, [*crawl, str(folder / "interrupted")], stop_after=12)
        again = [nacre, "recrawl", str(folder / "recrawled"), "--quiet"]
        _run(site, [*crawl, str(folder / "recrawled")])
        site.edition = 1
        _run(site, again)
        site.edition = 2
        _run(site, again, stop_after=3)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
