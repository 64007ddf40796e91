"""The Archival Acid Test: which of its squares are blue live, in `nacre replay` and in pywb.

`python -m bench.acid_test FOLDER` takes a clone of github.com/machawk1/archivalAcidTest, which is
only read. Its page is served on the loopback, with a second server in the place of its remote one,
captured by `nacre page`, and opened live and in both replays. A line for each test says where its
square is blue, as the page demands.
"""

import argparse
import base64
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, ElementHandle, Frame, Page, ViewportSize

from bench.replay_sites import FolderWorld
from bench.replay_visits import Show, nacre_viewer, pywb_viewer, show_live
from bench.worlds.world import Reply, Served, served
from nacre.catalogue.captures import read_capture
from tests.console.stories.chromium import open_browser
from tests.crawl.replay import replaying

_SERVERS = (b"//acid.matkelly.com/", b"//www.cs.odu.edu/~mkelly/acid/")
_SQUARES = "img, canvas, iframe, video, #test2j"
_UNNAMED = "2b"
"""The test whose square has no name."""
_WINDOW: ViewportSize = {"width": 1280, "height": 800}
"""The page is higher: a test demands that it is scrolled."""
_TITLE = re.compile(r"(?:test)?([1-3][a-z])")
_PHP = re.compile(rb"<\?php.*?\?>", re.DOTALL)
_DELAYED = 3000
"""Milliseconds after which the last test has changed its picture."""
_IS_BLUE = """async (data) => {
    const picture = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const middle = [picture.width >> 1, picture.height >> 1, 1, 1];
    const [red, green, blue] = context.getImageData(...middle).data;
    return blue > 200 && red < 60 && green < 60;
}"""


class _AcidWorld(FolderWorld):
    """The page of the test, whose servers are those of the loopback."""

    def __init__(self, root: Path) -> None:
        super().__init__("acid", root, "/index.php")
        self.places: Mapping[bytes, bytes] = {}

    def reply(self, path: str) -> Reply:
        """Return a file; pages and scripts name the servers of the loopback."""
        status, fields, body = super().reply(path)
        if path.endswith((".php", ".html", ".js")):
            for name, place in self.places.items():
                body = body.replace(name, place)
        if path.endswith(".php"):
            fields = (("Content-Type", "text/html; charset=utf-8"),)
            body = _PHP.sub(b"", body)
        return Reply(status, fields, body)


@contextmanager
def _serving(root: Path) -> Iterator[Served]:
    world, remote = _AcidWorld(root), _AcidWorld(root)
    with served(world) as own, served(remote) as other:
        places = (own.origin, other.origin)
        world.places = {
            name: origin.partition(":")[2].encode() + b"/"
            for name, origin in zip(_SERVERS, places, strict=True)
        }
        yield own


def blue_squares(page: Page, frame: Frame, judge: Page) -> dict[str, bool]:
    """Return the tests whose squares a page has, and whether each is blue.

    Args:
        page: The tab.
        frame: The frame with the page.
        judge: A tab whose scripts look at pictures of the squares.
    """
    page.wait_for_timeout(_DELAYED)
    frame.evaluate("scrollTo(0, 200)")
    page.wait_for_timeout(500)
    return {
        _name_of(square): _is_blue(square, judge) for square in frame.query_selector_all(_SQUARES)
    }


def _name_of(square: ElementHandle) -> str:
    names = (square.get_attribute("title"), square.get_attribute("id"), _UNNAMED)
    matches = (_TITLE.match(name) for name in names if name)
    return next((match[1] for match in matches if match is not None), "")


def _is_blue(square: ElementHandle, judge: Page) -> bool:
    picture = base64.b64encode(square.screenshot()).decode()
    return bool(judge.evaluate(_IS_BLUE, f"data:image/png;base64,{picture}"))


def _capture(url: str, job: Path) -> str:
    """Capture the page by `nacre page`; return the timestamp of its document."""
    command = [
        sys.executable, "-m", "nacre", "page", url, "--out", str(job), "--contact", "a@b.test",
        "--allow-net", "127.0.0.0/8",
    ]  # fmt: skip
    print(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    lines = (line for path in job.glob("runs/*/archive/*.cdxj") for line in path.open("rb"))
    captures = filter(None, map(read_capture, lines))
    return next(capture.timestamp for capture in captures if capture.url == url)


def run(root: Path, browser: Browser, folder: Path) -> dict[str, dict[str, bool]]:
    """Return the squares of the live page, of `nacre replay` and of pywb."""
    context = browser.new_context(viewport=_WINDOW)
    judge = context.new_page()

    def squares(show: Show, url: str, time: str) -> dict[str, bool]:
        page = context.new_page()
        return blue_squares(page, show(page, url, time), judge)

    with _serving(root) as own:
        time = _capture(own.url, folder / "job")
        results = {"live": squares(show_live, own.url, time)}
        with nacre_viewer(folder / "job") as show:
            results["nacre"] = squares(show, own.url, time)
        warcs = sorted((folder / "job").glob("runs/*/archive/*.warc.gz"))
        (folder / "pywb").mkdir()
        with replaying(warcs, folder / "pywb") as pywb:
            results["pywb"] = squares(pywb_viewer(pywb.port), own.url, time)
    return results


def main() -> int:
    """Entry point; 1 if a square that is blue live is not in `nacre replay`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="clone of the repository of the test")
    wishes = parser.parse_args()
    with open_browser() as browser, tempfile.TemporaryDirectory() as folder:
        results = run(wishes.folder, browser, Path(folder))
    print(f"{'test':<6}" + "".join(f"{name:>7}" for name in results))
    tests = sorted({name for squares in results.values() for name in squares})
    for test in tests:
        marks = ("blue" if squares.get(test) else "-" for squares in results.values())
        print(f"{test:<6}" + "".join(f"{mark:>7}" for mark in marks))
    print(f"{'blue':<6}" + "".join(f"{sum(squares.values()):>7}" for squares in results.values()))
    live, ours = results["live"], results["nacre"]
    return int(any(is_blue and not ours.get(test) for test, is_blue in live.items()))


if __name__ == "__main__":
    sys.exit(main())
