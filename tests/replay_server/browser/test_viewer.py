"""The viewer in a real browser: time, missing parts, languages, axe, narrow screens."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.console.stories.axe import violations
from tests.replay.archives import record
from tests.replay_server.browser.replayed import LiveWeb
from tests.replay_server.site import FIRST, SECOND, date_of, new_archive, reply

pytestmark = pytest.mark.console

Watched = tuple[BrowserContext, LiveWeb]
HOME = (
    "<!doctype html><title>Home</title><h1>{}</h1><a href='/two'>two</a>"
    "<img src='/missing.png' alt=''><script>document.body.dataset.ran = 'yes'</script>"
)


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The link of `nacre replay`, which works once."""
    pages = {
        "http://h.test/": reply(HOME.format("First").encode()),
        "http://h.test/two": reply(b"<title>Two</title><h1>Two</h1>"),
    }
    archive = new_archive(tmp_path_factory.mktemp("crawls") / "书", pages)
    again = reply(HOME.format("Second").encode())
    archive.add(record(again, url="http://h.test/", date=date_of(SECOND)))
    command = [sys.executable, "-m", "nacre", "replay", str(archive.root), "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    yield process.stdout.readline().split()[-1]
    process.terminate()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def start(watched: Watched, link: str) -> str:
    """URL of the start page, in a browser that is admitted."""
    page = watched[0].new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="书")).to_be_visible()
    assert "#" not in page.url
    url = page.url
    page.close()
    return url


@pytest.fixture
def page(watched: Watched, start: str) -> Iterator[Page]:
    page = watched[0].new_page()
    page.goto(start)
    yield page
    page.close()


def _open_home(page: Page, timestamp: str = SECOND) -> None:
    page.goto(f"{page.url.partition('?')[0]}".rstrip("/") + f"/{timestamp}/http://h.test/")
    expect(page.frame_locator("#page").get_by_role("heading")).to_be_visible()


def test_a_page_is_shown_with_its_scripts_at_its_time(page: Page):
    page.get_by_role("link", name="http://h.test/").first.click()
    frame = page.frame_locator("#page")
    expect(frame.get_by_role("heading")).to_be_visible()
    expect(frame.locator("body")).to_have_attribute("data-ran", "yes")
    expect(page.get_by_text("This is an archive, not the live page.")).to_be_visible()


def test_time_is_moved_by_keyboard_alone(page: Page):
    _open_home(page)
    slider = page.get_by_role("slider")
    slider.focus()
    assert slider.get_attribute("aria-valuetext") == "2026-11-21 10:00:00"
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(f"/{FIRST}/"))
    expect(page.frame_locator("#page").get_by_role("heading", name="First")).to_be_visible()
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(f"/{SECOND}/"))
    expect(page.frame_locator("#page").get_by_role("heading", name="Second")).to_be_visible()


def test_the_toolbar_follows_links_and_lists_missing_parts(page: Page):
    _open_home(page)
    missing = page.locator("#missing")
    expect(missing.locator("#missing-count")).to_have_text("1")
    missing.locator("summary").click()
    expect(missing.locator("li")).to_have_text("http://h.test/missing.png")
    page.frame_locator("#page").get_by_role("link", name="two").click()
    page.wait_for_url(re.compile(r"/http://h\.test/two$"))
    expect(page.locator("#url")).to_have_value("http://h.test/two")
    expect(missing).to_be_hidden()
    expect(page.locator("#all")).to_have_text("1 capture")


def test_the_viewer_speaks_chinese(watched: Watched, start: str):
    browser = watched[0].browser
    assert browser is not None
    state = watched[0].storage_state()
    context = browser.new_context(locale="zh-CN", storage_state=state)
    page = context.new_page()
    page.goto(start)
    _open_home(page)
    expect(page.get_by_text("这是存档")).to_be_visible()
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, scheme: str):
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    base = page.url.rstrip("/")
    for path in ("/", "/*/http://h.test/", "/*/http://none.test/", f"/{SECOND}/http://h.test/"):
        page.goto(base + path)
        if path.endswith("h.test/") and "*" not in path:
            expect(page.frame_locator("#page").get_by_role("heading")).to_be_visible()
            page.locator(".more summary").click()
        assert violations(page) == [], path


@pytest.mark.parametrize("width", [320, 390])
def test_a_narrow_screen_has_one_column(page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 700})
    _open_home(page)
    sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1]
    boxes = [page.locator(place).bounding_box() for place in ("#bar .go", "#bar .time", "#page")]
    tops = [box["y"] for box in boxes if box is not None]
    assert tops == sorted(tops)
    assert len({*tops}) == 3


def test_a_page_that_is_not_archived_says_so(page: Page):
    page.goto(page.url.rstrip("/") + f"/{SECOND}/http://h.test/none")
    frame = page.frame_locator("#page")
    expect(frame.get_by_role("heading", name="Not archived")).to_be_visible()
    expect(frame.get_by_text(re.compile("nacre explain .*书.* http://h.test/none"))).to_be_visible()
    frame.get_by_role("link", name="http://h.test/two").click()
    page.wait_for_url(re.compile(r"/http://h\.test/two$"))
