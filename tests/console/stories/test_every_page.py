"""Every page of the table of routes: accessible in both schemes, quiet, and without script."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from nacre.console.access.roles import Role
from nacre.console.routes import ROUTES, RouteRow
from tests.cli.site import many_pages, site
from tests.console.stories.axe import violations
from tests.console.stories.running import (
    ConsoleProcess,
    console_of,
    finished_job,
    new_job,
    running_job,
)
from tests.console.stories.steps import go
from tests.console.stories.watched import faults_of, tab

pytestmark = pytest.mark.console

DESK: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 400, "height": 800}
JOBS: Final = ("over", "runs", "new")
"""A job of each kind: over, at work, never started."""
SAMPLES: Final[Mapping[str, str]] = {
    "number": "1",
    "profile": "site",
    "clip": "mediawiki",
    "report": "crawl-summary",
}
"""A value for each further parameter of a path or of a query that a page needs."""


_ASKED: Final = frozenset(("u",))
"""Fields of a query that a page cannot do without."""
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")


class Given:
    """The console of these tests, and the URL of its site.

    Attributes:
        console: The console, with the jobs of `JOBS`.
        site: URL of the site that they crawl.
    """

    def __init__(self, console: ConsoleProcess, url: str) -> None:
        self.console = console
        self.site = url


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    folder = tmp_path_factory.mktemp("pages")
    crawls = folder / "crawls"
    crawls.mkdir()
    hostile = '<title>"><img src=x onerror=alert(1)></title><a href="/&lt;script&gt;">x</a>'
    with site({**many_pages(12), "/p3.html": hostile}) as url:
        finished_job(crawls / "over", url)
        new_job(crawls / "new", url)
        new_job(crawls / "runs", url, "politeness.delay=60s")
        with running_job(crawls / "runs"), console_of(folder) as console:
            yield Given(console, url)


def pages() -> list[RouteRow]:
    """The rows that are pages for people, for which no parameter is missing here."""
    return [
        row for row in ROUTES
        if row.verb == "GET" and not row.is_api and row.answer is None and is_page(row)
    ]  # fmt: skip


def is_page(row: RouteRow) -> bool:
    """Whether a row shows a page, and no file."""
    return ".pages." in row.handler.__module__


SHOWN_OF: Final[Mapping[str, str]] = {
    "/j/{job}": "runs", "/j/{job}/watch": "runs", "/j/{job}/frontier": "runs",
    "/j/{job}/uris": "runs", "/j/{job}/log": "runs", "/j/{job}/checkpoints": "runs",
    "/j/{job}/settings/sheets": "runs", "/j/{job}/frontier/change": "runs",
    "/j/{job}/settings": "new", "/j/{job}/settings/form": "new",
}  # fmt: skip
"""The job with which a page shows the most, where that is not the one that is over."""


def pages_of_jobs() -> Iterator[object]:
    """Each page with the job that shows the most, and with the others where there is time."""
    for row in pages():
        first = SHOWN_OF.get(row.path, JOBS[0]) if "{job}" in row.path else ""
        yield pytest.param(row, first, id=row.path)
        others = [job for job in JOBS if job != first] if first else []
        for job in others:
            yield pytest.param(row, job, id=f"{row.path} {job}", marks=pytest.mark.slow)


def url_of(row: RouteRow, given: Given, job: str) -> str:
    """The URL of a page of a job."""
    values = {"u": given.site, **SAMPLES, "job": f"crawls~{job}"}
    missing = set(_PARAMETER.findall(row.path)) - {*values}
    assert not missing, f"{row.path}: give a value for {missing} in SAMPLES"
    path = _PARAMETER.sub(lambda found: quote(values[found[1]]), row.path)
    fields = row.query.__struct_fields__ if row.query is not None else ()
    in_path = set(_PARAMETER.findall(row.path))
    shown = {name: values[name] for name in fields if name in _ASKED and name not in in_path}
    query = urlencode(shown)
    return f"{given.console.url.rstrip('/')}{path}{'?' if query else ''}{query}"


@pytest.fixture(scope="module")
def page(given: Given, browser: Browser) -> Iterator[Page]:
    """One tab for all pages; what they do and may not is checked behind each and at the end."""
    with tab(browser, given.console) as opened:
        yield opened


@pytest.mark.parametrize(("row", "job"), [*pages_of_jobs()])
def test_a_page_is_accessible_in_both_schemes_and_fits_a_phone(
    row: RouteRow, job: str, given: Given, page: Page
):
    url = url_of(row, given, job)
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    assert go(page, url) == 200, url
    told = violations(page)
    page.emulate_media(color_scheme="dark")
    told += [f"dark: {one}" for one in violations(page, "color-contrast")]
    page.set_viewport_size(PHONE)
    wide = page.evaluate("document.documentElement.scrollWidth")
    told += [f"{wide} pixels wide on a phone"] * (wide > PHONE["width"])
    assert not told, f"{url}\n" + "\n\n".join(told)
    assert page.locator("h1").count() == 1
    assert page.title().startswith(page.locator("h1").inner_text())
    faults_of(page)


def test_the_form_to_log_in_is_accessible(given: Given, browser: Browser):
    for scheme in ("light", "dark"):
        with tab(browser, given.console, None, scheme=scheme) as page:
            page.goto(given.console.url)
            assert not violations(page)


def test_nothing_to_see_is_a_page_too(tmp_path: Path, browser: Browser):
    with console_of(tmp_path) as console, tab(browser, console, Role.ADMIN) as page:
        page.goto(console.url)
        assert not violations(page)
        page.goto(f"{console.url}j/none")
        assert not violations(page)
