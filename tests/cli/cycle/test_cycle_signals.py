"""Ctrl-C ends rounds cleanly; the same command goes on, and nothing is fetched or stored twice."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from nacre.core.states import ExitCode
from tests.cli.cycle.killed import CHECKOUT
from tests.cli.site import many_pages, nacre, site

pytestmark = pytest.mark.crawl

PAGES = 80
"""More than were answered before the gate, and are in flight behind it."""


class GatedPages(dict[str, str]):
    """Pages, how often each was asked for, and a gate behind a number of them.

    Attributes:
        asked: Number of requests by path.
        reached: Opens the gate.
        begun: The gate was reached.
        slow: Seconds that each page behind the open gate takes.
    """

    def __init__(self, pages: dict[str, str], gate: int) -> None:
        super().__init__(pages)
        self.asked: Counter[str] = Counter()
        self.reached = threading.Event()
        self.begun = threading.Event()
        self.slow = 0.0
        self._gate = gate

    def get(self, path: str, default: object = None) -> str | None:  # type: ignore[override]  # as the server calls it
        self.asked[path] += 1
        if sum(self.asked.values()) >= self._gate:
            self.begun.set()
            self.reached.wait(200.0)  # until the signal was sent
            time.sleep(self.slow)
        return super().get(path)


def start(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    )  # fmt: skip


def require_kept(root: Path, out: str) -> None:
    """The pages that the interrupted fetch has are told, and are read as visits."""
    said = re.search(
        r"; interrupted in the fetch of round 2: (\d+) pages, .* of WARC so far\n", out
    )
    assert said, out
    kept = int(said[1])
    assert 0 < kept < PAGES
    first, second = json.loads(nacre("cycle", root, "readseg", "--list", "--json").out)
    assert (first["state"], second["state"]) == ("updated", "generated")
    assert (second["pages"], second["visits"] >= kept) == (kept, True)
    visits = json.loads(nacre("cycle", root, "readseg", second["name"], "--json").out)
    assert len(visits) == second["visits"]


def test_ctrl_c_ends_the_step_and_the_same_command_goes_on(tmp_path: Path):
    root = tmp_path / "c"
    pages = GatedPages(many_pages(PAGES), gate=20)
    with site(pages) as home:
        words = ("cycle", root, "--rounds", "2", "--delay", "0")
        with start(*words, "-s", home) as process:
            assert pages.begun.wait(200.0)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            for line in process.stderr:
                if "ends after this step" in line:
                    break
            while not list(root.glob("cycle/segments/*/stop")):
                time.sleep(0.05)
            pages.slow = 0.5  # units look for that before they have all pages
            pages.reached.set()
            out, err = process.communicate(timeout=200.0)
            pages.slow = 0.0
        assert process.returncode == ExitCode.INTERRUPTED, err
        require_kept(root, out)
        assert f"cycle {root} --rounds 2" in out
        states = json.loads(nacre("cycle", root, "segments", "--json").out)
        assert [one["state"] for one in states] == ["updated", "generated"]
        dry = nacre("cycle", root, "fetch", "--dry-run")
        assert (dry.code, f": {PAGES + 1} URLs in 1 unit, leased until" in dry.out) == (0, True)
        dry = nacre(*words, "--dry-run")
        assert (dry.code, "would resume round 2, at fetch" in dry.err) == (0, True)
        done = nacre(*words)
    assert done.code == 0, done.err
    assert "resumes round 2, at fetch" in done.err
    assert {path for path in pages.asked if path.startswith("/p")} == {
        f"/p{number}.html" for number in range(PAGES)
    }
    twice = {path for path, number in pages.asked.items() if number > 1} - {"/robots.txt"}
    assert not twice
    query = "select count(*) as n from crawldb where status = 'db_fetched'"
    assert json.loads(nacre("cycle", root, "sql", query, "--json").out) == [{"n": PAGES + 1}]
    checked = nacre("archive", root, "check")
    assert (checked.code, "nothing damaged" in checked.out + checked.err) == (0, True)


def test_a_second_ctrl_c_tells_what_is_kept(tmp_path: Path):
    root = tmp_path / "c"
    pages = GatedPages(many_pages(PAGES), gate=20)
    with site(pages) as home:
        words = ("cycle", root, "--rounds", "1", "--delay", "0")
        with start(*words, "-s", home) as process:
            assert process.wait(200.0) == 0, "the home page alone"
        with start(*words) as process:
            assert pages.begun.wait(200.0)
            assert process.stderr is not None
            process.send_signal(signal.SIGINT)
            for line in process.stderr:
                if "ends after this step" in line:
                    break
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=200.0)
            pages.reached.set()
    assert (process.returncode, out) == (ExitCode.INTERRUPTED, ""), err
    said = "ended at once; the fetch of round 1: nothing is kept so far; the same command resumes"
    assert said in err
