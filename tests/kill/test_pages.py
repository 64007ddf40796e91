"""Killed in the middle of pages: of each page all is there, once, or nothing."""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.findings import CheckFinding
from tests.fault.facts import path_of
from tests.fault.jobs import facts_of
from tests.fault.pages import PATHS, app_site, check_pages
from tests.fault.site import Site

CHECKOUT = Path(__file__).parents[2]
ALL = {"/", *PATHS}


async def start(job: Path, site: Site, *real: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.kill.page_crawler", str(job), site.url(), *real,
        stdout=asyncio.subprocess.PIPE, cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"},
    )  # fmt: skip


async def kill_within(job: Path, site: Site, luck: random.Random, *real: str) -> bool:
    """Kill it while a page is open or being stored; True if it had finished."""
    process = await start(job, site, *real)
    assert process.stdout is not None
    lines = 0
    until = luck.randint(1, 4)
    while lines < until and (line := await process.stdout.readline()):
        lines += 1
        if line.startswith(b"finished"):
            break
    await asyncio.sleep(luck.random() * 0.1)
    below = descendants(process.pid)
    if len(below) > 3:  # a crawl without a browser has a helper
        (job / "had-browser").touch()
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    rest = await process.stdout.read()
    await process.wait()
    for _ in range(1000):
        if not are_left(below):
            break
        await asyncio.sleep(0.1)
    assert not are_left(below), "a process is left"
    return b"finished" in rest or lines == 0


def descendants(pid: int) -> set[tuple[int, str]]:
    """Number and start of all processes that came from a process; those of zombies are left out."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                process = int(path.parent.name), fields[19]
                parents.setdefault(int(fields[1]), []).append(process)
    found, open_ones = set[tuple[int, str]](), [pid]
    while open_ones:
        below = parents.get(open_ones.pop(), [])
        found |= set(below)
        open_ones += [number for number, _ in below]
    return found


def are_left(processes: set[tuple[int, str]]) -> bool:
    return any(True for root in (0, 1) for process in descendants(root) if process in processes)


def look(job: Path) -> None:
    """All pages are there, and nothing of those that were killed."""
    found = facts_of(job)
    assert not found.damage
    assert {path_of(url) for url in found.outcomes} >= ALL
    check_pages(sorted(job.rglob("archive/*.warc.gz")), ALL)


async def kill_often(folder: Path, kills: int, *real: str) -> list[CheckFinding]:
    """Kill crawls until they were killed so often, and run each to its end.

    Returns:
        The findings of the check of their archives.
    """
    luck, killed, number = random.Random(20_261_129), 0, 0
    findings: list[CheckFinding] = []
    site = Site(app_site())
    site.pause = 0.01
    async with site.serving():
        while killed < kills:
            job = folder / f"job{number}"
            job.mkdir()
            (job / "crawl.yaml").write_text("{}\n")
            number += 1
            for _ in range(kills):
                if await kill_within(job, site, luck, *real) or killed == kills:
                    break
                killed += 1
            process = await start(job, site, *real)
            await process.communicate()
            assert process.returncode == 0
            look(job)
            assert (job / "had-browser").exists() is bool(real)
            checker = Checker()
            for warc in sorted(job.rglob("archive/*.warc.gz")):
                checker.file(warc)
            findings += checker.finish()
    sys.stdout.write(f"{kills} kills in {number} crawls {' '.join(real)}\n")
    return findings


@pytest.mark.kill
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_nothing_of_a_page_is_half_there_or_twice(tmp_path: Path, kills: int):
    assert asyncio.run(kill_often(tmp_path, kills)) == []


@pytest.mark.slow
@pytest.mark.kill
@pytest.mark.browser
@pytest.mark.timeout(600)
def test_no_browser_is_left_of_a_crawl_that_was_killed(tmp_path: Path):
    assert asyncio.run(kill_often(tmp_path, 20, "real")) == []
