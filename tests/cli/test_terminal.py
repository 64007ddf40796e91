import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from nacre.cli.progress import JsonProgress
from nacre.cli.status_text import MeasuredRates, number_lines
from nacre.cli.terminal import LiveView
from nacre.job.overview import FetchInProcess, JobOverview, SlowQueue
from nacre.machine.clock import SystemClock

OVERVIEW = JobOverview(
    "RUNNING",
    elapsed=65.0,
    discovered=1200,
    queued=200,
    retrying=3,
    finished=1000,
    failed=3,
    failed_pages=2,
    deleted=3,
    disregarded=4,
    documents=994,
    html=640,
    bytes=5_000_000,
    saved_documents=7,
    saved_bytes=1_500_000,
    busy=3,
    parallel=25,
    queues={"ready": 1, "in_process": 2, "snoozed": 3, "inactive": 9},
    alerts=1,
)


def drawn(view: LiveView, overview: JobOverview = OVERVIEW) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(view.view(overview, MeasuredRates(10.5, 120.0, 8.25, 99.5), Path("job")))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_numbers():
    text = drawn(LiveView(SystemClock()))
    assert "running, 1 min 5 s of crawling" in text
    assert "to go" not in text
    assert "1,000 of 1,200 found, 200 waiting (3 for another try)" in text
    assert "994 documents (640 HTML), 5.0 MB; saved by dedup 1.5 MB in 7" in text
    assert "10.5 URIs/s, 120 KB/s (average 8.2, 100)" in text
    assert "3 of 25 fetches, 6 hosts active, 9 hosts in waiting" in text
    assert "2 failed, 1 disregarded, 3 deleted, 1 alert" in text


def test_uris_that_came_twice_are_visits():
    again = JobOverview("FINISHED", discovered=138, finished=148)
    done = dict(number_lines(again, MeasuredRates(), None, "work/书"))["done"]
    assert done == "148 of 148 visits (138 URIs found), 0 waiting"
    known = JobOverview("FINISHED", discovered=138, finished=100)
    assert (
        dict(number_lines(known, MeasuredRates(), None, "work/书"))["done"]
        == "100 of 138 found, 0 waiting"
    )


def test_slow_queues_and_long_fetches_are_made_safe():
    view = LiveView(SystemClock())
    view._slowest = [SlowQueue("com,slow,", 40, 3.0, 120.0), SlowQueue("com,fast,", 1, 0.0, 0.0)]
    view._fetching = [FetchInProcess("http://a/\x1b[2J", 7.0), FetchInProcess("http://b/", 0.1)]
    text = drawn(view)
    assert "com,slow,  40 URIs, every 3.0 s" in text
    assert "fast" not in text
    assert "\\x1b[2J" in text
    assert "http://b/" not in text


def test_a_narrow_terminal_hides_nothing():
    view = LiveView(SystemClock())
    view._slowest = [SlowQueue("com,slow,", 40, 3.0, 120.0)]
    console = Console(file=io.StringIO(), width=44)
    console.print(view.view(OVERVIEW, MeasuredRates(10.5, 120.0, 8.25, 99.5), Path("job")))
    assert isinstance(console.file, io.StringIO)
    text = " ".join(console.file.getvalue().split())
    assert "slowest 2 min com,slow, 40 URIs" in text
    assert "(3 for another try)" in text
    assert "saved by dedup 1.5 MB in 7" in text


def test_a_pause_and_its_reason():
    lines = dict(
        number_lines(JobOverview("PAUSED", why="operator"), MeasuredRates(), 90.0, "work/书")
    )
    assert lines["state"] == "paused (by the operator), 0 ms of crawling, about 1 min 30 s to go"


def test_further_tries_may_take_longer_than_the_rest():
    text = dict(number_lines(OVERVIEW, MeasuredRates(), 90.0, "work/书"))["state"]
    assert text.endswith(", about 1 min 30 s to go, and then the retries")


def test_what_is_waited_for():
    lines = dict(
        number_lines(
            JobOverview("RUNNING", trouble="http://a/\x07: down"), MeasuredRates(), None, "work/书"
        )
    )
    assert lines["waits"] == "http://a/\\x07: down"


def test_messages_are_lines_of_json(capsys: pytest.CaptureFixture[str]):
    JsonProgress(SystemClock()).message("alert", "disk\n\u202efull")
    line = capsys.readouterr().err
    assert line.isascii()
    assert json.loads(line)["text"] == "disk\n\u202efull"


def test_until_when_the_last_tries_are_waited_for():
    lines = dict(
        number_lines(
            JobOverview("RUNNING", gives_up=1_700_000_000.0), MeasuredRates(), None, "work/书"
        )
    )
    assert lines["ends"].startswith("at 2023-11-14 22:13:20 UTC at the latest")
    assert "`nacre frontier work/书 delete --all`" in lines["ends"]
    assert "ends" not in dict(
        number_lines(JobOverview("RUNNING"), MeasuredRates(), None, "work/书")
    )
