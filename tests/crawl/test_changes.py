"""A running crawl is changed: the file shows it, the next fetch obeys, `explain` says why."""

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tools.nginx import Nginx, Request, Server, free_port, serving

pytestmark = pytest.mark.crawl

HOSTS = {"slow.test": "127.0.9.61", "other.test": "127.0.9.62"}
LONG, SHORT = 3000.0, 0.3
PAGES = 8


def nacre(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nacre", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def write_pages(root: Path) -> None:
    root.mkdir()
    links = "".join(f'<a href="/{number}.html">{number}</a>' for number in range(PAGES))
    for name in ("index.html", *(f"{number}.html" for number in range(PAGES))):
        (root / name).write_text(f"<!DOCTYPE html><title>{name}</title>{links}")


def fetched(nginx: Nginx, host: str) -> list[Request]:
    return sorted((one for one in nginx.requests() if one.host == host), key=lambda one: one.began)


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Both sites begin with a delay that never ends; then one gets another."""
    folder = tmp_path_factory.mktemp("changes")
    write_pages(folder / "root")
    port = free_port(tuple(HOSTS.values()))
    job = folder / "job"
    job.mkdir()
    plan = {
        "seeds": [f"http://{name}:{port}/" for name in HOSTS],
        "dns": {"hosts": HOSTS},
        "fetch": {"contact": "http://me.test/"},
        "politeness": {"delay": LONG, "shared_slots": False},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    lines = [f"{key}: {json.dumps(value)}  # as it was" for key, value in plan.items()]
    (job / "crawl.yaml").write_text("\n".join(lines) + "\n")
    site = f"http://slow.test:{port}/"
    servers = [Server(address, port, folder / "root") for address in HOSTS.values()]
    with serving(servers, folder / "nginx", log=True) as nginx:
        command = [sys.executable, "-m", "nacre", "run", str(job), "--quiet"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as crawler:
            _until(lambda: all(fetched(nginx, name) for name in HOSTS))
            preview = nacre("set", job, f"politeness.delay={SHORT}", "--for", site, "--preview")
            done = nacre("set", job, f"politeness.delay={SHORT}", "--for", site)
            fixed = nacre("set", job, "store.memory=64 MB")
            _until(lambda: len(fetched(nginx, "slow.test")) > PAGES + 2)
            explained = nacre("explain", job, site + "1.html")
            nacre("stop", job)
            crawler.wait(60)
        requests = {name: fetched(nginx, name) for name in HOSTS}
    return job, preview, done, fixed, explained, requests


def _until(true) -> None:
    for _ in range(2000):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came so far")


def test_the_change_is_previewed_and_made(changed):
    _, preview, done, _, _, _ = changed
    assert "would touch" in preview.stdout, preview.stderr
    assert "in force now" in done.stdout, done.stderr


def test_the_file_shows_it_and_keeps_its_comments(changed):
    text = (changed[0] / "crawl.yaml").read_text()
    assert text.count("# as it was") == 5
    assert f"delay: {SHORT}" in text
    assert nacre("check", changed[0]).returncode == 0


def test_the_next_fetch_obeys_it_and_the_other_site_waits_on(changed):
    requests = changed[5]
    assert len(requests["slow.test"]) > PAGES
    gaps = [second.began - first.ended for first, second in pairwise(requests["slow.test"][1:])]
    assert min(gaps) >= SHORT - 0.01
    assert len(requests["other.test"]) == 1


def test_explain_names_its_origin(changed):
    said = changed[4].stdout
    assert "for-slow-test" in said, changed[4].stderr
    assert f"politeness.delay = {SHORT}, from sheet for-slow-test" in said
    assert "nacre set crawl.yaml:" in said


def test_what_cannot_change_says_why(changed):
    fixed = changed[3]
    assert fixed.returncode == 2
    assert "the store was opened with it" in fixed.stderr


def test_the_log_says_who(changed):
    log = next((changed[0] / "runs").iterdir()) / "logs" / "job.log"
    line = next(line for line in log.read_text().splitlines() if "politeness.delay" in line)
    assert f"nothing -> {SHORT}, by " in line
    assert "(uid " in line
