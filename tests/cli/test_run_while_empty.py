"""A run that waits for URIs when nothing is left: in a process of its own, with real files."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.job.control import is_running
from nacre.machine.layout import Layout
from tests.cli.site import nacre, site
from tests.console.stories.running import running_job, until

PAGES = {"/": "<p>home</p>", "/one": "<p>1</p>", "/two": "<p>2</p>", "/页": "<p>页</p>",
         "/robots.txt": ""}  # fmt: skip
QUICK = ("politeness.delay=0", "engine.run_while_empty=true", "action.interval=1")


def state_of(job: Path) -> str:
    found = json.loads(nacre("status", job, "--json").out)
    return str(found.get("overview", found).get("state"))


def fetched(job: Path) -> str:
    return "".join(path.read_text("utf-8") for path in job.glob("runs/*/logs/crawl.log"))


def new_job(folder: Path, url: str, *settings: str) -> Path:
    job = folder / "job"
    assert nacre("new", job, url).code == 0
    assert nacre("set", job, *QUICK, *settings).code == 0
    return job


@contextmanager
def waiting_job(
    folder: Path, *settings: str
) -> Iterator[tuple[Path, str, "subprocess.Popen[bytes]"]]:
    """A job that has fetched its seed and waits."""
    with site(PAGES) as url:
        job = new_job(folder, url, *settings)
        with running_job(job) as process:
            until(lambda: state_of(job) == "EMPTY")
            yield job, url, process


def closed(job: Path) -> list[str]:
    """The endings of the files of the archive, sorted."""
    return sorted(file.name.partition(".")[2] for file in job.glob("runs/*/archive/*"))


PAIR = ["cdxj", "warc.gz"]
"""A WARC that is closed, and its index."""


def logged(job: Path, text: str) -> Callable[[], bool]:
    return lambda: text in fetched(job)


def test_a_run_waits_and_takes_what_is_added(tmp_path: Path):
    with waiting_job(tmp_path) as (job, url, process):
        (job / "action").mkdir(exist_ok=True)
        (job / "action" / "more.schedule").write_text(f"F+ {url}one\n")
        until(logged(job, f"{url}one"))
        (tmp_path / "list.txt").write_text(f"{url}two\n{url}%E9%A1%B5\n")
        assert nacre("frontier", job, "import", tmp_path / "list.txt").code == 0
        until(logged(job, f"{url}two"))
        until(logged(job, f"{url}%E9%A1%B5"))
        until(lambda: state_of(job) == "EMPTY")
        assert nacre("pause", job).code == 0
        until(lambda: state_of(job) == "PAUSED")
        assert nacre("resume", job).code == 0
        until(lambda: state_of(job) == "EMPTY")
        log = (job / "latest" / "logs" / "job.log").read_text()
        assert "EMPTY " in log
        assert nacre("stop", job).code == 0
        assert process.wait(60) == 5


def test_warcs_are_closed_while_a_run_waits(tmp_path: Path):
    with waiting_job(tmp_path, "archive.close_idle=0.5") as (job, url, process):
        until(lambda: closed(job) == PAIR)
        (job / "action").mkdir(exist_ok=True)
        (job / "action" / "more.schedule").write_text(f"F+ {url}页\n", "utf-8")
        until(logged(job, f"{url}%E9%A1%B5"))
        until(lambda: closed(job) == sorted(2 * PAIR))
        assert nacre("stop", job).code == 0
        assert process.wait(60) == 5
        assert closed(job) == sorted(2 * PAIR)
        assert nacre("archive", job, "check").code == 0


def test_the_setting_ends_the_wait_at_once(tmp_path: Path):
    with waiting_job(tmp_path) as (job, _, process):
        assert nacre("set", job, "engine.run_while_empty=false").code == 0
        assert process.wait(60) == 0
        assert state_of(job) == "FINISHED"


def test_a_limit_ends_the_wait(tmp_path: Path):
    with site(PAGES) as url:
        job = new_job(tmp_path, url, "limits.documents=1")
        ran = nacre("run", job, "--quiet")
    assert ran.code == 4


@pytest.mark.slow
def test_uris_that_are_added_to_a_finished_run_start_it_again(tmp_path: Path):
    with site(PAGES) as url:
        job = new_job(tmp_path, url, "engine.run_while_empty=false")
        assert nacre("run", job, "--quiet").code == 0
        (tmp_path / "list.txt").write_text(f"{url}two\n")
        refused = nacre("frontier", job, "import", tmp_path / "list.txt")
        assert refused.code != 0
        assert "is over" in refused.out + refused.err
        assert nacre("set", job, "engine.run_while_empty=true").code == 0
        assert nacre("frontier", job, "import", tmp_path / "list.txt").code == 0
        assert state_of(job) != "FINISHED"
        with running_job(job) as process:
            until(logged(job, f"{url}two"))
            until(lambda: state_of(job) == "EMPTY")
            assert nacre("stop", job).code == 0
            process.wait(60)
        assert len(list((job / "runs").iterdir())) == 1
        assert not is_running(Layout(job).socket)


def test_a_recrawl_comes_to_its_end(tmp_path: Path):
    with site(PAGES) as url:
        job = new_job(tmp_path, url, "engine.run_while_empty=false")
        assert nacre("run", job, "--quiet").code == 0
        assert nacre("set", job, "engine.run_while_empty=true").code == 0
        assert nacre("recrawl", job, "--quiet").code == 0
