"""Every page of the table of routes: accessible in both schemes, quiet, and without script.

In each state of a job and in each language, where there is time.
"""

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from nacre.catalogue.captures import read_capture
from nacre.console.routes import ROUTES, AnyRow
from nacre.ops.operation import Role
from tests.cli.site import many_pages, site
from tests.console.stories.axe import violations
from tests.console.stories.running import (
    ConsoleProcess,
    batch_crawl,
    command,
    console_of,
    finished_job,
    new_job,
    running_job,
)
from tests.console.stories.steps import go
from tests.console.stories.watched import Scheme, faults_of, tab

pytestmark = pytest.mark.console

DESK: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 400, "height": 800}
JOBS: Final = ("over", "runs", "new")
"""A job of each kind: over, at work, never started."""
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
STATES: Final = (*JOBS, "paused", "crashed", "stale", "rounds")
"""Further jobs: paused, killed, one that does not answer, and one in batch rounds."""
LANGUAGES: Final = ("en-GB", "zh-CN")
LOCALES: Final = (*LANGUAGES, "en-XA")
"""The languages, and the pseudo-locale, whose texts are longer."""
SAMPLES: Final[Mapping[str, str]] = {
    "number": "1",
    "profile": "site",
    "clip": "mediawiki",
    "report": "crawl-summary",
}
"""A value for each further parameter of a path or of a query that a page needs."""


_TWICE: Final = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  return ids.filter((id, place) => ids.indexOf(id) < place);
}"""
"""The ids that two elements of a page have: a label would lead to the first of them."""
_ASKED: Final = frozenset(("u",))
"""Fields of a query that a page cannot do without."""
_PARAMETER: Final = re.compile(r"{(\w+)(?::\w+)?}")


class Given:
    """The console of these tests, and the URL of its site.

    Attributes:
        console: The console, with the jobs of `JOBS`.
        site: URL of the site that they crawl.
        capture: Id of a capture of the job that is over.
        labels: Label of the place of each job.
    """

    def __init__(self, console: ConsoleProcess, url: str, capture: str) -> None:
        self.console = console
        self.site = url
        self.capture = capture
        self.labels: dict[str, str] = dict.fromkeys(JOBS, console.label)


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
            yield Given(console, url, first_capture(crawls / "over"))


def first_capture(job: Path) -> str:
    """The id of a capture of a job."""
    (index,) = job.glob("runs/*/archive/*.cdxj")
    capture = read_capture(index.read_bytes().splitlines()[0])
    assert capture is not None
    return capture.id


@pytest.fixture(scope="module")
def states(given: Given, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Given]:
    """The console with a job in each further state."""
    folder, slow = tmp_path_factory.mktemp("states") / "states", "politeness.delay=60s"
    for name in ("paused", "crashed", "stale"):
        new_job(folder / name, given.site, slow)
    batch_crawl(folder / "rounds", given.site)
    with running_job(folder / "crashed"):
        pass
    with running_job(folder / "paused"), running_job(folder / "stale") as stale:
        command("pause", folder / "paused")
        stale.send_signal(signal.SIGSTOP)
        with given.console.for_jobs(folder) as console:
            given.labels |= dict.fromkeys(STATES[len(JOBS) :], console.label)
            yield given


def pages() -> list[AnyRow]:
    """The rows that are pages for people, for which no parameter is missing here."""
    return [
        row for row in ROUTES
        if row.verb == "GET" and not row.is_api and row.answer is None and is_page(row)
    ]  # fmt: skip


def is_page(row: AnyRow) -> bool:
    """Whether a row shows a whole page of the console that is always there.

    It is no part of a page, no task, and does not lead to replay, which is another server.
    """
    is_part = row.path.startswith(("/live/", "/header", "/api/"))
    return not is_part and "{task}" not in row.path and not row.path.endswith("/replay")


SHOWN_OF: Final[Mapping[str, str]] = {
    "/j/{job}": "runs", "/j/{job}/watch": "runs", "/j/{job}/frontier": "runs",
    "/j/{job}/uris": "runs", "/j/{job}/log": "runs", "/j/{job}/checkpoints": "runs",
    "/j/{job}/settings/sheets": "runs", "/j/{job}/frontier/change": "runs",
    "/j/{job}/settings": "new", "/j/{job}/settings/form": "new",
}  # fmt: skip
"""The job with which a page shows the most, where that is not the one that is over."""


def pages_of_jobs() -> Iterator[object]:
    """Each page with the job that shows the most."""
    for row in pages():
        yield pytest.param(row, SHOWN_OF.get(row.path, JOBS[0]), id=row.path)


def pages_of_states() -> Iterator[object]:
    """Each page in each language, with a job in each state."""
    for row in pages():
        shown = SHOWN_OF.get(row.path, JOBS[0])
        for job in STATES if "{job}" in row.path else (shown,):
            # Longer texts take their place in whatever state.
            for locale in LOCALES if job == shown else LANGUAGES:
                yield pytest.param(row, job, locale, id=f"{row.path} {job} {locale}")


def url_of(row: AnyRow, given: Given, job: str) -> str:
    """The URL of a page of a job."""
    values = {
        "u": given.site,
        "capture": given.capture,
        **SAMPLES,
        "job": f"{given.labels.get(job, '')}~{job}",
    }
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


def defects_of(page: Page, url: str, *, statuses: tuple[int, ...] = (200,)) -> list[str]:
    """Look at a page in both schemes, and on a phone: return what is wrong with it."""
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")
    assert go(page, url) in statuses, url
    told = violations(page)
    page.emulate_media(color_scheme="dark")
    # The other scheme has other colours, and nothing else.
    told += [f"dark: {one}" for one in violations(page, "color-contrast")]
    page.set_viewport_size(PHONE)
    wide = page.evaluate("document.documentElement.scrollWidth")
    told += [f"{wide} pixels wide on a phone"] * (wide > PHONE["width"])
    told += [f"twice: {label}" for label in page.evaluate(_TWICE)]
    headings = page.locator("h1").all_inner_texts()
    if len(headings) != 1 or not page.title().startswith(headings[0]):
        told.append(f"title {page.title()!r}, headings {headings}")
    faults_of(page)
    return told


@pytest.mark.parametrize(("row", "job"), [*pages_of_jobs()])
def test_a_page_is_accessible_in_both_schemes_and_fits_a_phone(
    row: AnyRow, job: str, given: Given, page: Page
):
    assert defects_of(page, url_of(row, given, job)) == []


@pytest.mark.parametrize("operation", ["get_jobs_job_queues", "post_jobs"])
def test_an_operation_of_the_interface_is_a_page_too(operation: str, given: Given, page: Page):
    assert defects_of(page, f"{given.console.url}api/v1/?operation={operation}") == []


def test_an_operation_is_tried_by_its_form(given: Given, browser: Browser):
    with tab(browser, given.console) as page:
        go(page, f"{given.console.url}api/v1/?operation=get_jobs_job_logs_log")
        page.get_by_label("job", exact=True).fill("crawls~over")
        page.get_by_label("log", exact=True).fill("crawl")
        page.get_by_label("status", exact=True).fill("200")
        page.get_by_role("button", name="Ask").click()
        page.wait_for_url("**/api/v1/jobs/crawls~over/logs/crawl?status=200", timeout=60_000)
        assert '"items":[{"offset":' in page.locator("body").inner_text()


@pytest.fixture(scope="module")
def tabs(states: Given, browser: Browser) -> Iterator[Mapping[str, Page]]:
    """A tab for each language."""
    with ExitStack() as opened:
        yield {
            locale: opened.enter_context(tab(browser, states.console, locale=locale))
            for locale in LOCALES
        }


@pytest.mark.slow
@pytest.mark.parametrize(("row", "job", "locale"), [*pages_of_states()])
def test_a_page_of_each_state_is_accessible_in_each_language(
    row: AnyRow, job: str, locale: str, states: Given, tabs: Mapping[str, Page]
):
    # What a job of another kind does not have is refused, by a page.
    statuses = (200, 202, 404, 409)
    assert defects_of(tabs[locale], url_of(row, states, job), statuses=statuses) == []


@pytest.mark.parametrize(
    "locale",
    [LOCALES[0], *(pytest.param(one, marks=pytest.mark.slow) for one in LOCALES[1:])],
)
def test_pages_before_there_is_anything_are_accessible(
    locale: str, tmp_path: Path, browser: Browser
):
    with console_of(tmp_path) as console:
        # The other scheme has other colours, and nothing else.
        for scheme, rules in zip(SCHEMES, ((), ("color-contrast",)), strict=True):
            with tab(browser, console, None, scheme=scheme, locale=locale) as page:
                page.goto(console.url)
                assert not violations(page, *rules)
            with tab(browser, console, Role.ADMIN, scheme=scheme, locale=locale) as page:
                for path in ("", "j/none"):
                    page.goto(f"{console.url}{path}")
                    assert not violations(page, *rules)
