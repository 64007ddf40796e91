"""A site with an index of sitemaps: those that it dates before our last reading are left out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import time

import pytest

from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
from nacre.inspect.analysis.trust import trust_table
from nacre.planner.discovery.hints import SPARED_LOTS
from nacre.recrawl.pagestore import fetch_rows
from nacre.store.store import Store
from tests.crawl.again import DAY, again, first, settings
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.37"
MAPS, PAGES = 14, 2
OLD = "2020-01-01T00:00:00+00:00"
PAGE = "<html><title>{0}</title><h1>{0}</h1><p>{1}</p></html>"
ENTRY = "<{2}><loc>{0}</loc><lastmod>{1}</lastmod></{2}>"


class Mapped:
    """Its files, and what its sitemaps say."""

    def __init__(self, root: Path, origin: str) -> None:
        self.root, self.origin = root, origin
        self.dates = {f"{m}-{n}.html": OLD for m in range(MAPS) for n in range(PAGES)}
        self.made = time() - DAY
        root.mkdir()
        self.write("robots.txt", f"User-agent: *\nAllow: /\nSitemap: {origin}/maps.xml\n")
        self.write("index.html", PAGE.format("Home", "Nothing is linked here."))
        for name in self.dates:
            self.write(name, PAGE.format(name, f"This is what {name} says to its readers."))
        self.map()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.write_text(text)
        self.made += 10.0
        os.utime(path, (self.made, self.made))

    def edit(self, name: str, day: float) -> None:
        """A page is new, or says something else, some days from now."""
        self.dates[name] = datetime.fromtimestamp(time() + (day - 0.5) * DAY, UTC).isoformat()
        self.write(name, PAGE.format(name, f"Written anew on day {day}: nothing is as it was."))
        self.map()

    def map(self) -> None:
        newest = {}
        for number in range(MAPS):
            pages = {n: d for n, d in self.dates.items() if n.startswith(f"{number}-")}
            newest[f"map{number}.xml"] = max(pages.values())
            self._list(f"map{number}.xml", "urlset", "url", pages)
        self._list("maps.xml", "sitemapindex", "sitemap", newest)

    def _list(self, name: str, root: str, entry: str, dates: dict[str, str]) -> None:
        entries = "".join(ENTRY.format(f"{self.origin}/{n}", d, entry) for n, d in dates.items())
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        text = f'<?xml version="1.0"?><{root} xmlns="{space}">{entries}</{root}>'
        path = self.root / name
        if not path.exists() or path.read_text() != text:
            self.write(name, text)


@contextmanager
def served(folder: Path) -> Iterator[Mapped]:
    port = free_port((ADDRESS,))
    site = Mapped(folder / "site", f"http://{ADDRESS}:{port}")
    server = Server(ADDRESS, port, site.root, directives="open_file_cache off;")
    with serving([server], folder / "nginx"):
        yield site


def test_sitemaps_rest_once_their_index_has_proved_right(tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served(tmp_path) as site:
        seed = f"{site.origin}/index.html"
        first(job, seed)
        for week, name in enumerate(("3-0.html", "5-new.html", "8-1.html", "9-0.html"), 1):
            site.edit(name, 7.0 * week)
            again(job, seed, 7.0 * week)
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = list(fetch_rows(store))
        known = StoredRecrawlData(job, store, settings(seed), visits[-1].time)
        (index,) = trust_table(known).indexes
    asked = [
        {row.url.rpartition("/")[2] for row in visits if row.run == run} for run in range(1, 6)
    ]
    read = [sum(name.startswith("map") and name != "maps.xml" for name in run) for run in asked]
    assert read[0] == read[1] == MAPS
    drawn = sum(row.run == 5 and row.propensity == SPARED_LOTS for row in visits)
    assert read[4] - drawn == 1
    assert {"maps.xml", "map9.xml", "9-0.html"} <= asked[4]
    assert {"8-1.html"} <= asked[3]
    assert {"5-new.html"} <= asked[2]
    assert (index.sitemaps, index.lies, index.believed) == (MAPS, 0, True)
    assert index.spared == MAPS - 1 - drawn
