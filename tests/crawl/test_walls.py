"""A host that turns the crawler away is held with an alert, and released by waking its queue."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.46"
PAGES = 150
DIRECTIVES = """
    location /page/ { default_type text/html; return 403 "<title>Just a moment...</title>"; }
"""


def _nacre(*arguments: str) -> str:
    command = [sys.executable, "-m", "nacre", *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode in {0, 4}, ended.stderr
    return ended.stdout


def _walls(root: Path) -> int:
    logs = root.glob("runs/*/logs/crawl.log")
    return sum(log.read_text().count("wall:challenge") for log in logs)


def test_a_host_is_held_until_it_is_woken(tmp_path: Path) -> None:
    root = tmp_path / "site"
    root.mkdir()
    links = "".join(f'<a href="/page/{at}">{at}</a> ' for at in range(PAGES))
    (root / "index.html").write_text(f"<!DOCTYPE html>{links}")
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, root, directives=DIRECTIVES)
    job = tmp_path / "job"
    with serving([server], tmp_path / "nginx"):
        options = ("--out", str(job), "--delay", "0", "--allow-net", "127.0.0.0/8", "--quiet")
        _nacre("crawl", f"http://{ADDRESS}:{port}/", *options, "--browser", "never")
        first = _walls(job)
        assert 20 <= first < PAGES
        (log,) = job.glob("runs/*/logs/alerts.log")
        alerts = log.read_text()
        assert f"{ADDRESS} is held" in alerts
        report = _nacre("report", str(job), "walls", f"http://{ADDRESS}/")
        assert f"For the owner of {ADDRESS}" in report
        assert "it is held" in _nacre(
            "explain", str(job), f"http://{ADDRESS}:{port}/page/{PAGES - 1}"
        )
        _nacre("run", str(job))
        assert _walls(job) == first, "a new run does not release it"
        _nacre("frontier", str(job), "wake", "--queue", ".")
        _nacre("run", str(job))
        assert _walls(job) >= first + 20
