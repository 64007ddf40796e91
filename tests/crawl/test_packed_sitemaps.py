"""Sitemaps that are gzip files are read: by any way to them, with any media type."""

import gzip
from pathlib import Path

import pytest

from nacre.core.pagerow import PageKind
from nacre.machine.layout import Layout
from nacre.recrawl.pagestore import PageStore
from nacre.store.store import Store
from tests.crawl.again import again, first
from tests.crawl.jobs import crawl
from tests.crawl.raw_site import RawSite, raw_site, redirect, reply

pytestmark = pytest.mark.crawl


def urlset(site: RawSite, *names: str) -> bytes:
    urls = "".join(f"<url><loc>{site.origin}/{name}</loc></url>" for name in names)
    return f"<?xml version='1.0'?><urlset>{urls}</urlset>".encode()


def index(site: RawSite, *names: str) -> bytes:
    maps = "".join(f"<sitemap><loc>{site.origin}/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{maps}</sitemapindex>".encode()


def rss(site: RawSite, name: str) -> bytes:
    return f"<rss><channel><item><link>{site.origin}/{name}</link></item></channel></rss>".encode()


def atom(site: RawSite, name: str) -> bytes:
    return f"<feed><entry><link href='{site.origin}/{name}'/></entry></feed>".encode()


TYPES = (
    *("application/gzip", "application/x-gzip", "application/octet-stream", "text/xml"),
    *("text/plain", "text/html", "image/png", None),
)
CODED = b"Content-Encoding: gzip"


def test_sitemaps_of_robots_txt_and_of_indexes(tmp_path: Path):
    zipped = gzip.compress
    with raw_site() as site:
        pages = [f"/page-{number}" for number in range(len(TYPES))]
        site.serve({page: reply("<p>x") for page in pages}, links=["/nothing"])
        maps = {
            f"/map{number}": reply(zipped(urlset(site, f"page-{number}")), mime)
            for number, mime in enumerate(TYPES)
        }
        maps |= {
            "/index": reply(zipped(index(site, "child.xml.gz", "child.txt.gz")), "text/xml"),
            "/child.xml.gz": reply(zipped(urlset(site, "child-xml")), "application/gzip"),
            "/child.txt.gz": reply(zipped(f"{site.origin}/child-txt\n".encode()), "text/plain"),
            "/twice": reply(zipped(zipped(urlset(site, "twice"))), "application/gzip"),
            "/coded": reply(zipped(urlset(site, "coded")), "application/gzip", CODED),
            "/both": reply(zipped(zipped(urlset(site, "both"))), "application/gzip", CODED),
            "/rss": reply(zipped(rss(site, "rss-item")), "application/rss+xml"),
            "/atom": reply(zipped(atom(site, "atom-item")), "application/x-gzip"),
            "/moved": redirect(b"Location: /target"),
            "/target": reply(zipped(f"{site.origin}/moved-map\n".encode()), "text/plain"),
        }
        skip = {"/child.xml.gz", "/child.txt.gz", "/target"}
        listed = "".join(f"Sitemap: {site.origin}{path}\n" for path in maps if path not in skip)
        site.serve(maps | {"/robots.txt": reply(listed, "text/plain")})
        crawl(tmp_path / "job", [site.origin + "/"])
    expected = set(pages) | {
        *("/child-xml", "/child-txt", "/twice", "/coded", "/both", "/rss-item", "/atom-item"),
        "/moved-map",
    }
    assert expected - set(site.asked) == set()


@pytest.mark.parametrize("fields", [(), (CODED,)], ids=["plain", "coded"])
def test_a_seed_is_a_sitemap(tmp_path: Path, fields: tuple[bytes, ...]):
    with raw_site() as site:
        bodies = {
            "/xml": urlset(site, "of-xml"),
            "/txt": f"{site.origin}/of-txt\n".encode(),
            "/rss": rss(site, "of-rss"),
            "/index": index(site, "child"),
            "/child": urlset(site, "of-child"),
        }
        site.serve({path: reply(gzip.compress(body), "application/x-gzip", *fields)
                    for path, body in bodies.items()})  # fmt: skip
        seeds = [site.origin + path for path in bodies if path != "/child"]
        crawl(tmp_path / "job", seeds)
    assert {"/of-xml", "/of-txt", "/of-rss", "/of-child"} - set(site.asked) == set()


def test_a_bomb_costs_the_crawl_nothing_but_its_links(tmp_path: Path):
    with raw_site() as site:
        start = urlset(site, "first")[: -len("</urlset>")]
        bomb = gzip.compress(gzip.compress(start + b" " * 200_000_000, 6))
        site.serve({"/bomb": reply(bomb, "application/gzip")}, links=["/other"])
        site.serve({"/robots.txt": reply(f"Sitemap: {site.origin}/bomb", "text/plain")})
        done = crawl(tmp_path / "job", [site.origin + "/"])
    assert done.ending == "FINISHED"
    assert {"/first", "/other"} <= set(site.asked)


@pytest.mark.parametrize("mime", ["application/gzip", "text/plain"])
@pytest.mark.parametrize("form", ["xml", "txt"])
def test_a_recrawl_takes_it_for_a_source_of_hints(tmp_path: Path, mime: str, form: str):
    def write(site: RawSite, *names: str) -> None:
        text = "".join(f"{site.origin}/{name}\n" for name in names).encode()
        body = urlset(site, *names) if form == "xml" else text
        site.serve({"/map.gz": reply(gzip.compress(body), mime)})
        site.serve({f"/{name}": reply(f"<p>page {name}") for name in names})

    job = tmp_path / "job"
    with raw_site() as site:
        seed = site.origin + "/"
        site.serve({"/robots.txt": reply(f"Sitemap: {site.origin}/map.gz", "text/plain")})
        site.serve({}, links=["/nothing"])
        write(site, "old")
        first(job, seed)
        write(site, "old", "new")
        again(job, seed, 7.0)
        with Store.open(str(Layout(job).store), read_only=True) as store:
            row = PageStore(store).get(f"{site.origin}/map.gz")
    assert row is not None
    assert row.kind is PageKind.SITEMAP
    assert "/new" in site.asked
