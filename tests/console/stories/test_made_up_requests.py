"""Requests that schemathesis makes up from the description of the interface."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.keys import KeyBook
from nacre.machine.clock import SystemClock
from nacre.ops.operation import Role
from tests.cli.site import site
from tests.console.stories.running import ConsoleProcess, console_of, finished_job, new_job

pytestmark = pytest.mark.console

ISOLATED: Final = bool(os.environ.get("NACRE_ISOLATED"))
"""There is no network but the loopback, so that crawls of made-up URLs reach nobody:
`make console-fuzz`."""
NOT_ASKED: Final = "stream" if ISOLATED else "^post_jobs|stream"
"""Operations that would start crawls of made-up URLs; and one whose answer does not end, which is
asked by itself."""
PAGES: Final = {"/": '<a href="/a">a</a><a href="http://b.test/">b</a>', "/a": "页"}
CHECKS: Final = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "response_headers_conformance", "unsupported_method",
    "ignored_auth", "allow_header_conformance",
)  # fmt: skip
"""What holds for each answer. A body that fits its schema may still be refused, with 422."""
HAR: Final = "asked.har"
BUSY: Final = ('"busy"', '"too-slow"')
"""Reasons of 503 that are no error."""
SEED: Final = 20261123
KNOWN: Final = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503]  # 503 is looked at below: only by its code
[dictionaries]
jobs = {values = ["crawls~demo", "crawls~fresh"]}
logs = {values = ["crawl", "job", "alerts"]}
numbers = {values = [1, 2]}
reports = {values = ["seeds", "crawl", "hosts", "change-frequency", "savings"]}
settings = {values = ["politeness.min_delay", "scope"]}
clips = {values = ["mediawiki", "pdf-only", "single-page"]}
[parameters]
"path.job" = {dictionary = "jobs", probability = 0.8}
"path.log" = {dictionary = "logs", probability = 0.8}
"path.number" = {dictionary = "numbers", probability = 0.8}
"path.report" = {dictionary = "reports", probability = 0.8}
"path.path" = {dictionary = "settings", probability = 0.8}
"path.clip" = {dictionary = "clips", probability = 0.8}
"body.job" = {dictionary = "jobs", probability = 0.8}
"""
"""What schemathesis is told: names that there are, so that it gets behind the 404."""


@contextmanager
def asked_console(folder: Path) -> Iterator[tuple[ConsoleProcess, str]]:
    """A console with a job, whose readers have their modules loaded; and a key of an admin."""
    (folder / "crawls").mkdir()
    new_job(folder / "crawls" / "fresh", "http://127.0.0.1:9/")
    with site(PAGES) as url:
        finished_job(folder / "crawls" / "demo", url)
    (folder / "schemathesis.toml").write_text(KNOWN)
    with console_of(folder) as console:
        with closing(ConsoleDatabase(console.state)) as database:
            key = KeyBook(database, SystemClock()).add("made up", Role.ADMIN)
        effective = httpx.get(
            f"{console.url}api/v1/jobs/crawls~demo/config/effective", timeout=110, trust_env=False,
            headers={"authorization": f"Bearer {key}"},
        )  # fmt: skip
        assert effective.status_code == 200, effective.text
        yield console, key


def made_up(folder: Path, *options: str) -> list[str]:
    """Make up requests, and return what is wrong with their answers."""
    with asked_console(folder) as (console, key):
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"), "run",
                f"{console.url}api/v1/openapi.json", "--header", f"Authorization: Bearer {key}",
                "--no-shrink", "--generation-database", "none",
                "--exclude-operation-id-regex", NOT_ASKED, "--checks", ",".join(CHECKS),
                "--continue-on-failure", "--request-timeout", "60", "--no-color",
                "--report-har-path", HAR, *options,
            ],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = [line[:300] for line in done.stdout.splitlines()]
        ask_streams(console, key, random.Random(" ".join(options)))
        defects = lines[-400:] if done.returncode else hidden_errors(folder / HAR)
        if "Traceback" in console.log:
            defects.append(console.log[console.log.index("Traceback") :][:2000])
        return defects if "generated" in done.stdout else [*defects, "no request was made up"]


def hidden_errors(report: Path) -> list[str]:
    """Answers 503 whose reason is not that the machine is too busy."""
    entries = json.loads(report.read_text("utf-8", "replace"))["log"]["entries"]
    found = []
    for entry in entries:
        text = entry["response"].get("content", {}).get("text") or ""
        if entry["response"]["status"] == 503 and not any(one in text for one in BUSY):
            found.append(f"{entry['request']['method']} {entry['request']['url']}: {text[:300]}")
    return found


def ask_streams(console: ConsoleProcess, key: str, chance: random.Random) -> None:
    """Ask for streams of made-up topics: each begins, or is refused with its reason."""
    words = [
        "jobs", "job:crawls~demo", "log:crawls~demo:crawl", "alerts:crawls~demo", "task:x", "job:",
        "log:::", "alerts:../..", "页", "\x00", ",", "%", "log:crawls~demo:../x",
    ]  # fmt: skip
    with httpx.Client(trust_env=False, timeout=60, base_url=console.url) as client:
        for _ in range(60):
            topics = ",".join(chance.choices(words, k=chance.randint(0, 6)))
            last = chance.choice(
                ["", "0", "-1", "9" * 40, "x=y;log=3", "页".encode().decode("latin-1")]
            )
            fields = {
                b"authorization": f"Bearer {key}".encode(),
                b"last-event-id": last.encode("latin-1"),
            }
            wanted = {"topics": topics}
            with client.stream("GET", "api/v1/stream", params=wanted, headers=fields) as answer:
                assert answer.status_code in {200, 400, 404, 422, 429}, (topics, last)
                if answer.status_code == 200:
                    assert next(answer.iter_raw())
                else:
                    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "methods",
    [
        pytest.param(["--include-method", "GET"], id="reads"),
        pytest.param([], id="all", marks=pytest.mark.slow),
    ],
)
def test_asvs_2_2_made_up_requests_get_the_answers_that_are_described(
    tmp_path: Path, methods: list[str]
):
    """The same requests each time, so that the same code gives the same answer."""
    defects = made_up(tmp_path, "--phases", "coverage", "--seed", str(SEED), *methods)
    assert not defects, "\n".join(defects)


@pytest.mark.slow
def test_other_requests_each_time_get_the_answers_that_are_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """For a minute; the seed is printed."""
    seed = int(os.environ.get("NACRE_SEED") or random.SystemRandom().randrange(2**31))
    with capsys.disabled():
        sys.stdout.write(f"\nschemathesis --seed {seed}\n")
    phases = ("--phases", "coverage,fuzzing,stateful")
    defects = made_up(tmp_path, *phases, "--max-time", "60", "--seed", str(seed))
    assert not defects, "\n".join(defects)
