"""S11: in Chinese, by keyboard alone, in the dark."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.site import many_pages, site
from tests.console.stories.axe import violations
from tests.console.stories.running import ConsoleProcess, console_of, new_job, running_job
from tests.console.stories.steps import FIRST, shows_state
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console

MOST_TABS = 60


def test_a_job_is_found_and_paused_in_chinese_by_keyboard_in_the_dark(
    tmp_path: Path, browser: Browser
):
    with site(many_pages(50)) as url:
        job = new_job(tmp_path / "crawls/demo", url, "politeness.delay=5s")
        with (
            running_job(job),
            console_of(tmp_path) as console,
            tab(browser, console, None, scheme="dark", locale="zh-CN") as page,
        ):
            page.goto(console.url)
            tab_to(page, "input#key")
            page.keyboard.type(console.link.partition("#k=")[2])
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_have_text("任务")
            assert page.locator("html").get_attribute("lang") == "zh-CN"
            assert not violations(page)
            page.keyboard.press("?")
            expect(page.locator("dialog#shortcuts")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.locator("dialog#shortcuts")).to_be_hidden()
            tab_to(page, 'a[href="/j/crawls~demo"]')
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_have_text("demo")
            tab_to(page, f"{FIRST} button[data-action=pause]")
            assert focus_is_seen(page)
            page.keyboard.press("Enter")
            shows_state(page, "已暂停")
            assert not violations(page)
            page.keyboard.press("g")
            page.keyboard.press("j")
            expect(page.locator("h1")).to_have_text("任务")


def test_the_first_stop_of_the_keyboard_leads_to_the_content(
    browser: Browser, shared: ConsoleProcess
):
    with tab(browser, shared) as page:
        page.goto(f"{shared.url}calendar")
        page.keyboard.press("Tab")
        expect(page.locator("a.skip")).to_be_focused()
        assert focus_is_seen(page)
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate("(found) => document.activeElement?.matches(found)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by the keyboard")


def focus_is_seen(page: Page) -> bool:
    """Whether the element with the focus has an outline."""
    found: bool = page.evaluate("""() => {
      const style = getComputedStyle(document.activeElement);
      return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    }""")
    return found
