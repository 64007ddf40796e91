import platform
import resource

import pytest

from nacre.job.monitors import (
    ClockMonitor,
    longest_wait,
    raise_file_limit,
    tune_allocator,
)
from nacre.settings.settings import JobSettings

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


def test_glibc_takes_it_and_others_say_no():
    assert tune_allocator() == (platform.libc_ver()[0] == "glibc")


def test_open_files_up_to_the_hard_limit():
    limit = raise_file_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (limit, limit)
