"""S1: from an empty machine to a crawl that is over: one link, one form, one button."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.job.control import is_running
from nacre.machine.layout import Layout
from tests.cli.site import PAGES, site
from tests.console.stories.axe import violations
from tests.console.stories.running import console_of, until
from tests.console.stories.steps import shows_state
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_a_newcomer_crawls_a_site(tmp_path: Path, browser: Browser):
    with (
        site(PAGES) as url,
        console_of(tmp_path) as console,
        tab(browser, console, None) as page,
    ):
        page.goto(console.link)
        field = page.get_by_label("URLs to start from")
        expect(field).to_be_focused()
        field.fill(url)
        expect(page.locator("#look")).to_contain_text(url)
        page.locator("summary", has_text="More").click()
        page.get_by_label("Name", exact=True).fill("first")
        page.get_by_label("Seconds between two fetches").fill("0")
        # Enter looks for settings, and starts nothing.
        page.get_by_label("Search the settings").fill("robots.policy")
        page.keyboard.press("Enter")
        expect(page.locator("#v-robots-policy")).to_be_visible()
        assert page.url == console.url
        page.locator("#v-robots-policy").select_option("ignore")
        assert not violations(page)
        page.get_by_role("button", name="Create and start").click()
        page.wait_for_url("**/j/crawls~first*")
        shows_state(page, "Finished")
        expect(page.locator("#sentence")).to_contain_text("finished")
        job = Layout(console.crawls / "first")
        assert "policy: ignore" in job.config.read_text()
        assert list((job.latest / "archive").glob("*.warc.gz"))
        until(lambda: not is_running(job.socket))
