"""S14: the way of a curator: crawl, crawl again, look, move in time, compare, cite, hand on."""

import sys
import time
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.site import ServedPage, site
from tests.console.stories.running import ConsoleProcess, console_of, until
from tests.console.stories.steps import act, shows_state

pytestmark = pytest.mark.console


class Walk:
    """Counts the clicks of a curator, and the seconds since the last station.

    Attributes:
        clicks: Clicks so far.
    """

    def __init__(self) -> None:
        self.clicks = 0
        self._began = time.monotonic()

    def click(self, place: Locator) -> None:
        """Click on a place."""
        self.clicks += 1
        place.click()

    def arrive(self, station: str) -> None:
        """Print a station with the clicks so far and the seconds of the way to it."""
        now = time.monotonic()
        sys.stdout.write(f"{station}: click {self.clicks}, {now - self._began:.1f} s\n")
        self._began = now


def test_a_curator_looks_compares_cites_and_exports(tmp_path: Path, browser: Browser):
    pages: dict[str, ServedPage] = {
        "/": "<meta charset=gbk><title>图书馆</title><h1>馆藏目录</h1><p>old hours</p>"
        '<a href="b.html">b</a>'.encode("gbk"),
        "/b.html": "<p>text</p>",
    }
    walk = Walk()
    context = browser.new_context(locale="en-GB", timezone_id="UTC", accept_downloads=True)
    context.set_default_timeout(200_000)
    with site(pages) as url, console_of(tmp_path, "--replay-port", "0") as console:
        page = context.new_page()
        crawl_twice(page, console, url, pages, walk)
        tabs = page.locator("nav a", has_text="Captures")
        walk.click(tabs.first)
        row = page.locator("#captures tbody tr", has=page.get_by_role("link", name=url, exact=True))
        with context.expect_page() as opened:
            walk.click(row.first.get_by_role("link", name="Replay"))
        replay = opened.value
        archived = replay.frame_locator("iframe")
        expect(archived.locator("h1")).to_have_text("馆藏目录")
        expect(archived.get_by_text("new hours", exact=True)).to_be_visible()
        walk.arrive("open")

        # A recrawl may fetch a changed page twice, and the clock may go on in between.
        for _ in range(int(replay.locator("#all").inner_text().split()[0]) - 1):
            place = replay.url
            walk.click(replay.get_by_role("link", name="Earlier"))
            expect(replay).not_to_have_url(place)
        expect(archived.get_by_text("old hours", exact=True)).to_be_visible()
        walk.arrive("move in time")

        walk.click(replay.get_by_text("More", exact=True))
        walk.click(replay.get_by_role("link", name="Compare with"))
        expect(replay.locator("ins", has_text="new").first).to_be_visible()
        walk.arrive("compare")

        walk.click(row.first.get_by_role("link", name=url, exact=True))
        walk.click(page.get_by_role("link", name="Cite it"))
        expect(page.get_by_text("urn:pwid:").first).to_be_visible()
        walk.arrive("cite")

        export(page, tmp_path / "job.wacz", walk)
    context.close()
    names = zipfile.ZipFile(tmp_path / "job.wacz").namelist()
    assert "datapackage.json" in names
    assert walk.clicks < 25


def crawl_twice(
    page: Page, console: ConsoleProcess, url: str, pages: dict[str, ServedPage], walk: Walk
) -> None:
    """Crawl a site by the form of the console, and again after it changed."""
    page.goto(console.link)
    page.get_by_label("URLs to start from").fill(url)
    walk.click(page.locator("summary", has_text="More"))
    page.get_by_label("Name", exact=True).fill("library")
    page.get_by_label("Seconds between two fetches").fill("0")
    walk.click(page.get_by_role("button", name="Create and start"))
    page.wait_for_url("**/j/crawls~library*")
    shows_state(page, "Finished")
    walk.arrive("crawl")
    home = pages["/"]
    assert isinstance(home, bytes)
    pages["/"] = home.replace(b"old hours", b"new hours")
    act(page, "recrawl")
    walk.clicks += 1
    runs = console.crawls / "library" / "runs"
    until(lambda: len(list(runs.glob("*/reports/crawl-report.json"))) == 2)
    shows_state(page, "Finished")
    walk.arrive("crawl again")


def export(page: Page, path: Path, walk: Walk) -> None:
    """Download all captures as a WACZ."""
    walk.click(page.locator("nav a", has_text="Captures").first)
    walk.click(page.get_by_role("button", name="Write the file"))
    link = page.get_by_role("link", name=".wacz").first
    expect(link).to_be_visible()
    with page.expect_download() as download:
        walk.click(link)
    download.value.save_as(path)
    walk.arrive("export")
