"""A site with an honest sitemap, on some of whose pages something differs at every look."""

from datetime import UTC, datetime
from pathlib import Path
from time import time

import pytest

from nacre.recrawl.pagestore import fetch_rows
from nacre.store.store import Store
from tests.crawl.again import DAY, again, first
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.38"
PAGES, TICKING = 150, 10
TICK = '<div>Made at <!--#echo var="msec" --></div>'
HOME = f"<html><title>Home</title><h1>Home</h1><p>Nothing is linked here.</p>{TICK}</html>"
PAGE = "<html><title>{0}</title><h1>Page {0}</h1><p>{1}</p><p>Page {0} of many.</p>{2}</html>"


class Ticking:
    """Pages, of which each tenth says when it was made: to the moment that it is asked for."""

    def __init__(self, root: Path, origin: str) -> None:
        self.root, self.origin = root, origin
        self.dates = dict.fromkeys(range(PAGES), "2020-01-01T00:00:00+00:00")
        root.mkdir()
        robots = f"User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n"
        (root / "robots.txt").write_text(robots)
        (root / "index.html").write_text(HOME)
        for number in self.dates:
            self._write(number, f"This is what page {number} has to say to its readers.")
        self._map()

    def edit(self, number: int, day: float) -> None:
        self.dates[number] = datetime.fromtimestamp(time() + (day - 0.5) * DAY, UTC).isoformat()
        self._write(number, f"Page {number} was written anew on day {day}: nothing is as it was.")
        self._map()

    def _write(self, number: int, text: str) -> None:
        tick = TICK if number % TICKING == 0 else ""
        (self.root / f"{number}.html").write_text(PAGE.format(number, text, tick))

    def _map(self) -> None:
        urls = "".join(
            f"<url><loc>{self.origin}/{number}.html</loc><lastmod>{date}</lastmod></url>\n"
            for number, date in self.dates.items()
        )
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = f'<?xml version="1.0"?><urlset xmlns="{space}">{urls}</urlset>'
        (self.root / "sitemap.xml").write_text(text)


def test_noise_on_some_pages_does_not_hide_that_the_sitemap_is_right(tmp_path: Path) -> None:
    port = free_port((ADDRESS,))
    origin, job = f"http://{ADDRESS}:{port}", tmp_path / "job"
    site = Ticking(tmp_path / "site", origin)
    server = Server(ADDRESS, port, site.root, directives="open_file_cache off; ssi on;")
    with serving([server], tmp_path / "nginx"):
        first(job, f"{origin}/index.html")
        for week in (1, 2, 3):
            for number in range(week, PAGES, 25):
                site.edit(number, 7.0 * week)
            again(job, f"{origin}/index.html", 7.0 * week)
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = [row for row in fetch_rows(store) if row.run == 4 and row.wanted != "pair"]
    changed = {row.url for row in visits if row.kind in {"minor", "major"}}
    assert {f"{origin}/{number}.html" for number in range(3, PAGES, 25)} <= changed
    # All pages would be visited, were the noise of the first weeks held against the sitemap.
    assert len(visits) < PAGES / 2
