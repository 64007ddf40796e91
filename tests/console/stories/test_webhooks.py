"""A webhook is added, tried, paused and removed on its page, in both languages."""

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.site import PAGES, site
from tests.console.stories.axe import violations
from tests.console.stories.running import ConsoleProcess
from tests.console.stories.watched import faults_of, tab

pytestmark = pytest.mark.console


@pytest.mark.parametrize(
    ("locale", "waiting"),
    [
        pytest.param("en-GB", "waits", id="en"),
        pytest.param("zh-CN", "等待", id="zh", marks=pytest.mark.slow),
    ],
)
def test_a_webhook_is_added_tried_and_removed(
    browser: Browser, shared: ConsoleProcess, locale: str, waiting: str
):
    with site(PAGES) as url, tab(browser, shared, locale=locale) as page:
        page.goto(f"{shared.url}webhooks")
        page.locator("#w-url").fill(f"{url}hook")
        page.locator("#w-secret").fill("not to be seen again")
        page.locator("[name=private]").check()
        page.locator("button[value=add]").click()
        row = page.locator("tr[data-webhook]")
        expect(row).to_contain_text("/hook")
        assert "not to be seen again" not in page.content()
        row.locator("button[value=test]").click()
        # This site takes no POST, so that the message is tried again.
        expect(page.locator("section[aria-labelledby=deliveries] tbody")).to_contain_text(waiting)
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page, "color-contrast") == []
        row.locator("button[value=pause]").click()
        expect(row.locator(".state-warn")).to_be_visible()
        row.locator("button[value=remove]").click()
        expect(row).to_have_count(0)
        faults_of(page)
