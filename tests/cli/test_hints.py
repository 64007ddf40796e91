"""Hints that can be followed, refusals that name what is wrong, and no small lies."""

import ast
import json
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.store.disk import RealDisk, failure
from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import ended, running, until

pytestmark = pytest.mark.crawl

QUICK = ("--set", "politeness.delay=0")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = tmp_path_factory.mktemp("limited") / "job"
    with site(many_pages(50)) as url:
        told = nacre("crawl", url, "--out", job, *QUICK, "--max-pages", 3)
    assert told.code == 4
    return job


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = tmp_path_factory.mktemp("finished") / "作业"
    with site() as url:
        assert nacre("crawl", url, "--out", job, *QUICK).code == 0
    return job


def test_new_names_no_option_that_it_lacks(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://127.0.0.1:1/").code == 0
    again = nacre("new", job, "http://127.0.0.1:1/")
    assert again.code == 2
    assert "another directory" in again.err
    assert "--out" not in again.err


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("frontier", "--help", "list"), " frontier {DIR} list [OPTIONS]"),
        (("frontier", "list", "--help"), " frontier {DIR} list [OPTIONS]"),
        (("--help", "crawl"), " crawl [OPTIONS] [URL]..."),
    ],
)
def test_help_of_a_command_in_either_order(words: tuple[str, ...], usage: str):
    told = nacre(*words)
    assert told.code == 0
    assert usage in told.out


@pytest.mark.parametrize("group", ["archive", "history", "sheet"])
def test_a_directory_alone_is_told_what_may_follow(limited: Path, group: str):
    told = nacre(group, limited)
    assert told.code == 2
    assert "Say what to do" in told.err
    assert "|" in told.err


def test_frontier_of_a_directory_alone_says_how_many_wait(limited: Path, finished: Path):
    told = nacre("frontier", limited)
    assert told.code == 0
    number = len(nacre("frontier", limited, "list").out.splitlines())
    assert f"{number} URIs wait in 1 queue" in told.out
    assert nacre("frontier", finished).out == "0 URIs wait in 0 queues\n"


def test_a_contact_that_reaches_nobody_is_named(tmp_path: Path):
    told = nacre("crawl", "https://example.org/", "--contact", "我", "--out", tmp_path / "job")
    assert told.code == 2
    assert "'我' is neither a web page nor a mail address" in told.err


def test_only_the_limit_that_was_set_is_lifted(limited: Path):
    told = nacre("run", limited).out
    (line,) = (line for line in told.splitlines() if line.startswith("Resume:"))
    assert line.endswith(" --set limits.documents=0")
    assert "novel" not in line


def test_a_finished_job_keeps_no_ballast(limited: Path, finished: Path):
    assert (limited / "state" / "ballast").is_file()
    assert not (finished / "state" / "ballast").exists()


def test_no_step_takes_away_more_links_than_there_are(finished: Path):
    data = json.loads(nacre("report", finished, "processors", "--json").out)
    steps = [step for chain in data["chains"].values() for step in chain]
    assert steps
    assert all(step["links"] >= 0 for step in steps)


def test_documents_that_messages_name_are_in_a_wheel(tmp_path: Path):
    root = Path(__file__).parents[2]
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert {f"nacre/docs/{page}.md" for page in ("howto", "running", "scope")} <= names
    pages = nacre("help", "docs").out
    assert "howto.md" in pages
    assert "reference/settings.md" in pages
    assert "nacre/docs/reference/settings.md" in names


def test_no_file_or_message_names_a_page_by_a_place_that_only_a_clone_has(tmp_path: Path):
    job = tmp_path / "job"
    assert nacre("new", job, "http://127.0.0.1:1/").code == 0
    assert "docs/" not in (job / "crawl.yaml").read_text()
    package = Path(__file__).parents[2] / "src" / "nacre"
    assert not re.findall(r"docs/[a-z/-]+\.md", (package / "crawl.schema.json").read_text("utf-8"))
    for source in package.rglob("*.py"):
        told = [text for text in _texts(source) if re.search(r"docs/[a-z/-]+\.md", text)]
        assert not told, (source, told)


def _texts(source: Path) -> Iterator[str]:
    """The texts of a module but for its docstrings."""
    tree = ast.parse(source.read_text("utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documented:
            yield str(node.value)


def test_what_may_not_be_written_is_a_mistake_of_the_command(
    finished: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(_: RealDisk, path: str) -> int:
        raise failure("create", path, PermissionError(13, "Permission denied"))

    monkeypatch.setattr(RealDisk, "create", refuse)
    told = nacre("set", finished, "limits.documents=5")
    assert told.code == 2
    assert "Give this user the right to write there" in told.err


def test_a_start_that_waits_for_space_says_so(tmp_path: Path):
    job = tmp_path / "job"
    with site() as url:
        assert nacre("new", job, url, "--set", "disk.reserve=900TB").code == 0
        with running(job, "run", job) as process:
            until(lambda: "waiting for space" in nacre("status", job).out)
            assert nacre("status", job).out.startswith("run: preparing (waiting for space")
            assert "not run yet" not in nacre("status", job).out
            assert "stopping" in nacre("stop", job).out
            code, _, err = ended(process)
        assert code == 5, err
        with running(job, "run", job) as process:
            until(lambda: "waiting for space" in nacre("status", job).out)
            process.send_signal(signal.SIGINT)
            code, _, err = ended(process)
        assert err.splitlines()[-1].endswith("Z ending the wait for space")
    status = nacre("status", job).out
    assert "too little disk space for a start: " in status
    assert " are free, 900 TB are needed" in status
    assert "ready to start" not in status
