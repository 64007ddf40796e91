"""A page in a real browser: what it requests passes the chain, and comes to the archive as sent."""

import gzip
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path

import pytest

from tests.crawl.jobs import Crawled, crawl
from tests.crawl.raw_site import RawSite, raw_site, reply

pytestmark = pytest.mark.browser

SCRIPT = """
document.cookie = 'own=1';
new WebSocket(location.origin.replace('http', 'ws') + '/live').onmessage =
  event => fetch('/heard/' + event.data);
fetch('/data.json').then(r => r.json()).then(async data => {
  await fetch('/po' + 'st', {method: 'POST', body: 'x=1'});
  await fetch('/closed/' + 'data').catch(() => 0);
  await fetch('http://10.1.2.3/').catch(() => 0);
  document.getElementById('app').innerHTML =
    `<h1>${data.title}</h1><a href=/next.html>next</a><img src=/picture.png>`;
});
"""
DATA = '{"title": "公告"}'


def accept_websocket(head: bytes) -> bytes:
    """The handshake of a WebSocket, and a message of the server: `hi`."""
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
    key = {name.lower(): value for name, value in fields.items()}[b"sec-websocket-key"]
    accept = b64encode(sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    lines = [
        b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade",
        b"Sec-WebSocket-Accept: " + accept,
    ]  # fmt: skip
    return b"\r\n".join(lines) + b"\r\n\r\n" + b"\x81\x02hi"


@pytest.fixture(scope="module")
def site() -> Iterator[RawSite]:
    with raw_site() as served:
        packed = gzip.compress(DATA.encode())
        served.serve({
            "/": reply("<div id=app></div><script src=/app.js></script>"),
            "/robots.txt": reply("User-agent: *\nDisallow: /closed/", "text/plain"),
            "/app.js": reply(SCRIPT, "text/javascript"),
            "/data.json": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed),
            "/post": reply("{}", "application/json"),
            "/next.html": reply("<p>next", "text/html"),
            "/picture.png": reply("no picture", "image/png"),
        })  # fmt: skip
        served.answers["/live"] = accept_websocket
        yield served


@pytest.fixture(scope="module")
def crawled(site: RawSite, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    root = tmp_path_factory.mktemp("crawl") / "job"
    settings = {"use": "auto", "behaviours": [], "pictures": []}
    return crawl(root, [f"{site.origin}/"], browser=settings)


def lines(crawled: Crawled, name: str) -> list[str]:
    return (crawled.run / "logs" / name).read_text().splitlines()


def test_page_is_run_by_its_sign_and_its_requests_are_visits(crawled: Crawled, site: RawSite):
    paths = {line.url.removeprefix(site.origin): line.path for line in crawled.log}
    assert paths["/data.json"] == paths["/picture.png"] == paths["/post"] == "E"
    assert paths["/next.html"] == "L", "a link that the script made"
    (page,) = [line for line in lines(crawled, "crawl.log") if f" {site.origin}/ - " in line]
    assert "browser:mount" in page
    assert "refused:2" in page
    assert site.asked.count("/data.json") == 1
    assert not [target for target in site.asked if target.startswith("/closed")]


def test_bytes_are_archived_as_they_were_sent(crawled: Crawled, site: RawSite):
    capture = crawled.captures()[f"{site.origin}/data.json"]
    assert capture.headers["transfer-encoding"] == "chunked"
    assert capture.body.decode() == DATA


def test_requests_have_the_headers_of_the_browser_and_the_name_of_the_crawler(site: RawSite):
    head = next(head for head in site.heads if b" /post " in head)
    assert b"POST /post HTTP/1.1" in head
    assert b"Chrome/" in head
    assert b"(compatible; nacre/" in head
    assert b"Headless" not in head
    assert b"own=1" in head
    later = next(head for head in site.heads if b" /next.html " in head)
    assert b"own=1" in later, "the cookie of the script came to the jar"


def test_nothing_is_left_of_the_browser(crawled: Crawled):
    assert not list(Path(crawled.root, "state", "scratch").glob("nacre-browser-*"))


def test_websocket_passes_and_its_handshake_is_stored(crawled: Crawled, site: RawSite):
    assert "/heard/hi" in site.asked
    assert crawled.statuses[f"{site.origin}/live"] == 101
