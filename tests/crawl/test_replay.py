"""A small site of every kind of reply is crawled, and pywb serves it as it was on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawl.jobs import Capture, Crawled, crawl
from tests.crawl.replay import JUDGES, Replay, replaying
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.11"
TEXT = "<p>Das Wetter wird schön, 天氣很好, and so on and on.</p>\n" * 100
LINKED = (
    "plain.html", "copy.html", "gzip/page.html", "gzip/copy.html", "chunked/page.html",
    "chunked/copy.html", "empty.html", "style.css", "picture.png", "old", "absent.html", "folder",
)  # fmt: skip
# Chunks: SSI gives up the length. The extra header shows that a revisit keeps its own headers.
DIRECTIVES = """
    location /gzip/ { gzip on; gzip_min_length 0; }
    location /chunked/ { ssi on; }
    location = /copy.html { add_header X-Copy yes; }
    location = /old { return 301 /plain.html; }
"""


def page(title: str, links: tuple[str, ...] = ()) -> bytes:
    items = "".join(f'<li><a href="/{link}">{link}</a></li>' for link in links)
    return f"<!DOCTYPE html><meta charset=utf-8><title>{title}</title>{items}{TEXT}".encode()


def write_site(root: Path) -> None:
    files = {
        "index.html": page("Home", LINKED),
        "plain.html": page("Plain"),
        "copy.html": page("Plain"),
        "gzip/page.html": page("Compressed"),
        "gzip/copy.html": page("Compressed"),
        "chunked/page.html": page("Chunked"),
        "chunked/copy.html": page("Chunked"),
        "empty.html": b"",
        "style.css": b"body { background: url(background.png) }",
        "picture.png": bytes(range(256)) * 300,
        "background.png": b"\x89PNG\r\n\x1a\n\x00",
        "folder/index.html": page("Folder"),
        "robots.txt": b"User-agent: *\nDisallow: /denied/\n",
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


@dataclass(frozen=True)
class Site:
    origin: str
    root: Path
    crawled: Crawled
    captures: dict[str, Capture]

    def source(self, url: str) -> bytes | None:
        """The file behind a URL; None for a reply without a file."""
        path = self.root / url.removeprefix(self.origin + "/")
        path = path / "index.html" if url.endswith("/") else path
        return path.read_bytes() if path.is_file() else None


@contextmanager
def small_site(root: Path, folder: Path) -> Iterator[str]:
    write_site(root)
    port = free_port((ADDRESS,))
    with serving([Server(ADDRESS, port, root, directives=DIRECTIVES)], folder):
        yield f"http://{ADDRESS}:{port}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    with small_site(folder / "root", folder / "nginx") as origin:
        crawled = crawl(folder / "job", [f"{origin}/"])
    return Site(origin, folder / "root", crawled, crawled.captures())


@pytest.fixture(scope="module")
def replay(site, tmp_path_factory) -> Iterator[Replay]:
    if not JUDGES.is_dir():
        pytest.fail("the judges are missing: run `make judges`")
    with replaying(site.crawled.warcs, tmp_path_factory.mktemp("pywb")) as running:
        yield running


def test_the_statuses(site):
    expected = dict.fromkeys(("", *LINKED, "background.png", "folder/", "robots.txt"), 200)
    expected |= {"old": 301, "folder": 301, "absent.html": 404, "favicon.ico": 404}
    assert site.crawled.statuses == {f"{site.origin}/{path}": s for path, s in expected.items()}


def test_bodies_are_the_files(site):
    for url, capture in site.captures.items():
        if capture.status == 200:
            assert capture.body == site.source(url), url


def test_copies_are_revisits_with_their_own_headers(site):
    of = {url.removeprefix(site.origin): capture for url, capture in site.captures.items()}
    pairs = (("/plain.html", "/copy.html"), ("/gzip/page.html", "/gzip/copy.html"))
    for pair in (*pairs, ("/chunked/page.html", "/chunked/copy.html")):
        assert sorted(of[path].revisit for path in pair) == [False, True]
    assert of["/copy.html"].headers["x-copy"] == "yes"
    assert "x-copy" not in of["/plain.html"].headers
    assert not of["/empty.html"].revisit


def test_the_framing_is_what_it_should_be(site):
    def header(path, name):
        return site.captures[f"{site.origin}/{path}"].headers.get(name)

    assert header("plain.html", "content-length") is not None
    assert header("chunked/page.html", "transfer-encoding") == "chunked"
    assert header("chunked/page.html", "content-encoding") is None
    assert header("gzip/page.html", "content-encoding") == "gzip"
    assert header("gzip/page.html", "transfer-encoding") == "chunked"


def test_pywb_serves_every_capture(site, replay):
    assert len(site.captures) >= 15
    for url, capture in site.captures.items():
        replayed = replay.get(url, capture.date)
        if url.endswith("/folder"):
            # To pywb it is the page that it redirects to: their keys are equal.
            assert replayed.status == 307
            assert replayed.location.endswith(f"id_/{url}/")
            continue
        assert replayed.status == capture.status, url
        if capture.status == 200:
            assert replayed.body == site.source(url), url
        elif capture.status == 301:
            assert replayed.location.endswith(capture.headers["location"])
        else:
            assert replayed.body == capture.body, url
