"""Politeness as the server sees it: its access log says when each request began and ended."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from nacre.core.clock import duration
from tests.crawl.jobs import crawl
from tools.nginx import Nginx, Request, Server, free_port, serving

pytestmark = pytest.mark.crawl

DELAY = 0.2
TOLERANCE = 0.005
"""nginx knows its times to a millisecond, and reads the clock once per turn of its loop."""
HOSTS = {"one.test": "127.0.9.21", "two.test": "127.0.9.22"}
PAGES = 6


def write_pages(root: Path, pages: int = PAGES) -> None:
    root.mkdir()
    links = "".join(f'<a href="/{number}.html">{number}</a>' for number in range(pages))
    for name in ("index.html", *(f"{number}.html" for number in range(pages))):
        (root / name).write_text(f"<!DOCTYPE html><title>{name}</title>{links}")


@pytest.fixture(scope="module")
def requests(tmp_path_factory) -> dict[str, list[Request]]:
    folder = tmp_path_factory.mktemp("polite")
    root = folder / "root"
    write_pages(root)
    port = free_port(tuple(HOSTS.values()))
    servers = [Server(address, port, root) for address in HOSTS.values()]
    with serving(servers, folder / "nginx", log=True) as nginx:
        crawled = crawl(
            folder / "job",
            [f"http://{name}:{port}/" for name in HOSTS],
            dns={"hosts": HOSTS},
            politeness={"delay": DELAY, "in_flight": 1},
        )
        seen = nginx.requests()
    assert crawled.ending == "FINISHED"
    return {name: [one for one in seen if one.host == name] for name in HOSTS}


def test_both_hosts_were_crawled_whole(requests):
    expected = {"/", "/robots.txt", "/favicon.ico", *(f"/{number}.html" for number in range(PAGES))}
    for name in HOSTS:
        assert {one.target for one in requests[name]} == expected
        assert len(requests[name]) == len(expected)


def test_no_two_requests_of_a_host_start_closer_than_the_delay(requests):
    for name in HOSTS:
        for first, second in pairwise(sorted(requests[name], key=lambda one: one.began)):
            assert second.began - first.ended >= DELAY - TOLERANCE, (first, second)


def test_the_hosts_take_no_turns(requests):
    """While one host rests, the other is asked: their requests alternate."""
    merged = sorted((one for name in HOSTS for one in requests[name]), key=lambda one: one.began)
    changes = sum(first.host != second.host for first, second in pairwise(merged))
    assert changes >= len(merged) * 2 // 3


def crawler(job: Path, port: int, *, shared: bool) -> subprocess.Popen[bytes]:
    """A process of its own that crawls one.test."""
    job.mkdir()
    plan = {
        "seeds": [f"http://one.test:{port}/"],
        "dns": {"hosts": HOSTS},
        "politeness": {"delay": DELAY, "shared_slots": shared},
        "frontier": {"max_retries": 1},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    (job / "crawl.yaml").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "nacre", "run", str(job)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def two_jobs(
    folder: Path, pages: int, *, shared: bool
) -> Iterator[tuple[list[subprocess.Popen[bytes]], Nginx]]:
    """Two jobs that crawl a host at the same time, and its server; both are killed at the end."""
    write_pages(folder / "root", pages)
    address = HOSTS["one.test"]
    port = free_port((address,))
    with serving([Server(address, port, folder / "root")], folder / "nginx", log=True) as nginx:
        jobs = [crawler(folder / name, port, shared=shared) for name in ("first", "second")]
        try:
            yield jobs, nginx
        finally:
            for job in jobs:
                job.kill()
                job.wait()


def too_close(requests: list[Request]) -> list[tuple[Request, Request]]:
    return [
        (first, second)
        for first, second in pairwise(sorted(requests, key=lambda one: one.began))
        if second.began - first.ended < DELAY - TOLERANCE
    ]


def test_two_jobs_are_together_as_polite_as_one(tmp_path: Path):
    with two_jobs(tmp_path, PAGES, shared=True) as (jobs, nginx):
        assert [job.wait(200) for job in jobs] == [0, 0]
        seen = nginx.requests()
    assert len(seen) == 2 * (PAGES + 3)  # the home page, robots.txt, favicon.ico
    assert not too_close(seen)


def nacre(*arguments: object) -> str:
    command = [sys.executable, "-m", "nacre", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True).stdout


def slow_job(job: Path, port: int, delay: float) -> subprocess.Popen[bytes]:
    """A process that fetches two URLs at once, and then none for as long as a test lasts."""
    job.mkdir()
    plan = {
        "seeds": [f"http://one.test:{port}/"],
        "dns": {"hosts": HOSTS},
        "politeness": {"delay": delay},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    (job / "crawl.yaml").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "nacre", "run", str(job), "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until(answer: Callable[[], str], wanted: str) -> str:
    """What a command answers, once that has a text; each try takes the start of a process."""
    text = ""
    for _ in range(100):
        text = answer()
        if wanted in text:
            return text
    raise AssertionError(text)


def test_two_jobs_name_each_other_and_the_delay_in_effect(tmp_path: Path):
    write_pages(tmp_path / "root")
    address = HOSTS["one.test"]
    port = free_port((address,))
    quick, slow = tmp_path / "快", tmp_path / "slow"
    with serving([Server(address, port, tmp_path / "root")], tmp_path / "nginx"):
        first = slow_job(slow, port, 300.0)
        second: subprocess.Popen[bytes] | None = None
        try:
            until(lambda: nacre("status", slow), "one every")
            second = slow_job(quick, port, 200.0)
            theirs = f"of job {slow} (process {first.pid})"
            url = f"http://one.test:{port}/1.html"
            queues = until(lambda: nacre("frontier", quick, "queues"), theirs)
            assert f"the delay of {duration(300.0)} {theirs} is in effect for" in queues
            assert theirs in nacre("explain", quick, url)
            ours = f"job {quick} (process {second.pid})"
            assert f"it takes turns with {ours}" in nacre("explain", slow, url)
            assert f"it takes turns with {ours}" in nacre("status", slow)
            assert f"it takes turns with {ours}" in nacre("frontier", slow, "queues")
            rows = nacre("frontier", slow, "queues", "--json").splitlines()
            (sharer,) = json.loads(rows[0])["sharers"]
            assert (sharer["job"], sharer["pid"]) == (str(quick), second.pid)
            second.kill()
            second.wait()
            assert "turns" not in nacre("status", slow)
        finally:
            for process in (first, second):
                if process is not None:
                    process.kill()
                    process.wait()


def test_two_jobs_that_share_nothing_are_not(tmp_path: Path):
    """Which shows that the test above can fail: the pages last until both jobs ask."""
    with two_jobs(tmp_path, 50 * PAGES, shared=False) as (jobs, nginx):
        while not too_close(nginx.requests()):
            assert [job.poll() for job in jobs] == [None, None]
            time.sleep(0.05)
