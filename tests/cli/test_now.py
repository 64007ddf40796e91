"""`--now`: crawls at another time of day."""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.archive.reader import WarcReader
from nacre.machine.clock import SystemClock
from tests.cli.site import PAGES, Done, HeadedPage, nacre, site

FIRST, SECOND = "2024-07-01T13:00:00Z", "20240703150000"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A job that was crawled on one day of 2024 and again two days later."""
    job = tmp_path_factory.mktemp("now") / "demo"
    pages = dict(PAGES)
    with site(pages) as home:
        options = ("--scope", "host", "--delay", 0, "--out", job, "-q", "--now", FIRST)
        assert nacre("crawl", home, *options).code == 0
        pages["/b.html"] = "<p>text that is another one, as the terms have changed meanwhile</p>"
        done = nacre("recrawl", job, "--now", SECOND, "--json", "--set", "recrawl.recall=1")
        assert done.code == 0, done.err
        yield job


def runs(job: Path) -> list[Path]:
    return sorted((job / "runs").iterdir())


def day(run: int) -> str:
    return ("2024-07-01T13:0", "2024-07-03T15:0")[run]


def test_directories_are_named_by_the_time(job: Path):
    names = [run.name for run in runs(job)]
    assert re.fullmatch(r"20240701T130\d\d\dZ", names[0])
    assert re.fullmatch(r"20240703T150\d\d\dZ", names[1])


def test_records_and_indexes_have_the_time(job: Path):
    for number, run in enumerate(runs(job)):
        for path in run.glob("archive/*.warc.gz"):
            assert day(number).replace("-", "").replace("T", "").replace(":", "")[:11] in path.name
            with path.open("rb") as file:
                for record in WarcReader(file):
                    date = record.get("WARC-Date") or ""
                    assert date.startswith(day(number)), (path, date)
        cdxj = list(run.rglob("*.cdxj"))
        assert cdxj
        for path in cdxj:
            stamps = {
                line.split()[1][:8] for line in path.read_text().splitlines() if line[0] != "!"
            }
            assert stamps == {day(number)[:10].replace("-", "")}


def test_logs_have_the_time(job: Path):
    for number, run in enumerate(runs(job)):
        for name in ("crawl.log", "job.log"):
            lines = (run / "logs" / name).read_text().splitlines()
            assert lines
            assert all(line.startswith(day(number)) for line in lines), name


def test_history_has_the_time(job: Path, tmp_path: Path):
    assert nacre("history", job, "export", tmp_path).code == 0
    rows = [json.loads(line) for line in (tmp_path / "visits.jsonl").read_text().splitlines()]
    moments = {
        (row["run"], time.strftime("%Y-%m-%dT%H:0", time.gmtime(row["time"]))) for row in rows
    }
    assert moments == {(1, day(0)), (2, day(1))}


def test_reports_and_manifests_have_the_time(job: Path):
    for number, run in enumerate(runs(job)):
        manifest = (run / "manifest.json").read_text()
        assert f'"run": "{day(number)[:10].replace("-", "")}' in manifest
        present = time.strftime("%Y-%m-%d", time.gmtime())
        for path in (run / "reports").iterdir():
            assert present not in path.read_text("utf-8", "replace"), path


def test_a_page_that_changed_was_noticed(job: Path):
    told = json.loads(nacre("history", job, "runs", "--json").out)
    assert [run["mode"] for run in told] == ["full", "incremental"]
    assert "/b.html" in nacre("report", job, "compare", "--old", 1, "--new", 2).out


def refused(done: Done, *words: str) -> None:
    assert done.code == 2, done.err
    assert all(word in done.err for word in words), done.err


@pytest.mark.parametrize("text", ["2024-07-02", "20240703145959", "1999-12-31T23:59:59+08:00"])
def test_a_time_before_the_last_run_is_refused(job: Path, text: str):
    before = len(runs(job))
    done = nacre("recrawl", job, "--now", text)
    refused(done, "before the end of the last run", "Use a time from 2024-07-03T15:0", "a new job")
    assert len(runs(job)) == before
    planned = json.loads(nacre("history", job, "runs", "--json").out)
    assert len(planned) == before


def test_a_calendar_and_a_moved_clock_are_refused_together(job: Path):
    done = nacre("recrawl", job, "--now", "2025-01-01", "--at", "@daily")
    assert done.code == 2
    assert "--at is a calendar" in done.err
    assert "--now moves the clock" in done.err


@pytest.mark.parametrize("command", ["run", "recrawl"])
@pytest.mark.parametrize("text", ["", "tomorrow", "2024-13-01", "明天", "1969-07-20", "9999-01-01"])
def test_what_is_no_time_is_refused(job: Path, command: str, text: str):
    done = nacre(command, job, "--now", text)
    assert done.code == 2
    assert f"--now {text!r} is " in done.err
    assert "ISO 8601" in done.err


def test_a_crawl_with_a_wrong_time_makes_no_job(tmp_path: Path):
    job = tmp_path / "job"
    refused(nacre("crawl", "http://127.0.0.1:9/", "--out", job, "--now", "soon"), "--now", "soon")
    assert not job.exists()


def test_a_run_after_one_of_the_future_warns(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        options = ("--scope", "page", "--delay", 0, "--out", job, "-q", "--now", "2099-01-01")
        assert nacre("crawl", home, *options).code == 0
        done = nacre("recrawl", job, "-q")
    assert done.code == 0, done.err
    assert done.err.count("warning") == 1
    assert "the machine's clock was set back, or the run had --now" in done.err


def test_the_directory_of_a_crawl_has_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with site() as home:
        done = nacre("crawl", home, "--scope", "page", "--delay", 0, "-q", "--now", FIRST)
    assert done.code == 0, done.err
    [job] = (tmp_path / "crawls").iterdir()
    assert "20240701T1300" in job.name


def test_an_interrupted_run_is_resumed_at_a_later_time_only(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        assert nacre("new", job, home, "--scope", "host", "--delay", 0).code == 0
        stops = ("run", job, "-q", "--set", "limits.documents=1", "--now", FIRST)
        nacre(*stops)
        refused(nacre("run", job, "-q", "--now", "2024-07-01T12:59:59Z"), "before the end")
        assert nacre("run", job, "-q", "--now", "2024-07-02").code == 0


def test_cookies_expire_by_the_time_of_the_job(tmp_path: Path):
    job, headed = tmp_path / "job", {"Set-Cookie": "k=v; Max-Age=86400"}
    with site({"/": HeadedPage("<p>page</p>", headed)}) as home:
        options = ("--scope", "page", "--delay", 0, "--out", job, "-q", "--now", FIRST)
        assert nacre("crawl", home, *options).code == 0
        kept = tmp_path / "cookies.txt"
        done = nacre(
            "recrawl", job, "-q", "--now", SECOND, "--set", f"cookies.save_file={kept}",
            "--set", "recrawl.recall=1",
        )  # fmt: skip
    assert done.code == 0, done.err
    asked_at = 1_720_018_800  # the second run, whose cookie lasts a day
    stamps = [int(line.split("\t")[4]) for line in kept.read_text().splitlines() if "\tk\t" in line]
    assert all(asked_at < stamp < asked_at + 2 * 86_400 for stamp in stamps)
    assert stamps


def test_a_date_to_try_again_is_one_of_the_real_time(tmp_path: Path):
    """`Retry-After` with a date: the moved clock would make a wait of years, or none."""
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(SystemClock().now() + 1))
    job = tmp_path / "job"
    pages = {"/": HeadedPage("<p>page</p>", {"Retry-After": later})}
    with site(pages) as home:
        options = ("--scope", "page", "--delay", 0, "--out", job, "-q", "--now", "2001-01-01")
        assert nacre("crawl", home, *options).code == 0


def test_files_of_other_processes_are_not_taken_for_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    moments: list[float] = []
    job = tmp_path / "job"
    monkeypatch.setattr("nacre.job.job.remove_left_behind", moments.append)
    with site() as home:
        options = ("--scope", "page", "--delay", 0, "--out", job, "-q", "--now", "2199-01-01")
        assert nacre("crawl", home, *options).code == 0
    facts = os.stat(job / "crawl.yaml")  # noqa: PTH116 - the machine's time
    assert abs(moments[0] - facts.st_mtime) < 3600
