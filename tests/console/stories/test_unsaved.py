"""Text that is not saved is not lost without a warning, in whatever form it was typed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from nacre.machine.layout import Layout
from tests.console.stories.running import ConsoleProcess, new_job
from tests.console.stories.steps import go, open_job
from tests.console.stories.watched import tab, warnings_of

pytestmark = pytest.mark.console

_LEAVE = """() => {
  const event = new Event("beforeunload", {cancelable: true});
  window.dispatchEvent(event);
  return event.defaultPrevented;
}"""


def would_warn(page: Page) -> bool:
    """Whether the page would ask if it was left now."""
    warns: bool = page.evaluate(_LEAVE)
    return warns


def write(page: Page, text: str) -> None:
    """Put a text at the end of that of the editor."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def test_the_editor_warns_until_its_text_is_saved(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
        open_job(page, console, "demo", "/settings")
        expect(page.locator(".cm-content")).to_be_visible()
        assert not would_warn(page)
        write(page, "\npoliteness: {delay: 1}  # 礼貌\n")
        assert would_warn(page)
        page.get_by_role("button", name="Verify").click()
        expect(page.locator(".notice").first).to_be_visible()
        assert would_warn(page), "the page came with a text that is not saved"
        page.get_by_role("button", name="Show the changes and save").click()
        expect(page.locator("pre.diff ins").first).to_contain_text("礼貌")
        assert would_warn(page)
        assert warnings_of(page) == 0, "none of these forms loses the text"
        page.get_by_role("button", name="Save this").click()
        expect(page.locator(".notice-done")).to_be_visible()
        assert "礼貌" in job.config.read_text()
        assert not would_warn(page)
        page.get_by_role("link", name="History").click()
        expect(page.locator("main")).to_contain_text("1")
        assert warnings_of(page) == 0


def test_a_link_and_another_form_ask_first(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/")
    with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
        open_job(page, console, "demo", "/settings")
        write(page, "\npoliteness: {delay: 1}\n")
        page.get_by_role("link", name="History").click()
        expect(page).to_have_url(f"{console.url}j/{console.id_of('demo')}/settings/history")
        assert warnings_of(page) == 1
        open_job(page, console, "demo", "/settings")
        write(page, "\n# a note\n")
        page.get_by_role("button", name="Start the job with the saved file").click()
        expect(page).to_have_url(f"{console.url}j/{console.id_of('demo')}")
        assert warnings_of(page) == 2


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("new", "#new-seeds"),
        ("new", "#new-documents"),
        ("j/{job}/seeds/list", "#text"),
        ("j/{job}/settings/form", "[name^='v:'].mono, [name^='v:']:not([type=hidden])"),
        ("j/{job}/settings/urls", "#urls"),
        ("j/{job}", "#job-tags"),
        ("calendar", "#s-budget"),
        ("clips", "#name"),
        ("webhooks", "#w-url"),
        ("admin", "form[data-ask='POST /api/v1/users'] [name=name]"),
    ],
)
def test_each_form_warns_when_a_field_has_text(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, path: str, field: str
):
    new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/")
    with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
        go(page, console.url + path.format(job=console.id_of("demo")))
        page.evaluate(
            "() => document.querySelectorAll('details').forEach((one) => one.open = true)"
        )
        assert not would_warn(page)
        typed = page.locator(f"main :is(input, textarea):is({field})").first
        before = typed.input_value()
        typed.fill("7")
        assert would_warn(page)
        typed.fill(before)
        assert not would_warn(page)


def test_a_form_that_was_checked_is_not_saved(browser: Browser, shared: ConsoleProcess):
    with tab(browser, shared) as page:
        go(page, f"{shared.url}new")
        page.locator("#new-seeds").fill("http://127.0.0.1:9/图书馆/")
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.locator(".notice-done")).to_be_visible()
        assert warnings_of(page) == 0
        assert would_warn(page)
        page.locator("#new-profile").select_option(index=1)
        assert would_warn(page)


def test_a_list_of_jobs_and_a_search_never_ask(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/")
    with shared.for_jobs(tmp_path / "crawls") as console, tab(browser, console) as page:
        go(page, console.url)
        page.locator("#jobs [name=job]").first.check()
        page.locator("main [name=name], main [type=search]").first.fill("demo")
        assert not would_warn(page)
