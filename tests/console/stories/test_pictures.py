"""The pictures of the pages about the console: made by `make console-pictures`, small, complete."""

import io
import os
import re
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from nacre.console.routes import ROUTES
from tests.cli.site import many_pages, site
from tests.console.stories.running import console_of, finished_job, new_job, running_job, until
from tests.console.stories.steps import ask
from tests.console.stories.watched import Scheme, tab

pytestmark = pytest.mark.console

FOLDER: Final = Path(__file__).parents[3] / "docs" / "pictures"
LARGEST: Final = 60_000
"""Bytes of a picture."""
PAGES: Final = {
    "jobs": "/",
    "overview": "/j/{job}",
    "watch": "/j/{job}/watch",
    "frontier": "/j/{job}/frontier",
    "settings": "/j/{job}/settings",
    "reports": "/j/{job}/reports",
}
"""The pages with pictures, by the names of these."""
SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")
SIZES: Final = {1280: 800, 400: 800}
"""Widths and heights, in pixels."""
NAMES: Final = {
    f"console-{name}-{scheme}-{width}.webp"
    for name in PAGES for scheme in SCHEMES for width in SIZES
}  # fmt: skip
"""The files of all pictures."""


DRAWN: Final = """() => [...document.querySelectorAll("[data-chart] .plot")].every(
  (plot) => plot.querySelector("canvas"))"""
"""All charts of a page are drawn."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("console-*")), ids=lambda path: path.name)
def test_a_picture_is_small_and_its_page_exists(path: Path):
    assert path.stat().st_size <= LARGEST
    name, scheme, width = path.stem.removeprefix("console-").split("-")
    assert PAGES[name] in {row.path for row in ROUTES}
    assert (scheme in SCHEMES, int(width) in SIZES) == (True, True)


def test_each_page_has_its_pictures():
    assert {path.name for path in FOLDER.glob("console-*")} == NAMES


def test_the_documentation_names_pictures_that_exist():
    text = "".join(page.read_text() for page in FOLDER.parent.glob("console*.md"))
    named = set(re.findall(r"pictures/([\w.-]+)", text))
    assert named <= {path.name for path in FOLDER.glob("console-*")}


@pytest.mark.skipif("NACRE_PICTURES" not in os.environ, reason="make console-pictures makes them")
def test_the_pictures_are_made(tmp_path: Path, browser: Browser):
    FOLDER.mkdir(exist_ok=True)
    made: set[str] = set()
    with site(many_pages(400)) as url:
        address = url.replace("127.0.0.1", "library.test")
        hosts = "dns.hosts={library.test: 127.0.0.1, press.test: 127.0.0.1}"
        crawls = tmp_path / "crawls"
        finished_job(crawls / "archive-2025", address, hosts)
        new_job(crawls / "museum", address, hosts)
        job = new_job(crawls / "library", address, hosts, "politeness.delay=0.5s")
        with running_job(job), console_of(tmp_path) as console:
            with tab(browser, console) as page:
                page.goto(console.url)
                # A line of the speed needs three looks, ten seconds apart.
                expect(page.locator("svg.spark")).to_be_visible()
                until(lambda: finished(ask(page, "GET", "/api/v1/jobs/crawls~library")[1]) > 40)
            for scheme in SCHEMES:
                for width, height in SIZES.items():
                    with tab(browser, console, scheme=scheme, width=width, height=height) as page:
                        for name, path in PAGES.items():
                            target = path.replace("{job}", "crawls~library")
                            place = f"{console.url.rstrip('/')}{target}"
                            until(partial(is_shown, page, place), 120)
                            made.add(keep(page.screenshot(), f"console-{name}-{scheme}-{width}"))
    assert made == NAMES


def is_shown(page: Page, url: str) -> bool:
    """Open a page; whether it shows what it is for: on a busy machine it may say to try again."""
    page.goto(url)
    page.wait_for_function(DRAWN)
    return page.locator("#stale, .notice-error, .skeleton").count() == 0


def finished(answer: object) -> int:
    """The URIs that a job finished, of its details."""
    assert isinstance(answer, dict)
    found: int = answer["item"]["finished"]
    return found


def keep(data: bytes, name: str) -> str:
    """Write a screenshot as a picture that is small enough; the name of its file."""
    with Image.open(io.BytesIO(data)) as shot:
        made = [webp(shot, quality) for quality in (90, 80, 60, 40)]
    small = next((one for one in made if len(one) <= LARGEST), made[-1])
    path = FOLDER / f"{name}.webp"
    path.write_bytes(small)
    return path.name


def webp(shot: Image.Image, quality: int) -> bytes:
    """A picture as WebP."""
    sink = io.BytesIO()
    shot.convert("RGB").save(sink, "WEBP", quality=quality, method=6)
    return sink.getvalue()
