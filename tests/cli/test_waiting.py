"""How a continuous crawl waits for its next pass."""

import time

import pytest

from nacre.cli import recrawl
from nacre.job.runs.passes import Following


class SetClock:
    """A clock that a test sets."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        raise AssertionError("passes begin by the time of day")

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("a command sleeps in its thread")


def test_a_clock_that_is_set_back_while_one_waits_makes_the_wait_anew(
    monkeypatch: pytest.MonkeyPatch,
):
    clock = SetClock(9000.0)
    asked: list[float] = []
    naps: list[float] = []

    def ask() -> Following:
        asked.append(clock.now())
        return Following(clock.now() + 40.0)

    def nap(seconds: float) -> None:
        naps.append(seconds)
        clock.time += seconds if len(naps) > 1 else -8000.0

    monkeypatch.setattr(time, "sleep", nap)
    assert recrawl._wait(ask, clock)
    assert asked == [9000.0, 1000.0]
    assert naps == [30.0, 30.0, 10.0]
