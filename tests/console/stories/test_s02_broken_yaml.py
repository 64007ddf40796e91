"""S2: a broken YAML is put right by what the page says of it, until all lights are green."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from nacre.machine.layout import Layout
from tests.console.stories.running import ConsoleProcess, new_job
from tests.console.stories.steps import open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def lights(page: Page) -> list[str]:
    """The classes of the three lights."""
    found = page.locator("[data-light]").all()
    return [(one.get_attribute("class") or "").rpartition("state-")[2] for one in found]


def verify(page: Page) -> None:
    """Push Verify, and wait for what it says."""
    page.get_by_role("button", name="Verify").click()
    expect(page.locator(".notice").first).to_be_visible()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(True, id="with script"),
        pytest.param(False, id="without", marks=pytest.mark.slow),
    ],
)
def test_a_file_with_two_mistakes_is_mended(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, script: bool
):
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    good = job.config.read_text()
    bad = good.replace("seeds: seeds.txt", "seeds: seeds.txt\npoliteness: {dealy: 1}\nscope: [", 1)
    half = good.replace("seeds: seeds.txt", "seeds: seeds.txt\npoliteness: {dealy: 1}", 1)
    whole = half.replace("dealy", "delay")
    job.config.write_text(bad)
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, script=script) as page,
    ):
        open_job(page, console, "demo", "/settings")
        assert lights(page)[0] == "bad"
        expect(page.locator(".finding-problem").first).to_contain_text("Line")
        write(page, half, script=script)
        verify(page)
        assert lights(page)[:2] == ["good", "bad"]
        expect(page.locator(".finding-problem").first).to_contain_text("delay")
        write(page, whole, script=script)
        verify(page)
        assert lights(page) == ["good", "good", "good"]
        page.get_by_role("button", name="Show the changes and save").click()
        expect(page.locator("pre.diff ins").first).to_contain_text("delay")
        page.get_by_label("Why, in a line").fill("two mistakes")
        page.get_by_role("button", name="Save this").click()
        expect(page.locator(".notice-done")).to_be_visible()
        assert "delay: 1" in job.config.read_text()
        page.get_by_role("link", name="History").click()
        expect(page.locator("main")).to_contain_text("two mistakes")


def write(page: Page, text: str, *, script: bool) -> None:
    """Put a text in place of that of the editor."""
    if not script:
        page.locator("textarea#yaml").fill(text)
        return
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
