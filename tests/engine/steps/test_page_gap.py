"""The event loop while a page of 200 MB is stored: nothing keeps it for long."""

import asyncio
import random
import sys
import time
from pathlib import Path

import pytest

from nacre.machine.clock import SystemClock
from tests.engine.page_making import page_visit, request_visit
from tests.engine.visiting import SEED, OpenJob, visiting

LONGEST = 0.050
"""Seconds of the processor without a turn for others."""


async def watch(gaps: list[float]) -> None:
    """Note the processor's time of the loop between two of its turns."""
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.001)
        now = time.thread_time()
        gaps.append(now - last)
        last = now


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requests", "size"), [(20, 10_000_000), (200, 1_000_000), (1000, 200_000)]
)
def test_loop_has_turns_while_a_large_page_is_stored(tmp_path: Path, requests: int, size: int):
    noise = random.Random(1).randbytes(1 << 20)
    gaps: list[float] = []

    async def act(job: OpenJob):
        storing, engine = job.session.storing, job.session.engine
        engine.visits._clock = SystemClock()  # that of the job stands still
        visit = page_visit(job, SEED, [])
        assert visit.page is not None
        for number in range(requests):
            part = f"{number} ".encode() + noise[number:]
            body = (part * (size // len(part) + 1))[:size]
            request = request_visit(job, f"http://h{number % 7}.test/{number}.js", body)
            request.page_id = visit.page.id
            visit.page.add(request, size)
            await storing.pages.pack(visit.page.id, request)
        watching = asyncio.ensure_future(watch(gaps))
        await engine.visits.complete(visit)
        await storing.commit.flush()
        watching.cancel()
        storing.pages.close(visit.page)

    visiting(tmp_path, act)
    stored = sum(path.stat().st_size for path in tmp_path.rglob("*.warc.gz*"))
    assert stored > requests * size * 0.9
    sys.stdout.write(f"{requests} requests of {size:,} bytes: {max(gaps) * 1000:.0f} ms at most\n")
    assert max(gaps) < LONGEST
