import asyncio
from typing import cast

import pytest

from nacre.job.watchdog import EventLoopWatchdog
from tests.job.test_monitors import Clock
from tests.virtual_loop import LoopClock, VirtualLoop, run_virtually

DOING = "after extract began with http://a.test/"


def never() -> bool:
    return False


class Logs:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def job(self, message: str) -> None:
        self.lines.append(message)


class Engine:
    doing = DOING


def test_only_gaps_over_the_limit_are_told_with_what_began_last():
    logs = Logs()
    dog = EventLoopWatchdog(Engine(), logs, Clock(), never)  # type: ignore[arg-type]
    dog.beat(0.002, DOING)
    dog.beat(0.099, DOING)
    dog.beat(0.25, DOING)
    assert dog.gaps == 1
    assert dog.longest == 0.25
    assert logs.lines == [f"the event loop was blocked for 250 ms: {DOING}"]


def test_of_many_gaps_the_first_are_told_and_the_others_summed_up():
    logs, clock = Logs(), Clock()
    dog = EventLoopWatchdog(Engine(), logs, clock, never)  # type: ignore[arg-type]
    for number in range(1510):
        dog.beat(0.2 + number / 10_000, DOING)
    assert len(logs.lines) == 10
    clock.mono += 600.0
    dog.beat(0.01, DOING)
    assert logs.lines[10:] == [
        "the event loop was blocked 1,500 more times within 10 minutes, for 351 ms at most"
    ]
    dog.beat(0.15, DOING)
    assert len(logs.lines) == 12
    assert dog.gaps == 1511


def running_loop() -> VirtualLoop:
    return cast("VirtualLoop", asyncio.get_running_loop())


class WatchedLoop:
    """A watchdog beside a loop that can be blocked."""

    def __init__(self) -> None:
        self.logs = Logs()
        self.is_idle = False
        self.dog = EventLoopWatchdog(Engine(), self.logs, LoopClock(), lambda: self.is_idle)  # type: ignore[arg-type]

    async def watch(self, *blocks: float) -> None:
        """Watch while the loop is blocked for each time, a second apart; then stop."""
        loop = running_loop()
        watching = asyncio.create_task(self.dog.run())
        for seconds in blocks:
            await asyncio.sleep(1.01)
            loop.block(seconds)
        await asyncio.sleep(1.0)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching


def test_the_watchdog_notices_each_time_that_the_loop_is_blocked():
    watched = WatchedLoop()
    run_virtually(watched.watch(0.3, 0.1, 0.5))
    assert watched.dog.gaps == 2
    # Its timer was set up to 50 ms before the block.
    assert watched.dog.longest == watched.dog.recent == pytest.approx(0.475, abs=0.026)
    assert [line.partition(" ms: ")[2] for line in watched.logs.lines] == [Engine.doing] * 2


def test_a_watchdog_that_is_cancelled_sets_no_timer_again():
    watched = WatchedLoop()

    async def main() -> None:
        await watched.watch()
        watched.dog.beat = pytest.fail  # type: ignore[method-assign, assignment]
        await asyncio.sleep(1.0)

    run_virtually(main())
    assert watched.dog.gaps == 0


def test_an_error_of_the_watchdog_ends_its_task():
    watched = WatchedLoop()

    def full(_message: str) -> None:
        raise OSError("no space left")

    watched.logs.job = full  # type: ignore[method-assign, assignment]

    async def main() -> None:
        watching = asyncio.create_task(watched.dog.run())
        await asyncio.sleep(1.01)
        running_loop().block(0.3)
        with pytest.raises(OSError, match="no space left"):
            await watching

    run_virtually(main())


# ---- an idle job


def test_an_idle_job_has_no_timer_until_work_begins():
    watched = WatchedLoop()
    watched.is_idle = True

    async def main() -> None:
        watching = asyncio.create_task(watched.dog.run())
        await asyncio.sleep(1.0)
        jumps = running_loop().jumps
        await asyncio.sleep(60.0)
        assert running_loop().jumps == jumps + 1
        watched.is_idle = False
        watched.dog.wake()
        await asyncio.sleep(1.01)
        assert running_loop().jumps >= jumps + 20
        running_loop().block(0.3)
        await asyncio.sleep(0.1)
        watching.cancel()
        watched.dog.wake()
        await asyncio.sleep(0.0)
        jumps = running_loop().jumps
        watched.dog.wake()
        await asyncio.sleep(1.0)
        assert running_loop().jumps == jumps + 1

    run_virtually(main())
    assert watched.dog.gaps == 1


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_steps_of_a_watched_task_are_timed_in_an_idle_job(steps: int):
    watched = WatchedLoop()
    watched.is_idle = True

    async def work() -> str:
        for step in range(steps):
            if step:
                await asyncio.sleep(1.0)
            running_loop().block(0.3)
        return "done"

    async def main() -> None:
        watching = asyncio.create_task(watched.dog.run())
        await asyncio.sleep(1.0)
        assert await watched.dog.watch(work, "account") == "done"
        watching.cancel()

    run_virtually(main())
    assert watched.logs.lines == ["the event loop was blocked for 300 ms: in account"] * steps


def test_a_gap_is_noted_once_if_work_begins_within_a_watched_step():
    watched = WatchedLoop()
    watched.is_idle = True

    async def work() -> None:
        watched.dog.wake()
        running_loop().block(0.3)

    async def main() -> None:
        watching = asyncio.create_task(watched.dog.run())
        await asyncio.sleep(1.0)
        await watched.dog.watch(work, "supervisor")
        await asyncio.sleep(1.0)
        watching.cancel()

    run_virtually(main())
    assert watched.logs.lines == [f"the event loop was blocked for 250 ms: {DOING}"]


def test_a_watched_task_gets_its_errors_and_can_be_cancelled():
    dog, caught = WatchedLoop().dog, list[BaseException]()

    async def work() -> None:
        try:
            async with asyncio.timeout(1.0):
                await asyncio.sleep(5.0)
        except TimeoutError as error:
            caught.append(error)
        try:
            await asyncio.sleep(10.0)
        except asyncio.CancelledError as error:
            caught.append(error)
            raise

    async def fail() -> None:
        raise ValueError("a bug")

    async def main() -> None:
        task = asyncio.create_task(dog.watch(work, "account"))
        await asyncio.sleep(3.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ValueError, match="a bug"):
            await dog.watch(fail, "account")

    run_virtually(main())
    assert [type(error) for error in caught] == [TimeoutError, asyncio.CancelledError]
