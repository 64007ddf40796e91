"""S3: a trap is looked at, its URIs are deleted after a preview, and job.log names who did it."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from nacre.machine.layout import Layout
from tests.cli.site import many_pages, site
from tests.console.stories.running import ConsoleProcess, console_of, new_job, running_job, until
from tests.console.stories.steps import ask, open_job, shows_state
from tests.console.stories.watched import tab

pytestmark = pytest.mark.console


def test_the_uris_of_a_trap_are_deleted(tmp_path: Path, browser: Browser, shared: ConsoleProcess):
    pages: dict[str, str | bytes] = {
        **many_pages(20),
        "/": "".join(
            f'<a href="/p{n}.html">{n}</a><a href="/calendar/{n}">{n}</a>' for n in range(20)
        ),
    }
    with site(pages) as url:
        job = new_job(tmp_path / "crawls" / "demo", url, "politeness.delay=5s")
        with (
            running_job(job),
            shared.for_jobs(tmp_path / "crawls") as console,
            tab(browser, console) as page,
        ):
            open_job(page, console, "demo", "/frontier/change")
            at = f"/api/v1/jobs/{console.id_of('demo')}"
            until(lambda: queued(ask(page, "GET", at)[1]) > 30)
            page.get_by_label("Expression in the URL").fill("/calendar/")
            page.get_by_role("button", name="Count, and show samples").click()
            expect(page.get_by_role("heading", name="What it means")).to_be_visible()
            typed = page.locator("#typed")
            expect(typed).to_be_visible()
            expect(page.locator("section[aria-labelledby=preview]")).to_contain_text("/calendar/")
            number = page.locator("input[name=expect]").get_attribute("value")
            assert number
            typed.fill(number)
            page.locator("section[aria-labelledby=preview] button.danger").click()
            until(lambda: queued(ask(page, "GET", at)[1]) < 21)
            log = Layout(job).latest / "logs" / "job.log"
            until(lambda: "by anna via console" in log.read_text())


class LibrarySite(Mapping[str, str | bytes]):
    """A site in GBK with news and a calendar without end: each month leads to the next."""

    def __getitem__(self, path: str) -> str | bytes:
        months = re.fullmatch(r"/calendar/(\d+)", path)
        if months:
            month = int(months[1])
            days = "".join(f"<a href='/calendar/{month}/{day}'>{day}</a>" for day in range(1, 29))
            return f"<title>活动日历</title><a href='/calendar/{month + 1}'>下月</a>{days}".encode(
                "gbk"
            )
        if path == "/":
            news = "".join(f"<a href='/news/{n}'>新闻 {n}</a>" for n in range(6))
            return f"<title>市图书馆</title>{news}<a href='/calendar/1'>日历</a>".encode("gbk")
        if path.startswith(("/news/", "/calendar/")):
            return f"<title>{path}</title><p>内容 {path}".encode("gbk")
        raise KeyError(path)

    def __iter__(self) -> Iterator[str]:
        return iter(("/",))

    def __len__(self) -> int:
        return 1


def test_a_stranger_finds_a_trap_and_cuts_it_with_what_the_pages_show(
    tmp_path: Path, browser: Browser
):
    """Each click is on something that the page before it shows; docs/console.md tells the story."""
    with (
        site(LibrarySite()) as url,
        console_of(tmp_path) as console,
        tab(browser, console, None) as page,
    ):
        page.goto(console.link)
        page.get_by_label("URLs to start from").fill(url)
        page.get_by_role("button", name="Create and start").click()
        page.get_by_role("link", name="another delay for this host").click()
        page.locator("#value").fill("0.05")
        page.get_by_role("button", name="Preview the change").click()
        expect(page.locator("main")).not_to_contain_text("It affects 0 of")
        page.get_by_role("button", name="Apply now").click()
        page.get_by_role("link", name="Overview").click()
        place = page.locator("section[aria-labelledby=places] tr", has_text="/calendar/")
        place.locator("summary").click()
        place.get_by_role("link").click()
        page.get_by_role("button", name="Count, and show samples").click()
        number = page.locator("input[name=expect]").get_attribute("value")
        page.locator("#typed").fill(str(number))
        page.locator("section[aria-labelledby=preview] button.danger").click()
        expect(page.locator("main")).to_contain_text("The scope excludes them now")
        page.get_by_role("link", name="Overview").last.click()
        # Without the calendar the site has an end.
        shows_state(page, "Finished")


class ProgramSite(Mapping[str, str | bytes]):
    """A site in GBK whose calendar is a program: each month leads to four hundred days."""

    def __getitem__(self, path: str) -> str | bytes:
        if path == "/":
            news = "".join(f"<a href='/xinwen/{n}.html'>新闻 {n}</a>" for n in range(6))
            return f"<title>文化馆</title>{news}<a href='/rili?m=1'>日历</a>".encode("gbk")
        if path.startswith("/xinwen/"):
            return f"<title>{path}</title><p>内容 {path}".encode("gbk")
        month = re.fullmatch(r"/rili\?m=(\d+)", path)
        if month is None:
            raise KeyError(path)
        first = 400 * int(month[1])
        days = "".join(f"<a href='/rili?m={n}'>{n}</a>" for n in range(first, first + 400))
        return f"<title>活动 {month[1]}</title>{days}".encode("gbk")

    def __iter__(self) -> Iterator[str]:
        return iter(("/",))

    def __len__(self) -> int:
        return 1


def test_a_banner_names_the_kind_that_most_of_what_waits_is_of(
    tmp_path: Path, browser: Browser, shared: ConsoleProcess
):
    with site(ProgramSite()) as url:
        job = new_job(tmp_path / "crawls" / "demo", url, "politeness.delay=0.5s")
        with (
            running_job(job),
            shared.for_jobs(tmp_path / "crawls") as console,
            tab(browser, console) as page,
        ):
            open_job(page, console, "demo")
            banner = page.locator("section[data-crowd]")
            expect(banner).to_contain_text("Most queued URIs are of one kind", timeout=200_000)
            expect(banner).to_contain_text("/rili?")
            # Room between the banner and the numbers below it.
            above, below = banner.bounding_box(), page.locator("#numbers").bounding_box()
            assert above is not None
            assert below is not None
            assert above["y"] + above["height"] + 8 <= below["y"]
            # It may only lead deeper: no more speed is offered.
            expect(page.locator("[data-lever=delay]")).to_have_count(0)
            banner.get_by_role("link", name="Show it").click()
            expect(page.locator("#uris tbody tr").first).to_contain_text("/rili?m=")
            page.go_back()
            banner.get_by_role("link", name="Exclude it").click()
            expect(page.locator("#urls")).to_have_value(re.compile(r"/rili\\\?"))
            page.go_back()
            banner.get_by_role("button", name="It is wanted").click()
            expect(page.locator("main")).to_contain_text("nothing is said about")
            expect(banner).to_have_count(0)


def queued(answer: object) -> int:
    """The URIs that wait, of the details of a job."""
    assert isinstance(answer, dict)
    found: int = answer["item"]["queued"]
    return found
