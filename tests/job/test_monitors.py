import asyncio
import platform
import resource
from typing import cast

import pytest

from nacre.job.monitors import (
    ClockMonitor,
    EventLoopWatchdog,
    longest_wait,
    raise_file_limit,
    tune_allocator,
)
from nacre.settings.settings import JobSettings
from tests.virtual_loop import LoopClock, VirtualLoop, run_virtually

HOUR = 3600.0


@pytest.mark.parametrize(
    ("given", "on_terminal", "longest"),
    [(None, False, 3600.0), (None, True, None), (60.0, False, 60.0), (60.0, True, 60.0)],
)
def test_a_pause_for_space_lasts_for_ever_only_where_somebody_watches(given, on_terminal, longest):
    settings = JobSettings.model_validate({"disk": {"max_wait": given}})
    assert longest_wait(settings, on_terminal=on_terminal) == longest


class Clock:
    """Both times by hand."""

    def __init__(self) -> None:
        self.wall, self.mono = 1e9, 50.0

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.mono

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError

    def go(self, seconds: float, jump: float = 0.0) -> None:
        self.mono += seconds
        self.wall += seconds + jump


@pytest.mark.parametrize(
    ("jump", "words"),
    [
        (3 * HOUR, "set forward, or the machine slept, by 3 h"),
        (-72 * HOUR, "set back by 3 d"),
        (-90.0, "set back by 1.5 min"),
    ],
)
def test_a_jump_is_told_once(jump: float, words: str):
    clock = Clock()
    watch = ClockMonitor(clock, 0.0)
    clock.go(0.5)
    assert watch.look() == ""
    clock.go(0.5, jump)
    assert words in watch.look()
    clock.go(0.5)
    assert watch.look() == ""


def test_a_clock_that_is_corrected_little_by_little_is_nothing_to_tell():
    clock = Clock()
    watch = ClockMonitor(clock, 0.0)
    for _ in range(100):
        clock.go(0.5, 10.0)
        assert watch.look() == ""


@pytest.mark.parametrize(("behind", "told"), [(48 * HOUR, True), (30.0, False), (-HOUR, False)])
def test_a_clock_that_was_set_back_between_two_runs(behind: float, told: bool):
    watch = ClockMonitor(Clock(), behind)
    assert ("set back by 2 d" in watch.look()) == told
    assert watch.look() == ""


class Logs:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def job(self, message: str) -> None:
        self.lines.append(message)


class Engine:
    doing = "after extract began with http://a.test/"


def test_only_gaps_over_the_limit_are_told_with_what_began_last():
    logs = Logs()
    dog = EventLoopWatchdog(Engine(), logs, Clock())  # type: ignore[arg-type]
    dog.beat(0.002)
    dog.beat(0.099)
    dog.beat(0.25)
    assert dog.gaps == 1
    assert dog.longest == 0.25
    assert logs.lines == [
        "the event loop was blocked for 250 ms: after extract began with http://a.test/"
    ]


def test_of_many_gaps_the_first_are_told_and_the_others_summed_up():
    logs, clock = Logs(), Clock()
    dog = EventLoopWatchdog(Engine(), logs, clock)  # type: ignore[arg-type]
    for number in range(1510):
        dog.beat(0.2 + number / 10_000)
    assert len(logs.lines) == 10
    clock.mono += 600.0
    dog.beat(0.01)
    assert logs.lines[10:] == [
        "the event loop was blocked 1,500 more times within 10 minutes, for 351 ms at most"
    ]
    dog.beat(0.15)
    assert len(logs.lines) == 12
    assert dog.gaps == 1511


class WatchedLoop:
    """A watchdog beside a loop that can be blocked."""

    def __init__(self) -> None:
        self.logs = Logs()
        self.dog = EventLoopWatchdog(Engine(), self.logs, LoopClock())  # type: ignore[arg-type]

    async def watch(self, *blocks: float) -> None:
        """Watch while the loop is blocked for each time, a second apart; then stop."""
        loop = cast("VirtualLoop", asyncio.get_running_loop())
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
        loop = cast("VirtualLoop", asyncio.get_running_loop())
        watching = asyncio.create_task(watched.dog.run())
        await asyncio.sleep(1.01)
        loop.block(0.3)
        with pytest.raises(OSError, match="no space left"):
            await watching

    run_virtually(main())


def test_glibc_takes_it_and_others_say_no():
    assert tune_allocator() == (platform.libc_ver()[0] == "glibc")


def test_open_files_up_to_the_hard_limit():
    limit = raise_file_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (limit, limit)
