"""`nacre page`: one page with its pictures; and what is printed of it."""

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.cli.page import outcome_lines
from nacre.cli.page_text import page_lines
from nacre.core.states import ExitCode
from nacre.machine.layout import Layout
from nacre.ops.page import ArchivedPage
from nacre.ops.rendered_page import PageRequestFacts, RefusedFacts, RenderedPageFacts
from nacre.settings.load import load_job
from tests.cli.site import HeadedPage, ServedPage, nacre, site

HTML = {"Content-Type": "text/html; charset=utf-8"}
APP: dict[str, ServedPage] = {
    "/": HeadedPage(
        "<!doctype html><title>应用</title><div id=root></div><script src=app.js></script>", HTML
    ),
    "/app.js": HeadedPage(
        "fetch('data.json').then(r => r.json()).then(d => {"
        "document.getElementById('root').innerHTML = `<h1>${d.text}</h1><img src=gone.png>`});"
        "fetch('secret/api');",
        {"Content-Type": "text/javascript"},
    ),
    "/data.json": HeadedPage(
        '{"text": "正文 from the data"}', {"Content-Type": "application/json"}
    ),
    "/robots.txt": "User-agent: *\nDisallow: /secret/\n",
    "/pic.png": "PNG",
}
FACTS = RenderedPageFacts(
    url="http://a.test/", title="Shop\x1b[31m", ended="pageTime", sign="mount", browser="X/1",
    final_url="http://a.test/#/start", seconds=3.25, cpu_seconds=0.5, requests=7, bytes=2_000,
    reused=("http://a.test/a.css",), refused_by={"robots": 2},
    refused=(RefusedFacts("http://a.test/api", "Fetch", "robots", "Disallow: /api"),),
    behaviors={"scroll": "3 steps", "more": "1 clicks, 0 details", "media": "0 elements"},
    console_errors=("TypeError: x",),
    urls={"http://a.test/gone.js": PageRequestFacts(404), "http://a.test/": PageRequestFacts(200)},
)  # fmt: skip


def test_the_facts_of_a_page():
    text = "\n".join(page_lines(FACTS))
    for part in (
        "run by the sign mount: its time was over (browser.time); 3.2 s, 500 ms",
        "7 requests sent, 2.0 KB; 1 answered from the archive; 1 failed",
        "2 requests not sent, robots: robots.txt forbids it (Disallow: /api), such as "
        "http://a.test/api",
        "behaviours: scroll 3 steps, more 1 click\n",
        "1 error of its scripts, such as: TypeError: x",
        "its URL at the end: http://a.test/#/start", "browser: X/1",
    ):  # fmt: skip
        assert part in text, part
    assert "\x1b" not in text


def test_what_is_printed_of_a_page(tmp_path: Path):
    failed = (
        ("http://a.test/slow", "no reply"),
        *((f"http://a.test/{number}", "404") for number in range(12)),
    )
    pictures = {"view": str(tmp_path / "view.png")}
    outcome = ArchivedPage(
        str(tmp_path), FACTS.url, 0, FACTS, "", pictures, failed, (("u", "scope"),)
    )
    text = "\n".join(outcome_lines(outcome))
    assert "view.png" in text
    assert "  failed      404: 12 requests, such as\n                http://a.test/0\n" in text
    assert "http://a.test/3" not in text
    assert "\n              no reply: http://a.test/slow\n" in text
    assert f"replay {tmp_path}" in text


@pytest.mark.parametrize(
    ("path", "code", "reason"),
    [
        ("gone.html", 8, "HTTP status 404."),
        ("pic.png", 0, "it is no HTML page, and was archived as it is"),
    ],
)
def test_what_is_not_run_in_a_browser(tmp_path: Path, path: str, code: int, reason: str):
    with site(APP) as home:
        done = nacre(
            "page", f"{home}{path}", "--out", tmp_path / "job", "-q", "--set", "politeness.delay=0",
            "--set", f"browser.command={sys.executable}",
        )  # fmt: skip
    assert done.code == code, done.err
    assert f"was not run in a browser: {reason}" in done.out


def test_a_dead_port_is_named_after_few_tries(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        home = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    done = nacre(
        "page", home, "--out", tmp_path / "job", "-q", "--set", "politeness.delay=0",
        "--set", "frontier.retry_delay=10ms", "--set", f"browser.command={sys.executable}",
    )  # fmt: skip
    assert done.code == ExitCode.NOTHING_FETCHED, done.err
    assert f"{home} was not run in a browser: connection refused, tried twice (so its" in done.out
    settings = load_job(Layout(tmp_path / "job")).settings.frontier
    assert (settings.max_retries, settings.retry_delay) == (2, 0.01)


def test_a_page_without_a_reply_is_not_blamed_on_robots(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        home = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    done = nacre(
        "page", home, "--out", tmp_path / "job", "-q", "--robots", "ignore", "--set",
        "politeness.delay=0", "--set", "frontier.max_retries=1", "--set",
        f"browser.command={sys.executable}",
    )  # fmt: skip
    assert f"{home} was not run in a browser: connection refused.\n" in done.out


def test_a_browser_that_does_not_start(tmp_path: Path):
    with site(APP) as home:
        done = nacre(
            "page", home, "--out", tmp_path / "job", "-q", "--set", "politeness.delay=0",
            "--set", f"browser.command={shutil.which('true')}",
        )  # fmt: skip
    assert done.code == 2, done.err
    assert "no browser could be started" in done.out


def test_what_a_browser_cannot_open_is_refused(tmp_path: Path):
    done = nacre("page", "FTP://a.test/x", "--out", tmp_path / "job")
    assert done.code == 2
    assert "a browser opens http and https URLs, and FTP://a.test/x is none" in done.err
    assert not (tmp_path / "job").exists()


def test_without_a_browser_nothing_is_made(tmp_path: Path):
    job = tmp_path / "job"
    done = nacre(
        "page", "http://127.0.0.1:9/", "--out", job, "--set", "browser.command=no-such-chromium"
    )
    assert done.code == 2
    assert "apt-get install" in done.err
    assert not job.exists()


@pytest.mark.browser
def test_one_page_as_it_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    job = tmp_path / "job"
    with site(APP) as home:
        done = nacre("page", home, "--out", job, "-q", "--json", "--set", "politeness.delay=0")
        shown = nacre("explain", job, home)
    assert done.code == 0, done.err
    outcome = json.loads(done.out)
    assert set(outcome["pictures"]) == {"view", "fullPage", "thumbnail"}
    for path in outcome["pictures"].values():
        assert Path(path).read_bytes()[:2] in {b"\x89P", b"\xff\xd8"}
    assert [url for url, _ in outcome["failed"]] == [f"{home}gone.png"]
    assert outcome["refused"] == [[f"{home}secret/api", "robots"]]
    facts = outcome["facts"]
    assert (facts["title"], facts["ended"], facts["sign"]) == ("应用", "settled", "always")
    settings = load_job(Layout(job)).settings
    assert (settings.browser.use, settings.browser.store_dom) == ("always", True)
    records = b"".join(path.read_bytes() for path in job.rglob("*.cdxj"))
    for kind in ("pageinfo", "text", "dom", "view", "fullPage", "thumbnail"):
        assert f"urn:{kind}:".encode() in records
    assert "run because browser.use is always: whole" in shown.out
    assert "robots.txt forbids it" in shown.out
    checker = Checker()
    for path in job.rglob("*.warc.gz"):
        checker.file(path)
    assert checker.finish() == []
