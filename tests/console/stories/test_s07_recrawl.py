"""S7: a recrawl of a site that has changed begins by a button; pages say what it found."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.site import site
from tests.console.stories.running import ConsoleProcess, finished_job
from tests.console.stories.steps import act, open_job, shows_state
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console

PAGES = 24
SOME_SHARE = re.compile(r"^[1-9][0-9.]* %$")


def test_a_recrawl_says_what_it_found_and_saved(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    pages: dict[str, str | bytes] = {
        f"/p{n}.html": f"<meta charset=utf-8><title>页 {n}</title><p>内容 {n} " + "文字 text " * 200
        for n in range(PAGES)
    }
    pages["/gbk.html"] = '<meta charset="gbk"><title>图书馆</title><p>馆藏目录'.encode("gbk")
    pages["/"] = "".join(f'<a href="{name}">{name}</a>' for name in pages)
    with site(pages) as url:
        finished_job(tmp_path / "crawls/demo", url, "recrawl.lots=0.5")
        change(pages)
        with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
            open_job(page, console, "demo")
            shows_state(page, "Finished")
            first = run_of(page)
            page.get_by_text("Recrawl options").click()
            page.get_by_label("Budget").fill("soon")
            act(page, "recrawl")
            expect(page.locator("#notices .notice-error")).to_contain_text("soon")
            page.get_by_label("Budget").fill("")
            act(page, "recrawl")
            expect(page.locator("#notices")).to_contain_text("recrawl started")
            expect(run_row(page)).not_to_have_text(first)
            shows_state(page, "Finished")

            page.get_by_role("link", name="Runs", exact=True).first.click()
            row = page.locator("main tbody tr").first
            expect(row).to_contain_text("incremental")
            expect(row).to_contain_text("newly missing: 1")
            expect(row).to_contain_text("new: 1")
            page.get_by_role("link", name="What recrawls saved, and their recall").click()
            expect(page.get_by_role("heading", name="Estimated recall")).to_be_visible()
            costs = page.locator("table", has_text="full crawls instead")
            expect(costs.locator("tr", has_text="bytes stored").locator("td").last).to_have_text(
                SOME_SHARE
            )
            runs = page.locator("table", has_text="requests of a full crawl").last
            cells = runs.locator("tbody tr").first.locator("td")
            # New, changed (the home page too) and deleted pages.
            assert [cells.nth(n).inner_text() for n in (2, 3, 4)] == ["1", "3", "1"]
            expect(page.locator("main")).to_contain_text("From random samples, all runs")

            page.get_by_role("link", name="All reports").click()
            page.get_by_role("link", name="Deleted pages").click()
            page.get_by_role("link", name="p5.html").first.click()
            expect(page.locator("h2").first).to_contain_text("p5.html")
            expect(page.locator("main")).to_contain_text("404")


def change(pages: dict[str, str | bytes]) -> None:
    """Two pages change, one goes and one comes."""
    for n in (3, 4):
        pages[f"/p{n}.html"] = f"<title>{n}</title><p>all is new here, and much longer " * 20
    del pages["/p5.html"]
    pages["/"] = str(pages["/"]) + '<a href="/new.html">new</a>'
    pages["/new.html"] = "<p>something new"


def run_row(page: Page) -> Locator:
    """The name of the run, on Overview."""
    return page.locator("#details ~ dl dd").first


def run_of(page: Page) -> str:
    """The name of the run that Overview shows."""
    return run_row(page).inner_text()
