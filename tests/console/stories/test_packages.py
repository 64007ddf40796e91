"""WACZ files in ReplayWeb.page, in a real browser that reaches this machine alone."""

import shutil
import warnings
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Frame, Page

from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.packing.wacz import PackOptions, pack_wacz
from tests.packing.jobs import make_job
from tests.packing.test_wacz import delta_crawl
from tools import replaywebpage
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.console
OPTIONS = PackOptions(created=1_795_168_800.0, text=True)
SECONDS = 60


@pytest.fixture(scope="module")
def program() -> Path:
    """The folder of ReplayWeb.page; without npm its tests are skipped, and counted."""
    try:
        return replaywebpage.ensure()
    except replaywebpage.NoReplayWebPageError as error:
        warnings.warn(f"ReplayWeb.page did not judge: {error}", stacklevel=1)
        pytest.skip(f"ReplayWeb.page did not judge: {error}")


def frames_with(page: Page, text: str) -> list[Frame]:
    """Wait for a frame with a text; return none if it does not come."""
    for _ in range(SECONDS * 5):
        frames = [frame for frame in page.frames if frame is not page.main_frame]
        if found := [frame for frame in frames if text in (frame.evaluate(BODY) or "")]:
            return found
        page.wait_for_timeout(200)
    return []


BODY = "() => document.body ? document.body.innerText : ''"


def pack(folder: Path) -> None:
    """Packages: all of a job, a selection of it with resolved revisits, a difference."""
    holding = open_holding([make_job(folder / "demo")])
    pack_wacz(holding, folder / "all.wacz", None, OPTIONS, lambda _d, _t: None)
    captures = [each for each in open_index(holding).prefix("") if "/copy" in each.url]
    pack_wacz(holding, folder / "some.wacz", captures, OPTIONS, lambda _d, _t: None)
    changed = open_holding([make_job(folder / "changed", delta_crawl())])
    pack_wacz(changed, folder / "changed.wacz", None, OPTIONS, lambda _d, _t: None)


def test_replaywebpage_shows_the_text_of_our_packages(browser: Browser, program: Path, tmp_path):
    web = tmp_path / "web"
    web.mkdir()
    for name in replaywebpage.FILES:
        shutil.copy(program / name, web)
    pack(web)
    port = free_port()
    with serving([Server("127.0.0.1", port, web)], tmp_path / "nginx"):
        for name, url, moment, text in (
            ("all", "http://example.test/zh/", "20261120100002", "中文网页的内容。"),
            ("all", "http://example.test/copy", "20261120100100", "Words of it"),
            ("some", "http://example.test/copy", "20261120100100", "Words of it"),
            ("changed", "http://example.test/", "20261120100100", "新闻"),
        ):
            context = browser.new_context()
            page = context.new_page()
            place = f"view=resources&url={quote(url, safe='')}&ts={moment}"
            page.goto(f"http://localhost:{port}/?source=/{name}.wacz#{place}")
            assert frames_with(page, text), (text, [frame.url for frame in page.frames])
            context.close()
