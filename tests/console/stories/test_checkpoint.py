"""Back to a checkpoint: a job is stopped, and goes on with the queues that it had before."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.axe import violations
from tests.console.stories.running import command, console_of, new_job, until
from tests.console.stories.steps import act, open_job, shows_state
from tests.console.stories.watched import tab

pytestmark = [pytest.mark.console, pytest.mark.slow]


def finished(job: Path) -> int:
    """The URIs that a job at rest has finished."""
    found = re.search(r'"finished":\s*(\d+)', command("status", job, "--json"))
    assert found is not None
    return int(found[1])


def test_a_job_goes_back_to_a_checkpoint(tmp_path: Path, browser: Browser):
    with site(many_pages(40)) as url:
        job = new_job(tmp_path / "crawls" / "demo", url, "politeness.delay=0.3s")
        log = Layout(job).root / "latest/logs/crawl.log"
        with console_of(tmp_path) as console, tab(browser, console) as page:
            open_job(page, console, "demo")
            act(page, "start")
            until(lambda: log.exists() and log.read_text().count("\n") > 3)
            open_job(page, console, "demo")
            act(page, "checkpoint")
            expect(page.locator("#notices")).to_contain_text("checkpoint")
            before = log.read_text().count("\n")
            until(lambda: log.read_text().count("\n") > before + 5)
            act(page, "stop")
            shows_state(page, "Stopped by the operator")
            after = finished(job)
            open_job(page, console, "demo", "/checkpoints")
            assert violations(page) == []
            row = page.locator("tbody tr").first
            noted = int(row.locator("td.number").first.inner_text().replace(",", ""))
            assert noted < after
            page.get_by_role("button", name="Go back to").first.focus()
            page.keyboard.press("Enter")
            page.wait_for_url("**/j/crawls~demo")
            until(lambda: "restored" in job_log(job) or "checkpoint" in job_log(job))
            shows_state(page, "Running")
            act(page, "stop")
            shows_state(page, "Stopped by the operator")
        command("archive", job, "check")


def job_log(job: Path) -> str:
    """All that the logs of a job say of it."""
    return "\n".join(one.read_text() for one in job.rglob("job.log"))
