import subprocess
import sys
from pathlib import Path

import pytest

from nacre.cli.progress import NoDisplay, TolerantDisplay, display_for
from nacre.machine.clock import SystemClock
from tests.cli.site import site


def test_a_quiet_display_still_tells_of_trouble(capsys: pytest.CaptureFixture[str]):
    display = display_for(SystemClock(), quiet=True)
    display.message("state", "x -> y")
    display.message("alert", "disk full")
    assert capsys.readouterr().err == "disk full\n"


class Broken(NoDisplay):
    """Its pipe is gone."""

    def __init__(self) -> None:
        self.asked = 0

    def message(self, kind: str, text: str) -> None:
        self.asked += 1
        raise BrokenPipeError


def test_a_display_that_nobody_reads_is_not_tried_again():
    broken = Broken()
    display = TolerantDisplay(broken)
    for _ in range(3):
        display.message("alert", "disk full")
    display.stop()
    assert broken.asked == 1


def test_a_crawl_goes_on_when_nobody_reads_its_progress(tmp_path: Path):
    job = tmp_path / "job"
    with site(slow=0.02) as home:
        crawl = subprocess.Popen(
            [sys.executable, "-m", "nacre", "crawl", home, "--delay", "0", "--out", str(job)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert crawl.stderr is not None
        assert crawl.stdout is not None
        with crawl.stdout, crawl.stderr:
            crawl.stderr.readline()
            crawl.stderr.close()
            assert crawl.stdout.readline().startswith("Finished")
            crawl.stdout.read()
        assert crawl.wait() == 0
