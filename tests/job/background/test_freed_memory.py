import asyncio
import platform
from contextlib import suppress
from itertools import count
from pathlib import Path

from nacre.job.background.freed_memory import FreedMemory, return_freed_memory

IS_GLIBC = platform.libc_ver()[0] == "glibc"


def resident() -> int:
    """Memory of this process that is no file, bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))


def test_what_was_freed_between_others_goes_back():
    blocks = [bytearray(4_000) for _ in range(25_000)]
    rest = blocks[::20]
    freed = 4_000 * (len(blocks) - len(rest))
    del blocks
    before = resident()
    assert return_freed_memory() is IS_GLIBC
    assert not IS_GLIBC or before - resident() > freed / 2
    assert len(rest) == 1_250


class SteadyClock:
    """Sleeps are over at once, until some were slept."""

    def __init__(self, sleeps: int) -> None:
        self.left = sleeps

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        if not self.left:
            raise asyncio.CancelledError
        self.left -= 1


def test_memory_goes_back_after_work_and_not_after_time():
    async def main(step: float) -> int:
        calls: list[None] = []
        work = count(0.0, step)
        task = FreedMemory(SteadyClock(12), work.__next__, lambda: calls.append(None))
        with suppress(asyncio.CancelledError):
            await task.run()
        return len(calls)

    assert asyncio.run(main(0.0)) == 0
    assert asyncio.run(main(10.0)) == 4
    assert asyncio.run(main(100.0)) == 12
