"""Nothing lost, nothing twice: a crawl is killed again and again, and ends as if it never was."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kill.outcome import Outcome, outcome
from tools import debs
from tools.nginx import Server, free_port, serving

CHECKOUT = Path(__file__).parents[2]
SITE = "usr/share/doc/postfix"
PARALLEL = 6
KILLS = 20
# Slow, but for the largest page, which would take longer than all others together; and fast once
# the file is there. nginx would believe for a minute that it still is: the next crawl, too fast.
THROTTLE = """
    open_file_cache off;
    set $rate 5500;
    if ($uri ~ postconf) {{ set $rate 200k; }}
    if (-f {fast}) {{ set $rate 0; }}
    limit_rate $rate;
    limit_rate_after 2k;
"""


@dataclass(frozen=True)
class Site:
    """The site, and the file that makes its server fast."""

    url: str
    fast: Path


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The documentation of Postfix behind a slow server."""
    root = debs.ensure("postfix-doc") / SITE
    port = free_port(("127.0.0.1",), 8180)
    folder = tmp_path_factory.mktemp("nginx")
    fast = folder / "fast"
    server = Server("127.0.0.1", port, root, directives=THROTTLE.format(fast=fast))
    with serving([server], folder / "server"):
        yield Site(f"http://127.0.0.1:{port}/html/index.html", fast)


class Crawler:
    """One process of the crawl, and what it told."""

    def __init__(self, job: Path, site: Site) -> None:
        self.told: list[dict[str, object]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.crawler", str(job), site.url, str(PARALLEL)],
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"},
        )
        self.news = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.told.append(json.loads(line))
            except ValueError:
                break  # the last line of a killed process may be cut
            self.news.set()
        self.news.set()

    @property
    def durable(self) -> bool:
        """Visits have become durable in this process."""
        return bool(self.told) and bool(self.told[-1].get("visits"))

    @property
    def finished(self) -> bool:
        return any("exit" in facts for facts in self.told)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def end(self) -> None:
        self.process.wait(400)
        self._reader.join(10)
        if self.process.stdout is not None:
            self.process.stdout.close()


def undisturbed(job: Path, site: Site) -> tuple[Outcome, float]:
    """The same crawl, left alone; its outcome, and how long it took."""
    began = time.monotonic()
    crawler = Crawler(job, site)
    crawler.end()
    assert crawler.process.returncode == 0
    return outcome(job), time.monotonic() - began


def kill_often(job: Path, site: Site, kills: int, luck: random.Random) -> list[dict[str, object]]:
    """Kill it at random moments; each after a new durable commit and before FINISHED.

    Returns:
        What each killed process had told last.
    """
    done: list[dict[str, object]] = []
    while len(done) < kills:
        crawler = Crawler(job, site)
        while crawler.process.poll() is None and not crawler.durable:
            crawler.news.wait(0.05)
            crawler.news.clear()
        time.sleep(luck.random() * 1.2)
        finished = crawler.finished
        crawler.kill()
        assert not finished, f"finished after {len(done)} kills: throttle the site more"
        assert crawler.durable
        done.append(crawler.told[-1])
        sys.stdout.write(f"kill {len(done)}: {crawler.told[-1]}\n")
    return done


def finish(job: Path, site: Site) -> Outcome:
    crawler = Crawler(job, site)
    crawler.end()
    assert crawler.process.returncode == 0
    return outcome(job)


def assert_same_outcome(killed: Outcome, calm: Outcome) -> None:
    """Every URI finished once, no capture twice, all valid and consistent, all totals equal."""
    assert killed.damage == []
    assert killed.finished == once_each(calm)
    assert killed.statuses == calm.statuses
    assert killed.captures == calm.captures
    assert killed.payloads == calm.payloads
    assert killed.indexed == killed.captures
    assert set(killed.captures) == {u for u, status in killed.statuses.items() if status > 0}
    assert killed.totals == calm.totals


def once_each(calm: Outcome) -> dict[str, int]:
    return dict.fromkeys(calm.finished, 1)


def run_kills(folder: Path, site: Site, kills: int, seed: int) -> tuple[Outcome, Outcome]:
    """The outcome of a crawl that is killed often, and of one that is not."""
    results: list[tuple[Outcome, float]] = []
    calm = threading.Thread(target=lambda: results.append(undisturbed(folder / "calm", site)))
    calm.start()
    try:
        kill_often(folder / "killed", site, kills, random.Random(seed))
    finally:
        calm.join()
    # What must be shown is shown: the rest may be fast.
    site.fast.touch()
    killed = finish(folder / "killed", site)
    site.fast.unlink()
    outcome_of_calm, seconds = results[0]
    assert seconds >= 60, f"the undisturbed crawl took only {seconds:.0f} s: throttle more"
    return killed, outcome_of_calm


@pytest.mark.kill
@pytest.mark.timeout(600)
def test_a_crawl_that_is_killed_twenty_times_ends_as_one_that_is_not(tmp_path: Path, site: Site):
    seed = random.SystemRandom().randrange(1 << 32)
    sys.stdout.write(f"seed {seed}\n")
    assert_same_outcome(*run_kills(tmp_path, site, KILLS, seed))


@pytest.mark.kill
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_two_hundred_kills(tmp_path: Path, site: Site):
    for seed in range(10):
        assert_same_outcome(*run_kills(tmp_path / str(seed), site, KILLS, seed))
