"""A Chinese operator breaks a file and reads what is wrong; the language stays with the user."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.stories.running import ConsoleProcess, new_job
from tests.console.stories.steps import go, open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_findings_and_hints_are_chinese_and_the_language_is_chosen_at_the_top(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    with shared.for_jobs(tmp_path / "crawls") as console:
        new_job(tmp_path / "crawls/one", "http://127.0.0.1:9/")
        console_url = console.url
        with tab(browser, console) as page:
            go(page, console_url)
            choose_language(page, "zh_CN")
            expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
            open_job(page, console, "one", "/settings")
            editor = page.locator(".cm-content")
            editor.click()
            page.keyboard.press("Control+End")
            page.keyboard.type("robots: {policy: perhaps}\n")
            expect(page.locator("[data-findings]")).to_contain_text("必须是")
            page.keyboard.type("politeness:\n  resp")
            page.keyboard.press("Control+Space")
            expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("秒")
            go(page, f"{console_url}j/none")
            expect(page.locator("[role=alert]")).to_have_text("没有任务 none")
            go(page, f"{console_url}j/crawls~one?lang=en")
            expect(page.locator("html")).to_have_attribute("lang", "en")
            go(page, console_url)
            expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
            go(page, f"{console_url}?lang=zh-CN")
            choose_language(page, "en")
            expect(page.locator("html")).to_have_attribute("lang", "en")
            expect(page).to_have_url(console_url)


def choose_language(page: Page, name: str) -> None:
    """Choose a language in the menu of the user."""
    page.get_by_role("button", name="anna").click()
    page.locator("#language").select_option(name)
