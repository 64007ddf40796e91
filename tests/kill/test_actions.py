"""Killed in the middle of an action file: each of its lines is scheduled exactly once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
KILLS = 3


@contextmanager
def running(job: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A crawl that is killed when the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", "run", str(job), "-q"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)


def ask(job: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "nacre", *arguments[:1], str(job), *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, env=environment)
    return done.stdout


def report(job: Path) -> str:
    """The report as far as it is written."""
    return "".join(path.read_text() for path in job.glob("runs/*/actions-done/*.report"))


def waiting(job: Path) -> int:
    said = ask(job, "frontier", "count", "--queue", "test,b")
    return int(said) if said.strip().isdigit() else 0


def until(true: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for what a function says, while the test has time; the process must not end before."""
    while not true():
        assert process.poll() is None
        time.sleep(0.01)


@pytest.mark.kill
@pytest.mark.parametrize(
    ("count", "kills"),
    [
        pytest.param(20_000, 1, marks=pytest.mark.timeout(120)),
        pytest.param(100_000, KILLS, marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
    ],
)
def test_killed_in_the_middle_of_a_file(tmp_path: Path, count: int, kills: int) -> None:
    job = tmp_path / "job"
    (job / "action").mkdir(parents=True)
    plan = {
        "seeds": ["http://a.test/"],
        "fetch": {"contact": "http://me.test/"},
        "dns": {"hosts": {"a.test": "127.0.9.99", "b.test": "127.0.9.99"}},
        "network": {"allow": ["127.0.0.0/8"]},
        "action": {"interval": 0.2},
        # What was forced would be scheduled twice if a line was taken twice; nothing is fetched.
        "limits": {"runtime": {"after": 1e-9, "action": "pause"}},
    }
    (job / "crawl.yaml").write_text("\n".join(f"{k}: {json.dumps(v)}" for k, v in plan.items()))
    lines = [f"http://b.test/{number}" for number in range(count)]
    action = job / "action" / "many.force"
    # The report shows how far it is: every tenth part begins with a line that is none.
    parts = [lines[at : at + count // 10] for at in range(0, count, count // 10)]
    action.write_text("".join("\n".join(("nonsense", *part, "")) for part in parts))
    seen: list[int] = []
    told = 0
    while len(seen) < kills:
        with running(job) as process:
            until(lambda: len(report(job).splitlines()) > told, process)  # noqa: B023 - at once
        told = len(report(job).splitlines())
        seen.append(waiting(job))
        assert 0 < seen[-1] < count, "it was over before it was killed: more lines"
    assert action.exists()
    with running(job) as process:
        until(lambda: not action.exists(), process)
    urls = [line.split()[1] for line in ask(job, "frontier", "export").splitlines()]
    found = Counter(url for url in urls if not url.endswith(("//a.test/", "robots.txt")))
    assert found == dict.fromkeys(lines, 1)
    *rejected, total = report(job).splitlines()
    assert total == f"{count + 10:,} lines: {count:,} scheduled, 10 rejected"
    numbers = [int(line.split()[1].rstrip(":")) for line in rejected]
    assert numbers == [1 + at * (count // 10 + 1) for at in range(10)]
    sys.stdout.write(f"killed after {seen} of {count} lines\n")
