"""Whole crawls: slow replies, a seed without a scheme, and a seed that is dead."""

import json
import socket
from pathlib import Path

import pytest

from tests.cli.site import nacre, site

pytestmark = pytest.mark.crawl

PAGES = {"/": "<a href=/a>a</a>", "/a": "<a href=/b>b</a>", "/b": "<p>图书馆"}


def crawl_log(job: Path) -> list[list[str]]:
    lines = (job / "latest/logs/crawl.log").read_text().splitlines()
    return [line.split() for line in lines]


def test_slow_replies_raise_the_delay_to_its_maximum_and_explain_says_so(tmp_path: Path):
    job = tmp_path / "job"
    delays = {"min_delay": "10ms", "max_delay": "0.2", "delay_factor": "50", "delay": "null"}
    given = [x for name, value in delays.items() for x in ("--set", f"politeness.{name}={value}")]
    with site(PAGES, slow=0.05) as home:  # fifty times as long is 2.5 s
        done = nacre("crawl", home, "--scope", "host", "--out", job, "-q", *given)
        assert done.code == 0, done.err
        told = nacre("explain", job, f"{home}b").out
    (line,) = [line for line in told.splitlines() if "last delay" in line]
    assert line.strip() == (
        "last delay 200 ms, backoff 1.0: a multiple of the time that the last fetch took "
        "(politeness.delay_factor), 200 ms at most (politeness.max_delay)"
    )


def test_a_seed_without_a_scheme_is_one_seed_and_its_https_attempt_no_failure(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as home:
        raw = home.removeprefix("http://")
        done = nacre("crawl", raw, "--scope", "host", "--out", job, "-q", "--delay", 0, "--json")
        told = json.loads(done.out)
    assert done.code == 0
    seeds = {name: told["seeds"][name] for name in ("total", "got", "no_reply", "not_got")}
    assert seeds == {"total": 1, "got": 1, "no_reply": 0, "not_got": []}
    assert told["failed_pages"] == 0
    (attempt,) = [words for words in crawl_log(job) if words[3] == f"https://{raw}"]
    assert attempt[-1] == "httpTried"


@pytest.mark.timeout(120)
def test_a_seed_that_was_dead_in_two_runs_keeps_the_third_one_waiting_no_more(tmp_path: Path):
    job, quick = tmp_path / "job", ("--set", "frontier.retry_delay=0.1")
    with socket.socket() as taken, site(PAGES) as home:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        few = (*quick, "--set", "frontier.max_retries=2")
        done = nacre("crawl", home, dead, "--scope", "host", "--out", job, "-q", "--delay", 0, *few)
        assert done.code == 0, done.err
        assert nacre("recrawl", job, "-q", *few).code == 0
        # With the default delays the third run would wait ten minutes and more.
        done = nacre("recrawl", job, "--set", "recrawl.recall=1")
    assert done.code == 0
    (line,) = [line for line in done.out.splitlines() if dead in line and "runs" in line]
    assert "no connection in 3 runs, so only two tries" in line
    fetched = {words[3] for words in crawl_log(job) if words[1] == "200"}
    assert fetched == {home, f"{home}a", f"{home}b"}
