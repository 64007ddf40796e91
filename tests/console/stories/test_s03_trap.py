"""S3: a trap is looked at, its URIs are deleted after a preview, and job.log names who did it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.store.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import console_of, new_job, running_job, until
from tests.console.stories.steps import ask, open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_the_uris_of_a_trap_are_deleted(tmp_path: Path, browser: Browser):
    pages: dict[str, str | bytes] = {
        **many_pages(20),
        "/": "".join(
            f'<a href="/p{n}.html">{n}</a><a href="/calendar/{n}">{n}</a>' for n in range(20)
        ),
    }
    with site(pages) as url:
        job = new_job(tmp_path / "crawls" / "demo", url, "politeness.delay=5s")
        with (
            running_job(job),
            console_of(tmp_path) as console,
            tab(browser, console) as page,
        ):
            open_job(page, console, "demo", "/frontier/change")
            until(lambda: queued(ask(page, "GET", "/api/v1/jobs/crawls~demo")[1]) > 30)
            page.get_by_label("Expression in the URL").fill("/calendar/")
            page.get_by_role("button", name="Count, and show samples").click()
            expect(page.get_by_role("heading", name="What it means")).to_be_visible()
            typed = page.locator("#typed")
            expect(typed).to_be_visible(timeout=60_000)
            expect(page.locator("section[aria-labelledby=preview]")).to_contain_text("/calendar/")
            number = page.locator("input[name=expect]").get_attribute("value")
            assert number
            typed.fill(number)
            page.locator("section[aria-labelledby=preview] button.danger").click()
            until(lambda: queued(ask(page, "GET", "/api/v1/jobs/crawls~demo")[1]) < 21)
            log = Layout(job).latest / "logs" / "job.log"
            until(lambda: "by anna via console" in log.read_text())


def queued(answer: object) -> int:
    """The URIs that wait, of the details of a job."""
    assert isinstance(answer, dict)
    found: int = answer["item"]["queued"]
    return found
