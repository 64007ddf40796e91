"""A crawl that is steered by files alone, stopped, and taken back to its checkpoint."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import FAST, ended, finished, running, until


def log(job: Path, name: str) -> str:
    return (job / "latest" / "logs" / name).read_text()


def state(job: Path) -> str:
    overview = json.loads(nacre("status", job, "--json").out)["overview"]
    return str(overview["state"])


@pytest.mark.slow
def test_steered_by_files(tmp_path: Path):
    job = tmp_path / "job"
    settings = ("--set", "checkpoint.on_stop=true", "--set", "action.interval=0.1")
    with (
        site(many_pages(60), slow=0.05) as home,
        running(
            job, "crawl", home, "--delay", 0, "--parallel", 1, "--out", job, *settings
        ) as process,
    ):
        until(lambda: finished(job) > 3)
        (job / "control/ignores").write_text("p[45]\\d\n(\n")
        (job / "action/more.schedule").write_text(f"{home}p1.html?more\nnonsense\n")
        (job / "control/pause").touch()
        until(lambda: state(job) == "PAUSED")
        until(lambda: not (job / "action/more.schedule").exists())
        (job / "control/pause").unlink()
        until(lambda: state(job) == "RUNNING")
        before = finished(job)
        until(lambda: finished(job) > before)
        (job / "control/stop").touch()
        code, out, err = ended(process)
        assert code == 5, err
        assert re.search(r"alerts +2, in ", out), out
        assert re.search(r"^\S+Z more\.schedule: ", err, re.MULTILINE), err
        listed = json.loads(nacre("checkpoint", job, "--list", "--json").out)
        assert [each["finished"] for each in listed] == [finished(job)]
        assert listed[0]["name"] in nacre("checkpoint", job, "--list").out
        assert state(job) == "ABORTED"
        back = nacre("run", job, "--checkpoint", "latest", "-q", *FAST)
        assert back.code == 0, back.err
    assert "-5000" in log(job, "crawl.log")
    assert f"{home}p1.html?more" in log(job, "crawl.log")
    assert " 200 " not in "".join(x for x in log(job, "crawl.log").splitlines() if "p45." in x)
    assert "line 2: '(' is not a regular expression" in log(job, "alerts.log")
    assert "control/stop: ends the crawl" in log(job, "job.log")
    explained = nacre("explain", job, f"{home}p55.html").out
    assert "control/ignores" in explained
    (report,) = (job / "latest/actions-done").glob("*.report")
    assert report.read_text().endswith("2 lines: 1 scheduled, 1 rejected\n")
    assert "no checkpoints yet" in nacre("checkpoint", _fresh(tmp_path), "--list").out


def test_what_lies_there_is_taken_in_before_the_crawl_ends(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        nacre("new", job, home, "--delay", 0)
        (job / "action").mkdir()
        (job / "action/late.s.schedule").write_text(f"{home}c.html?late\nhttp://b.test/\n")
        done = nacre("run", job, "-q", *FAST)
    assert done.code == 0, done.err
    assert f" {home}c.html?late - - " in log(job, "crawl.log")
    (report,) = (job / "latest/actions-done").glob("*.report")
    assert "line 2: out of scope, by the rule" in report.read_text()


def _fresh(folder: Path) -> Path:
    assert nacre("new", folder / "fresh", "http://a.test/").code == 0
    return folder / "fresh"
