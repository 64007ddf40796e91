"""S6: two captures of a URL are compared and cited, in both schemes and languages."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.console.captures.test_compare import add_job
from tests.console.stories.axe import violations
from tests.console.stories.running import ConsoleProcess
from tests.console.stories.steps import go
from tests.console.stories.watched import faults_of, tab
from tests.ops.test_compare import DAYS
from tests.replay.archives import URL

pytestmark = pytest.mark.console


def test_two_captures_are_compared_and_cited(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    add_job(tmp_path)
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console) as page,
    ):
        base = f"{console.url.rstrip('/')}/j/{console.id_of('demo')}"
        assert go(page, f"{base}/compare?u={URL}") == 200
        expect(page.locator("ins", has_text="alert(1)").first).to_be_visible()
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []
        page.get_by_label("Older capture").select_option(DAYS[0])
        page.get_by_role("button", name="Compare").click()
        page.get_by_role("link", name="Links", exact=True).click()
        expect(page.get_by_role("link", name="http://h.test/a")).to_have_count(1)
        headings = page.locator("h2").all_inner_texts()
        assert "Links" in headings
        assert "Source" not in headings
        page.get_by_role("link", name="Cite Older capture").click()
        expect(page.get_by_text("urn:pwid:demo:2026-11-20T10:00:00Z").first).to_be_visible()
        page.get_by_text("BibTeX").click()
        assert violations(page) == []
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        faults_of(page)
