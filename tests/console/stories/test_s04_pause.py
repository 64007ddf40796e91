"""S4: pause, change a live setting, resume, with a `kill -9` of the console in between."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.job.control import is_running, send_command
from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import console_of, new_job, running_job, until
from tests.console.stories.steps import act, open_job, shows_state
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_a_console_that_is_killed_finds_all_as_it_was(tmp_path: Path, browser: Browser):
    with site(many_pages(200)) as url:
        job = new_job(tmp_path / "crawls/demo", url, "politeness.delay=2s", "engine.parallel=5")
        layout = Layout(job)
        with running_job(job), console_of(tmp_path) as console, tab(browser, console) as page:
            open_job(page, console, "demo")
            act(page, "pause")
            shows_state(page, "Paused")
            open_job(page, console, "demo", "/settings/form?q=engine.parallel")
            page.locator("#v-engine-parallel").fill("7")
            page.get_by_role("button", name="Preview the change").click()
            page.get_by_role("button", name="Apply now").click()
            expect(page.locator(".notice-done")).to_be_visible()
            console.kill()
            assert is_running(layout.socket)
            console.start()
            open_job(page, console, "demo")
            shows_state(page, "Paused")
            assert send_command(layout.socket, "status")["overview"]["parallel"] == 7
            act(page, "resume")
            shows_state(page, "Running")
            log = layout.latest / "logs" / "job.log"
            until(lambda: "resume by anna" in log.read_text())
            assert "pause by anna" in log.read_text()
            changed = next(one for one in log.read_text().splitlines() if "engine.parallel" in one)
            assert "7" in changed
            assert "anna" in changed
            expect(page.locator("h1")).to_have_text("demo")
