"""Sitemaps of a site on loopback: robots.txt, indexes, gzip, GBK; killed behind every commit."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.cycle.steps import sitemaps_text
from nacre.rounds.steps.fetch import FetchOptions, SegmentFetch, fetch
from nacre.rounds.steps.sitemaps import SitemapsResult
from tests.cli.cycle.killed import KilledError, killed_commits
from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl


class CountedPages(dict[str, str | bytes]):
    """Pages, and how often each was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def get(self, path: str, default: object = None) -> str | bytes | None:  # type: ignore[override]  # as the server calls it
        self.asked[path] += 1
        return super().get(path)


def index(*maps: str) -> str:
    found = "".join(f"<sitemap><loc>{one}</loc></sitemap>" for one in maps)
    return f"<sitemapindex>{found}</sitemapindex>"


def chinese(home: str) -> bytes:
    """A sitemap in GBK: a page with all that an entry says, one without, and one elsewhere."""
    return (
        '<?xml version="1.0" encoding="GBK"?><urlset>'
        f"<url><loc>{home}新闻/一.html</loc><priority>0.8</priority>"
        "<changefreq>hourly</changefreq><lastmod>2024-05-01</lastmod></url>"
        f"<url><loc>{home}新闻/二.html</loc></url>"
        "<url><loc>http://elsewhere.test/x</loc></url></urlset>"
    ).encode("gbk")


@pytest.fixture(scope="module")
def pages() -> CountedPages:
    return CountedPages()


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory, pages: CountedPages) -> Path:
    """A directory whose sitemaps were read, with a kill behind every commit."""
    root = tmp_path_factory.mktemp("cycle") / "书"
    with site(pages) as home:
        pages |= {
            "/robots.txt": f"Sitemap: {home}maps.xml\nSitemap: http://elsewhere.test/m.xml\n",
            "/maps.xml": index(f"{home}gbk.xml.gz", f"{home}maps.xml", f"{home}none.xml"),
            "/gbk.xml.gz": gzip.compress(chinese(home)),
        }
        made = nacre("new", root, home, "--delay", "0", "--set", "cycle.keep_versions=50")
        assert made.code == 0, made.err
        assert nacre("cycle", root, "inject").code == 0
        with killed_commits():
            for _ in range(6):
                with pytest.raises(KilledError):
                    nacre("cycle", root, "sitemaps")
            dry = nacre("cycle", root, "--dry-run")
            assert "would resume round 1, at sitemaps" in dry.err
            assert nacre("cycle", root, "sitemaps", "--dry-run").out == "2 sitemaps to fetch\n"
        done = nacre("cycle", root, "sitemaps")
        assert done.code == 0, done.err
        (root / "said.txt").write_text(done.out)
        assert f"the sitemap {home}none.xml could not be read: the server answered 404" in done.err
        assert nacre("cycle", root, "sitemaps", "none.xml").code == 2
    return root


def rows(root: Path) -> dict[str, dict[str, Any]]:
    query = "select * from crawldb"
    found = json.loads(nacre("cycle", root, "sql", query, "--json").out)
    return {row["key"].split("/", 3)[3]: row for row in found}


def test_sitemaps_that_were_not_asked_for_are_told():
    text = sitemaps_text(SitemapsResult(asked=2, unasked=1, late=3))
    assert text.startswith(
        "2 hosts asked; 0 sitemaps; 1 not asked for: the host failed; 3 not asked for: the time was"
    )


def test_what_sitemaps_list_is_known(read: Path):
    found = rows(read)
    first, second = (f"%E6%96%B0%E9%97%BB/{name}.html" for name in ("%E4%B8%80", "%E4%BA%8C"))
    assert set(found) == {"", first, second}
    assert (found[first]["interval"], found[second]["interval"]) == (3_600, 2_592_000)
    assert found[first]["via"].endswith("/gbk.xml.gz")
    assert found[first]["modified"].startswith("2024-05-01")
    assert found[first]["status"] == "db_unfetched"
    assert round(found[first]["cash"], 6) == 0.8
    assert found[second]["cash"] == 0.5


def test_kills_fetch_no_sitemap_twice(read: Path, pages: CountedPages):
    names = ("/robots.txt", "/maps.xml", "/gbk.xml.gz", "/none.xml")
    assert {name: pages.asked[name] for name in names} == dict.fromkeys(names, 1) | {
        "/robots.txt": 2  # as a prerequisite of itself
    }
    said = (read / "said.txt").read_text()
    assert said == "1 sitemap: 2 URLs, 2 new; 1 refused by reject; 1 could not be read\n"


def test_their_segments_are_no_pages(read: Path):
    segments = json.loads(nacre("cycle", read, "segments", "--json").out)
    assert {one["state"] for one in segments} == {"updated"}
    assert nacre("cycle", read, "links").out.startswith("nothing new")
    done = nacre("cycle", read, "update", segments[0]["name"])
    assert (done.code, "has sitemaps" in done.err) == (2, True)
    dry = nacre("cycle", read, "sitemaps", "http://a.test/map.xml", "--dry-run")
    assert (dry.code, dry.out) == (0, "1 sitemap to fetch\n")


def test_sitemaps_with_the_same_bytes_are_all_read(read: Path):
    same = "<urlset><url><loc>http://elsewhere.test/same</loc></url></urlset>"
    with site({f"/{name}.xml": same for name in ("one", "two", "three")}) as home:
        urls = [f"{home}{name}.xml" for name in ("one", "two", "three")]
        done = nacre("cycle", read, "sitemaps", *urls)
    assert done.out == "3 sitemaps: 0 URLs; 3 refused by reject\n", done.err


def test_sitemaps_that_the_time_did_not_suffice_for_are_taken_along(read: Path):
    maps = {f"/{name}.xml": f"<urlset><!-- {name} --></urlset>" for name in ("one", "two")}
    with site(maps) as home:
        late = nacre("cycle", read, "sitemaps", f"{home}one.xml", "--time-limit", "0.001s")
        then = nacre("cycle", read, "sitemaps", f"{home}two.xml")
    assert late.out.startswith("0 sitemaps; 1 not asked for: the time was over"), late.err
    assert then.out == "2 sitemaps: 0 URLs\n", then.err


def test_what_is_no_sitemap_is_named(read: Path, tmp_path: Path):
    pages = {"/page.html": "<html><p>书", "/map.xml": "<urlset/>"}
    with site(pages) as home:
        done = nacre("cycle", read, "sitemaps", f"{home}page.html", f"{home}none.xml")
        assert (done.code, done.out) == (6, "0 sitemaps; 2 could not be read\n")
        assert sorted(done.err.splitlines()) == [
            f"nacre: the sitemap {home}none.xml could not be read: the server answered 404 "
            "(Not Found)",
            f"nacre: the sitemap {home}page.html could not be read: it is an HTML page",
        ]
        done = nacre("cycle", read, "sitemaps", f"{home}page.html", f"{home}map.xml")
        assert (done.code, done.out) == (0, "1 sitemap: 0 URLs; 1 could not be read\n")
        done = nacre("cycle", read, "sitemaps", f"{home}page.html", "--json")
        unread = [[f"{home}page.html", 200, "an HTML page"]]
        assert (done.code, json.loads(done.out)["unread"]) == (6, unread)


@pytest.mark.parametrize("text", ["", "\n".join(f"<loc{n}>" for n in range(30))])
def test_a_list_without_a_url_of_a_sitemap_is_told(read: Path, tmp_path: Path, text: str):
    file = tmp_path / "图.xml"
    file.write_text(text)
    done = nacre("cycle", read, "sitemaps", file)
    assert (done.code, done.out) == (2, "0 sitemaps\n")
    *lines, last = done.err.splitlines()
    assert last.startswith(f"nacre: no URL of a sitemap in '{file}'")
    assert lines[20:] == (["nacre: and 10 more lines that are wrong"] if text else [])


@pytest.mark.slow
def test_hosts_that_the_time_did_not_suffice_for_are_asked_in_the_next_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    limits = iter([1e-3])

    def late(context: Any, segment: str, how: FetchOptions) -> SegmentFetch:
        return fetch(context, segment, replace(how, time_limit=next(limits, how.time_limit)))

    monkeypatch.setattr("nacre.rounds.steps.sitemaps.fetch", late)
    pages, root = CountedPages(), tmp_path / "书"
    with site(pages) as home:
        pages |= {
            "/robots.txt": f"Sitemap: {home}gbk.xml\n",
            "/gbk.xml": chinese(home),
            "/": "首页",
        }
        words = ("--rounds", 2, "--sitemaps-from-hosts", "once", "--top", 1, "--units", 1)
        done = nacre("cycle", root, "-s", home, *words, "--delay", "0")
    assert done.code == 0, done.err
    first, second = (line for line in done.err.splitlines() if "sitemaps" in line)
    assert first.startswith("round 1/2 sitemaps  1 host asked; 0 sitemaps; 1 not asked for")
    assert "round 2/2 sitemaps  1 host asked; 1 sitemap: 2 URLs, 2 new" in second
    assert pages.asked["/gbk.xml"] == 1
