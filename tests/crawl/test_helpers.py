"""Crawls in which something of our own fails: the helper that parses, or a step of a chain."""

import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.running import run_job
from nacre.core.processor import Visit
from nacre.engine import helper_process
from nacre.engine.steps import extract
from nacre.engine.steps.dispose import DisposeStep
from nacre.engine.steps.extract import ExtractStep
from nacre.frontier import policy
from nacre.job.job import Job
from nacre.ops.run_end import RunResult
from nacre.settings.settings import JobSettings
from tests.cli.site import site
from tests.crawl.jobs import Crawled

pytestmark = pytest.mark.crawl

NUMBERS = range(8)


class Silent:
    """Shows nothing."""

    every = 0.25

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "FAULT_WAIT", 0.01)


def crawled(root: Path, url: str) -> tuple[RunResult, Crawled]:
    root.mkdir()
    said = {
        "seeds": [url],
        "politeness": {"delay": 0},
        "extract": {"infer_favicon": False},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    job = Job(root, JobSettings.model_validate(said))
    result = run_job(job, Silent())
    return result, Crawled(root, str(result.exit))


def statuses(crawl: Crawled) -> dict[str, int]:
    return {url.rpartition("/")[2]: status for url, status in crawl.statuses.items()}


def large_site() -> dict[str, str]:
    """Large pages, with a link on each."""
    filler = "<p>words " * 5_000
    pages = {"/robots.txt": "", "/": "".join(f"<a href=p{n}>p</a>" for n in NUMBERS)}
    for number in NUMBERS:
        pages[f"/p{number}"] = f"{filler}<a href=behind{number}>more</a>"
        pages[f"/behind{number}"] = "<p>behind"
    return pages


def test_parsers_that_are_killed_at_random_lose_no_page_and_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    chance, ask = random.Random(23), helper_process.HelperProcess._ask
    killed: Counter[bytes] = Counter()

    async def dies(self: helper_process.HelperProcess, message: bytes) -> bytes:
        process = self._process
        when = chance.choice(("never", "idle", "noticed", "busy"))
        if killed[message] == 2:  # a third death would be held against the page
            return await ask(self, message)
        if process is not None and when in {"idle", "noticed"}:
            killed[message] += 1
            os.kill(process.pid, signal.SIGKILL)
            if when == "noticed":
                await process.wait()
        asking = ask(self, message)
        if process is None and when == "busy":
            killed[message] += 1
            process = await self._start()
            os.kill(process.pid, signal.SIGKILL)
        return await asking

    monkeypatch.setattr(extract, "LARGE", 1_000)
    monkeypatch.setattr(helper_process.HelperProcess, "_ask", dies)
    with site(large_site()) as url:
        result, crawl = crawled(tmp_path / "job", url)
    names = [f"{kind}{number}" for kind in ("p", "behind") for number in NUMBERS]
    assert statuses(crawl) == dict.fromkeys(["", "robots.txt", *names], 200)
    assert killed.total() > 3
    assert (result.code, result.counts.faults) == (0, 0)
    assert result.overview is not None
    assert result.overview.unparsed == 0


def test_a_parser_that_always_dies_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def dies(self: helper_process.HelperProcess, message: bytes) -> bytes:
        raise BrokenPipeError

    monkeypatch.setattr(extract, "LARGE", 1_000)
    monkeypatch.setattr(helper_process.HelperProcess, "_ask", dies)
    with site(large_site()) as url:
        result, crawl = crawled(tmp_path / "job", url)
    assert statuses(crawl) == dict.fromkeys(
        ["", "robots.txt", *(f"p{number}" for number in NUMBERS)], 200
    )
    assert result.overview is not None
    assert result.overview.unparsed == len(NUMBERS)


@pytest.mark.parametrize(("failures", "status", "code"), [(1, 200, 0), (2, -5, 12)])
@pytest.mark.parametrize("place", ["extract", "disposition"])
def test_an_error_of_our_own_is_tried_again_and_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    failures: int,
    status: int,
    code: int,
):
    left = failures
    process, finish = ExtractStep.process, DisposeStep.finish

    def fail(visit: Visit) -> None:
        nonlocal left
        if visit.uri.url.endswith("p3") and left:
            left -= 1
            raise MemoryError

    async def failing_process(self: ExtractStep, visit: Visit) -> Any:
        fail(visit)
        return await process(self, visit)

    def failing_finish(self: DisposeStep, visit: Visit, stored: Any, now: float) -> None:
        fail(visit)
        finish(self, visit, stored, now)

    if place == "extract":
        monkeypatch.setattr(ExtractStep, "process", failing_process)
    else:
        monkeypatch.setattr(DisposeStep, "finish", failing_finish)
    with site(large_site()) as url:
        result, crawl = crawled(tmp_path / "job", url)
    assert statuses(crawl)["p3"] == status
    assert ("behind3" in statuses(crawl)) is (status == 200)
    assert (result.code, result.counts.faults) == (code, int(status < 0))
    assert result.overview is not None
    assert result.overview.faults == int(status < 0)
