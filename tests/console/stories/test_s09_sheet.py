"""S9: other settings for a part of a site, with a preview of the waiting URIs that they affect."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import ConsoleProcess, command, new_job, running_job
from tests.console.stories.steps import open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_a_part_of_a_site_gets_a_delay_of_its_own(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    with site(many_pages(30)) as url:
        job = new_job(tmp_path / "crawls" / "demo", url, "politeness.delay=5s")
        with (
            running_job(job),
            shared.for_jobs(tmp_path / "crawls") as console,
            tab(browser, console) as page,
        ):
            open_job(page, console, "demo", "/settings/sheets")
            page.get_by_label("URL or SURT prefix").fill(f"{url}p1")
            page.get_by_label("Setting", exact=True).fill("politeness.delay")
            page.get_by_role("button", name="Show", exact=True).click()
            page.locator("#value").fill("60s")
            page.get_by_role("button", name="Preview the change").click()
            preview = page.locator("section[aria-labelledby=preview]")
            expect(preview).to_contain_text("waiting URIs")
            expect(preview).to_contain_text("/p1")
            page.get_by_role("button", name="Apply now").click()
            expect(page.locator(".notice-done")).to_be_visible()
            assert "p1" in Layout(job).config.read_text()
            told = command("check", job, "--dry-run", f"{url}p1.html")
            assert "for-127" in told
