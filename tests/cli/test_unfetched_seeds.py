"""Ends that leave work: each seed that was not got is told with its cause, wherever one looks.

What failed: of 200 seeds with ten broken ones, the summary said "everything in scope was tried";
a refused connection was `-61`, a status of the crawler's own; the guess at favicon.ico was an error
of a site without one.
"""

import json
import re
import signal
from pathlib import Path

from tests.cli.broken_servers import broken
from tests.cli.site import nacre, site
from tests.cli.test_control import ended, running, until

QUICK = ("--delay", "0", "--set", "frontier.max_retries=2", "--set", "frontier.retry_delay=0.1")


PAGES = {"/": "<p>home</p>", "/%E9%80%9A%E7%9F%A5/": "<p>通知</p>"}


def test_each_seed_with_its_cause(tmp_path: Path):
    job, seeds = tmp_path / "job", tmp_path / "seeds.txt"
    with site(PAGES) as home, broken(accepts=False) as dead, broken(accepts=True) as rude:
        lines = (home, f"{home}通知/", dead, rude, f"{home}公告.html", "no seed")
        seeds.write_bytes("\n".join(lines).encode("gbk"))
        done = nacre("crawl", "-i", seeds, "--out", job, *QUICK, "-q")
    assert done.code == 0, done.err
    gone = f"{home}%E5%85%AC%E5%91%8A.html"
    assert f"  {dead}: connection refused, tried twice (-61)\n" in done.out
    # It depends on the time at which it hangs up.
    cause = "(?:connection [a-z ]+|closed without a reply), tried twice"
    hung_up = re.search(rf"  {rude}: ({cause}) \(-61\)\n", done.out)
    assert hung_up, done.out
    assert f"  {home}公告.html: the server answered 404 (Not Found)\n" in done.out
    assert "seeds    2 of 5 got, 1 answered with an error, 2 without a reply\n" in done.out
    assert "skipped  1 line of the seed list that is not a seed" in done.out
    report = nacre("report", job, "seeds").out
    assert re.search(rf"{dead} +connection refused, tried twice +-61", report)
    rows = json.loads((job / "latest/reports/seeds-report.json").read_text())["rows"]
    assert {row["seed"]: row["cause"] for row in rows} == {
        home: None,
        f"{home}%E9%80%9A%E7%9F%A5/": None,
        dead: "connection refused, tried twice",
        rude: hung_up[1],
        gone: "the server answered 404 (Not Found)",
    }
    file = (job / "latest/reports/seeds-report.txt").read_text().splitlines()
    assert f"-61 NOTCRAWLED {dead}" in file, "Heritrix's lines, for scripts"
    assert "why: connection refused, tried twice\n" in nacre("explain", job, dead).out
    told = json.loads(nacre("explain", job, dead, "--json").out)
    assert (told["not_got"]["cause"], told["not_got"]["tries"]) == ("connection refused", 2)


def test_an_interrupted_crawl_says_when_the_next_try_is(tmp_path: Path):
    job = tmp_path / "job"
    with (
        site(PAGES) as home,
        broken(accepts=False) as dead,
        running(
            job, "crawl", home, dead, "--delay", 0, "--out", job, "--set",
            "frontier.retry_delay=600", "--set", "frontier.last_tries_within=6000",
        ) as process,
    ):  # fmt: skip
        until(lambda: "refused" in _log(job, "nonfatal-errors.log"))
        until(lambda: " 200 " in _log(job, "crawl.log"))
        process.send_signal(signal.SIGINT)
        code, out, err = ended(process)
        assert code == 3
        tried = r"connection refused, tried (once|twice|\d+ times), next (in [\d .a-z]+|when .*)"
        assert re.search(rf"{re.escape(dead)}: {tried}", out), out
        assert "1 waiting" in out
        (last,) = [line for line in err.splitlines() if " finished (interrupted): " in line]
        assert "will be tried again" not in last, "it has ended"
        told = nacre("explain", job, dead).out
        assert re.search(rf"why: {tried}", told), told


def test_a_crawl_that_gives_up_says_what_was_in_the_way(tmp_path: Path):
    """The last tries are over: nothing was fetched at that moment, and the cause is known."""
    job = tmp_path / "job"
    with site(PAGES) as home, broken(accepts=False) as dead:
        done = nacre(
            "crawl", home, dead, "--delay", 0, "--out", job, "-q", "--set",
            "frontier.retry_delay=600", "--set", "frontier.last_tries_within=0.5",
        )  # fmt: skip
    assert done.code == 0, done.err
    assert re.search(rf"{dead}: connection refused, tried (twice|\d times) \(-61\)", done.out)
    told = nacre("explain", job, f"{dead}robots.txt").out
    assert re.search(r"why: connection refused, tried (twice|\d times)\n", told), told


def _log(job: Path, name: str) -> str:
    path = job / "latest/logs" / name
    return path.read_text() if path.exists() else ""


def test_no_favicon_is_no_error(tmp_path: Path):
    job = tmp_path / "job"
    with site({**PAGES, "/robots.txt": ""}) as home:
        done = nacre("crawl", home, "--out", job, "--delay", 0, "-q")
    assert "favicon.ico" in _log(job, "crawl.log"), "it was asked for"
    assert "1 error" not in done.out
    assert "404" not in done.out
    overview = json.loads(nacre("status", job, "--json").out)["overview"]
    assert (overview["errors"], overview["failed"], overview["prerequisites"]) == (0, 0, 1)
    codes = json.loads(nacre("report", job, "responsecode", "--json").out)["rows"]
    assert [row for row in codes if "404" in map(str, row.values())] == []


def test_a_favicon_that_the_operator_asks_for_is_one(tmp_path: Path):
    with site({}) as home:
        done = nacre("crawl", f"{home}favicon.ico", "--out", tmp_path / "job", "--delay", 0, "-q")
    assert done.code == 8
    assert "1 error" in done.out
