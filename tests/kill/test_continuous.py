"""A crawl that never ends is killed between its passes and within them, and goes on."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from nacre.recrawl.pagestore import PageStore, fetch_rows
from nacre.runs.runs import all_runs
from nacre.store.store import Store
from tests.cli.site import nacre, site

pytestmark = pytest.mark.kill

CHECKOUT = Path(__file__).parents[2]
INTERVAL = 2.0
EARLY = 0.01
"""Share of its interval by which a page may be visited sooner."""
KILLS = 5
SETTINGS = """
recrawl:
  gap: 100ms
  probes: 0
  schedule: {kind: fixed, interval: 2s}
"""


def start(job: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "nacre", "recrawl", str(job), "--continuous", "-q"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        stderr=subprocess.DEVNULL,
    )


def passes(job: Path) -> int:
    return len(list((job / "runs").iterdir()))


@pytest.mark.timeout(200)
def test_killed_at_any_moment_it_goes_on_when_pages_are_due(tmp_path: Path) -> None:
    job, rng = tmp_path / "job", random.Random(4)
    with site() as home:
        assert nacre("crawl", home, "--scope", "host", "--delay", 0, "--out", job, "-q").code == 0
        with (job / "crawl.yaml").open("a") as file:
            file.write(SETTINGS)
        for _ in range(KILLS):
            before = passes(job)
            crawler = start(job)
            while passes(job) == before and crawler.poll() is None:
                time.sleep(0.05)
            # Within a pass, or while it waits for the next one.
            time.sleep(rng.uniform(0.0, 2.0))
            assert crawler.poll() is None
            crawler.send_signal(signal.SIGKILL)
            crawler.wait(100)
        ends = nacre("recrawl", job, "-q", "--continuous", "--times", 2)
        assert ends.code == 0, ends.err
        assert nacre("archive", job, "check").code == 0
    with Store.open(str(job / "state/store"), read_only=True) as store:
        visits = [row for row in fetch_rows(store) if row.status == 200]
        pages = [row for row in PageStore(store).scan() if row.visits and row.kind != "embed"]
        begun = {run.number: run.started for run in all_runs(store)}
    passes_of: dict[str, list[float]] = {}
    for row in visits:
        passes_of.setdefault(row.url, []).append(begun[row.run])
    assert all(page.visits == len(passes_of[page.url]) for page in pages)
    for page in pages:
        seen = passes_of[page.url]
        # Never sooner than its schedule says, from the begin of a run to that of the next.
        least = INTERVAL * (1 - EARLY)
        assert all(after - before >= least for before, after in pairwise(seen))
        assert len(seen) > 3
