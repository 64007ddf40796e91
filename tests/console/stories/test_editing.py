"""Editing in a browser: what Verify surveys, cards of lists, a clip of lines, a tree of sheets."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from nacre.machine.layout import Layout
from tests.console.stories.axe import violations
from tests.console.stories.running import ConsoleProcess, command, console_of, new_job
from tests.console.stories.steps import open_job
from tests.console.stories.watched import faults_of, tab

pytestmark = pytest.mark.console

WAYS = pytest.mark.parametrize(
    "script",
    [
        pytest.param(True, id="with script"),
        pytest.param(False, id="without", marks=pytest.mark.slow),
    ],
)


def accessible(page: Page, *, script: bool) -> None:
    """Fail where axe finds something, or a page did what it may not do."""
    if script:
        assert violations(page) == []
    faults_of(page)


@WAYS
def test_verify_shows_seeds_and_space_and_a_red_check_keeps_start_disabled(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, script: bool
):
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    good = job.config.read_text()
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, script=script) as page,
    ):
        open_job(page, console, "demo", "/settings")
        page.get_by_role("button", name="Verify").click()
        survey = page.locator("section[aria-labelledby=survey]")
        expect(survey).to_contain_text("127.0.0.1")
        expect(survey).to_contain_text("needed")
        accessible(page, script=script)
        job.config.write_text(good + "fetsh: {}\n")
        open_job(page, console, "demo")
        start = page.locator(".title button[data-action=start]")
        expect(start).to_have_attribute("aria-disabled", "true")
        expect(start).to_contain_text("the check has findings")
        expect(page.locator("#sentence")).to_contain_text("keeps it from starting")
        start.click(force=True)
        assert not job.has_store
        job.config.write_text(good)
        open_job(page, console, "demo")
        expect(start).not_to_have_attribute("aria-disabled", "true")
        accessible(page, script=script)


@WAYS
def test_cards_of_a_chain_are_moved_changed_and_added(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, script: bool
):
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, script=script) as page,
    ):
        open_job(page, console, "demo", "/settings/form")
        page.locator("summary", has_text="chains.fetch").first.click()
        accessible(page, script=script)
        page.get_by_role("button", name="Move down: preselect").click()
        saved(page)
        expect(page.locator(".notice-done")).to_contain_text("Saved: chains.fetch")
        expect(page.locator(".views [aria-current]")).to_have_text("Form")
        assert "reorder:" in job.config.read_text()
        open_job(page, console, "demo", "/settings/form")
        page.locator("summary", has_text="chains.fetch").first.click()
        card = page.locator("[data-card='chains.fetch 1']")
        expect(card).to_contain_text("preselect")
        card.get_by_role("link", name="Change what it says").click()
        accessible(page, script=script)
        card.get_by_label("Comment comment", exact=True).fill("先看一眼")
        card.get_by_role("button", name="Show the changes and save").first.click()
        saved(page)
        assert "先看一眼" in job.config.read_text()
        open_job(page, console, "demo", "/settings/form")
        page.locator("summary", has_text="fetch.midfetch").first.click()
        page.get_by_role("link", name="Add one: fetch.midfetch").click()
        page.locator("#add-fetch-midfetch").select_option("reject")
        page.locator("button[value='fetch.midfetch 0 add']").click()
        saved(page)
        command("check", job.root)
        assert "midfetch:" in job.config.read_text()


def saved(page: Page) -> None:
    """Save the text that was shown, and see that it is."""
    expect(page.locator("pre.diff ins").first).to_be_visible()
    page.get_by_role("button", name="Save this").click()
    expect(page.locator(".notice-done")).to_be_visible()


@WAYS
def test_lines_of_the_editor_become_a_clip(
    tmp_path: Path, browser: Browser, script: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    job.config.write_text("seeds: seeds.txt\npoliteness:\n  min_delay: 9\n  max_delay: 60\n")
    with console_of(tmp_path) as console, tab(browser, console, script=script) as page:
        open_job(page, console, "demo", "/settings")
        if script:
            page.locator(".cm-content").click()
            page.keyboard.press("Control+Home")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Shift+ArrowDown")
            page.keyboard.press("Shift+ArrowDown")
        page.locator("summary", has_text="Save lines as a clip").click()
        if not script:
            page.get_by_label("First line").fill("3")
            page.get_by_label("Last line").fill("4")
        assert page.get_by_label("First line").input_value() == "3"
        assert page.get_by_label("Last line").input_value() == "4"
        page.get_by_label("Name of the clip").fill("slow-site")
        page.get_by_label("Purpose, in a line").fill("慢一点")
        page.get_by_role("button", name="Save the clip").click()
        expect(page.locator(".notice-done")).to_contain_text("slow-site")
        accessible(page, script=script)
        page.locator(".notice-done a").click()
        expect(page.locator("main")).to_contain_text("max_delay: 60")
        assert "慢一点" in (tmp_path / "home/nacre/clips/slow-site.yaml").read_text()


@WAYS
def test_sheets_are_a_tree_that_folds(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess, script: bool
):
    job = Layout(new_job(tmp_path / "crawls" / "demo", "http://127.0.0.1:9/"))
    job.config.write_text(
        "seeds: seeds.txt\nsheets:\n  slow: {politeness.delay: 9s}\n"
        "  slower: {politeness.delay: 99s}\n"
        "sheet_associations:\n  - {surts: ['http://example.org'], sheets: [slow]}\n"
        "  - {surts: ['http://www.example.org/a/'], sheets: [slower]}\n"
    )
    with (
        shared.for_jobs(tmp_path / "crawls") as console,
        tab(browser, console, script=script) as page,
    ):
        open_job(page, console, "demo", "/settings/sheets")
        tree = page.locator("ul.sheets")
        expect(tree.locator("summary").first).to_contain_text("example.org")
        expect(tree).to_contain_text("99s")
        expect(tree).to_contain_text("overrules slow")
        expect(tree).to_contain_text("crawl.yaml:4")
        accessible(page, script=script)
        below = tree.get_by_text("99s").first
        tree.locator("summary").first.focus()
        page.keyboard.press("Enter")
        expect(below).to_be_hidden()
        page.keyboard.press("Enter")
        tree.get_by_role("button", name="Take off slower").click()
        page.get_by_role("button", name="Apply now").click()
        expect(page.locator(".notice-done")).to_be_visible()
        assert "www.example.org/a/" not in job.config.read_text()
