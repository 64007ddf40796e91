"""The commands of the README on a real site: crawl, check, explain, report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.conftest import STARTS
from tests.crawl.reachable import Folder
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.41"
PACKAGE = "postfix-doc"


def nacre(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nacre", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def log_lines(folder: Path) -> list[list[str]]:
    """The fields of each line of a job's crawl.log."""
    log = next((folder / "runs").iterdir()) / "logs" / "crawl.log"
    return [line.split() for line in log.read_text().splitlines()]


@pytest.fixture(scope="module")
def job(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    port = free_port((ADDRESS,))
    origin = f"http://{ADDRESS}:{port}"
    denied = 'location = /robots.txt { return 200 "User-agent: *\\nDisallow: /*postconf.5\\n"; }'
    server = Server(ADDRESS, port, package(PACKAGE), directives=denied)
    with serving([server], folder / "nginx"):
        crawled = nacre(
            *("crawl", f"{origin}{STARTS[PACKAGE]}", "--scope", "host", "--delay", "0"),
            *("--out", str(folder / "demo"), "--parallel", "8"),
        )
    assert crawled.returncode == 0, crawled.stderr
    return folder / "demo", origin, crawled


def test_the_crawl_ends_with_what_it_got_and_the_command_to_look_at_it(job):
    folder, _, crawled = job
    assert "Finished" in crawled.stdout
    assert f"archive {folder} check" in crawled.stdout


def test_progress_on_a_pipe_is_lines_of_text(job):
    lines = job[2].stderr.splitlines()
    assert any(line.endswith(" PREPARING -> RUNNING") for line in lines)
    assert any("finished (everything was tried): done " in line for line in lines)


def test_the_archive_is_undamaged(job):
    result = nacre("archive", str(job[0]), "check")
    assert result.returncode == 0, result.stdout
    assert "nothing damaged" in result.stdout


def test_everything_but_what_robots_txt_denies_was_captured(job, package):
    folder, origin, _ = job
    reachable, _ = Folder(package(PACKAGE)).reachable(STARTS[PACKAGE])
    captured = {
        fields[3].removeprefix(origin)
        for fields in log_lines(folder)
        if fields[1] == "200" and "X" not in fields[4] and not fields[4].endswith("P")
    }
    denied = {path for path in reachable if "postconf.5" in path}
    assert denied
    assert captured == reachable - denied


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("{origin}{start}", "captured: HTTP status 200"),
        ("{origin}/usr/share/doc/postfix/html/postconf.5.html", "robots.txt"),
        ("http://www.postfix.org/", "scope"),
        ("{origin}/never/linked/to.html", "never"),
    ],
)
def test_each_kind_of_url_is_explained(job, url, answer):
    folder, origin, _ = job
    result = nacre("explain", str(folder), url.format(origin=origin, start=STARTS[PACKAGE]))
    assert result.returncode == 0, result.stderr
    told = next(line for line in result.stdout.splitlines() if line.lstrip().startswith("answer"))
    assert answer in told, result.stdout


def test_the_summary_counts_what_is_in_the_log(job):
    folder: Path = job[0]
    result = nacre("report", str(folder), "crawl-summary", "--json")
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    statuses = [int(fields[1]) for fields in log_lines(folder)]
    assert summary["status"] == "FINISHED"
    assert summary["uri_successes"] == sum(status >= 200 for status in statuses) > 100
    assert summary["uri_disregards"] == statuses.count(-9998) > 0
    assert summary["uris_processed"] == len(statuses)
    assert summary["uris_queued"] == 0
