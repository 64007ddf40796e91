"""S8: a run begins by a schedule; others are left out, end a paused run, or are paused."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.schedule_book import ScheduleBook
from nacre.job.control import is_running, send_command
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import (
    ConsoleProcess,
    command,
    console_of,
    finished_job,
    until,
)
from tests.console.stories.steps import act, open_job, shows_state
from tests.console.stories.watched import tab

pytestmark = [pytest.mark.console, pytest.mark.slow]

HOURS = 3


def test_runs_begin_by_the_calendar(tmp_path: Path, browser: Browser):
    with site(many_pages(40)) as url:
        job = Layout(finished_job(tmp_path / "crawls/图书馆", url))
        command("set", job.root, "politeness.delay=30s")
        with console_of(tmp_path) as console, tab(browser, console) as page:
            page.goto(f"{console.url}calendar")
            expect(page.locator("main")).to_contain_text("No run is scheduled")
            add(page, "half past two", "Asia/Shanghai", "skip this run")
            expect(page.locator(".notice-error")).to_contain_text("half past two")
            shows_fields_of_a_week(page)
            add(page, "0 * * * *", "Asia/Shanghai", "skip this run")
            expect(row(page, 1)).to_contain_text("every hour, at minute 00 Asia/Shanghai")
            row(page, 1).locator("summary").first.click()
            expect(row(page, 1).locator("ol li")).to_have_count(10)
            expect(row(page, 1).locator("ol li").first).to_contain_text(
                re.compile(r", \d\d:00 UTC")
            )

            pass_hours(console, 1)
            says(page, 1, f"started .* missed: {HOURS - 1}")
            until(lambda: is_running(job.socket))
            pass_hours(console, 1)
            says(page, 1, "skipped because a run was open")
            assert len(runs(job)) == 2
            assert "schedule 1 of anna" in (job.latest / "logs" / "job.log").read_text()

            open_job(page, console, "图书馆")
            act(page, "pause")
            shows_state(page, "Paused")
            page.get_by_role("link", name="Calendar").click()
            row(page, 1).get_by_role("button", name="Pause").click()
            expect(row(page, 1)).to_contain_text("paused")
            add(page, "@hourly", "UTC", "close it if it is paused")
            pass_hours(console, 1)
            pass_hours(console, 2)
            says(page, 2, "started")
            until(lambda: len(runs(job)) == 3 and is_running(job.socket))
            # The paused schedule was looked at before the other one, and began nothing.
            expect(row(page, 1)).to_contain_text("skipped because a run was open")
            open_job(page, console, "图书馆")
            shows_state(page, "Running")

            page.get_by_role("link", name="Calendar").click()
            row(page, 1).get_by_role("button", name="Remove the schedule").click()
            expect(row(page, 1)).to_have_count(0)
            send_command(job.socket, "stop")
            until(lambda: not is_running(job.socket))


def test_the_calendar_makes_new_jobs_by_a_command(tmp_path: Path, browser: Browser):
    with site(many_pages(4)) as url:
        template = finished_job(tmp_path / "crawls/图书馆", url)
        with console_of(tmp_path) as console, tab(browser, console) as page:
            new = ("--mode", "new-job", "--name", "馆-%Y", "--state", console.state)
            command("console", "schedule", "add", template, "--at", "@hourly", *new)
            pass_hours(console, 1)
            page.goto(f"{console.url}calendar")
            says(page, 1, f"created and started a job .* missed: {HOURS - 1}")
            (root,) = (tmp_path / "crawls").glob("馆-*")
            job = Layout(root)
            until(lambda: job.latest.is_dir() and not is_running(job.socket))
            until(lambda: "FINISHED" in command("status", root, "--json"))
            assert len(list(root.rglob("*.warc.gz"))) == 1
            assert len(runs(Layout(template))) == 1


def add(page: Page, at: str, zone: str, overlap: str) -> None:
    """Fill the form of a new schedule, and send it."""
    page.get_by_label("Repeat").select_option("by a cron expression")
    page.get_by_label("Cron expression").fill(at)
    page.get_by_label("Time zone").fill(zone)
    page.get_by_label("If another run is open").select_option(overlap)
    page.get_by_role("button", name="Add", exact=True).click()


def shows_fields_of_a_week(page: Page) -> None:
    """Choose a weekly schedule: its fields are there, and no others."""
    page.get_by_label("Repeat").select_option("weekly")
    expect(page.get_by_label("Day of the week")).to_be_visible()
    expect(page.get_by_label("Cron expression")).to_be_hidden()
    expect(page.get_by_label("Day of the month")).to_be_hidden()


def row(page: Page, schedule: int) -> Locator:
    """The row of a schedule."""
    return page.locator(f"tr[data-schedule='{schedule}']")


def says(page: Page, schedule: int, pattern: str) -> None:
    """Load the calendar until the row of a schedule says something."""

    def found() -> bool:
        page.goto(page.url)
        return re.search(pattern, row(page, schedule).inner_text(), re.DOTALL) is not None

    until(found)


def pass_hours(console: ConsoleProcess, schedule: int) -> None:
    """As if nobody had looked at a schedule for some hours."""
    with closing(ConsoleDatabase(console.state)) as database:
        clock = SystemClock()
        book = ScheduleBook(database, clock)
        one = book.find(schedule)
        assert one is not None
        book.keep(schedule, clock.now() - HOURS * 3600, one.note, waits=one.waits)


def runs(job: Layout) -> list[str]:
    """The runs of a job."""
    return sorted(one.name for one in (job.root / "runs").iterdir())
