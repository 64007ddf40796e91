"""Killed in the middle of pages: of each page all is there, once, or nothing."""

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from tests.fault.facts import path_of
from tests.fault.jobs import facts_of
from tests.fault.pages import PATHS, app_site, check_pages
from tests.fault.site import Site

CHECKOUT = Path(__file__).parents[2]
ALL = {"/", *PATHS}


async def start(job: Path, site: Site) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.kill.page_crawler", str(job), site.url(),
        stdout=asyncio.subprocess.PIPE, cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"},
    )  # fmt: skip


async def kill_within(job: Path, site: Site, luck: random.Random) -> bool:
    """Kill it while a page is open or being stored; True if it had finished."""
    process = await start(job, site)
    assert process.stdout is not None
    lines = 0
    until = luck.randint(1, 4)
    while lines < until and (line := await process.stdout.readline()):
        lines += 1
        if line.startswith(b"finished"):
            break
    await asyncio.sleep(luck.random() * 0.1)
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    rest = await process.stdout.read()
    await process.wait()
    return b"finished" in rest or lines == 0


def look(job: Path) -> None:
    """All pages are there, and nothing of those that were killed."""
    found = facts_of(job)
    assert not found.damage
    assert {path_of(url) for url in found.outcomes} >= ALL
    check_pages(sorted(job.rglob("archive/*.warc.gz")), ALL)


async def kill_often(folder: Path, kills: int) -> int:
    luck, killed, number = random.Random(20_261_129), 0, 0
    site = Site(app_site())
    site.pause = 0.01
    async with site.serving():
        while killed < kills:
            job = folder / f"job{number}"
            job.mkdir()
            (job / "crawl.yaml").write_text("{}\n")
            number += 1
            for _ in range(kills):
                if await kill_within(job, site, luck) or killed == kills:
                    break
                killed += 1
            process = await start(job, site)
            await process.communicate()
            assert process.returncode == 0
            look(job)
            checker = Checker()
            for warc in sorted(job.rglob("archive/*.warc.gz")):
                checker.file(warc)
            assert checker.finish() == []
    return number


@pytest.mark.kill
@pytest.mark.timeout(240)
@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_nothing_of_a_page_is_half_there_or_twice(tmp_path: Path, kills: int):
    jobs = asyncio.run(kill_often(tmp_path, kills))
    sys.stdout.write(f"{kills} kills in {jobs} crawls\n")
