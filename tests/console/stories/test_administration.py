"""The administration in a browser: its views, older links to its parts, and logging out."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.ops.operation import Role
from tests.console.stories.running import ConsoleProcess
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


@pytest.mark.parametrize(
    ("link", "view", "heading"),
    [
        ("admin#sessions", "admin/keys", "Sessions"),
        ("admin#quotas", "admin/quotas", "Quotas"),
        ("admin?who=anna#audit", "admin/audit?who=anna", "Audit log"),
        ("admin#metrics", "admin/about", "Metrics"),
    ],
)
def test_an_older_link_to_a_part_leads_to_its_view(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, link: str, view: str, heading: str
):
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, Role.ADMIN) as page,
    ):
        page.goto(console.url + link)
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        assert page.url.partition("#")[0] == console.url + view


def test_the_menu_of_the_user_logs_out(tmp_path: Path, browser: Browser, shared: ConsoleProcess):
    with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
        page.goto(console.url + "calendar")
        page.locator("button.you").click()
        expect(page.locator("#you")).to_contain_text("Logged in as")
        page.locator("#you").get_by_role("button", name="Log out").click()
        expect(page).to_have_url(f"{console.url}login")
        page.goto(console.url + "calendar")
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
