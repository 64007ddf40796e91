import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.job.control import send_command
from nacre.machine.layout import Layout
from tests.cli.conftest import Crawled
from tests.cli.site import many_pages, nacre, site

FAST = (
    "--set", "engine.parallel=8", "--set", "politeness.in_flight=8", "--set", "politeness.delay=0",
)  # fmt: skip


def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    for _ in range(1200):
        if true():
            return
        time.sleep(0.1)  # most of what is asked is a command, which takes longer than to wait
    raise AssertionError("it did not come to pass")


@contextmanager
def running(job: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A crawl in another process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": "src"},
    )
    try:
        until((job / "state" / "control").exists)
        yield process
    finally:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=200)
    return process.returncode, out, err


def finished(job: Path) -> int:
    told = json.loads(nacre("status", job, "--json").out)
    return int(told["overview"]["finished"])


def told_bytes(job: Path) -> int:
    """Bytes of WARC, as `status` says."""
    overview = json.loads(nacre("status", job, "--json").out)["overview"]
    return int(overview["warc_bytes"])


def kept_bytes(job: Path) -> int:
    """Bytes of WARC on the disk."""
    warcs = (job / "runs").rglob("*.warc.gz")
    return sum(path.stat().st_size for path in warcs)


def tell_over_the_socket(job: Path, home: str) -> None:
    """Ask a running job what the console asks, in the name of somebody."""
    told = json.loads(nacre("status", job, "--json").out)
    assert told["sentence"]["text"]
    assert told["counts"]["busy"] <= 2
    workers = send_command(Layout(job).socket, "toes")
    assert workers["parallel"] == 2
    assert all(toe["step"] and toe["uri"].startswith(home) for toe in workers["toes"])
    send_command(Layout(job).socket, "parallel", number=2, by="安娜 via console")
    log, line = (
        job / "latest" / "logs" / "job.log",
        f"2 -> 2 by 安娜 via console (uid {os.getuid()})",
    )
    until(lambda: line in log.read_text("utf-8"))


def test_a_running_job_can_be_told_things(tmp_path: Path):
    job = tmp_path / "job"
    with (
        site(many_pages(100), slow=0.02) as home,
        running(job, "crawl", home, "--delay", 0, "--parallel", 2, "--out", job) as process,
    ):
        until(lambda: finished(job) > 3)
        status = nacre("status", job)
        assert ": running" in status.out
        assert " of 2 fetches" in status.out
        tell_over_the_socket(job, home)
        assert nacre("parallel", job, 5).out == "2 -> 5 fetches\n"
        assert nacre("parallel", job, 100_000).code == 2
        assert "it waits to be fetched" in nacre("explain", job, f"{home}p99.html").out
        assert nacre("explain", job, home, "--json").code == 0
        assert (
            "crawl status: Running - Active"
            in nacre("report", job, "crawl-summary", "--heritrix").out
        )
        assert "is running already" in nacre("run", job).err
        assert "pausing" in nacre("pause", job).out
        until(lambda: "paused (by the operator)" in nacre("status", job).out)
        number = finished(job)
        name = json.loads(nacre("checkpoint", job, "--json").out)["name"]
        assert name.startswith("cp00001-")
        assert "choose another one" in nacre("checkpoint", job, "--name", name).err
        assert nacre("checkpoint", job, "--name", "../x").code == 2
        deleted = nacre("frontier", job, "delete", "--regex", r"p9\d\.html").out
        assert deleted == "deleted 10 URIs\n"
        lines = f"{home}new.html\nnonsense\n"
        imported = nacre("frontier", job, "import", "-", stdin=lines)
        assert imported.out.startswith("scheduled 1 URI;")
        assert "line 2" in imported.err
        assert finished(job) == number + 10
        assert nacre("resume", job).out == "resumed\n"
        until(lambda: finished(job) > number + 10)
        assert "stopping" in nacre("stop", job).out
        code, out, err = ended(process)
        assert code == 5
        assert out.startswith("Stopped.")
        assert f"nacre run {job}" in out
        assert "alert: " not in err
        back = nacre("run", job, "--checkpoint", "latest", "-q", *FAST)
        assert back.code == 0
        assert f"went back to checkpoint {name}" in back.err
        assert told_bytes(job) == kept_bytes(job)
        assert "replies  200: 101" in back.out


def test_a_job_that_was_killed_can_be_ended_and_crawled_anew(tmp_path: Path):
    job = tmp_path / "job"
    with site() as home:
        nacre("new", job, home)
        (job / "control").mkdir(exist_ok=True)
        pause = job / "control" / "pause"
        pause.touch()
        with running(job, "run", job, *FAST) as process:
            until(lambda: "paused" in nacre("status", job).out)
            assert "`nacre stop" in nacre("end", job).err
            process.kill()
            process.communicate()
        pause.unlink()
        assert "is not over" in nacre("recrawl", job, "--full").err
        assert json.loads(nacre("end", job, "--json").out)["exit"] == "ABORTED"
        assert "was over already" in nacre("end", job).out
        assert "is finished; nothing was changed" in nacre("run", job).out
        anew = nacre("recrawl", job, "--full", *FAST)
        assert anew.code == 0
        assert "got      5 documents" in anew.out
        assert len(list((job / "runs").iterdir())) == 2
        assert nacre("archive", job, "check").code == 0


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_leaves_a_job_that_can_go_on(tmp_path: Path, times: int):
    job = tmp_path / "job"
    with (
        site(many_pages(30), slow=0.1) as home,
        running(job, "crawl", home, "--delay", 0, "--parallel", 2, "--out", job) as process,
    ):
        until(lambda: finished(job) > 3)
        process.send_signal(signal.SIGINT)
        if times == 2:
            process.send_signal(signal.SIGTERM)
        code, out, err = ended(process)
        assert code == 3
        assert out.startswith("Interrupted.")
        assert f"nacre run {job}" in out
        assert err.count("ends at once") == times
        assert "interrupted" in nacre("status", job).out
        goes_on = nacre("run", job, *FAST)
        assert goes_on.code == 0
        assert "resumes run" in goes_on.err
        assert "replies  200: 31, 404: 1" in goes_on.out


@pytest.mark.parametrize("command", ["pause", "resume", "stop", "checkpoint", "parallel"])
def test_a_job_that_does_not_run_cannot_be_told_anything(tmp_path: Path, command: str):
    nacre("new", tmp_path / "job", "http://a.test/")
    extra = ["3"] if command == "parallel" else []
    done = nacre(command, tmp_path / "job", *extra)
    assert done.code == 2
    assert "is not running" in done.err
    assert "nacre run" in done.err


def explained(crawled: Crawled, url: str) -> str:
    done = nacre("explain", crawled.job, url)
    assert done.code == 0, done.err
    return done.out


def test_a_captured_url(crawled: Crawled):
    text = explained(crawled, crawled.home + "c.html")
    assert "captured: HTTP status 200." in text
    assert f"seed: {crawled.home} (200)" in text
    assert f"link: {crawled.home}a.html (200)" in text
    assert "by a/@href, hop path LL" in text
    assert "ACCEPT, decided by surt-prefixed" in text
    assert "allowed: no line applies to it" in text
    assert ".warc.gz, offset " in text
    assert "the same content as " in text


def test_an_out_of_scope_url(crawled: Crawled):
    text = explained(crawled, "http://elsewhere.test/")
    assert "not crawled: out of scope, refused by the rule reject" in text
    assert f"seed: {crawled.home}" in text
    assert "REJECT, decided by reject" in text


def test_a_url_that_robots_txt_denies(crawled: Crawled):
    text = explained(crawled, crawled.home + "secret/x.html")
    assert "-9998 robots-precluded" in text
    assert "denied by the line `Disallow: /secret/`" in text


@pytest.mark.parametrize(
    ("url", "would"), [("unknown", "would be crawled"), ("a/" * 30, "would not be crawled")]
)
def test_an_unknown_url(crawled: Crawled, url: str, would: str):
    text = explained(crawled, crawled.home + url)
    assert f"never seen in this crawl; found by a link on a seed it {would}" in text


def test_an_explanation_as_json(crawled: Crawled):
    url = crawled.home.removeprefix("http://") + "a.html"
    told = json.loads(nacre("explain", crawled.job, url, "--json").out)
    assert told["standing"] == "finished"
    assert told["status"] == 200
    assert told["way"] == [{"url": crawled.home, "hop": "", "status": 200}]
    assert [o["opinion"] for o in told["scope"]["opinions"]][:2] == ["REJECT", "ACCEPT"]
    assert told["capture"]["visits"] == 1


def test_a_user_who_cannot_read_the_key_gets_an_explanation(crawled: Crawled):
    config = Path(crawled.job) / "crawl.yaml"
    text = config.read_text()
    try:
        config.write_text(
            f"{text}\nidentity: {{key: {{file: none.pem}}, directory: https://b.test}}\n"
        )
        explanation = explained(crawled, crawled.home + "c.html")
        assert "captured: HTTP status 200." in explanation
        assert "; this user cannot read the key {file: none.pem}" in explanation
        assert nacre("run", crawled.job).code == 2
    finally:
        config.write_text(text)


def test_what_is_no_url(crawled: Crawled):
    assert nacre("explain", crawled.job, "http://").code == 2


def test_the_summary(crawled: Crawled):
    told = json.loads(nacre("report", crawled.job, "crawl-summary", "--json").out)
    assert told["status"] == "FINISHED"
    assert (told["uris_processed"], told["uri_successes"], told["uri_disregards"]) == (8, 7, 1)
    assert (told["novel_uris"], told["duplicate_by_hash_uris"]) == (6, 1)
    assert (told["seeds_crawled"], told["seeds_uncrawled"], told["hosts_visited"]) == (1, 0, 1)
    text = nacre("report", crawled.job, "crawl-summary", "--heritrix").out
    assert "URIs processed: 8\n" in text
    listed = nacre("report", crawled.job, "list").out.splitlines()
    listed = [line for line in listed if line.startswith("  ")]
    assert [line.split()[0] for line in listed] == json.loads(
        nacre("report", crawled.job, "list", "--json").out
    )
    assert {"crawl-summary", "threads", "savings"} <= {line.split()[0] for line in listed}
    assert all(len(line.split()) > 2 for line in listed), "each says what it is about"
    unknown = nacre("report", crawled.job, "nothing")
    assert unknown.code == 2
    assert "crawl-summary" in unknown.err


def test_status_of_a_finished_job(crawled: Crawled):
    text = nacre("status", crawled.job).out
    assert text.splitlines()[0].endswith(": finished")
    assert "8 of 8 found" in text
    told = json.loads(nacre("status", crawled.job, "--json").out)
    assert told["overview"]["finished"] == 8


def test_status_before_the_first_run(tmp_path):
    nacre("new", tmp_path / "job", "http://a.test/")
    lines = nacre("status", tmp_path / "job").out.splitlines()
    assert lines[:2] == ["not run yet", "  ready to start"]
    assert lines[2].startswith("  what helps: Start (`")
    assert nacre("report", tmp_path / "job").code == 2
    assert nacre("frontier", tmp_path / "job", "list").code == 2


def test_a_finished_job_cannot_be_paused_and_says_what_can_be_done(crawled: Crawled):
    done = nacre("pause", crawled.job)
    assert done.code == 2
    assert "is not running; it is finished, and `" in done.err
    assert "nacre recrawl " in done.err
