"""What is watched: charts of any time, live parts, and what becomes of them without a stream."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from nacre.store.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.logs.test_progress import line
from tests.console.stories.axe import violations
from tests.console.stories.running import (
    ConsoleProcess,
    console_of,
    finished_job,
    new_job,
    running_job,
)
from tests.console.stories.steps import open_job
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


class Given(NamedTuple):
    """A console, and the folder of its jobs: `demo` runs, `over` is over and ran for days."""

    console: ConsoleProcess
    crawls: Path


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    folder = tmp_path_factory.mktemp("watching")
    with site(many_pages(400)) as url, socket.create_server(("127.0.0.1", 0)) as silent:
        over = finished_job(folder / "crawls/over", url)
        log = Layout(over).latest / "logs" / "progress-statistics.log"
        log.write_text("".join(f"{line(number)}\n" for number in range(10_000)))
        job = new_job(folder / "crawls/demo", url, "politeness.delay=1s", "engine.parallel=5")
        # A server that never answers: one slot is always busy.
        with (job / "seeds.txt").open("a") as seeds:
            seeds.write(f"http://127.0.0.1:{silent.getsockname()[1]}/\n")
        with running_job(job), console_of(folder) as console:
            yield Given(console, folder / "crawls")


@pytest.fixture
def page(given: Given, browser: Browser) -> Iterator[Page]:
    with tab(browser, given.console) as opened:
        yield opened


def test_a_run_that_is_over_shows_its_day_and_all_of_it(given: Given, page: Page):
    open_job(page, given.console, "over", "/watch")
    spans = page.get_by_role("navigation", name="Time that the charts show")
    expect(spans.locator("[aria-current=page]")).to_have_text("All of the run")
    chart = page.locator("#chart-documents")
    expect(chart.locator("canvas")).to_be_visible()
    expect(chart).to_contain_text("Documents a second: 2.0")
    spans.get_by_text("24 hours").click()
    expect(page.locator("#past")).to_contain_text("4 min 48 s")
    expect(chart.locator("canvas")).to_be_visible()
    chart.get_by_text("As a table").click()
    assert chart.locator("tbody tr").count() >= 12
    assert not violations(page)
    spans.get_by_text("10 minutes").click()
    expect(page.locator(".empty")).to_contain_text("does not run now")


def test_the_past_stays_while_the_rest_is_live(given: Given, page: Page):
    open_job(page, given.console, "demo", "/watch?span=day")
    page.evaluate("document.getElementById('past').dataset.seen = 'yes'")
    page.evaluate("document.querySelector('#past > *').dataset.seen = 'yes'")
    slots = page.locator("#slots")
    expect(slots).to_contain_text("of 5 at work")
    page.get_by_role("button", name="One slot more").click()
    expect(page.locator(".notice-done")).to_be_visible()
    expect(slots).to_contain_text("of 6 at work")
    page.get_by_role("button", name="One slot fewer").click()
    expect(slots).to_contain_text("of 5 at work")
    assert page.locator("#past > [data-seen]").count() == 1


def test_a_fetch_leads_to_the_log_of_its_host(given: Given, page: Page):
    open_job(page, given.console, "demo", "/watch")
    page.locator("section[aria-labelledby=slots] td a").first.click()
    expect(page.locator("#log-host")).to_have_value("127.0.0.1")
