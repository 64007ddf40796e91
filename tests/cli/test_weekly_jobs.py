"""Crawls that never end, weekly jobs and young jobs: seen and ended from another terminal."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from nacre.errors import JobError, StorageError
from nacre.inspect.view import reading
from nacre.job.control import is_running
from nacre.machine.layout import Layout
from nacre.runs.passes import find_recurring
from nacre.runs.runs import is_over, read_run
from nacre.settings.load import load_job
from tests.cli.library import library
from tests.cli.site import Done, nacre, site
from tests.cli.test_control import until

pytestmark = pytest.mark.crawl


def crawled(home: str, job: Path) -> None:
    done = nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q")
    assert done.code == 0, done.err


@contextmanager
def waiting(job: Path, rhythm: Sequence[object]) -> Iterator[subprocess.Popen[str]]:
    """A crawl that never ends in another process, between two passes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", "recrawl", *map(str, (job, "-q", *rhythm))],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": "src"},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        until(lambda: between(job, process))
        assert "Next pass: " in process.stderr.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def between(job: Path, process: subprocess.Popen[str]) -> bool:
    """The first pass is over, and the process waits for the next."""
    assert process.poll() is None, process.communicate()
    layout = Layout(job)
    again = find_recurring(layout)
    if again is None or not again.time or len(list((job / "runs").iterdir())) < 2:
        return False
    with suppress(JobError, StorageError), reading(layout, load_job(layout).settings) as view:
        run = read_run(view.store)
        return (
            run is not None and run.number == 2 and is_over(run) and not is_running(layout.socket)
        )
    return False


def status(job: Path) -> dict[str, dict[str, object]]:
    told: dict[str, dict[str, object]] = json.loads(nacre("status", job, "--json").out)
    return told


RHYTHMS = (
    ("--every", "6h"),
    ("--at", "0 3 * * 1", "--time-zone", "Asia/Shanghai"),
    ("--continuous",),
)


@pytest.mark.parametrize("rhythm", RHYTHMS, ids=lambda rhythm: rhythm[0])
def test_a_wait_is_seen_and_ended_from_another_terminal(tmp_path: Path, rhythm: Sequence[str]):
    job = tmp_path / "每周"
    with site() as home:
        crawled(home, job)
        with waiting(job, rhythm) as process:
            text = nacre("status", job).out
            assert "next pass: 2" in text
            assert " UTC (" in text
            assert rhythm[-1] in text or rhythm == RHYTHMS[2]
            assert f"process {process.pid} sees to it" in text
            paused = nacre("pause", job)
            assert (paused.code, "waits for its next pass" in paused.err) == (2, True)
            again = nacre("recrawl", job, "--every", "1h")
            assert (again.code, "again and again already" in again.err) == (2, True)
            stopped = nacre("stop", job)
            assert (stopped.code, "no further pass begins" in stopped.out) == (0, True)
            assert process.wait(200) == 5
    assert not (job / "control" / "stop").exists()
    assert status(job)["recurring"] is None
    assert "next pass: 2" not in nacre("status", job).out
    assert nacre("stop", job).code == 2, "nothing is left to be stopped"


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)],
)
def test_signals_end_the_wait_cleanly(tmp_path: Path, number: int):
    job = tmp_path / "job"
    with site() as home:
        crawled(home, job)
        with waiting(job, RHYTHMS[0]) as process:
            process.send_signal(number)
            assert process.wait(200) == 0
    assert status(job)["recurring"] is None


def test_a_file_stops_the_wait_too(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        crawled(home, job)
        with waiting(job, RHYTHMS[0]) as process:
            (job / "control" / "stop").touch()
            assert process.wait(200) == 5


def test_a_wait_that_was_killed_is_told_from_one_that_goes_on(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        crawled(home, job)
        with waiting(job, RHYTHMS[1]) as process:
            process.kill()
            process.wait()
            text = nacre("status", job).out
            assert "no process waits for it any more" in text
            rhythm = "--at '0 3 * * 1' --time-zone Asia/Shanghai"
            assert f"recrawl {job} {rhythm}` resumes it" in text
            assert nacre("stop", job).code == 2
        done: Done = nacre("recrawl", job, "--every", "1h", "--times", 1, "-q")
        assert done.code == 0, done.err
    assert "no process" not in nacre("status", job).out


def test_a_run_that_was_begun_by_hand_does_not_end_the_passes(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        crawled(home, job)
        with waiting(job, RHYTHMS[0]) as process:
            by_hand = nacre("recrawl", job, "-q")
            assert by_hand.code == 0, by_hand.err
            assert process.poll() is None
            assert nacre("stop", job).code == 0
            assert process.wait(200) == 5


@pytest.mark.parametrize("charset", ["utf-8", "gbk"])
def test_a_recrawl_that_stores_noise_points_to_another_way_of_keeping(tmp_path: Path, charset: str):
    """Counters of visits make every reply new; once they are known, the summary says so."""
    job, every = tmp_path / "图书馆", ("--set", "recrawl.recall=1", "--set", "recrawl.least=0")
    with library(charset) as place:
        crawled(place.home, job)
        for _ in range(2):
            assert nacre("recrawl", job, "-q", *every).code == 0
        strict = nacre("recrawl", job, "-q", *every)
        assert strict.code == 0, strict.err
        assert f"nacre recrawl {job} --keep lean" in strict.out.replace("'", "")
        assert "of the bytes stored differ in noise only" in strict.out
        lean = nacre("recrawl", job, "-q", "--keep", "lean", *every)
        assert "--keep lean" not in lean.out
        text = nacre("report", job, "savings").out
        assert "Most stored bytes differ in noise alone" in text
        assert "only noise" in text


def test_a_young_job_has_no_interval(tmp_path: Path):
    job = tmp_path / "job"
    with library() as place:
        crawled(place.home, job)
        assert nacre("recrawl", job, "-q").code == 0
        for name in ("change-frequency", "budget", "decisions"):
            url = [place.home] if name == "decisions" else []
            text = nacre("report", job, name, *url).out
            assert "oo little data yet: one run after the first one" in text, text
            assert "credible" not in text
